// Package interleave runs test code in every order of its goroutines and timers with at most two preemptions
// (see [Bound]), and shows the first order that fails.
//
// A race detector finds unsynchronised accesses, in the one execution that happened. Most mistakes in concurrent
// code are of another kind: a lock released between check and act, a wake-up lost between check and wait, a timer
// that expired just before Stop, an instant read before taking the lock. They fail in one run of a thousand, or
// on another machine. [Check] makes such orders happen:
//
//	func TestStop(t *testing.T) {
//		interleave.Check(t, func(t *interleave.T) {
//			d := debounce.New(time.Second, func() { ... })
//			d.Call()
//			time.Sleep(time.Second) // the timer is due, too: either may come first
//			d.Stop()
//			...
//		})
//	}
//
// # Rewriting
//
// The code under test is ordinary Go, and so are the tests. To explore them, run
//
//	go run github.com/escapement-go/escapement/synctestcompat/interleave/weave [flags of go test] packages
//
// which inserts a point, where a goroutine can be held, before each operation that others can notice. It rewrites the
// packages of the main module, and with -with those of dependencies; nothing on disk changes. Under a plain go test,
// Check calls its function once, in any order, and skips the test with the command that explores.
//
// # What is explored
//
// An interleaving is a sequence of choices of the next goroutine. The goroutine that ran last continues unless it
// must wait; choosing another, or a due timer, or time itself, is a preemption. Interleavings without preemptions
// run first, then those with one, up to [Bound]. So the failure shown has the fewest preemptions, and is the same
// each time, on any machine.
//
//   - Locks, condition variables, wait groups, Once, Pool and Map of package sync, atomic operations,
//     channels, select, go statements, contexts, timers and tickers, Sleep and runtime.Gosched all take part.
//     Which ready case a select takes is a choice; so is which waiter gets a lock.
//   - Time is the bubble's, as in testing/synctest, and a choice: it moves when no goroutine can continue, and
//     also, as a preemption, while one is held. That makes an instant read before stale. So after a sleep wait
//     for held goroutines before you check: Sleep of synctestcompat does. With [StillTime] time moves only
//     when no goroutine can continue.
//   - synctest.Wait, and Wait and Sleep of synctestcompat, return when no other goroutine can continue at
//     this instant. Functions of a fakeclock.Clock take part too.
//   - Interleavings that differ only in the order of independent operations are left out; [Unreduced]
//     brings them back.
//
// What is not explored:
//
//   - Memory is sequentially consistent: an operation sees all earlier ones. Weak memory and unsynchronised
//     accesses are left to the race detector: run the same tests with -race, without rewriting. A goroutine is
//     not held between two points, so changes of a plain variable are atomic.
//   - Err and Cause of a context are no points: they run at once after the operation before.
//   - Packages of std and dependencies that are not named with -with run between two points. If one calls
//     back under a lock, a goroutine held there and one that wants the lock block each other: the watchdog
//     proves that from the stacks, and names the package.
//   - A Pool returns what was put last. A channel serves its longest waiter first, and Signal wakes the
//     longest waiter, as std does today.
//
// # What a function must be
//
// It is called thousands of times, so it should be small: two or three goroutines with a few operations each.
// Two with 20 points each have several hundred interleavings with two preemptions. It creates what it tests,
// ends what it starts, and must be deterministic under the same choices. Random numbers, map order or state left
// by an earlier call make it diverge, which is reported as a failure.
//
// It fails by Error and its kin, by a panic, by a deadlock, and by leaving a goroutine behind. Each line of
// the report is a step: the goroutine that runs next, and the point it resumes from. A timeline follows, with a lane
// for each goroutine, and a line that runs only this interleaving.
package interleave
