package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of a package.
type mutant struct {
	ID    int    // its number in the program that contains all of them
	Key   string // what names it from one version of the source to the next
	Place string // file and line
	Lock  bool   // it takes a lock away, which only the race detector may notice
}

// site is a range of a file that mutants change. Its build gets the text of the range, in
// which the sites within it are already built.
type site struct {
	start, end int
	build      func(inner string) string
}

// maker makes the mutants of a package.
type maker struct {
	*source
	file    *file
	in      string            // the function
	results *ast.FieldList    // what the innermost function returns
	last    map[ast.Stmt]bool // statements without which a function might end without its result
	parents []ast.Node
	mutants []mutant
	seen    map[string]int
}

// makeMutants lists all mutants of the files of a package, and puts their sites into them.
func makeMutants(s *source) []mutant {
	m := &maker{source: s, seen: map[string]int{}}
	for _, f := range s.files {
		m.file = f
		for _, decl := range f.tree.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				m.in = functionName(fn)
				m.function(fn.Type, fn.Body)
				m.locks(fn.Body)
			}
		}
	}
	s.made = len(m.mutants)
	return m.mutants
}

// functionName is Type.Method, or the name of a function.
func functionName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// add makes a mutant of a node and returns its number.
func (m *maker) add(n ast.Node, kind, was, now string) int {
	key := fmt.Sprintf("%s/%s %s: %s %s", m.dir, m.file.name, m.in, kind, oneLine(was))
	if now != "" {
		key += " => " + oneLine(now)
	}
	if m.seen[key]++; m.seen[key] > 1 {
		key += fmt.Sprintf(" (%d)", m.seen[key])
	}
	place := m.set.Position(n.Pos())
	m.mutants = append(m.mutants, mutant{
		ID: len(m.mutants) + 1, Key: key, Place: fmt.Sprintf("%s/%s:%d", m.dir, m.file.name, place.Line),
	})
	return len(m.mutants)
}

// oneLine is a text without its line breaks, and not longer than a line should be.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 70 {
		text = text[:50] + "..." + text[len(text)-17:]
	}
	return text
}

// change adds a site that has the range of a node.
func (m *maker) change(n ast.Node, build func(inner string) string) {
	m.file.sites = append(m.file.sites, site{m.offset(n.Pos()), m.offset(n.End()), build})
}

// wrap adds a site that puts text before and after a node.
func (m *maker) wrap(n ast.Node, before, after string) {
	m.change(n, func(inner string) string { return before + inner + after })
}

// instead adds a mutant that has another expression, of the type t, in place of e.
func (m *maker) instead(e ast.Expr, t, kind, now string) {
	if t == "" || m.recovers(e) {
		return
	}
	id := m.add(e, kind, m.textOf(m.file, e), now)
	if strings.HasPrefix(now, "the zero ") {
		now = "*new(" + t + ")"
	}
	m.wrap(e, fmt.Sprintf("func() %s { if %s { return %s }; return ", t, mutated(id), now), " }()")
}

// mutated is the expression that is true in the run of a mutant.
func mutated(id int) string { return fmt.Sprintf("%s(%d)", hook, id) }

// recovers reports whether an expression calls recover, which has no effect elsewhere.
func (m *maker) recovers(n ast.Node) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && (id.Name == "recover" || id.Name == "Callers" || id.Name == "Caller") {
			found = true
		}
		return !found
	})
	return found
}

// function makes the mutants of a function's body.
func (m *maker) function(t *ast.FuncType, body *ast.BlockStmt) {
	results, last, parents := m.results, m.last, m.parents
	m.results, m.last, m.parents = t.Results, map[ast.Stmt]bool{}, nil
	if t.Results != nil && len(t.Results.List) > 0 {
		m.mustEnd(body)
	}
	m.walk(body)
	m.results, m.last, m.parents = results, last, parents
}

// mustEnd notes the statements by which a statement list that must not fall off its end
// ends.
func (m *maker) mustEnd(s ast.Stmt) {
	list := func(l []ast.Stmt) {
		if len(l) > 0 {
			m.mustEnd(l[len(l)-1])
		}
	}
	m.last[s] = true
	switch s := s.(type) {
	case *ast.BlockStmt:
		list(s.List)
	case *ast.LabeledStmt:
		m.mustEnd(s.Stmt)
	case *ast.IfStmt:
		list(s.Body.List)
		if s.Else != nil {
			m.mustEnd(s.Else)
		}
	case *ast.SwitchStmt:
		list(s.Body.List)
		for _, c := range s.Body.List {
			m.mustEnd(c)
		}
	case *ast.TypeSwitchStmt:
		for _, c := range s.Body.List {
			m.mustEnd(c)
		}
	case *ast.SelectStmt:
		for _, c := range s.Body.List {
			m.mustEnd(c)
		}
	case *ast.CaseClause:
		list(s.Body)
	case *ast.CommClause:
		list(s.Body)
	}
}

// walk makes the mutants of a node and all within it.
func (m *maker) walk(root ast.Node) {
	base := len(m.parents)
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			m.parents = m.parents[:len(m.parents)-1]
			return false
		}
		var into bool
		switch n := n.(type) {
		case *ast.FuncLit:
			m.function(n.Type, n.Body)
			return false // Inspect does not call with nil then
		case *ast.GenDecl:
			into = n.Tok == token.VAR
		case *ast.ArrayType, *ast.FuncType, *ast.StructType, *ast.InterfaceType:
			return false
		case ast.Stmt:
			into = true
			m.statement(n)
		case ast.Expr:
			into = m.expression(n)
		default:
			into = true
		}
		if into {
			m.parents = append(m.parents, n)
		}
		return into
	})
	m.parents = m.parents[:base]
}

// parent is the node in which the one that is visited stands.
func (m *maker) parent() ast.Node {
	if len(m.parents) == 0 {
		return nil
	}
	return m.parents[len(m.parents)-1]
}

// statement makes the mutants of a statement itself.
func (m *maker) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.IfStmt:
		m.condition(s.Cond)
	case *ast.ForStmt:
		if s.Cond != nil {
			id := m.add(s.Cond, "never loop", m.textOf(m.file, s.Cond), "")
			m.wrap(s.Cond, "((", ") && !"+mutated(id)+")")
		}
	case *ast.SwitchStmt:
		if s.Tag == nil {
			for _, c := range s.Body.List {
				for _, cond := range c.(*ast.CaseClause).List {
					m.condition(cond)
				}
			}
		}
	case *ast.SelectStmt:
		m.selection(s)
	case *ast.BranchStmt:
		m.branch(s)
	case *ast.ReturnStmt:
		m.returned(s)
	}
	if m.droppable(s) {
		id := m.add(s, "drop", m.textOf(m.file, s), "")
		m.wrap(s, "if !"+mutated(id)+" { ", " }")
	}
}

// condition makes the mutants of a condition: it always holds, or it never does.
func (m *maker) condition(cond ast.Expr) {
	text := m.textOf(m.file, cond)
	never, always := m.add(cond, "never", text, ""), m.add(cond, "always", text, "")
	m.wrap(cond, "((", fmt.Sprintf(") && !%s || %s)", mutated(never), mutated(always)))
}

// droppable reports whether the rest compiles without a statement.
func (m *maker) droppable(s ast.Stmt) bool {
	switch m.parent().(type) {
	case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
	default:
		return false
	}
	if c, ok := m.parent().(*ast.CommClause); ok && c.Comm == s || m.last[s] {
		return false
	}
	switch s := s.(type) {
	case *ast.AssignStmt:
		blank := slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool {
			id, ok := e.(*ast.Ident)
			return !ok || id.Name != "_"
		})
		return s.Tok != token.DEFINE && blank
	case *ast.ExprStmt:
		locked, method := lockCall(s)
		return locked == "" || strings.HasSuffix(method, "nlock")
	case *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt:
		return true
	case *ast.ReturnStmt, *ast.BranchStmt:
		if b, ok := s.(*ast.BranchStmt); ok && b.Tok == token.FALLTHROUGH {
			return false // It must be the last statement of its case.
		}
		// Alone in the body of an if it is what the condition's mutant never drops.
		return len(m.parents) < 2 || !aloneInIf(m.parents[len(m.parents)-2], m.parent())
	}
	return false
}

// aloneInIf reports whether a block is the body of an if and has one statement.
func aloneInIf(outer, block ast.Node) bool {
	i, ok := outer.(*ast.IfStmt)
	return ok && i.Body == block && len(i.Body.List) == 1
}

// selection makes the mutants of a select: without one of its cases.
func (m *maker) selection(s *ast.SelectStmt) {
	for _, c := range s.Body.List {
		var receive ast.Node
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case *ast.ExprStmt:
			receive = comm.X
		case *ast.AssignStmt:
			receive = comm.Rhs[0]
		}
		if u, ok := receive.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
			m.instead(u.X, m.typeName(m.file, m.info.TypeOf(u.X)), "never receive", "nil")
		}
	}
}

// branch makes continue of a break, and the other way round.
func (m *maker) branch(s *ast.BranchStmt) {
	if s.Label != nil || s.Tok != token.BREAK && s.Tok != token.CONTINUE {
		return
	}
	for i := len(m.parents) - 1; i >= 0; i-- {
		switch loop := m.parents[i].(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
			return
		case *ast.ForStmt:
			if loop.Cond == nil && s.Tok == token.CONTINUE && m.results != nil {
				return // the function could then fall off its end
			}
		case *ast.RangeStmt:
		default:
			continue
		}
		other := "continue"
		if s.Tok == token.CONTINUE {
			other = "break"
		}
		id := m.add(s, "swap", s.Tok.String(), other)
		m.wrap(s, fmt.Sprintf("if %s { %s } else { ", mutated(id), other), " }")
		return
	}
}

// returned makes zero values of what is returned.
func (m *maker) returned(s *ast.ReturnStmt) {
	if m.results == nil {
		return
	}
	var types []string
	for _, field := range m.results.List {
		for range max(1, len(field.Names)) {
			types = append(types, m.textOf(m.file, field.Type))
		}
	}
	if len(types) != len(s.Results) {
		return
	}
	for i, e := range s.Results {
		switch text := m.textOf(m.file, e); {
		case m.plain(e):
		case types[i] == "bool":
			m.instead(e, "bool", "return", "false")
			m.instead(e, "bool", "return", "true")
		case text != "nil":
			m.instead(e, types[i], "return", "the zero "+types[i])
		}
	}
}

// plain reports whether an expression is true, false, or an empty literal, or a number that
// has mutants of its own.
func (m *maker) plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind != token.STRING
	case *ast.Ident:
		return e.Name == "true" || e.Name == "false" || e.Name == "nil"
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	}
	return false
}

// lockCall is the lock that a statement locks or unlocks, and the method.
func lockCall(s ast.Stmt) (lock, method string) {
	var call *ast.CallExpr
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, _ = s.X.(*ast.CallExpr)
	case *ast.DeferStmt:
		call = s.Call
	}
	if call == nil || len(call.Args) > 0 {
		return "", ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, sel.Sel.Name) {
		return "", ""
	}
	return exprText(sel.X), sel.Sel.Name
}

// exprText is the text of a name with selectors.
func exprText(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return exprText(e.X) + "." + e.Sel.Name
	}
	return "lock" + strconv.Itoa(int(e.Pos()))
}

// locks makes a mutant of each lock that a function both takes and gives back: it does
// neither.
func (m *maker) locks(body *ast.BlockStmt) {
	calls := map[string][]ast.Stmt{}
	taken, given := map[string]bool{}, map[string]bool{}
	var order []string
	ast.Inspect(body, func(n ast.Node) bool {
		s, ok := n.(ast.Stmt)
		if !ok {
			return true
		}
		if lock, method := lockCall(s); lock != "" {
			if calls[lock] == nil {
				order = append(order, lock)
			}
			calls[lock] = append(calls[lock], s)
			taken[lock] = taken[lock] || strings.HasSuffix(method, "Lock")
			given[lock] = given[lock] || strings.HasSuffix(method, "nlock")
		}
		return true
	})
	for _, lock := range order {
		if !taken[lock] || !given[lock] {
			continue
		}
		id := m.add(calls[lock][0], "without lock", lock, "")
		m.mutants[id-1].Lock = true
		for _, s := range calls[lock] {
			m.wrap(s, "if !"+mutated(id)+" { ", " }")
		}
	}
}
