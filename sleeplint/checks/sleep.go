package checks

import (
	"go/ast"
	"go/constant"
	"go/token"
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
Reported are time.Sleep, receives from time.After, loops around either that poll, and
Eventually and Never of testify, on the goroutine of a test, outside of bubbles. Limits in
a select that only end a test which hangs are not reported.

Where nothing that a test reaches speaks against a bubble, a fix puts the whole test into
one. With -bubble there are such fixes for more tests. They are for trying out: whether the
code under test stops its goroutines, and holds no lock while it waits, shows when the test
runs.`,
	URL: guide,
	Run: runSleep,
}

// tryBubbles is set by -sleeptest.bubble: fixes need not be certain.
var tryBubbles bool

func init() {
	Sleep.Flags.BoolVar(&tryBubbles, "bubble", false,
		"suggest bubbles for tests of which it is not certain that they pass there")
}

func runSleep(pass *analysis.Pass) (any, error) {
	reaches := reachesOutside(pass)
	fixed := map[*ast.FuncDecl]bool{}
	tests(pass, func(stmt ast.Stmt, at place) {
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
		if what == polls {
			d.Category = "poll"
			instead = "in a bubble, or with a channel, the test knows when: " + guide + "#which-of-them"
		}
		if reaches != "" { // a socket or a process keeps a bubble from moving
			instead = "the package uses " + reaches + ": wait for the event, or hand the code a fake clock: " +
				guide + connections
		}
		d.Message = "the test " + what + "; " + instead
		if reaches == "" && !fixed[at.test] {
			if fix, ok := bubbleFix(pass, at.test); ok && (tryBubbles || newReach(pass, at.test).certain()) {
				d.SuggestedFixes = []analysis.SuggestedFix{fix}
				fixed[at.test] = true
			}
		}
		report(pass, n, d)
	})
	return nil, nil
}

// endsLoad reports whether a statement sets an atomic flag, as after a sleep during which
// other goroutines were busy: the sleep is how long they work, and waits for nothing.
func endsLoad(pass *analysis.Pass, stmt ast.Stmt) bool {
	call, ok := called(stmt)
	return ok && callee(pass, call) == "(*sync/atomic.Bool).Store"
}

const (
	polls       = "polls in real time"
	connections = "#11-a-server-and-its-client-over-real-connections"
)

// wait says how the statement waits for real time, if it does, and where.
func wait(pass *analysis.Pass, stmt ast.Stmt) (how string, at ast.Node) {
	if call, ok := called(stmt); ok {
		switch name := callee(pass, call); {
		case name == "time.Sleep" && !isZero(pass, call.Args[0]):
			return "sleeps" + length(pass, call.Args[0]), call
		case isEventually(name):
			return polls, call
		}
		return "", nil
	}
	var received ast.Expr
	switch s := stmt.(type) {
	case *ast.ExprStmt:
		received = s.X
	case *ast.SelectStmt:
		if len(s.Body.List) == 1 { // a sleep in disguise; with another case it is a limit
			if only, ok := s.Body.List[0].(*ast.CommClause).Comm.(*ast.ExprStmt); ok {
				received = only.X
			}
		}
	}
	if receive, ok := received.(*ast.UnaryExpr); ok && receive.Op == token.ARROW {
		if call, ok := ast.Unparen(receive.X).(*ast.CallExpr); ok && callee(pass, call) == "time.After" {
			return "sleeps" + length(pass, call.Args[0]), receive
		}
	}
	return "", nil
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

// length is the duration if it is constant, with a space before it.
func length(pass *analysis.Pass, d ast.Expr) string {
	if v := pass.TypesInfo.Types[d].Value; v != nil {
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

// outside are packages for what a bubble does not hold.
var outside = map[string]bool{
	"net": true, "net/http": true, "net/http/httptest": true, "net/rpc": true, "os/exec": true,
	"os/signal": true, "syscall": true, "database/sql": true, "google.golang.org/grpc": true,
	"github.com/fsnotify/fsnotify": true, "golang.org/x/sys/unix": true, "plugin": true,
}

// reachesOutside is the first package that this one, or the one that it tests, imports for
// the network, processes or the like.
func reachesOutside(pass *analysis.Pass) string {
	imports := pass.Pkg.Imports()
	for _, p := range imports {
		if p.Path() == strings.TrimSuffix(pass.Pkg.Path(), "_test") {
			imports = append(imports[:len(imports):len(imports)], p.Imports()...)
			break
		}
	}
	for _, p := range imports {
		if outside[p.Path()] {
			return p.Path()
		}
	}
	return ""
}
