// Package interleave runs test code in every order in which its goroutines and timers can go on, and shows
// the first order that fails.
//
// A race detector sees two accesses that nothing orders, in the one execution that happened. Most mistakes in
// concurrent code are none of these: a lock that is given up between check and act, a wake-up that is lost
// between the look and the wait, a timer that expired just before it was stopped, an instant that was read before
// the lock was taken. They fail in one run of a thousand, or on another machine. [Check] makes each such order
// happen:
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
// The code under test is ordinary Go, and so are the tests. To be explored they are run by
//
//	go run github.com/escapement-go/escapement/synctestcompat/interleave/weave [flags of go test] packages
//
// which puts a point, where a goroutine can be held up, before each operation that others can notice. It rewrites
// the packages of the main module, and with -with those of dependencies; nothing on disk is changed. Under a plain go
// test, Check calls its function once, in whatever order comes, and skips the test with the command that explores.
//
// # What is explored
//
// An interleaving is a sequence of choices: who goes on. The goroutine that ran last goes on unless it must wait; to
// let another go instead, or a timer that is due, or time itself, is a preemption. Those without preemptions are run
// first, then those with one, up to [Bound]. So the failure that is shown has the fewest preemptions, and it is the
// same one each time, on any machine.
//
//   - Locks, condition variables, wait groups, Once, Pool and Map of package sync, atomic operations,
//     channels, select, go statements, contexts, timers and tickers, Sleep and runtime.Gosched all take part.
//     Which case of a select with several that are ready is taken is a choice; so is which of those who wait
//     for a lock gets it.
//   - Time is the bubble's, as in testing/synctest, and a choice: it moves on when nobody can go on, and also,
//     as a preemption, while a goroutine is held up. That makes an instant stale that was read before. So
//     who sleeps and then checks that something has happened must wait for those that are held up: Sleep of
//     synctestcompat does. With [StillTime] time moves only when nobody can go on.
//   - synctest.Wait, and Wait and Sleep of synctestcompat, return when no other goroutine can go on at this
//     instant. What a clock of package fakeclock starts takes part too.
//   - Interleavings that differ from others only in the order of operations which do not meet are left out;
//     [Unreduced] brings them back.
//
// What is not:
//
//   - Memory is sequentially consistent: an operation sees what came before it. What weak memory adds, and
//     accesses that nothing orders, are the race detector's: run the same tests with -race, without rewriting.
//     Between two points a goroutine is not held up, so a variable without any lock or atomic operation
//     changes at once.
//   - Err and Cause of a context are no points: a goroutine looks at them at once after its operation before.
//   - Packages of std and dependencies that are not named with -with run between two points. If one holds a
//     lock while it calls back, the goroutine that is held up there and the one that wants the lock stop each
//     other: the watchdog proves that from the stacks, and names the package.
//   - A Pool hands back what was put last. Of the goroutines that wait at one channel the first is served
//     first, and Signal wakes the one that has waited longest, as std does today.
//
// # What a function must be
//
// It is called thousands of times, so it should be small: two or three goroutines with a few operations each.
// Two that come to 20 points each have some hundred interleavings with two preemptions. It makes what it
// tests, ends what it starts, and does the same each time it is given the same choices. Random numbers, the
// order of a map or what an earlier call has left behind make it diverge, which is reported as a failure.
//
// It fails by Error and its kin, by a panic, by a deadlock, and by leaving a goroutine behind. The report says who
// went on from where, as a list and as a timeline with a lane for each goroutine, and ends with a line
// that runs only this interleaving.
package interleave
