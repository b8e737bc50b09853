package suite

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/internal/sched"
)

// The functions from operation to Start do nothing but call. They are never inlined, so that their
// names stand in the stack of what they call, and a proof that reads stacks can look for
// them: the names that the compiler gives to closures are no such thing. A test of this
// package finds each of them on the stack of what it marks.

// operation calls an operation of the implementation.
//
//go:noinline
func operation(do func()) { do() }

// Promptly calls an operation of the implementation that must not wait for its turn.
//
//go:noinline
func Promptly(do func()) { do() }

// callback is where the implementation calls the suite.
//
//go:noinline
func callback(do func()) { do() }

// caught calls what the suite recovers the panics of.
//
//go:noinline
func caught(do func()) { do() }

// expired calls the function of a timer on a clock that recovers its panics.
//
//go:noinline
func expired(do func()) { do() }

// drives plays a schedule: its goroutine does the steps and moves time.
//
//go:noinline
func drives(l *lab, s *Stage) { l.play(s) }

// Start runs do on a goroutine of the suite.
//
//go:noinline
func Start(do func()) {
	if sched.Self() != nil {
		sched.Go(do)
		return
	}
	go do()
}

// here is the import path of this package, and with it the beginning of its names in
// stacks.
const here = "github.com/escapement-go/escapement/conformance/internal/suite"

const (
	markOperation = here + ".operation("
	markPromptly  = here + ".Promptly("
	markCallback  = here + ".callback("
	markCaught    = here + ".caught("
	markExpired   = here + ".expired("
	markDrives    = here + ".drives("
	markStart     = here + ".Start"
	markFakeClock = "github.com/escapement-go/escapement/fakeclock."
)

// driven reports whether a goroutine started by the function is one that the clock or the
// suite waits for.
func driven(origin string) bool {
	return strings.Contains(origin, markStart) || strings.Contains(origin, markFakeClock)
}

// suitePath begins the names of the functions of the suite's own packages.
const suitePath = "github.com/escapement-go/escapement/conformance/"

// callers are the functions that are under way on this goroutine, the innermost first, without what runs tests.
func callers() (all []runtime.Frame) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); strings.HasPrefix(f.Function, "testing.") {
			break
		}
		all = append(all, f)
	}
	return all
}

// callSite is where a test called Run: the innermost caller outside the suite's packages, or in a test of theirs.
func callSite() (file string, line int) {
	for _, f := range callers() {
		if strings.HasSuffix(f.File, "_test.go") || !strings.HasPrefix(f.Function, suitePath) {
			return f.File, f.Line
		}
	}
	return "", 0
}

// callerPackage is the import path of the test that runs the suite: the test binary knows, whatever helper calls the
// suite. Where another tool has built it, it is the package of the outermost function.
func callerPackage() string {
	if b, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(b.Path, ".test") {
		return strings.TrimSuffix(b.Path, ".test")
	}
	all := slices.DeleteFunc(callers(), func(f runtime.Frame) bool { // a fuzz target is called through it
		return strings.HasPrefix(f.Function, "reflect.")
	})
	name := all[len(all)-1].Function
	slash := strings.LastIndex(name, "/") + 1
	pkg, _, _ := strings.Cut(name[slash:], ".")
	return strings.TrimSuffix(name[:slash]+strings.ReplaceAll(pkg, "%2e", "."), "_test")
}
