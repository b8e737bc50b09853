// Package synctestcompat runs test code in a bubble of [testing/synctest] with
// one API on every Go release from 1.24 on.
//
// A bubble is a group of goroutines with a clock of its own. The clock starts
// at 2000-01-01 00:00:00 UTC and moves only when every goroutine of the bubble
// is durably blocked: asleep, or waiting for a channel, timer, condition
// variable or WaitGroup that only the bubble can satisfy. A goroutine that
// waits for a mutex, for the network or for a channel made outside is not
// durably blocked, and the bubble's clock stands still for as long as it waits.
//
// Three calls are enough for most tests:
//
//   - [Run] runs a function in a new bubble;
//   - [Wait] blocks until every other goroutine of the bubble is durably blocked:
//     everything due at this instant has happened;
//   - [Sleep] moves the bubble's clock and then waits. A bare time.Sleep returns
//     at the instant at which other timers are due, in random order with them;
//     a check right after it sees their effects or not, by chance.
//
// [Clock] offers both through clockwork's interface, for code that takes a clock.
//
// # What differs between releases
//
//	                        1.24                    1.25 and later
//	bubbles                 GOEXPERIMENT=synctest   always
//	zero-duration timers    Wait runs those armed   Wait runs all, also those
//	                        when it is called       that such timers arm
//	same-instant timers     nearly fixed order      random order
//	T inside the bubble     the caller's            a T of the bubble's own, whose
//	                                                Cleanup and Context belong to it
//	a race in the bubble    reported when the       fails the bubble's T at once
//	                        outer test ends
//
// With the synctest package of Go 1.24, time goes on after the bubble's function has
// returned, so a leaked ticker would keep the bubble busy for ever. [Run] hides that: on every release a leaked
// goroutine makes Run panic with the text of Go 1.25 and later.
//
// Where a toolchain has no bubbles, [Available] is false, [Reason] says why,
// and Run skips its test with that reason.
//
// Zero-duration timers under the race detector crash the runtime of Go 1.25 and
// 1.26 when two goroutines create them at once (go.dev/issue/78156): run such
// tests with GOMAXPROCS=1 there.
package synctestcompat
