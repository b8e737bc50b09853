package limiters

import (
	"math"
	"time"
)

// InfDuration is what Delay returns if the tokens need 292 years or more, or never
// come, or if the [Reservation] is not OK. It is the longest time.Duration.
const InfDuration = time.Duration(math.MaxInt64)

// A Reservation holds tokens of a [TokenBucket], perhaps in advance. Its holder may act
// after its delay, or cancel it so that others get them.
//
// The zero Reservation is not OK. A Reservation must not be copied. Its methods
// are safe for concurrent use.
type Reservation struct {
	lim   *TokenBucket
	act   time.Time
	ok    bool
	never bool // act is not meant

	// What Cancel needs. The first belongs to the lock of lim.
	n       int64  // tokens to give back
	delayed bool   // they were not there
	pos     amount // where in the stream of tokens they are complete
	epoch   uint64
	mark    *mark
	room    amount // what mark had before this was noted there,
	noted   amount // and since
}

// Reserve reserves a token from now on. See ReserveN.
func (l *TokenBucket) Reserve() *Reservation {
	var r Reservation // Here, so that it stays on the stack of a caller who keeps it there.
	l.reserveNow(&r)
	return &r
}

// ReserveN reserves n tokens from t on, for as soon as they have accrued. They are
// taken at once, which leaves the bucket in debt if it holds fewer. It is not OK, and
// takes nothing, if n is more than the burst (unless the rate is Inf), negative, or
// would leave a debt of more than 4e18 tokens. If n is 0 it is OK without delay, and
// takes nothing.
//
// It does not allocate if the caller does not let the Reservation escape.
func (l *TokenBucket) ReserveN(t time.Time, n int) *Reservation {
	var r Reservation
	l.reserveAt(&r, t, n)
	return &r
}

// OK reports whether tokens are reserved. If not, Delay returns InfDuration, and
// Cancel does nothing.
func (r *Reservation) OK() bool { return r.ok }

// Delay returns how long from now on the holder must wait before it acts. See
// DelayFrom.
func (r *Reservation) Delay() time.Duration {
	switch {
	case !r.ok || r.never:
		return InfDuration
	case r.lim.clock == nil:
		return max(0, time.Until(r.act))
	}
	return max(0, r.act.Sub(r.lim.clock.Now()))
}

// DelayFrom returns how long from t on the holder must wait before it acts: 0 if it may
// act at once, [InfDuration] if the tokens need longer than that. It does not change if
// the limit, the burst or other reservations do.
func (r *Reservation) DelayFrom(t time.Time) time.Duration {
	if !r.ok || r.never {
		return InfDuration
	}
	return max(0, r.act.Sub(t))
}

// Cancel refunds the tokens as of now. See CancelAt.
func (r *Reservation) Cancel() {
	if !r.ok {
		return
	}
	r.lim.lock()
	defer r.lim.mu.Unlock()
	now, _ := r.lim.read()
	r.lim.cancel(r, now, true)
}

// CancelAt says that the holder will not act, and refunds the tokens as of t, except
// those on which later reservations rely: these keep their delays. It never refunds
// more than the reservation took, nor leaves more tokens than if it had never been
// made. It does nothing after the delay is over, and nothing the second time.
//
// If t is exactly when the holder could have acted, it is still in time.
func (r *Reservation) CancelAt(t time.Time) {
	if !r.ok {
		return
	}
	r.lim.lock()
	defer r.lim.mu.Unlock()
	r.lim.cancel(r, t, false)
}

func (l *TokenBucket) reserveNow(r *Reservation) {
	l.lock()
	defer l.mu.Unlock()
	if !l.own || l.limit == Inf {
		l.reserve(r, l.now(), 1, true)
	} else if wait, _ := l.take(time.Since(l.at), 1, InfDuration); wait >= 0 {
		l.book(r, 1, wait)
	}
}

func (l *TokenBucket) reserveAt(r *Reservation, t time.Time, n int) {
	l.lock()
	defer l.mu.Unlock()
	l.reserve(r, t, int64(n), false)
}

// reserve reserves n tokens at t, or as soon after as they will be there. If it
// cannot it leaves r, which is zero, as it is.
func (l *TokenBucket) reserve(r *Reservation, t time.Time, n int64, clock bool) {
	if n == 0 || n > 0 && l.limit == Inf {
		r.lim, r.ok, r.act = l, true, t
		return
	}
	e := l.after(t)
	wait, moved := l.take(e, n, InfDuration)
	if moved {
		l.moved(t, e, clock)
	}
	if wait >= 0 {
		l.book(r, n, wait)
	}
}

// take takes n tokens at e after at, or as soon after as they will be there, if
// that is within most: wait later. If wait is negative they were not taken. If
// moved, at is that instant now.
func (l *TokenBucket) take(e time.Duration, n int64, most time.Duration) (wait time.Duration, moved bool) {
	if n < 0 || n > l.burst || most < 0 {
		return -1, false
	}
	ok, moved := l.grant(e, n)
	if ok {
		return 0, moved
	}
	e = max(e, l.last)
	there := l.there(e)
	wait = l.interval.wait(uint64(n)-uint64(l.left), uint64(e), l.phase)
	if wait > most || there.whole < n-half { // Too late, or too much to count.
		return -1, false
	}
	if e > half || l.left < n-half {
		l.anchor(e)
		e, moved = 0, true
	}
	l.left, l.last, l.delayed = l.left-n, e, true
	l.tail = l.origin.minus(amount{l.left, 0})
	return wait, moved
}

// book makes r the reservation of the n tokens that were taken last.
func (l *TokenBucket) book(r *Reservation, n int64, wait time.Duration) {
	r.lim, r.ok, r.n = l, true, n
	r.act = l.at.Add(l.last).Add(wait)
	r.never, r.delayed = wait == InfDuration, wait > 0
	r.pos = l.origin.minus(amount{l.left, 0})
	r.epoch, r.mark = l.epoch, l.mark
	if wait <= 0 {
		return
	}
	if l.booked != l.epoch || r.act.After(l.latest) {
		l.booked, l.latest = l.epoch, r.act
	}
	l.foresee(r)
}
