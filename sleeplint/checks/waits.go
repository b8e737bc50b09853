package checks

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// isConcurrent reports whether anything runs beside the test.
func (r *reach) isConcurrent() bool {
	found := false
	for _, d := range r.bodies {
		ast.Inspect(d.Body, func(n ast.Node) bool {
			found = found || n != nil && isElsewhere(r.pass, n)
			return !found
		})
	}
	return found
}

// isElsewhere reports whether n starts something on another goroutine.
func isElsewhere(pass *analysis.Pass, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		name := callee(pass, n)
		return name == "time.AfterFunc" || name == "context.AfterFunc"
	}
	return false
}

// here visits what runs on the goroutine of n.
func (r *reach) here(n ast.Node, visit func(ast.Node) bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		return n != nil && !isElsewhere(r.pass, n) && visit(n)
	})
}

// loopsWait reports whether no loop that nobody counts asks until something has happened,
// without a wait in it: while a goroutine is busy, the time of its bubble stands still. In
// the package under test these are the loops that ask for the time, or for an atomic.
func (r *reach) loopsWait(d *ast.FuncDecl) bool {
	wait := true
	inTest := inTestFile(r.pass, d.Pos())
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if n != nil && isOpen(r.pass, n) && (inTest || r.asksTime(n)) {
			wait = wait && r.waits(n, map[*ast.FuncDecl]bool{})
		}
		return wait
	})
	return wait
}

// asksTime reports whether n names the time or an atomic.
func (r *reach) asksTime(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if fn, ok := r.pass.TypesInfo.Uses[id].(*types.Func); ok && fn.Pkg() != nil {
				path := fn.Pkg().Path()
				found = found || path == "time" || path == "sync/atomic"
			}
		}
		return !found
	})
	return found
}

// isOpen reports whether n is a loop whose end is not in its head.
func isOpen(pass *analysis.Pass, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ForStmt:
		return n.Cond == nil || n.Post == nil
	case *ast.RangeStmt:
		switch pass.TypesInfo.TypeOf(n.X).Underlying().(type) {
		case *types.Chan, *types.Signature:
			return true
		}
	}
	return false
}

// goroutinesEnd reports whether the goroutines that d starts come to an end by themselves:
// they have no loop that nobody counts, and those of the package under test wait for no
// channel.
func (r *reach) goroutinesEnd(d *ast.FuncDecl) bool {
	end := true
	inTest := inTestFile(r.pass, d.Pos())
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			end = end && r.ends(g.Call, inTest, map[*ast.FuncDecl]bool{})
		}
		return end
	})
	return end
}

func (r *reach) ends(n ast.Node, mayReceive bool, seen map[*ast.FuncDecl]bool) bool {
	end := true
	ast.Inspect(n, func(n ast.Node) bool {
		if n != nil && (isOpen(r.pass, n) || !mayReceive && isCommunication(r.pass, n)) {
			end = false
		}
		return end
	})
	for _, d := range r.uses(n) {
		if d != nil && !seen[d] {
			seen[d] = true
			end = end && r.ends(d.Body, mayReceive && inTestFile(r.pass, d.Pos()), seen)
		}
	}
	return end
}

// isCommunication reports whether n waits for another goroutine.
func isCommunication(pass *analysis.Pass, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SendStmt, *ast.SelectStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.CallExpr:
		name := callee(pass, n)
		return name == "(*sync.WaitGroup).Wait" || name == "(*sync.Cond).Wait"
	}
	return false
}

// waits reports whether n, or what it calls, waits for time or for others.
func (r *reach) waits(n ast.Node, seen map[*ast.FuncDecl]bool) bool {
	found := false
	r.here(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			found = found || callee(r.pass, call) == "time.Sleep"
		}
		found = found || isCommunication(r.pass, n)
		return !found
	})
	for _, d := range r.usesOf(n, r.here) {
		if !found && d != nil && !seen[d] {
			seen[d] = true
			found = r.waits(d.Body, seen)
		}
	}
	return found
}

var locks = map[string]bool{
	"(*sync.Mutex).Lock": true, "(*sync.RWMutex).Lock": true, "(*sync.RWMutex).RLock": true,
	"(sync.Locker).Lock": true, "(*sync.Once).Do": true,
}

// waitsLocked reports whether d may wait after it has locked something: another goroutine
// that waits for the lock keeps time from moving. A function that is a value may be any of
// those that are written where the test can reach.
func (r *reach) waitsLocked(d *ast.FuncDecl) bool {
	locked := token.NoPos
	r.here(d.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !locked.IsValid() && locks[callee(r.pass, call)] {
			locked = call.Pos()
		}
		return true
	})
	if !locked.IsValid() {
		return false
	}
	for _, stmt := range d.Body.List {
		if stmt.End() > locked && (r.waits(stmt, map[*ast.FuncDecl]bool{}) || r.callsValue(stmt) && r.valuesWait()) {
			return true
		}
	}
	return false
}

// callsValue reports whether n calls a function that is a value.
func (r *reach) callsValue(n ast.Node) bool {
	found := false
	r.here(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, isVar := typeutil.Callee(r.pass.TypesInfo, call).(*types.Var)
			found = found || isVar
		}
		return !found
	})
	return found
}

// valuesWait reports whether a function that may be a value waits.
func (r *reach) valuesWait() bool {
	found := false
	for _, d := range r.bodies {
		ast.Inspect(d.Body, func(n ast.Node) bool { // on any goroutine
			if lit, ok := n.(*ast.FuncLit); ok {
				found = found || r.waits(lit.Body, map[*ast.FuncDecl]bool{})
			}
			return !found
		})
		if d != r.bodies[0] && d.Recv == nil && inTestFile(r.pass, d.Pos()) {
			found = found || r.waits(d.Body, map[*ast.FuncDecl]bool{})
		}
	}
	return found
}
