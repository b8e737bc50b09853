package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// place is where a statement of a test runs.
type place struct {
	test   *ast.FuncDecl // what it is part of
	bubble bool          // in a bubble, or in a function that may be called from one
	t      types.Object  // the bubble's T, where it is certain that this is one
	body   ast.Node      // what runs in the bubble then
	loops  []ast.Stmt    // loops around it in the same function, the innermost last
	next   ast.Stmt      // the statement after it, if any
}

// bubbles are the functions that run one in a bubble, with the number of its parameter.
var bubbles = map[string]int{
	"testing/synctest.Test":                          1,
	"testing/synctest.Run":                           0,
	"pgregory.net/rapid.SyncTest":                    1,
	escapement + "/synctestcompat.Run":               1,
	escapement + "/synctestcompat/rapidbubble.Check": 1,
}

// settling are the functions that work in bubbles only: whoever calls one is in a bubble.
var settling = map[string]bool{
	"testing/synctest.Wait":              true,
	"testing/synctest.Sleep":             true,
	escapement + "/synctestcompat.Wait":  true,
	escapement + "/synctestcompat.Sleep": true,
}

// subtests are functions that call their last argument as part of the test.
var subtests = map[string]bool{
	"(*testing.T).Run":                               true,
	"pgregory.net/rapid.Check":                       true,
	"(*github.com/stretchr/testify/suite.Suite).Run": true,
}

// walker visits the statements that tests run on their own goroutine.
type walker struct {
	pass    *analysis.Pass
	bubbled map[types.Object]bool // functions of the package that a bubble calls, or may
	started map[types.Object]bool // functions of the package that a go statement calls
	visit   func(stmt ast.Stmt, at place)
}

// tests visits the statements of all tests of the package, and of the helpers that are
// handed a T.
func tests(pass *analysis.Pass, visit func(stmt ast.Stmt, at place)) {
	w := &walker{pass, map[types.Object]bool{}, map[types.Object]bool{}, visit}
	for grown := true; grown; { // until no function is added
		before := len(w.bubbled)
		for _, f := range w.functions() {
			w.findBubbles(f)
		}
		grown = len(w.bubbled) > before
	}
	for _, f := range w.functions() {
		self := pass.TypesInfo.Defs[f.Name]
		if isTest(pass, f) && !w.started[self] && !asksRuntime(pass, f) {
			w.block(f.Body.List, place{test: f, bubble: w.bubbled[self]})
		}
	}
}

// functions are those of test files.
func (w *walker) functions() (all []*ast.FuncDecl) {
	for _, file := range w.pass.Files {
		if !inTestFile(w.pass, file.Pos()) || ast.IsGenerated(file) {
			continue
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				all = append(all, f)
			}
		}
	}
	return all
}

func inTestFile(pass *analysis.Pass, pos token.Pos) bool {
	return strings.HasSuffix(pass.Fset.File(pos).Name(), "_test.go")
}

// isTest reports whether f is a test, a method of a suite that is one, or is handed a T.
func isTest(pass *analysis.Pass, f *ast.FuncDecl) bool {
	if f.Recv != nil && strings.HasPrefix(f.Name.Name, "Test") && f.Type.Params.NumFields() == 0 {
		return true
	}
	for _, param := range f.Type.Params.List {
		switch types.TypeString(pass.TypesInfo.TypeOf(param.Type), nil) {
		case "*testing.T", "testing.TB":
			return true
		}
	}
	return false
}

// asksRuntime reports whether f waits for what no clock and no bubble brings about: the
// garbage collector, or the state of goroutines.
func asksRuntime(pass *analysis.Pass, f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch callee(pass, call) {
			case "runtime.GC", "runtime.Stack", "runtime.NumGoroutine":
				found = true
			}
		}
		return !found
	})
	return found
}

// findBubbles notes the functions of the package that f hands to a bubble, or calls in
// one, and f itself if it is one by what it calls.
func (w *walker) findBubbles(f *ast.FuncDecl) {
	self := w.pass.TypesInfo.Defs[f.Name]
	mark := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			if fn, ok := w.pass.TypesInfo.Uses[id].(*types.Func); ok {
				w.bubbled[fn] = true
			}
		}
	}
	var look func(n ast.Node, inside bool)
	look = func(n ast.Node, inside bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				if id, ok := g.Call.Fun.(*ast.Ident); ok {
					w.started[w.pass.TypesInfo.Uses[id]] = true
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			name := w.callee(call)
			if settling[name] && !inside {
				w.bubbled[self] = true
			}
			if inside {
				mark(call.Fun)
				if sel, ok := call.Fun.(*ast.SelectorExpr); ok {
					mark(sel.Sel)
				}
			}
			i, ok := bubbles[name]
			if !ok || i >= len(call.Args) {
				return true
			}
			mark(call.Args[i])
			look(call.Args[i], true)
			return false
		})
	}
	look(f.Body, w.bubbled[self])
}

// callee is the full name of the function that is called, if it is known.
func (w *walker) callee(call *ast.CallExpr) string { return callee(w.pass, call) }

func callee(pass *analysis.Pass, call *ast.CallExpr) string {
	if f, ok := typeutil.Callee(pass.TypesInfo, call).(*types.Func); ok {
		return f.FullName()
	}
	return ""
}

func (w *walker) block(list []ast.Stmt, at place) {
	for i, stmt := range list {
		at.next = nil
		if i+1 < len(list) {
			at.next = list[i+1]
		}
		w.stmt(stmt, at)
	}
}

// stmt visits one statement and, below it, whatever the test's goroutine runs.
func (w *walker) stmt(stmt ast.Stmt, at place) {
	w.visit(stmt, at)
	switch s := stmt.(type) {
	case *ast.BlockStmt:
		w.block(s.List, at)
	case *ast.IfStmt:
		if s.Init != nil {
			w.calls(s.Init, at)
		}
		w.calls(s.Cond, at)
		w.block(s.Body.List, at)
		if s.Else != nil {
			w.stmt(s.Else, at)
		}
	case *ast.ForStmt:
		w.block(s.Body.List, at.within(s))
	case *ast.RangeStmt:
		w.block(s.Body.List, at.within(s))
	case *ast.SwitchStmt:
		w.clauses(s.Body, at)
	case *ast.TypeSwitchStmt:
		w.clauses(s.Body, at)
	case *ast.SelectStmt:
		w.clauses(s.Body, at)
	case *ast.LabeledStmt:
		w.stmt(s.Stmt, at)
	case *ast.GoStmt:
		// another goroutine
	default:
		w.calls(s, at)
	}
}

func (at place) within(loop ast.Stmt) place {
	at.loops = append(at.loops[:len(at.loops):len(at.loops)], loop)
	return at
}

func (w *walker) clauses(body *ast.BlockStmt, at place) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			w.block(c.Body, at)
		case *ast.CommClause:
			w.block(c.Body, at)
		}
	}
}

// calls goes into the functions that n calls as part of the test: subtests, bubbles, and
// literals that are called where they stand.
func (w *walker) calls(n ast.Node, at place) {
	at.loops, at.next = nil, nil
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			name := w.callee(n)
			if i, ok := bubbles[name]; ok && i < len(n.Args) {
				inside := at
				inside.bubble = true
				if lit, ok := ast.Unparen(n.Args[i]).(*ast.FuncLit); ok {
					inside.t, inside.body = w.firstParam(lit.Type), lit.Body
				}
				w.literal(n.Args[i], inside)
			} else if subtests[name] && len(n.Args) > 0 {
				w.literal(n.Args[len(n.Args)-1], at)
			}
			w.literal(n.Fun, at)
		}
		return true
	})
}

func (w *walker) firstParam(f *ast.FuncType) types.Object {
	if f.Params.NumFields() == 0 || len(f.Params.List[0].Names) == 0 {
		return nil
	}
	return w.pass.TypesInfo.Defs[f.Params.List[0].Names[0]]
}

func (w *walker) literal(e ast.Expr, at place) {
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		w.block(lit.Body.List, at)
	}
}

// called is the call that a statement consists of.
func called(stmt ast.Stmt) (*ast.CallExpr, bool) {
	s, ok := stmt.(*ast.ExprStmt)
	if !ok {
		return nil, false
	}
	call, ok := ast.Unparen(s.X).(*ast.CallExpr)
	return call, ok
}

var accepted = regexp.MustCompile(`^//(sleeplint:ok\s+\S|nolint:(\w+,)*sleeplint\b)`)

// report reports what is found at n, unless a comment accepts it.
func report(pass *analysis.Pass, n ast.Node, d analysis.Diagnostic) {
	line := pass.Fset.Position(n.Pos()).Line
	for _, group := range fileOf(pass, n).Comments {
		for _, c := range group.List {
			at := pass.Fset.Position(c.Pos()).Line
			if (at == line || at == line-1) && accepted.MatchString(c.Text) {
				return
			}
		}
	}
	d.Pos, d.End = n.Pos(), n.End()
	pass.Report(d)
}
