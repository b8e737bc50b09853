package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
)

// lasting reports whether n leaves a goroutine behind that it does not end: a bubble waits
// for all of its goroutines.
func (g *graph) lasting(n *node) bool {
	if n.lasts == nil {
		n.lasts = new(bool) // what calls itself adds nothing to that
		for _, part := range n.parts {
			if g.leaves(n, part) {
				*n.lasts = true
				break
			}
		}
	}
	return *n.lasts
}

// leaves reports whether a statement of a body starts what lasts, and no statement closes
// any of the variables that it names.
func (g *graph) leaves(n *node, body ast.Node) bool {
	closed := g.closed(body)
	return anyOf(body, func(s ast.Node) bool {
		return isLeaf(s) && g.starts(n, s) && !anyOf(s, func(m ast.Node) bool {
			id, ok := m.(*ast.Ident)
			return ok && closed[g.pass.TypesInfo.ObjectOf(id)]
		})
	})
}

// isLeaf reports whether n is a statement that consists of expressions.
func isLeaf(n ast.Node) bool {
	switch n.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.GoStmt, *ast.DeferStmt, *ast.ReturnStmt, *ast.DeclStmt, *ast.SendStmt:
		return true
	}
	return false
}

// starts reports whether a statement starts a goroutine of which it is not clear that it
// ends. Functions that are written in it have statements of their own.
func (g *graph) starts(n *node, stmt ast.Node) bool {
	found := false
	ast.Inspect(stmt, func(m ast.Node) bool {
		switch m := m.(type) {
		case *ast.GoStmt:
			found = found || !g.ends(n, m.Call)
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			nodes, foreign := g.targets(n, m)
			found = found || foreign != nil && foreign.Lasts
			for _, used := range nodes {
				found = found || used.decl != nil && g.lasting(used)
			}
		}
		return !found
	})
	return found
}

// ends reports whether a goroutine comes to an end by itself: it has no loop that nobody
// counts, and in the package under test waits for no channel.
func (g *graph) ends(n *node, call *ast.CallExpr) bool {
	made := &node{parts: []ast.Node{call}, inTest: n.inTest}
	return !g.reaches(made).Waits
}

// closers are the names of methods that end what lasts, or wait for its end.
var closers = regexp.MustCompile(`^(?i:close|stop|shutdown|release|cancel|terminate|kill|destroy|dispose|quit|wait)`)

// closed are the variables and fields of a body that it closes: by a method with such a name,
// by a call of what a function returned with them for that, by close, by a receive.
func (g *graph) closed(body ast.Node) map[types.Object]bool {
	all := map[types.Object]bool{}
	note := func(e ast.Expr) {
		switch e := ast.Unparen(e).(type) {
		case *ast.Ident:
			all[g.pass.TypesInfo.ObjectOf(e)] = true
		case *ast.SelectorExpr:
			all[g.pass.TypesInfo.ObjectOf(e.Sel)] = true
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.SelectorExpr:
			if _, ok := g.pass.TypesInfo.Uses[n.Sel].(*types.Func); ok && closers.MatchString(n.Sel.Name) {
				note(n.X)
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				note(n.X)
			}
		case *ast.CallExpr:
			g.closesBy(n, note)
		}
		return true
	})
	delete(all, nil)
	ast.Inspect(body, func(n ast.Node) bool { // ctx, cancel :=
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) > 1 && g.anyIn(assign.Lhs, all) {
			for _, e := range assign.Lhs {
				note(e)
			}
		}
		return true
	})
	delete(all, nil)
	return all
}

// closesBy notes what a call closes: its argument, or itself.
func (g *graph) closesBy(call *ast.CallExpr, note func(ast.Expr)) {
	id, ok := call.Fun.(*ast.Ident)
	switch name := callee(g.pass, call); {
	case name == "(*testing.common).Cleanup" || name == "(testing.TB).Cleanup":
		note(call.Args[0])
	case !ok:
	case g.pass.TypesInfo.Types[id].IsBuiltin():
		if id.Name == "close" {
			note(call.Args[0])
		}
	case len(call.Args) == 0:
		if _, isVar := g.pass.TypesInfo.Uses[id].(*types.Var); isVar {
			note(id)
		}
	}
}

func (g *graph) anyIn(list []ast.Expr, set map[types.Object]bool) bool {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok && set[g.pass.TypesInfo.ObjectOf(id)] {
			return true
		}
	}
	return false
}
