package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
	"time"

	"golang.org/x/tools/go/analysis"
)

// Sleep reports where a test waits for real time.
var Sleep = &analysis.Analyzer{
	Name: "sleeptest",
	Doc: `report where a test waits for real time

A test that sleeps is as slow as its sleeps, and fails when what it waits for comes later.
In a bubble of testing/synctest, or on a fake clock, it takes no time and cannot be late.
Reported are time.Sleep, receives from time.After, timers and tickers, loops around them that
poll, and Eventually and Never of testify, on the goroutine of a test, outside of bubbles.
Limits in a select that only end a test which hangs are not reported.

What to do instead depends on what the test reaches, through helpers, closures, fields and
packages. Where it reaches no network, closes what it opens, and nothing else speaks against
a bubble, a fix puts the test or subtest into one. With -bubble there are such fixes for more
tests. They are for trying out: whether the code under test holds no lock while it waits, and
when its timers are due, shows when the test runs.`,
	URL:      guide,
	Requires: []*analysis.Analyzer{reaching},
	Run:      runSleep,
}

// tryBubbles is set by -sleeptest.bubble: fixes need not be certain.
var tryBubbles bool

func init() {
	Sleep.Flags.BoolVar(&tryBubbles, "bubble", false,
		"suggest bubbles for tests of which it is not certain that they pass there")
}

func runSleep(pass *analysis.Pass) (any, error) {
	g, release := shared(pass)
	defer release()
	users := g.users()
	fixed := map[*ast.BlockStmt]bool{}
	tests(g, func(stmt ast.Stmt, at place) {
		if at.bubble {
			return
		}
		what, n := wait(pass, stmt)
		if n == nil || endsLoad(pass, at.next) {
			return
		}
		if what != polls && pollsIn(pass, at.loops) {
			what = polls
		}
		d := analysis.Diagnostic{Category: "sleep"}
		instead := "a bubble does not wait for it: " + guide + "#which-of-them"
		if g.lasting(at.root) {
			instead = "a bubble does not wait for it, once the test ends what it starts: " + guide + endless
		}
		if what == polls {
			d.Category = "poll"
			instead = "in a bubble, or with a channel, the test knows when: " + guide + "#which-of-them"
		}
		d.Message = "the test " + what + "; " + or(g.adviceFor(at.root, users), instead)
		if !fixed[at.unit.body] {
			if fix, ok := g.bubbleFix(at); ok {
				d.SuggestedFixes = []analysis.SuggestedFix{fix}
				fixed[at.unit.body] = true
			}
		}
		report(pass, n, d)
	})
	return nil, nil
}

// users are the tests that reach each node of a test file.
func (g *graph) users() map[*node][]*node {
	users := map[*node][]*node{}
	for _, fn := range g.funcs {
		n := g.nodes[fn]
		if !n.inTest || n.decl.Recv == nil && !strings.HasPrefix(n.decl.Name.Name, "Test") {
			continue
		}
		if isTest(g.pass, n.decl) {
			for _, m := range g.all(n) {
				users[m] = append(users[m], n)
			}
		}
	}
	return users
}

// adviceFor is the advice for a sleep in n, if it is not to take a bubble: in a helper, that of
// the tests that use it, where all of them reach what no bubble holds.
func (g *graph) adviceFor(n *node, users map[*node][]*node) string {
	reached := g.reaches(n)
	advice := reached.advice()
	if n.decl == nil && advice == "" { // a bubble wants a T
		way := "wait for the event" + reached.orClock()
		return "specs of ginkgo have no bubbles: " + way + ": " + guide + "#which-of-them"
	}
	for _, test := range users[n] {
		a := g.reaches(test).advice()
		if a == "" {
			return ""
		}
		advice = or(advice, a)
	}
	return advice
}

// endsLoad reports whether a statement sets an atomic flag, as after a sleep during which
// other goroutines were busy: the sleep is how long they work, and waits for nothing.
func endsLoad(pass *analysis.Pass, stmt ast.Stmt) bool {
	call, ok := called(stmt)
	return ok && callee(pass, call) == "(*sync/atomic.Bool).Store"
}

const (
	polls       = "polls in real time"
	endless     = "#12-a-goroutine-that-never-stops"
	connections = "#11-a-server-and-its-client-over-real-connections"
)

// wait says how the statement waits for real time, if it does, and where.
func wait(pass *analysis.Pass, stmt ast.Stmt) (how string, at ast.Node) {
	if call, ok := called(stmt); ok {
		switch name := callee(pass, call); {
		case name == "time.Sleep" && !isZero(pass, call.Args[0]):
			return "sleeps" + length(pass, call), call
		case isEventually(name):
			return polls, call
		}
		return "", nil
	}
	var received ast.Expr
	switch s := stmt.(type) {
	case *ast.ExprStmt:
		received = s.X
	case *ast.RangeStmt:
		if _, ok := ofTimer(pass, s.X); ok {
			return polls, s.X
		}
	case *ast.SelectStmt:
		if len(s.Body.List) == 1 { // a sleep in disguise; with another case it is a limit
			if only, ok := s.Body.List[0].(*ast.CommClause).Comm.(*ast.ExprStmt); ok {
				received = only.X
			}
		}
	}
	if receive, ok := received.(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		if call, ok := ofTimer(pass, receive.X); ok {
			return "sleeps" + length(pass, call), receive
		}
	}
	return "", nil
}

// ofTimer reports whether a channel is one of package time, and the call that made it, if it
// is made there.
func ofTimer(pass *analysis.Pass, channel ast.Expr) (made *ast.CallExpr, ok bool) {
	channel = ast.Unparen(channel)
	if call, isCall := channel.(*ast.CallExpr); isCall {
		name := callee(pass, call)
		return call, name == "time.After" || name == "time.Tick"
	}
	sel, ok := channel.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "C" {
		return nil, false
	}
	made, _ = ast.Unparen(sel.X).(*ast.CallExpr)
	switch types.TypeString(pass.TypesInfo.TypeOf(sel.X), nil) {
	case "*time.Timer", "*time.Ticker":
		return made, true
	}
	return nil, false
}

// isEventually reports whether a function of testify polls.
func isEventually(name string) bool {
	if !strings.Contains(name, "github.com/stretchr/testify/") {
		return false
	}
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "Eventually", "Eventuallyf", "EventuallyWithT", "EventuallyWithTf", "Never", "Neverf":
		return true
	}
	return false
}

// length is the duration that a call is given, if it is constant, with a space before it.
func length(pass *analysis.Pass, call *ast.CallExpr) string {
	if call == nil || len(call.Args) == 0 {
		return ""
	}
	if v := pass.TypesInfo.Types[call.Args[0]].Value; v != nil {
		if n, ok := constant.Int64Val(v); ok {
			return " " + time.Duration(n).String()
		}
	}
	return ""
}

func isZero(pass *analysis.Pass, d ast.Expr) bool {
	v := pass.TypesInfo.Types[d].Value
	return v != nil && constant.Sign(v) <= 0
}

// pollsIn reports whether the innermost loop around a sleep asks for something before it
// goes on: by its condition, or by a way out of its body.
func pollsIn(pass *analysis.Pass, loops []ast.Stmt) bool {
	if len(loops) == 0 {
		return false
	}
	loop, ok := loops[len(loops)-1].(*ast.ForStmt)
	if !ok {
		return false
	}
	if asks(pass, loop.Cond) {
		return true
	}
	out := false
	for _, stmt := range loop.Body.List {
		branch, ok := stmt.(*ast.IfStmt)
		if !ok {
			continue
		}
		for _, s := range branch.Body.List {
			switch s := s.(type) {
			case *ast.BranchStmt:
				out = out || s.Tok == token.BREAK
			case *ast.ReturnStmt:
				out = true
			}
		}
	}
	return out
}

// asks reports whether a loop's condition calls a function.
func asks(pass *analysis.Pass, cond ast.Expr) bool {
	if cond == nil {
		return false
	}
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			fun := pass.TypesInfo.Types[call.Fun]
			found = found || !fun.IsBuiltin() && !fun.IsType()
		}
		return !found
	})
	return found
}
