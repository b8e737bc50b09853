package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// selectStmt rewrites a select to a switch, in which break, labels and the bodies mean the same:
//
//	switch c0_, c1_ := From(a), To(b).Case(x); Select(false, c0_, c1_) { case 0: v := c0_.Value(); ...
//
// What the cases evaluate goes to the header, in its order. A select without a default that ends a function is
// a terminating statement; so the switch has a default, which is never taken.
func (f *file) selectStmt(n *ast.SelectStmt) {
	if len(n.Body.List) == 0 {
		return
	}
	var cases []func() string
	hasDefault := false
	for _, s := range n.Body.List {
		clause := s.(*ast.CommClause)
		if clause.Comm == nil {
			hasDefault = true
			continue
		}
		cases = append(cases, f.clause(clause, len(cases)))
	}
	from, brace := f.offset(n.Select), f.offset(n.Body.Lbrace)
	f.call("")
	f.replace(from, brace, func() string {
		var names, values []string
		for i, c := range cases {
			names = append(names, fmt.Sprintf("c%d_", i))
			values = append(values, c())
		}
		all := strings.Join(append([]string{fmt.Sprint(hasDefault)}, names...), ", ")
		if len(cases) == 0 {
			return "switch " + f.call("Select(") + all + ") "
		}
		return fmt.Sprintf("switch %s := %s; %s%s) ",
			strings.Join(names, ", "), strings.Join(values, ", "), f.call("Select("), all)
	})
	if !hasDefault {
		f.open(f.offset(n.Body.Rbrace), `; default: panic("unreachable") `)
	}
}

// clause rewrites case v := <-a, and returns what makes the case.
func (f *file) clause(n *ast.CommClause, i int) func() string {
	comm := n.Comm
	from, to := f.offset(comm.Pos()), f.offset(comm.End())
	colon := f.offset(n.Colon)
	take := func() string { return "" }
	var make func() string
	switch comm := comm.(type) {
	case *ast.SendStmt:
		f.done[comm] = true
		make = func() string { return f.call("To(") + f.of(comm.Chan) + ").Case(" + f.of(comm.Value) + ")" }
	case *ast.ExprStmt:
		make = f.from(comm.X)
	case *ast.AssignStmt:
		f.done[comm] = true
		make = f.from(comm.Rhs[0])
		value := ".Value(); "
		if len(comm.Lhs) == 2 {
			value = ".Value2(); "
		}
		take = func() string {
			var left []string
			for _, x := range comm.Lhs {
				left = append(left, f.of(x))
			}
			return fmt.Sprintf(" %s %s c%d_%s", strings.Join(left, ", "), comm.Tok, i, value)
		}
	}
	f.replace(from, to, func() string { return fmt.Sprint(i) })
	f.replace(colon, colon+1, func() string {
		made, taken := make(), take()
		return ":" + taken + f.lines(from, colon, made+taken) // what moved took its line ends along
	})
	return make
}

// from returns what makes the case that receives.
func (f *file) from(x ast.Expr) func() string {
	n, ok := ast.Unparen(x).(*ast.UnaryExpr)
	if !ok || n.Op != token.ARROW {
		return func() string { return "" }
	}
	f.done[n] = true
	return func() string { return f.call("From(") + f.of(n.X) + ")" }
}
