package suite

import (
	"strings"

	"github.com/escapement-go/escapement/internal/sched"
)

// The functions of this file do nothing but call. They are never inlined, so that their
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
