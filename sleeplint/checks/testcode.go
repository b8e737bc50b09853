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
	root   *node        // the declaration that it is part of
	unit   unit         // the test or subtest that it is part of
	bubble bool         // in a bubble, or in a function that may be called from one
	t      types.Object // the bubble's T, where it is certain that this is one
	body   ast.Node     // what runs in the bubble then
	loops  []ast.Stmt   // loops around it in the same function, the innermost last
	next   ast.Stmt     // the statement after it, if any
}

// unit is a function that the testing package calls with a T.
type unit struct {
	params *ast.FieldList
	body   *ast.BlockStmt
}

// settling are the functions that work in bubbles only: whoever calls one is in a bubble.
var settling = map[string]bool{
	"testing/synctest.Wait":              true,
	"testing/synctest.Sleep":             true,
	escapement + "/synctestcompat.Wait":  true,
	escapement + "/synctestcompat.Sleep": true,
}

// walker visits the statements that tests run on their own goroutine.
type walker struct {
	*graph
	bubbled map[types.Object]bool // functions of the package that a bubble calls, or may
	started map[types.Object]bool // functions of the package that a go statement calls
	values  map[types.Object][]*ast.FuncLit
	seen    map[ast.Node]bool    // calls, and bodies of functions
	called  map[types.Object]int // how often tests call a function
	visit   func(stmt ast.Stmt, at place)
}

// tests visits the statements of all tests of the package, of the helpers that are handed a
// T, and of those that only they call.
func tests(g *graph, visit func(stmt ast.Stmt, at place)) {
	w := newWalker(g, visit)
	for grown := true; grown; { // until no function is added
		before := len(w.bubbled)
		for _, f := range w.functions() {
			w.findBubbles(f)
		}
		grown = len(w.bubbled) > before
	}
	for _, spec := range w.specs() { // trees of ginkgo
		w.calls(spec, place{root: &node{parts: []ast.Node{spec}, inTest: true}})
	}
	uses := map[types.Object]int{}
	for _, obj := range g.pass.TypesInfo.Uses {
		uses[obj]++
	}
	for grown := true; grown; { // until no helper is added
		before := len(w.seen)
		for _, f := range w.functions() {
			self := g.pass.TypesInfo.Defs[f.Name]
			if isTest(g.pass, f) || uses[self] > 0 && w.called[self] == uses[self] {
				w.function(f, self)
			}
		}
		grown = len(w.seen) > before
	}
}

func newWalker(g *graph, visit func(stmt ast.Stmt, at place)) *walker {
	return &walker{
		graph: g, bubbled: map[types.Object]bool{}, started: map[types.Object]bool{}, values: g.readValues(),
		seen: map[ast.Node]bool{}, called: map[types.Object]int{}, visit: visit,
	}
}

// function visits a function, unless it is of another goroutine or waits for the runtime.
func (w *walker) function(f *ast.FuncDecl, self types.Object) {
	if w.started[self] || w.seen[f.Body] || waitsForRuntime(w.pass, f) {
		return
	}
	w.seen[f.Body] = true
	at := place{root: w.nodes[self], bubble: w.bubbled[self]}
	if f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
		at.unit = unit{f.Type.Params, f.Body}
	}
	w.block(f.Body.List, at)
}

// specs are the values of variables of test files.
func (w *walker) specs() (all []ast.Expr) {
	for _, file := range w.pass.Files {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.VAR || !inTestFile(w.pass, file.Pos()) {
				continue
			}
			for _, spec := range d.Specs {
				all = append(all, spec.(*ast.ValueSpec).Values...)
			}
		}
	}
	return all
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

// ofSuite are the methods without a parameter that suites are run by.
var ofSuite = regexp.MustCompile(`^(Test|Set[Uu]p|TearDown)`)

// isTest reports whether f is a test, a method of a suite that is one, or is handed a T.
func isTest(pass *analysis.Pass, f *ast.FuncDecl) bool {
	if f.Recv != nil && ofSuite.MatchString(f.Name.Name) && f.Type.Params.NumFields() == 0 {
		return true
	}
	return takesT(pass, f.Type)
}

// takesT reports whether a function is handed a T.
func takesT(pass *analysis.Pass, f *ast.FuncType) bool {
	for _, param := range f.Params.List {
		switch types.TypeString(pass.TypesInfo.TypeOf(param.Type), nil) {
		case "*testing.T", "testing.TB":
			return true
		}
	}
	return false
}

// waitsForRuntime reports whether f waits for what no clock and no bubble brings about: the
// garbage collector, or the state of goroutines.
func waitsForRuntime(pass *analysis.Pass, f *ast.FuncDecl) bool {
	return anyOf(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		switch callee(pass, call) {
		case "runtime.GC", "runtime.Stack", "runtime.NumGoroutine":
			return true
		}
		return false
	})
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
			for i, arg := range call.Args {
				if w.argMode(call, i) == inBubble {
					mark(arg)
					look(arg, true)
				} else {
					look(arg, inside)
				}
			}
			look(call.Fun, inside)
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
		w.parts(at, s.Init)
		w.expr(s.Cond, at)
		if !stopsTimer(w.pass, s.Cond) { // or its body drains the channel
			w.block(s.Body.List, at)
		}
		if s.Else != nil {
			w.stmt(s.Else, at)
		}
	case *ast.ForStmt:
		w.parts(at, s.Init, s.Post)
		w.expr(s.Cond, at)
		w.block(s.Body.List, at.within(s))
	case *ast.RangeStmt:
		w.expr(s.X, at)
		w.block(s.Body.List, at.within(s))
	case *ast.SwitchStmt:
		w.parts(at, s.Init)
		w.expr(s.Tag, at)
		w.clauses(s.Body, at)
	case *ast.TypeSwitchStmt:
		w.parts(at, s.Init, s.Assign)
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

// stopsTimer reports whether a condition asks if a timer has been stopped in time.
func stopsTimer(pass *analysis.Pass, cond ast.Expr) bool {
	return anyOf(cond, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && callee(pass, call) == "(*time.Timer).Stop"
	})
}

func (at place) within(loop ast.Stmt) place {
	at.loops = append(at.loops[:len(at.loops):len(at.loops)], loop)
	return at
}

func (w *walker) parts(at place, stmts ...ast.Stmt) {
	for _, s := range stmts {
		if s != nil {
			w.calls(s, at)
		}
	}
}

func (w *walker) expr(e ast.Expr, at place) {
	if e != nil {
		w.calls(e, at)
	}
}

func (w *walker) clauses(body *ast.BlockStmt, at place) {
	for _, c := range body.List {
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				w.expr(e, at)
			}
			w.block(c.Body, at)
		case *ast.CommClause:
			w.parts(at, c.Comm)
			w.block(c.Body, at)
		}
	}
}

// calls goes into the functions that n calls as part of the test: subtests, bubbles, what a
// helper calls while it is called itself, and literals that the test calls by a name.
// A function that is handed a T is part of the test in any case.
func (w *walker) calls(n ast.Node, at place) {
	at.loops, at.next = nil, nil
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if takesT(w.pass, n.Type) {
				w.literal(n, at, here)
			}
			return false
		case *ast.CallExpr:
			if w.seen[n] {
				return true
			}
			w.seen[n] = true
			if f, ok := typeutil.Callee(w.pass.TypesInfo, n).(*types.Func); ok {
				w.called[f.Origin()]++
			}
			w.literal(n.Fun, at, here)
			for i, arg := range n.Args {
				inside := at
				if w.callee(n) == "(*testing.T).Run" && i == 1 {
					inside.unit = unitOf(arg)
				}
				w.literal(arg, inside, w.argMode(n, i))
			}
		}
		return true
	})
}

func unitOf(e ast.Expr) unit {
	if lit, ok := ast.Unparen(e).(*ast.FuncLit); ok {
		return unit{lit.Type.Params, lit.Body}
	}
	return unit{}
}

func (w *walker) firstParam(f *ast.FuncType) types.Object {
	if f.Params.NumFields() == 0 || len(f.Params.List[0].Names) == 0 {
		return nil
	}
	return w.pass.TypesInfo.Defs[f.Params.List[0].Names[0]]
}

// literal visits a function that is written in place, or is the value of a variable or
// field, and that is run so.
func (w *walker) literal(e ast.Expr, at place, as mode) {
	if as == unknown {
		return
	}
	for _, lit := range w.literals(e) {
		if w.seen[lit.Body] {
			continue
		}
		w.seen[lit.Body] = true
		if as == inBubble {
			at.bubble, at.t, at.body = true, w.firstParam(lit.Type), lit.Body
		}
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
