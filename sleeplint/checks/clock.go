package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// Clock reports misuse of clocks.
var Clock = &analysis.Analyzer{
	Name: "clocktest",
	Doc: `report contexts that do not run on their clock, and Advance in a loop

clockwork.WithTimeout and clockwork.WithDeadline know clockwork's own fake clock by its type
and run on real time with any other. They are reported where the clock is of another type,
and for the interface where the package uses fakeclock. Those of package clockctx take
the same arguments and run on any clock.

Advance of fakeclock.Clock visits each deadline on its way, so a loop of nothing but
Advance is one Advance.`,
	URL:      traps,
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      runClock,
}

const clockwork = "github.com/jonboulle/clockwork"

func runClock(pass *analysis.Pass) (any, error) {
	knows := usesFakeclock(pass)
	elsewhere := 0 // go statements around
	in := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	in.Nodes([]ast.Node{
		(*ast.CallExpr)(nil), (*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.GoStmt)(nil),
	}, func(n ast.Node, push bool) bool {
		if _, ok := n.(*ast.GoStmt); ok { // who advances on another goroutine means to do it so
			if push {
				elsewhere++
			} else {
				elsewhere--
			}
		}
		if !push {
			return true
		}
		switch n := n.(type) {
		case *ast.CallExpr:
			name := callee(pass, n)
			if name == clockwork+".WithTimeout" || name == clockwork+".WithDeadline" {
				checkContext(pass, n, knows)
			}
		case *ast.ForStmt:
			if elsewhere == 0 && n.Cond != nil && !asks(pass, n.Cond) {
				checkLoop(pass, n.Body)
			}
		case *ast.RangeStmt:
			if elsewhere == 0 {
				checkLoop(pass, n.Body)
			}
		}
		return true
	})
	return nil, nil
}

// usesFakeclock reports whether the package imports fakeclock.
func usesFakeclock(pass *analysis.Pass) bool {
	for _, p := range pass.Pkg.Imports() {
		if p.Path() == escapement+"/fakeclock" {
			return true
		}
	}
	return false
}

// checkContext looks at a call of clockwork's functions for contexts.
func checkContext(pass *analysis.Pass, call *ast.CallExpr, knows bool) {
	if len(call.Args) < 2 {
		return
	}
	t := pass.TypesInfo.TypeOf(call.Args[1])
	if types.TypeString(t, nil) == "*"+clockwork+".FakeClock" || types.IsInterface(t) && !knows {
		return
	}
	d := analysis.Diagnostic{
		Category: "context",
		Message:  "this context runs on real time with any fake clock but clockwork's own; use clockctx: " + traps,
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if file := fileOf(pass, call); ok && knows {
		name, edits := imported(file, escapement+"/fakeclock/clockctx")
		edits = append(edits, analysis.TextEdit{Pos: sel.X.Pos(), End: sel.X.End(), NewText: []byte(name)})
		if !usedElsewhere(pass, file, sel) {
			edits = nil // the import of clockwork would have to go too
		}
		if edits != nil {
			d.SuggestedFixes = []analysis.SuggestedFix{{Message: "Use clockctx." + sel.Sel.Name, TextEdits: edits}}
		}
	}
	report(pass, call, d)
}

// usedElsewhere reports whether the file uses the package of sel beyond contexts, so that
// its import stays in use.
func usedElsewhere(pass *analysis.Pass, file *ast.File, sel *ast.SelectorExpr) bool {
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return false
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok || s.Sel.Name == "WithTimeout" || s.Sel.Name == "WithDeadline" {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && pass.TypesInfo.Uses[x] == pass.TypesInfo.Uses[id] {
			found = true
		}
		return true
	})
	return found
}

// checkLoop reports a loop whose body is one Advance by what does not change.
func checkLoop(pass *analysis.Pass, body *ast.BlockStmt) {
	if len(body.List) != 1 {
		return
	}
	call, ok := called(body.List[0])
	if ok && callee(pass, call) == "(*"+escapement+"/fakeclock.Clock).Advance" &&
		pass.TypesInfo.Types[call.Args[0]].Value != nil {
		report(pass, call, analysis.Diagnostic{
			Category: "advance",
			Message: "Advance in a loop: one Advance stops at each deadline on its way; " +
				"where goroutines arm timers, give the clock WithSettle: " + traps,
		})
	}
}
