// Package limiters decides which of a stream of events may happen.
//
// The terms, as used throughout the package:
//
//   - rate, or limit: how many events per second there may be in the long run.
//   - token: the right to one event. Tokens come in at the rate, evenly, also
//     in fractions.
//   - burst: how many tokens can be saved up. A bucket begins full.
//   - grant: an event that may happen. It takes its tokens at once.
//   - envelope: what can be granted in any time of length L, which is
//     rate * L + burst, and no more.
//   - window: of a throttle, the interval that an event opens.
//
// To choose: a [TokenBucket] keeps a rate and allows bursts. A [Throttle] lets
// one event pass per window and drops the others, without a timer; a
// [ThrottleFunc] also runs the newest of them at the end, and [ThrottleStream] is
// a Throttle for channels. [Sometimes] is for logs and the like. A [LeakyBucket]
// queues events and lets them go at an even pace. A [SlidingLog] keeps a limit in
// any stretch of time, a [SlidingCounter] nearly so with two counters, and a
// [FixedWindow] counts anew every minute, say. [Keyed] has one of them per user.
//
// [TokenBucket] decides as the Limiter of golang.org/x/time/rate does, to the
// nanosecond, as long as time does not go back, n is not negative and the rate
// is a finite number. Like it, it counts in whole nanoseconds and grants
// an event in the nanosecond in which its token is complete: less than one
// nanosecond early. Outside of that it keeps to the envelope:
//
//   - An instant before the newest one granted counts as the newest. In
//     x/time/rate it sets the clock back, and the same time is paid for twice.
//   - AllowN(t, 0) is true and changes nothing, always.
//   - AllowN with a negative n is false and changes nothing; it adds no tokens.
//   - The floating-point infinity is Inf. A rate that is not a number is 0.
//   - A negative burst is 0.
//   - Allow reads the clock when it is its turn, not before: goroutines that
//     compete cannot set the clock back for one another.
//   - Nothing drifts. The tokens of a rate like 10/s or Every(7*time.Millisecond)
//     are complete at exactly the nanosecond one would expect, and the
//     one before is too early, after any number of events.
//
// Five requests at once, then two per second:
//
//	lim := limiters.NewTokenBucket(2, 5)
//	if !lim.Allow() {
//		http.Error(w, "slow down", http.StatusTooManyRequests)
//		return
//	}
//
// The same decision as a function of time, for a test, a simulation or a log:
//
//	ok := lim.AllowN(entry.Time, 1)
package limiters
