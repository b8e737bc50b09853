package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// expression makes the mutants of an expression itself, and reports whether to go into it.
func (m *maker) expression(e ast.Expr) bool {
	if tv, ok := m.info.Types[e]; ok && tv.IsType() {
		return false
	}
	if _, lit := e.(*ast.BasicLit); m.isConstant(e) && !lit {
		if id, ok := e.(*ast.Ident); ok && (id.Name == "true" || id.Name == "false") {
			m.flip(id)
		}
		_, binary := e.(*ast.BinaryExpr)
		return binary
	}
	switch e := e.(type) {
	case *ast.BinaryExpr:
		m.binary(e)
	case *ast.UnaryExpr:
		m.unary(e)
	case *ast.CallExpr:
		m.call(e)
	case *ast.BasicLit:
		m.number(e)
	}
	return true
}

// isConstant reports whether the compiler knows the value of an expression.
func (m *maker) isConstant(e ast.Expr) bool { return m.info.Types[e].Value != nil }

// flip makes true of false, and the other way round.
func (m *maker) flip(id *ast.Ident) {
	other := map[string]string{"true": "false", "false": "true"}[id.Name]
	m.instead(id, m.typeName(m.file, m.info.TypeOf(id)), "constant", other)
}

// number makes another number of a literal: 1 of 0, 0 and 2 of 1, and n+1 of any other n.
func (m *maker) number(lit *ast.BasicLit) {
	if lit.Kind != token.INT && lit.Kind != token.FLOAT {
		return
	}
	if kv, ok := m.parent().(*ast.KeyValueExpr); ok && kv.Key == lit {
		return // an index
	}
	if call, ok := m.parent().(*ast.CallExpr); ok && m.capacity(call, lit) {
		return
	}
	if b, ok := m.parent().(*ast.BinaryExpr); ok && m.isConstant(b) && (b.Op == token.SHL || b.Op == token.QUO) {
		return // a formula of numbers only
	}
	t := m.typeName(m.file, m.info.TypeOf(lit))
	switch lit.Value {
	case "0":
		m.instead(lit, t, "constant", "1")
	case "1":
		m.instead(lit, t, "constant", "0")
		m.instead(lit, t, "constant", "2")
	default:
		m.instead(lit, t, "constant", lit.Value+"+1")
	}
}

// capacity reports whether an argument is the capacity of a slice or map to be made, which
// nobody can tell from another.
func (m *maker) capacity(call *ast.CallExpr, arg ast.Expr) bool {
	fun, ok := call.Fun.(*ast.Ident)
	if !ok || fun.Name != "make" {
		return false
	}
	_, isMap := m.info.TypeOf(call).Underlying().(*types.Map)
	return len(call.Args) == 3 && call.Args[2] == arg || isMap
}

// The operator that each is exchanged for.
var others = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.AND: token.OR, token.OR: token.AND, token.SHL: token.SHR, token.SHR: token.SHL, token.AND_NOT: token.AND,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
}

// At the bound each comparison is true where it was false, or the other way round; and, of
// whole numbers, one before or after the bound.
var bounds = map[token.Token]struct {
	at     token.Token
	beside string
}{
	token.LSS: {token.LEQ, "-1"}, token.LEQ: {token.LSS, "+1"},
	token.GTR: {token.GEQ, "+1"}, token.GEQ: {token.GTR, "-1"},
}

// binary makes the mutants of an operator.
func (m *maker) binary(e *ast.BinaryExpr) {
	x, y := m.textOf(m.file, e.X), m.textOf(m.file, e.Y)
	t := m.typeName(m.file, m.info.TypeOf(e))
	if b, ok := bounds[e.Op]; ok {
		m.bound(e, x, y, b.at)
		// A literal has such mutants of its own.
		if _, lit := e.Y.(*ast.BasicLit); !lit && m.whole(e.X) && m.whole(e.Y) {
			m.instead(e, "bool", "compare", fmt.Sprintf("%s %s (%s)%s", x, e.Op, y, b.beside))
		}
		return
	}
	switch e.Op {
	case token.LAND:
		for i, operand := range []ast.Expr{e.X, e.Y} {
			id := m.add(operand, "without", m.textOf(m.file, operand)+" &&"+[]string{" ...", ""}[i], "")
			m.wrap(operand, "((", ") || "+mutated(id)+")")
		}
	case token.LOR:
		for i, operand := range []ast.Expr{e.X, e.Y} {
			id := m.add(operand, "without", m.textOf(m.file, operand)+" ||"+[]string{" ...", ""}[i], "")
			m.wrap(operand, "((", ") && !"+mutated(id)+")")
		}
	default:
		other, ok := others[e.Op]
		if i, cond := m.parent().(*ast.IfStmt); cond && i.Cond == e {
			ok = false // always and never are what it would be
		}
		basic, _ := m.info.TypeOf(e.X).Underlying().(*types.Basic)
		if text := basic != nil && basic.Info()&types.IsString != 0; !ok || text && e.Op == token.ADD {
			return
		}
		if v := m.info.Types[e.Y].Value; other == token.QUO && v != nil && constant.Sign(v) == 0 {
			return
		}
		m.instead(e, t, "operator", fmt.Sprintf("%s %s %s", x, other, y))
	}
}

// bound makes the mutant of a comparison that decides otherwise at its bound. Where the
// operands can be looked at twice, it counts as reached only if the bound is.
func (m *maker) bound(e *ast.BinaryExpr, x, y string, at token.Token) {
	now := fmt.Sprintf("%s %s %s", x, at, y)
	if !m.pure(e.X) || !m.pure(e.Y) {
		m.instead(e, "bool", "compare", now)
		return
	}
	id := m.add(e, "compare", m.textOf(m.file, e), now)
	if at == token.LEQ || at == token.GEQ {
		m.wrap(e, "((", fmt.Sprintf(") || %s == %s && %s)", x, y, mutated(id)))
		return
	}
	m.wrap(e, "((", fmt.Sprintf(") && !(%s == %s && %s))", x, y, mutated(id)))
}

// pure reports whether an expression can be evaluated twice: it calls nothing but len and
// conversions, and receives nothing.
func (m *maker) pure(e ast.Expr) bool {
	pure := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			plain := ok && slices.Contains([]string{"len", "min", "max"}, id.Name)
			pure = pure && (plain || m.info.Types[n.Fun].IsType())
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW
		case *ast.FuncLit:
			pure = false
		}
		return pure
	})
	return pure
}

// whole reports whether an expression is a signed whole number.
func (m *maker) whole(e ast.Expr) bool {
	b, ok := m.info.TypeOf(e).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0 && b.Info()&types.IsUnsigned == 0
}

// unary drops a sign, or a negation that is not a whole condition.
func (m *maker) unary(e *ast.UnaryExpr) {
	switch p := m.parent().(type) {
	case *ast.IfStmt:
		if p.Cond == e {
			return
		}
	case *ast.BinaryExpr:
		if p.Op == token.LAND || p.Op == token.LOR {
			return
		}
	}
	if e.Op == token.SUB || e.Op == token.NOT {
		m.instead(e, m.typeName(m.file, m.info.TypeOf(e)), "operator", m.textOf(m.file, e.X))
	}
}

// call makes the mutants of calls whose meaning is known: methods of instants, min and max.
func (m *maker) call(e *ast.CallExpr) {
	if id, ok := e.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") {
		if _, builtin := m.info.Uses[id].(*types.Builtin); builtin {
			other := map[string]string{"min": "max", "max": "min"}[id.Name]
			now := other + m.textOf(m.file, e)[len(id.Name):]
			m.instead(e, m.typeName(m.file, m.info.TypeOf(e)), "swap", now)
		}
		return
	}
	sel, ok := e.Fun.(*ast.SelectorExpr)
	if !ok || len(e.Args) != 1 || m.info.TypeOf(sel.X) == nil || m.info.TypeOf(sel.X).String() != "time.Time" {
		return
	}
	x, y := m.textOf(m.file, sel.X), m.textOf(m.file, e.Args[0])
	t := m.typeName(m.file, m.info.TypeOf(e))
	switch sel.Sel.Name {
	case "Before", "After":
		m.instead(e, t, "swap", fmt.Sprintf("(%s).%s(%s)", y, sel.Sel.Name, x))
		m.instead(e, t, "compare", fmt.Sprintf("!(%s).%s(%s)", y, sel.Sel.Name, x))
	case "Sub":
		m.instead(e, t, "swap", fmt.Sprintf("(%s).Sub(%s)", y, x))
	case "Add":
		m.instead(e, t, "operator", fmt.Sprintf("%s.Add(-(%s))", x, y))
	}
}
