// Package fakeclock is a clock that stands still until a test moves it.
//
// [Clock] implements [clockwork.Clock], so it fits wherever code takes one. Its
// contract is package time of Go 1.23 and later: timers and tickers leave no stale
// value behind, Stop and Reset report as they do there, and functions run on goroutines
// of the clock.
//
// # What moves when
//
// Time moves in [Clock.Advance] and its variants only. Advance visits every deadline up
// to its target in order, timers made or re-armed on the way included, and at each of
// them [Clock.Now] is exactly that instant. Timers with equal deadlines fire in the
// order in which they were armed, where package time promises no order. A ticker
// whose tick is received at once is armed again then. Otherwise it is armed again when
// the clock next moves and finds its channel empty; ticks due before that are dropped.
//
//	clock := fakeclock.New()
//	cache := NewCache(clock, time.Minute)
//	cache.Put("k", "v")
//	clock.Advance(time.Minute - 1) // still there
//	clock.Advance(1)               // gone
//
// Three more methods serve tests of a deadline itself. [Clock.AdvanceNext] goes to the
// next one. [Clock.AdvanceUntil] stops at an instant before its timers fire, so that an
// operation can come first. [Clock.Hold] lets timers fire but delays the functions they
// start, so that an operation can come in between.
//
// # What Advance waits for
//
// Advance returns when every function that it started has returned or sleeps in this
// clock's [Clock.Sleep], and it waits likewise before it fires the next timer. So a
// function never finds the clock beyond its own instant, and Advance returns after its
// effects. It waits again for a function woken from its Sleep. A function that waits
// for anything else that only the test can do, such as a later timer, would make
// Advance hang: after 10 s it panics and shows where the function is blocked
// ([WithWatchdog]). It also panics, immediately, if functions arm zero-duration timers
// without end.
//
// Advance does not wait for other goroutines: one that receives from a timer's channel
// or wakes from Sleep may still be on its way when Advance returns. If that matters,
// give the clock a way to wait for all of them.
//
// # In a bubble
//
// In a bubble of testing/synctest (Go 1.25), WithSettle(synctest.Wait) makes Advance
// wait until every goroutine of the bubble is blocked: before the clock moves and after
// each timer that fires. The clock then behaves like package time in a bubble; only
// this setting promises full equality.
//
//	synctest.Test(t, func(t *testing.T) {
//		clock := fakeclock.New(fakeclock.WithSettle(synctest.Wait))
//		...
//	})
//
// Prefer a bubble without a fake clock for code that calls package time directly.
// Prefer this clock for code that takes a clock, for tests of the exact instant of a
// deadline, for a start other than 2000-01-01, and where bubbles do not exist.
//
// # What is armed
//
// Without a bubble a test must know that the code under test has armed its timer before
// it advances. [Clock.BlockUntil] waits for that by counting armed timers,
// [Clock.BlockUntilFunc] by looking at them: [Clock.Timers] lists kind, deadline,
// period and, with [WithSites], where each was made. In a bubble with WithSettle neither
// is needed: Advance begins when every goroutine is blocked.
//
// [NewTest] makes a clock that fails the test if timers are armed at its end, and
// [WithEvents] reports each timer that is armed, fires, is stopped or reset:
//
//	clock := fakeclock.NewTest(t, fakeclock.WithEvents(func(e fakeclock.Event) { t.Log(e) }))
//
// # Wall time
//
// [Clock.SetWall] steps the wall clock, forward or back, but not elapsed time or armed
// timers. Since measures elapsed time across steps; Until is how long a timer would
// wait. [Clock.NewTimerAt] and [Clock.AfterFuncAt] arm for an instant of wall time,
// which becomes a duration when they are called, as everywhere in Go.
//
// # Contexts
//
// Package clockctx, below this one, has contexts on the time of any clock, for production
// code; [WithTimeout] and the others here are the same. Those of clockwork run on real time
// with this clock.
//
// Coming from another fake clock? MOVING.md, beside this file, says what to change.
//
// # Differences from package time
//
//   - The channels of timers and tickers have capacity 1, where package time
//     shows 0; len tells whether a value is unread.
//   - At the instant of several deadlines, a function that fires first finds
//     the channels of the later timers empty; package time shows a value as
//     soon as its instant has come.
//   - A timer that has become unreachable stays armed until it is due.
//   - AfterFunc(d, nil) panics at once, not when the timer fires.
//   - Times carry no monotonic clock reading, as in a bubble: so t.Sub(u) of two
//     times of this clock includes any step by SetWall between them; package
//     time's would not.
//   - A clock covers the 292 years after its start. Later deadlines never come.
//
// # Concurrency
//
// All methods may be called from any goroutine, and from functions of timers or of
// WithEvents, except those that wait for such functions: Advance, AdvanceTo,
// AdvanceUntil, AdvanceNext and the release of Hold. Concurrent calls of these queue.
package fakeclock
