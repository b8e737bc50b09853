package checks

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// any reports whether something in n, or n, is so.
func anyOf(n ast.Node, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		found = found || n != nil && is(n)
		return !found
	})
	return found
}

// isConcurrent reports whether anything in n runs beside the test.
func (g *graph) isConcurrent(n ast.Node) bool {
	return anyOf(n, func(n ast.Node) bool { return isElsewhere(g.pass, n) })
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
func (g *graph) here(n ast.Node, visit func(ast.Node) bool) {
	inspectWaiting(n, func(n ast.Node) bool { return !isElsewhere(g.pass, n) && visit(n) })
}

// ownsItsState reports whether n uses no variable of a package that outlives the bubble and
// may hold a channel or a timer.
func (g *graph) ownsItsState(n ast.Node) bool {
	return !anyOf(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		v, ok := g.pass.TypesInfo.Uses[id].(*types.Var)
		return ok && isGlobal(v) && !g.isStandard(v.Pkg().Path()) && !isPlain(v.Type())
	})
}

// harmless are types of the standard library that hold neither channels nor timers.
var harmless = regexp.MustCompile(`^(error$|time\.Time$|\*?(reflect|regexp|text/|html/|math/|log\.|log/|encoding/` +
	`|crypto/|hash|unicode|embed|net/url|net/netip|sync/atomic\.(Bool|Int|Uint)|sync\.(RW)?Mutex))`)

// isPlain reports whether a value of this type has nothing in it that belongs to a bubble.
func isPlain(t types.Type) bool {
	if harmless.MatchString(types.TypeString(t, nil)) {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Basic, *types.Signature:
		return true
	case *types.Slice:
		return isPlain(t.Elem())
	case *types.Array:
		return isPlain(t.Elem())
	case *types.Map:
		return isPlain(t.Key()) && isPlain(t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			if !isPlain(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

// loopsWait reports whether no loop that nobody counts asks until something has happened,
// without a wait in it: while a goroutine is busy, the time of its bubble stands still. In
// the package under test these are the loops that ask for the time, or for an atomic.
func (g *graph) loopsWait(n ast.Node, inTest bool) bool {
	return !anyOf(n, func(n ast.Node) bool {
		return isOpen(g.pass, n) && (inTest || g.asksTime(n)) && !g.waits(n, map[*node]bool{})
	})
}

// asksTime reports whether n asks for the time, or loads an atomic.
func (g *graph) asksTime(n ast.Node) bool {
	return anyOf(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		fn, ok := g.pass.TypesInfo.Uses[id].(*types.Func)
		if !ok || fn.Pkg() == nil {
			return false
		}
		switch fn.FullName() {
		case "time.Now", "time.Since", "time.Until":
			return true
		}
		return fn.Pkg().Path() == "sync/atomic"
	})
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

func (g *graph) hasOpenLoop(n ast.Node) bool {
	return anyOf(n, func(n ast.Node) bool { return isOpen(g.pass, n) })
}

func (g *graph) communicates(n ast.Node) bool {
	found := false
	inspectWaiting(n, func(n ast.Node) bool {
		found = found || isCommunication(g.pass, n)
		return !found
	})
	return found
}

// inspectWaiting visits n but the communications of a select that has a default.
func inspectWaiting(n ast.Node, visit func(ast.Node) bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectStmt); ok && hasDefault(s) {
			for _, c := range s.Body.List {
				for _, stmt := range c.(*ast.CommClause).Body {
					inspectWaiting(stmt, visit)
				}
			}
			return false
		}
		return n != nil && visit(n)
	})
}

// isCommunication reports whether n waits for another goroutine.
func isCommunication(pass *analysis.Pass, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SendStmt:
		return true
	case *ast.SelectStmt:
		return !hasDefault(n)
	case *ast.RangeStmt:
		_, isChan := pass.TypesInfo.TypeOf(n.X).Underlying().(*types.Chan)
		return isChan
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.CallExpr:
		name := callee(pass, n)
		return name == "(*sync.WaitGroup).Wait" || name == "(*sync.Cond).Wait"
	}
	return false
}

// hasDefault reports whether a select waits for nothing.
func hasDefault(s *ast.SelectStmt) bool {
	for _, c := range s.Body.List {
		if c.(*ast.CommClause).Comm == nil {
			return true
		}
	}
	return false
}

// waits reports whether n, or what it calls, waits for time or for others.
func (g *graph) waits(n ast.Node, seen map[*node]bool) bool {
	found := false
	var uses []*node
	g.here(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || callee(g.pass, n) == "time.Sleep"
		case *ast.Ident:
			if nodes, _ := g.targets(&node{}, n); nodes != nil {
				uses = append(uses, nodes...)
			}
		}
		found = found || isCommunication(g.pass, n)
		return !found
	})
	for _, m := range uses {
		if !found && m.decl != nil && m.decl.Body != nil && !seen[m] {
			seen[m] = true
			found = g.waits(m.decl.Body, seen)
		}
	}
	return found
}

var locks = map[string]bool{
	"(*sync.Mutex).Lock": true, "(*sync.RWMutex).Lock": true, "(*sync.RWMutex).RLock": true,
	"(sync.Locker).Lock": true,
}

var unlocks = map[string]bool{
	"(*sync.Mutex).Unlock": true, "(*sync.RWMutex).Unlock": true, "(*sync.RWMutex).RUnlock": true,
	"(sync.Locker).Unlock": true,
}

// waitsLocked reports whether d may wait while it holds a lock, and whether it calls a
// function that is a value then: another goroutine that waits for the lock keeps time from
// moving.
func (g *graph) waitsLocked(d *ast.FuncDecl) (waits, callsValue bool) {
	ast.Inspect(d.Body, func(n ast.Node) bool {
		for _, held := range g.held(n) {
			waits = waits || g.waits(held, map[*node]bool{})
			callsValue = callsValue || g.callsValue(held)
		}
		return !waits
	})
	return waits, callsValue
}

// held are what runs under a lock that is taken in n: the statements up to the one that
// unlocks it, or to the end, and what a Once calls.
func (g *graph) held(n ast.Node) (all []ast.Node) {
	if call, ok := n.(*ast.CallExpr); ok && callee(g.pass, call) == "(*sync.Once).Do" {
		return []ast.Node{call.Args[0]}
	}
	locked := false
	for _, stmt := range statements(n) {
		call, ok := called(stmt)
		if !ok {
			if _, isDefer := stmt.(*ast.DeferStmt); locked && !isDefer {
				all = append(all, stmt)
			}
			continue
		}
		switch name := callee(g.pass, call); {
		case locks[name]:
			locked = true
		case locked && unlocks[name]:
			locked = false
		case locked:
			all = append(all, stmt)
		}
	}
	return all
}

// statements are those of a block or a clause.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// callsValue reports whether n calls a function that is a value.
func (g *graph) callsValue(n ast.Node) bool {
	found := false
	g.here(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			_, isVar := typeutil.Callee(g.pass.TypesInfo, call).(*types.Var)
			found = found || isVar
		}
		return !found
	})
	return found
}

// valuesWait reports whether a function that may be a value waits: a literal that is written
// where the test can reach, or a function of a test, but the test itself.
func (g *graph) valuesWait(all []*node) bool {
	for i, m := range all {
		for _, part := range m.parts {
			if anyOf(part, func(n ast.Node) bool { // on any goroutine
				lit, ok := n.(*ast.FuncLit)
				return ok && g.waits(lit.Body, map[*node]bool{})
			}) {
				return true
			}
			if i > 0 && m.inTest && m.decl != nil && m.decl.Recv == nil && g.waits(part, map[*node]bool{}) {
				return true
			}
		}
	}
	return false
}
