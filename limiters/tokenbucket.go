package limiters

import (
	"fmt"
	"math"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// Limiter is the name of [TokenBucket] in golang.org/x/time/rate.
type Limiter = TokenBucket

// A TokenBucket grants events at a rate, and bursts of them after quieter times. It is
// a bucket of burst tokens, full at first, which gains rate tokens per second until it
// is full. An event takes tokens. If there are too few, Allow denies the event and
// takes nothing, Wait waits for them, and Reserve says when they will have accrued; the
// last two leave a debt that is paid first.
//
// Its state is an instant, the balance at that instant, and the tokens taken since, in
// whole numbers: so no rounding error can build up, however many events there are. See
// the package comment for how it compares with golang.org/x/time/rate.
//
// The zero TokenBucket has no tokens and no rate, and rejects all events (other
// than n == 0) until both are set. Make one with [NewTokenBucket].
//
// Rates are in events per second, from 0 (the burst, and then nothing) to [Inf]
// (everything, whatever the burst). The envelope is closed at its end: tokens that take
// exactly d are available d later. Any instant is allowed, also the zero time. Instants
// more than 292 years apart, the longest time.Duration, count as 292 years apart, which
// fills all but the slowest buckets. An instant before the newest one at which
// something was granted, reserved, cancelled or set counts as the newest.
//
// Methods without an instant read the clock, under the lock. In a synctest bubble, use
// a TokenBucket that has not granted anything outside of it: times inside and outside
// are unrelated.
//
// It has no goroutines, and no timers but that of a Wait while it waits. All
// methods are safe for concurrent use, and take effect one after the other. On package
// time, an Allow that follows another is one compare-and-swap, or if it is denied only
// reads; all else, and the Allow after that, takes a lock.
type TokenBucket struct {
	clock clockwork.Clock // nil: package time
	inf   atomic.Bool     // limit is Inf
	set   bool            // limit or burst is not as it was made; guarded by mu

	mu       sync.Mutex
	limit    Limit
	burst    int64
	interval interval

	at    time.Time     // an instant at which there were, before what was
	left  int64         // taken since, left tokens; never above burst
	phase uint64        // and of one more this part, in units of 1/interval.cost,
	frac  uint64        // or if interval.still() this, in units of 2^-64
	last  time.Duration // the newest instant, counted from at
	own   bool          // at is an instant of package time, monotonic

	ledger

	lockless lockless // if it is open, what is guarded by mu is older. See lock
}

// NewTokenBucket returns a full TokenBucket of b tokens, refilled at rate r. A
// negative b is 0. It panics if r is not a number.
func NewTokenBucket(r Limit, b int, opts ...Option) *TokenBucket {
	if r != r {
		panic(fmt.Sprintf("limiters: NewTokenBucket: rate %v must be a number: use 0 to grant the burst and no more, Inf for no limit", r))
	}
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	l := &TokenBucket{clock: cfg.clock, burst: max(int64(b), 0), last: math.MinInt64}
	l.left = l.burst
	l.rate(r)
	return l
}

// Limit returns the rate.
func (l *TokenBucket) Limit() Limit {
	l.lock()
	defer l.mu.Unlock()
	return l.limit
}

// Burst returns the most tokens that the bucket can hold, and so the most events that
// can be granted at once. It does not matter if the rate is Inf.
func (l *TokenBucket) Burst() int {
	l.lock()
	defer l.mu.Unlock()
	return int(l.burst)
}

// Allow reports whether an event may happen now, and takes a token if so.
func (l *TokenBucket) Allow() bool {
	if l.inf.Load() {
		return true
	}
	s := &l.lockless
	for word := s.word.Load(); word != closed; word = s.word.Load() {
		now := int64(time.Since(s.began))
		next := now
		if word < 0 || now-word < s.refill.Load() {
			next = s.next(word, now)
		}
		if next == closed {
			break
		}
		if next == word && s.word.Load() == word {
			return false
		}
		if next != word && s.word.CompareAndSwap(word, next) {
			return true
		}
	}
	return l.allowLocked()
}

// allowLocked is Allow with the lock. The limit may have become Inf before it got it.
func (l *TokenBucket) allowLocked() bool {
	l.lock()
	defer l.mu.Unlock()
	if l.limit == Inf {
		return true
	}
	if !l.own {
		now := l.now()
		e := l.after(now)
		ok, moved := l.grant(e, 1)
		if moved {
			l.moved(now, e, true)
		}
		if ok && l.own { // from now on
			l.open(false)
		}
		return ok
	}
	now := time.Since(l.at) // Half the price of time.Now.
	e := max(now, l.last)
	full := l.burst > 0 && l.full(e)
	ok := full
	if full {
		l.fill(e)
		l.left, l.delayed = l.left-1, false
	} else {
		ok, _ = l.grant(e, 1)
	}
	if ok && now == e {
		l.open(full)
	}
	return ok
}

// AllowN reports whether n events may happen at t, all of them or none, and
// takes n tokens if so. If n is 0 the answer is true, if n is negative it is
// false, and neither changes anything.
func (l *TokenBucket) AllowN(t time.Time, n int) bool {
	if n <= 0 {
		return n == 0
	}
	if l.inf.Load() {
		return true
	}
	l.lock()
	defer l.mu.Unlock()
	if l.limit == Inf {
		return true
	}
	e := l.after(t)
	ok, moved := l.grant(e, int64(n))
	if moved {
		l.moved(t, e, false)
	}
	return ok
}

// Tokens returns the balance now. See TokensAt.
func (l *TokenBucket) Tokens() float64 {
	l.lock()
	defer l.mu.Unlock()
	return l.tokens(l.now().Sub(l.at))
}

// TokensAt returns the balance at t, rounded to a float64. It is never more than the
// burst, and negative if the bucket is in debt; without reservations and waits the debt
// is less than accrues in one nanosecond.
func (l *TokenBucket) TokensAt(t time.Time) float64 {
	l.lock()
	defer l.mu.Unlock()
	return l.tokens(t.Sub(l.at))
}

// Fresh reports whether the bucket is full, and its limit and burst were never set: from
// now on it decides as a new one would. It is what a [Keyed] asks.
func (l *TokenBucket) Fresh() bool {
	l.lock()
	defer l.mu.Unlock()
	if l.set || l.limit == Inf {
		return !l.set
	}
	_, e := l.read()
	return !l.there(max(e, l.last)).less(amount{l.burst, 0})
}

// after returns how long t is after at. Before the first event, that can be any instant: it
// is t if that is too far before for a time.Duration.
func (l *TokenBucket) after(t time.Time) time.Duration {
	if l.mark == nil { // a zero TokenBucket
		l.last = math.MinInt64
	}
	e := t.Sub(l.at)
	if e == math.MinInt64 && l.last == math.MinInt64 {
		l.at, e = t, 0
	}
	return e
}

// half of the range of a number: the bucket counts from a newer instant, and with
// smaller numbers, before what it counts with can overflow.
const half = 1 << 62

// grant takes n > 0 tokens at e after at, if they are there. If moved, at is that
// instant now.
func (l *TokenBucket) grant(e time.Duration, n int64) (ok, moved bool) {
	if n > l.burst {
		return false, false
	}
	e = max(e, l.last)
	if l.full(e) {
		l.fill(e)
		l.left, l.delayed = l.left-n, false
		return true, true
	}
	// The missing tokens must be complete before the next nanosecond.
	if n > l.left && !l.interval.fit(uint64(n)-uint64(l.left), uint64(e)+1, l.phase) {
		return false, false
	}
	if l.watch {
		l.note(l.there(e))
	}
	if e > half || l.left < n-half {
		l.anchor(e)
		e, moved = 0, true
	}
	l.left, l.last, l.delayed = l.left-n, e, false
	return true, moved
}

// full reports whether all that is missing has flowed in.
func (l *TokenBucket) full(e time.Duration) bool {
	return l.left == l.burst || l.interval.fit(uint64(l.burst)-uint64(l.left), uint64(e), l.phase)
}

// fill makes e the instant at, in a bucket that is full then.
func (l *TokenBucket) fill(e time.Duration) {
	l.at, l.last = l.at.Add(e), 0
	l.left, l.phase, l.frac = l.burst, 0, 0
	l.void()
}

// anchor makes e the instant at, in a bucket that is not full then.
func (l *TokenBucket) anchor(e time.Duration) {
	n, frac := l.flow(e)
	l.at, l.last = l.at.Add(e), 0
	l.left += int64(n)
	l.flowed(n)
	l.carry(frac)
}

// moved sets at to t more precisely than e, by which it was moved, can say: e may
// be less than the distance, and the clock's instants may have a monotonic part.
func (l *TokenBucket) moved(t time.Time, e time.Duration, clock bool) {
	clock = clock && l.clock == nil
	if e == math.MaxInt64 || clock && l.at.Equal(t) {
		l.at, l.own = t, clock
	}
}

// flow returns how many tokens have flowed in e after at, and 2^-64 of one, in a
// bucket that is not full then.
func (l *TokenBucket) flow(e time.Duration) (n, frac uint64) {
	if l.interval.still() {
		return 0, l.frac
	}
	return l.interval.count(uint64(e), l.phase)
}

// carry sets the part of a token that there is at the instant at besides left.
func (l *TokenBucket) carry(frac uint64) {
	l.phase, l.frac = 0, frac
	if !l.interval.still() {
		l.phase, _ = bits.Mul64(frac, l.interval.cost)
	}
}

// there returns the tokens there are at e after at. The whole ones are counted,
// as grant does it: left and what has flowed in can be too large for a float64.
func (l *TokenBucket) there(e time.Duration) amount {
	if l.full(e) {
		return amount{l.burst, 0}
	}
	n, frac := l.flow(e)
	return amount{l.left + int64(n), frac}
}

func (l *TokenBucket) tokens(e time.Duration) float64 {
	return min(l.there(max(e, l.last)).float(), float64(l.burst))
}

// rate sets the limit.
func (l *TokenBucket) rate(r Limit) {
	l.limit = r.sane()
	l.interval = l.limit.interval()
	l.inf.Store(l.limit == Inf)
	l.lockless.set(l.interval, l.burst)
	if l.mark == nil {
		l.mark = new(mark)
	}
}

// read returns the instant on the clock, and how long after at it is.
func (l *TokenBucket) read() (time.Time, time.Duration) {
	if l.own {
		e := time.Since(l.at) // Half the price of time.Now.
		return l.at.Add(e), e
	}
	now := l.now()
	return now, l.after(now)
}

// now returns the instant on the clock of the limiter.
func (l *TokenBucket) now() time.Time {
	if l.clock != nil {
		return l.clock.Now()
	}
	return time.Now()
}
