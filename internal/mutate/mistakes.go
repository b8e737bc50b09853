package main

import (
	"go/ast"
	"go/token"
	"slices"
)

// The designs of the zoo share their code with mistakes, which a name chooses: a field, or a
// variable, called mutant, and a method called is that compares it. A change of what only a
// mistake runs is no mutant of a design, nor is one of what lists designs and says what they are.

// answer is what a condition comes to if no mistake is chosen.
type answer int

const (
	depends answer = iota // on more than that
	holds
	fails
)

// not is the answer of the opposite.
func (a answer) not() answer { return [...]answer{depends, fails, holds}[a] }

// unchosen is what an expression comes to if no mistake is chosen.
func unchosen(e ast.Expr) answer {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return unchosen(e.X)
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "is" && len(e.Args) == 1 {
			return fails
		}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return unchosen(e.X).not()
		}
	case *ast.BinaryExpr:
		x, y := unchosen(e.X), unchosen(e.Y)
		switch {
		case e.Op == token.EQL && names(e.X):
			return named(e.Y)
		case e.Op == token.NEQ && names(e.X):
			return named(e.Y).not()
		case e.Op == token.LAND && (x == fails || y == fails), e.Op == token.LOR && x == fails && y == fails:
			return fails
		case e.Op == token.LOR && (x == holds || y == holds), e.Op == token.LAND && x == holds && y == holds:
			return holds
		}
	}
	return depends
}

// names reports whether an expression is the name of the mistake that is chosen.
func names(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "mutant"
	case *ast.SelectorExpr:
		return e.Sel.Name == "mutant"
	}
	return false
}

// named is whether no mistake has the name that an expression is.
func named(e ast.Expr) answer {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Value == `""` {
		return holds
	}
	return fails
}

// span is a range of a file, but for some in it.
type span struct {
	start, end token.Pos
	but        []span
}

// holds reports whether a node is in the range.
func (s span) holds(n ast.Node) bool {
	return s.start <= n.Pos() && n.End() <= s.end &&
		!slices.ContainsFunc(s.but, func(b span) bool { return b.holds(n) })
}

// mistakes are the ranges of a file that no design is judged by: what decides on nothing but
// whether a mistake is chosen, what runs only then, and descriptions.
func mistakes(f *ast.File) (all []span) {
	add := func(n ast.Node) { all = append(all, span{start: n.Pos(), end: n.End()}) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			switch a := unchosen(n.Cond); {
			case a == fails:
				add(n.Body)
			case a == holds && n.Else != nil:
				add(n.Else)
			}
		case *ast.SwitchStmt:
			for _, c := range n.Body.List {
				if c := c.(*ast.CaseClause); chosenCase(n, c) {
					add(c)
				}
			}
		case *ast.FuncDecl:
			if n.Body != nil && describes(n.Type) {
				all = append(all, span{n.Body.Pos(), n.Body.End(), literals(n.Body)})
			}
		case ast.Expr:
			if unchosen(n) != depends {
				add(n)
			}
		}
		return true
	})
	return all
}

// describes reports whether a function returns designs, mutants or what describes them.
func describes(t *ast.FuncType) (yes bool) {
	if t.Results != nil {
		ast.Inspect(t.Results, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			yes = yes || ok && slices.Contains([]string{"Design", "Mutant", "Spec"}, sel.Sel.Name)
			return true
		})
	}
	return yes
}

// literals are the functions in a body.
func literals(body *ast.BlockStmt) (all []span) {
	ast.Inspect(body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		if ok {
			all = append(all, span{start: lit.Pos(), end: lit.End()})
		}
		return !ok
	})
	return all
}

// chosenCase reports whether only mistakes run a case of a switch.
func chosenCase(s *ast.SwitchStmt, c *ast.CaseClause) bool {
	for _, e := range c.List {
		if s.Tag == nil && unchosen(e) != fails || s.Tag != nil && (!names(s.Tag) || named(e) != fails) {
			return false
		}
	}
	return len(c.List) > 0
}
