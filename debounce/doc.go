// Package debounce turns a burst of calls into one.
//
// The terms, as used throughout the package:
//
//   - wait, or quiet period: how long it must stay silent before f runs.
//   - burst: calls of which each comes less than wait after the one before.
//   - deadline: the instant of the newest call plus wait. Every call moves it.
//   - trailing edge: the end of a burst, when its deadline is reached. f runs
//     there, once, with the value of the newest call.
//   - decision: the atomic step that takes the newest value out of the
//     Debouncer, to run f with it. What returned before the decision is
//     honoured by it; what comes after belongs to the next burst.
//
// A Debouncer promises:
//
//   - f runs at exactly newest call + wait on a clock that can be that exact
//     (a fake clock, a synctest bubble), and never before.
//   - No value is stale: a timer that expires while a newer call comes in finds
//     the deadline moved and goes back to sleep.
//   - f never overlaps with itself and never runs under a lock: it may call any
//     method of its Debouncer.
//   - No call is lost because it came while f was running.
//
// It does not promise that every call is answered (that is what a queue does)
// or that a steady stream of calls is ever answered (that is what a throttle
// does: calls closer together than wait postpone f for as long as they last).
//
// Saving a document once its author pauses for half a second:
//
//	saver := debounce.New(500*time.Millisecond, save)
//	defer saver.Stop()
//	for doc := range edits {
//		saver.Call(doc)
//	}
//	saver.Flush() // do not wait for the last one
//
// In a test, the same code on a clock held in the hand:
//
//	clock := fakeclock.New()
//	saver := debounce.New(500*time.Millisecond, save, debounce.WithClock(clock))
//	saver.Call("draft")
//	clock.Advance(500 * time.Millisecond) // save("draft") has run
package debounce
