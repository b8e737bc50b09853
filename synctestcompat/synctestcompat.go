package synctestcompat

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
)

// Available reports whether this toolchain has bubbles.
const Available = available

// Reason says in one sentence why bubbles are missing; it is empty where
// [Available] is true.
const Reason = reason

// Require skips the test with [Reason] where bubbles are missing. It panics if tb is nil.
func Require(tb testing.TB) {
	if tb == nil {
		panic("synctestcompat: Require: tb is nil: pass the test to skip")
	}
	tb.Helper()
	if !Available {
		tb.Skip("synctestcompat: " + Reason)
	}
}

// Run calls f in a new bubble and returns when every goroutine of the bubble
// has ended. Where bubbles are missing it skips t with [Reason].
//
// The T that f gets is the bubble's on Go 1.25 and later: its Cleanup functions
// run in the bubble, its Context is cancelled there, and Run, Parallel and
// Deadline panic. On Go 1.24 it is t itself.
//
// Run panics if goroutines of the bubble are blocked for ever: with f still
// running ("deadlock: all goroutines in bubble are blocked") or after it has
// returned ("deadlock: main bubble goroutine has exited but blocked goroutines
// remain"). The caller may recover from that panic; the goroutines stay. A panic
// inside the bubble ends the process and cannot be recovered by the caller. If
// f fails t with FailNow, Run does not return: it ends its caller as FailNow
// would.
//
// Run must not be called from inside a bubble or from a Cleanup function.
// Different goroutines may run bubbles at the same time. It panics if t or f is nil.
func Run(t *testing.T, f func(t *testing.T)) {
	if t == nil || f == nil {
		panic("synctestcompat: Run: t and f must not be nil: pass the test and what runs in its bubble")
	}
	if !Available {
		t.Helper()
		Require(t)
	}
	run(t, f)
}

// Wait blocks until every goroutine of the current bubble but the caller is durably
// blocked. It panics outside a bubble, and if two goroutines of one bubble wait at the
// same time. In a body that package interleave explores it returns when no other
// goroutine can continue at this instant, in the current order.
func Wait() {
	if g := sched.Self(); g != nil {
		g.Idle("synctestcompat.Wait")
		return
	}
	if !Available {
		panic("synctestcompat: Wait: " + Reason)
	}
	sched.Quiesce()
}

// Sleep moves the bubble's clock by d and then waits as [Wait] does, so that
// timers due at the new instant have run and what they woke has settled. With
// d <= 0 it only waits. It panics outside a bubble, before time has moved.
func Sleep(d time.Duration) {
	Wait()
	if g := sched.Self(); g != nil {
		g.Sleep(d)
	} else {
		time.Sleep(d)
	}
	Wait()
}
