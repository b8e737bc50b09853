package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// Bubble reports what goes wrong inside a bubble.
var Bubble = &analysis.Analyzer{
	Name: "bubbletest",
	Doc: `report what goes wrong inside a bubble of testing/synctest

T.Run, T.Parallel and T.Deadline panic in a bubble: subtests are to be outside, each with a
bubble of its own. And a sleeper wakes at the same instant as the timers that are due then,
in random order with them, so an assertion right after a sleep sees their effects or not:
synctest.Wait is to be between the two. That is reported where something else in the bubble
is given the same duration.`,
	URL:      traps,
	Requires: []*analysis.Analyzer{reaching},
	Run:      runBubble,
}

// panics are the methods of the bubble's T that it refuses.
var panics = map[string]string{
	"(*testing.T).Run":      "Run",
	"(*testing.T).Parallel": "Parallel",
	"(*testing.T).Deadline": "Deadline",
}

func runBubble(pass *analysis.Pass) (any, error) {
	g, release := shared(pass)
	defer release()
	tests(g, func(stmt ast.Stmt, at place) {
		if at.t == nil {
			return
		}
		call, ok := called(stmt)
		if !ok {
			return
		}
		name := callee(pass, call)
		if method := panics[name]; method != "" && isCallOn(pass, call, at.t) {
			report(pass, call, analysis.Diagnostic{
				Category: "panics",
				Message:  "T." + method + " panics in a bubble; subtests outside, a bubble in each: " + traps,
			})
		}
		if name == "time.Sleep" && asserts(pass, at.next) && !usesTime(pass, at.next) &&
			coincides(pass, at.body, call.Args[0]) {
			d := analysis.Diagnostic{
				Category: "wait",
				Message: "what is due when the sleep ends may not have happened yet; " +
					"call synctest.Wait before it is checked: " + traps,
			}
			if settle := settler(pass, stmt); settle != "" {
				d.SuggestedFixes = []analysis.SuggestedFix{{
					Message:   "Wait after the sleep",
					TextEdits: []analysis.TextEdit{{Pos: stmt.End(), End: stmt.End(), NewText: []byte("\n" + settle)}},
				}}
			}
			report(pass, call, d)
		}
	})
	return nil, nil
}

// isCallOn reports whether call is one of a method of v.
func isCallOn(pass *analysis.Pass, call *ast.CallExpr, v types.Object) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && pass.TypesInfo.Uses[id] == v
}

// usesTime reports whether an assertion is about the time itself, which needs no Wait.
func usesTime(pass *analysis.Pass, stmt ast.Stmt) bool {
	found := false
	ast.Inspect(stmt, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			f, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func)
			found = found || ok && f.Pkg() != nil && f.Pkg().Path() == "time"
		}
		return !found
	})
	return found
}

// coincides reports whether something in a bubble is given the duration of a sleep, so that
// both may end at one instant. Who sleeps for longer than all others needs no Wait.
func coincides(pass *analysis.Pass, bubble ast.Node, d ast.Expr) bool {
	slept := pass.TypesInfo.Types[d].Value
	found := false
	ast.Inspect(bubble, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || pass.TypesInfo.Types[call.Fun].IsType() {
			return !found
		}
		name := callee(pass, call)
		if name == "time.Sleep" || settling[name] || fails[name] || strings.Contains(name, "/testify/") {
			return !found
		}
		for _, arg := range call.Args {
			v := pass.TypesInfo.Types[arg]
			if types.TypeString(v.Type, nil) != "time.Duration" {
				continue
			}
			if slept != nil && v.Value != nil {
				found = found || constant.Compare(slept, token.EQL, v.Value)
			} else if slept == nil && v.Value == nil {
				found = found || types.ExprString(arg) == types.ExprString(d)
			}
		}
		return !found
	})
	return found
}

// settler is the call that waits, by the package that the file has the bubble from.
func settler(pass *analysis.Pass, stmt ast.Stmt) string {
	file := fileOf(pass, stmt)
	for _, path := range []string{synctest, escapement + "/synctestcompat"} {
		if name, missing := imported(file, path); missing == nil {
			return name + ".Wait()"
		}
	}
	return ""
}

// asserts reports whether a statement is an assertion: one of testify, or an if that does
// nothing but fail the test.
func asserts(pass *analysis.Pass, stmt ast.Stmt) bool {
	if call, ok := called(stmt); ok {
		name := callee(pass, call)
		return strings.Contains(name, "github.com/stretchr/testify/assert.") ||
			strings.Contains(name, "github.com/stretchr/testify/require.")
	}
	branch, ok := stmt.(*ast.IfStmt)
	if !ok || branch.Else != nil || branch.Init != nil && isOperation(branch.Init) {
		return false
	}
	for _, s := range branch.Body.List {
		call, ok := called(s)
		if !ok || !fails[callee(pass, call)] {
			return false
		}
	}
	return len(branch.Body.List) > 0
}

// isOperation reports whether what an if begins with gives an error to look at: that is
// something the test does, and not something that it sees.
func isOperation(init ast.Stmt) bool {
	assign, ok := init.(*ast.AssignStmt)
	if !ok {
		return true
	}
	id, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident)
	return ok && id.Name == "err"
}

var fails = map[string]bool{
	"(*testing.common).Error": true, "(*testing.common).Errorf": true,
	"(*testing.common).Fatal": true, "(*testing.common).Fatalf": true,
	"(*testing.common).Fail": true, "(*testing.common).FailNow": true,
}
