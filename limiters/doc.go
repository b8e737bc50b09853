// Package limiters decides which of a stream of events may happen.
//
// The terms, as used throughout the package:
//
//   - rate, or limit: how many events per second there may be in the long run.
//   - token: the right to one event. Tokens accrue evenly at the rate, also in
//     fractions.
//   - burst: how many tokens a bucket can hold. It begins full.
//   - grant: permission for an event. It takes the tokens immediately.
//   - envelope: the most that is granted in any period of length L: rate * L + burst.
//   - reservation: tokens taken in advance. Its holder may act when they have accrued.
//   - window: of a throttle, the interval that an event opens.
//   - slot: the right to run, of which there are limit; its holder releases it.
//   - backlog: the requests that wait for slots.
//
// To choose: a [TokenBucket] keeps a rate and allows bursts; it can also wait and reserve. A [GCRA] makes the same
// decisions without a lock, if a token takes a whole number of nanoseconds. A [Throttle] lets one event pass per window
// and drops the others, without a timer; a [ThrottleFunc] also runs the newest of them at the end, and [ThrottleStream]
// and [ThrottleFuncStream] are the two for channels. [Sometimes] is for logs and the like. A [LeakyBucket] queues
// events and releases them at an even pace. A [SlidingLog] keeps a limit in any period of its window, a
// [SlidingCounter] approximately, with two counters, and a [FixedWindow] starts a new count every minute, say. [Keyed]
// keeps one limiter per user, and a [KeyedGCRA] a GCRA for each of very many users. A [Concurrency] limits how many
// events run at the same time, however fast they come; it is the only one that must be told when they end. The windows,
// GCRA and TokenBucket, and those by key, implement [Taker]: Take does not wait for tokens, and reports what
// remains and when to try again. Package httplimit puts limiters in front of HTTP handlers. Package redislimit, a
// module of its own, keeps a GCRA for many machines.
//
// [TokenBucket] has everything that the Limiter of golang.org/x/time/rate v0.14.0 has: to
// move, change the import, and NewLimiter to NewTokenBucket. It decides alike, except for
// rounding, as long as time does not go back, n is positive, the rate is a finite number,
// and a reservation is cancelled once, under the limit and burst it was made under. Both
// count instants in whole nanoseconds, and grant an event in the nanosecond in which its
// token is complete: less than one nanosecond early. But x/time/rate counts tokens in
// floating point and truncates delays; this package is exact. Below, "there" means in
// x/time/rate:
//
//   - For rates of one a minute or more, delays are equal or one nanosecond apart, mostly
//     longer here: many long histories have such a delay. At slower rates its errors add
//     up, at one a day to some thirty nanoseconds in thousands of events.
//   - At an exact boundary x/time/rate may be one nanosecond early. With limit 10/s,
//     burst 10 and no tokens left, AllowN at +100ms-1ns is true there; here it is false,
//     and true at +100ms.
//   - Here no error adds up. After any number of events, the tokens of a rate like 10/s or
//     Every(7*time.Millisecond) are complete at exactly the expected nanosecond, and not
//     one earlier.
//
// Outside these conditions it keeps to the envelope, and differs in the following
// histories. Unless stated, the bucket has limit 1/s, burst 10 and no tokens left:
//
//   - An instant before the newest counts as the newest, in all methods. A full bucket,
//     and AllowN at +10s, +0s, +10s, and so on, 200 times in turn: 10 are granted. In
//     x/time/rate it sets the clock back, the same time brings tokens again, and all
//     200 are granted.
//   - Methods read the clock under the lock: goroutines that compete for Allow cannot
//     set the clock back for one another.
//   - n == 0 changes nothing. With a debt, AllowN(t, 0) is true, ReserveN(t, 0) has no
//     delay and WaitN(ctx, 0) does not wait; there it is false, and they last as long
//     as the debt.
//   - n < 0 changes nothing. AllowN(t, -5) is false, ReserveN(t, -5) not OK and
//     WaitN(ctx, -5) an [ErrNegative]; there they add 5 tokens.
//   - Cancel refunds once. ReserveN(t, 5) and two CancelAt(t): no tokens; there 10.
//   - Cancel refunds only what was taken. SetLimitAt(t, Inf), ReserveN(t, 5),
//     SetLimitAt(t, 1), CancelAt(t): no tokens; there 5.
//   - Cancel counts what was reserved later in tokens, not in time at the old limit.
//     ReserveN(t, 5), SetLimitAt(t, 10), ReserveN(t, 5), CancelAt(t) of the first: no
//     refund, as the second relies on all of it; there 9 tokens.
//   - Cancel leaves no more than there would be without the reservation. ReserveN(t,
//     5), SetLimitAt(t, 100), AllowN(t+1s, 10), CancelAt(t+1s): no tokens, as the
//     bucket was full meanwhile; there 9. Nor does it refund more than was taken,
//     whatever was cancelled before: ReserveN(t, 4), ReserveN(t, 3), CancelAt(t) of the
//     first, ReserveN(t, 2) and its CancelAt(t), CancelAt(t) of the second: the last
//     refunds 3 tokens; there 4.
//   - A second Cancel does nothing even if the first refunded nothing, because it came
//     too late or later reservations relied on the tokens. ReserveN(t, 5), CancelAt(t+6s),
//     CancelAt(t+5s): no tokens; there 5.
//   - The floating-point infinity is Inf, and a rate that is negative, or by SetLimit not a
//     number, is 0; NewTokenBucket panics with the latter. With math.Inf(1), and after
//     SetLimit(math.NaN()), a burst of 5 and 100 calls of Allow: 100 and 5 are granted; there
//     100 and 100, and Tokens is NaN.
//   - A negative burst is 0.
//   - A delay does not overflow. With Every(math.MaxInt64) and a burst of 1, two
//     calls of AllowN(t, 1): the second is denied; there it is granted.
//   - A reservation whose tokens need 292 years or more may never act: its delay is
//     always [InfDuration]. There it counts down from that.
//   - A context that is done is an error whatever the tokens, also if n == 0. If it
//     ends at the instant at which a Wait ends, the Wait succeeds; there either may
//     happen. A Wait that would end after the deadline returns [ErrDeadline], which is
//     also a context.DeadlineExceeded; there it is not.
//
// Five requests together, then two per second:
//
//	lim := limiters.NewTokenBucket(2, 5)
//	if !lim.Allow() {
//		http.Error(w, "slow down", http.StatusTooManyRequests)
//		return
//	}
//
// Or every request, each in its turn, unless its context ends first:
//
//	if err := lim.Wait(r.Context()); err != nil {
//		return err
//	}
//
// The examples show how to get the slack of go.uber.org/ratelimit, the maximal wait of
// juju/ratelimit and the prepaid requests of Guava.
//
// The same decision as a function of time, for a test, a simulation or a log:
//
//	ok := lim.AllowN(entry.Time, 1)
package limiters
