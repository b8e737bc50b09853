// Package debounce turns a burst of calls into one.
//
// The terms, as used throughout the package:
//
//   - wait, or quiet period: how long calls must pause before a burst is over.
//   - burst: calls that each come less than wait after the previous one.
//   - deadline: the instant of the newest call plus wait. Every call moves it.
//   - trailing edge: the end of a burst, when its deadline is reached. f runs
//     there, once, with the value of the newest call.
//   - leading edge: the first call of a burst. With [Leading] or
//     [LeadingAndTrailing] f runs there, with that call's value.
//   - decision: the atomic step that takes the newest value out of the Debouncer, to
//     run f with it. The decision respects every call that returned before it; later
//     calls belong to the next firing.
//
// A Debouncer promises:
//
//   - On the trailing edge f runs at exactly newest call + wait on an exact clock (a
//     fake clock, a synctest bubble), and never sooner, except by [MaxWait] or Flush.
//   - No value is stale: a timer that expires during a newer call finds the deadline
//     moved and is armed again.
//   - f never overlaps with itself and never runs under a lock: it may call any
//     method of its Debouncer.
//   - No call is lost because it came while f was running.
//
// It does not run f for every call: a queue does, and [Batch] keeps all values of a burst.
// Calls that come closer together than wait postpone f for as long as they last, unless
// [MaxWait] bounds that. To run f at a steady rate use a throttle of package limiters.
//
//	                      debounce                     throttle
//	f runs                when calls have paused       at most once an interval
//	steady stream         never (MaxWait: every W)     every interval
//	single call           wait later (Leading: now)    now
//	made for              the last word of a burst     a bound on the rate
//	                      (save, search, resize)       (scroll, progress, an API)
//
// # States
//
// A Debouncer is idle, or has a burst, whose newest value may be unfired:
//
//	state    on           if                     does                     next
//	idle     call         trailing               notes the value          unfired
//	idle     call         leading edge           fires                    burst, or unfired with
//	                                                                      LeadingAndTrailingTwice
//	burst    call         trailing edge          notes the value          unfired
//	burst    call         Leading                only moves the deadline  burst
//	burst    deadline                            nothing, no timer runs   idle
//	unfired  call                                replaces the value and   unfired
//	                                             moves the deadline
//	unfired  deadline                            fires                    idle
//	unfired  MaxWait                             fires                    burst
//	unfired  Flush                               fires                    idle
//	burst    Flush                               nothing                  burst
//	burst    Cancel                              ends it                  idle
//	unfired  Cancel                              drops it                 idle
//	any      Stop, Close                         drops it or fires it     stopped
//
// A call at exactly the deadline moves the deadline if the value has not fired yet;
// otherwise it is the first call of a burst.
//
// # Cost
//
// A call takes constant time: a lock and a read of the monotonic clock. It allocates
// the timer, once, and a queue if two or more calls that fire at once wait for a
// callback; otherwise nothing. A burst arms the timer when it begins, and then at most
// twice in each wait that it lasts. Firing costs a goroutine of the timer, or
// only f on the caller's goroutine; [Leading] has no timer. [Batch] allocates its
// slices, [Keyed] a debouncer for each key, unless it can reuse one.
//
// COMPARISON.md, beside this file, has the same calls in lodash and RxJS.
//
// # Use
//
// To save a document when its author pauses for half a second, and at least every ten
// seconds otherwise:
//
//	saver := debounce.New(500*time.Millisecond, save, debounce.MaxWait(10*time.Second))
//	for doc := range edits {
//		saver.Call(doc)
//	}
//	err := saver.Close(ctx) // save the last one now
//
// In a test, the same code on a fake clock:
//
//	clock := fakeclock.New()
//	saver := debounce.New(500*time.Millisecond, save, debounce.WithClock(clock))
//	saver.Call("draft")
//	clock.Advance(500 * time.Millisecond) // save("draft") has run
package debounce
