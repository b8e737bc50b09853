package limiters

import "time"

// SetLimit sets the limit from now on. See SetLimitAt.
func (l *TokenBucket) SetLimit(r Limit) {
	l.lock()
	defer l.mu.Unlock()
	l.setLimit(l.now(), true, r)
}

// SetLimitAt sets the limit from t on. The balance stays, also a debt; earlier
// reservations and waits keep their instants. Under [Inf] debts are paid immediately; when a
// finite limit is set again, the bucket is full, unless both were set at the same instant.
func (l *TokenBucket) SetLimitAt(t time.Time, r Limit) {
	l.lock()
	defer l.mu.Unlock()
	l.setLimit(t, false, r)
}

// SetBurst sets the burst from now on. See SetBurstAt.
func (l *TokenBucket) SetBurst(b int) {
	l.lock()
	defer l.mu.Unlock()
	l.setBurst(l.now(), true, b)
}

// SetBurstAt sets the burst from t on. Tokens above it are lost; a higher burst adds no
// tokens by itself. A negative b is 0. Earlier reservations and waits keep their
// instants.
func (l *TokenBucket) SetBurstAt(t time.Time, b int) {
	l.lock()
	defer l.mu.Unlock()
	l.setBurst(t, false, b)
}

func (l *TokenBucket) setLimit(t time.Time, clock bool, r Limit) {
	waiting := l.advance(t, clock)
	l.set = true
	// A token that is incomplete because intervals are rounded up would be complete
	// within the nanosecond, but not if nothing flows in any more.
	if -l.frac < 1<<20 && l.frac > 0 {
		l.left++
		l.origin.whole++
		l.frac = 0
	}
	l.rate(r)
	l.carry(l.frac)
	l.changed(waiting)
}

func (l *TokenBucket) setBurst(t time.Time, clock bool, b int) {
	waiting := l.advance(t, clock)
	l.set = true
	l.burst = max(int64(b), 0)
	l.rate(l.limit) // In a zero TokenBucket it is not set.
	if l.left >= l.burst {
		l.left = l.burst
		l.carry(0)
	}
	l.changed(waiting)
}

// advance makes t, or the newest instant if that is later, the instant at, and
// reports whether there may be reservations then that can be cancelled.
func (l *TokenBucket) advance(t time.Time, clock bool) (waiting bool) {
	e := l.after(t)
	newest := max(e, l.last)
	waiting = newest == l.last // Those that need not wait, as it is the same instant.
	if l.full(newest) {
		l.fill(newest)
	} else {
		l.anchor(newest)
	}
	l.moved(t, e, clock)
	if l.watch {
		l.note(amount{l.left, l.frac})
	}
	return waiting || l.booked == l.epoch && !l.latest.Before(l.at)
}
