package limiters

import (
	"math"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// Limiter is the name by which users of golang.org/x/time/rate know a
// [TokenBucket].
type Limiter = TokenBucket

// A TokenBucket grants events at a rate, and bursts of them after quieter times.
// It is a bucket of burst tokens, full at first, into which rate tokens per
// second flow until it is full. An event is granted if its tokens are there, and
// takes them; an event that is denied takes nothing.
//
// Its state is an instant, the tokens there were at that instant, and the tokens
// taken since, all whole numbers: so no rounding error can build up, however
// many events there are. See the package comment for how it compares with
// golang.org/x/time/rate.
//
// The zero TokenBucket has no tokens and no rate, and rejects all events (other
// than n == 0). Make one with [NewTokenBucket].
//
// Rates are in events per second, from 0 (the burst, and then nothing) to [Inf]
// (everything, whatever the burst). The envelope is closed at its end: tokens
// that take exactly d are there d later. Any instants will do, also the zero
// time. Those more than 292 years apart, the longest time.Duration, count as 292
// years apart, which fills all but the slowest buckets.
//
// Methods without an instant use that of the clock. In a synctest bubble, use
// a TokenBucket that has not granted anything outside of it: its time and that of
// the bubble have nothing to do with each other.
//
// It has no goroutines and no timers. All methods are safe for concurrent use,
// and take effect one after the other.
type TokenBucket struct {
	clock    clockwork.Clock // nil: package time
	limit    Limit
	burst    int64
	interval interval

	mu   sync.Mutex
	at   time.Time     // an instant at which there were, before what was
	left int64         // taken since, left tokens; never above burst
	last time.Duration // the newest grant, counted from at
	own  bool          // at is an instant of package time, monotonic
}

// NewTokenBucket returns a full TokenBucket of b tokens, refilled at rate r. A
// negative b is 0.
func NewTokenBucket(r Limit, b int, opts ...Option) *TokenBucket {
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	l := &TokenBucket{clock: cfg.clock, limit: r.sane(), burst: max(int64(b), 0)}
	l.left = l.burst
	if l.limit < Inf {
		l.interval = l.limit.interval()
	}
	return l
}

// Limit returns the rate.
func (l *TokenBucket) Limit() Limit { return l.limit }

// Burst returns the most tokens that there can be, and so the most events that
// can be granted at once. It does not matter if the rate is Inf.
func (l *TokenBucket) Burst() int { return int(l.burst) }

// Allow reports whether an event may happen now, and takes a token if so.
func (l *TokenBucket) Allow() bool {
	if l.limit == Inf {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own {
		e := time.Since(l.at) // Half the price of time.Now.
		ok, move := l.grant(e, 1)
		if move {
			l.at = l.at.Add(e)
		}
		return ok
	}
	now := l.now()
	ok, move := l.grant(now.Sub(l.at), 1)
	if move {
		l.at, l.own = now.Add(-l.last), l.clock == nil && l.last == 0
	}
	return ok
}

// AllowN reports whether n events may happen at t, all of them or none, and
// takes n tokens if so. A t before an instant granted already counts as that
// instant. If n is 0 the answer is true, if n is negative it is false, and
// neither changes anything.
func (l *TokenBucket) AllowN(t time.Time, n int) bool {
	if n <= 0 {
		return n == 0
	}
	if l.limit == Inf {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, move := l.grant(t.Sub(l.at), int64(n))
	if move {
		l.at, l.own = t.Add(-l.last), false
	}
	return ok
}

// Tokens returns how many tokens there are now. See TokensAt.
func (l *TokenBucket) Tokens() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tokens(l.now().Sub(l.at))
}

// TokensAt returns how many tokens there are at t, rounded to a float64; if t is
// before an instant granted already, at that instant. It is never more than the
// burst, and may be less than zero by what flows in during one nanosecond.
func (l *TokenBucket) TokensAt(t time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tokens(t.Sub(l.at))
}

// grant takes n > 0 tokens at e after at, if they are there. If move, the caller
// must move at to last before that instant: the bucket was full then, and last is
// 0, or the instant is further from at than e can tell.
func (l *TokenBucket) grant(e time.Duration, n int64) (ok, move bool) {
	if n > l.burst {
		return false, false
	}
	far := e == math.MaxInt64
	e = max(e, l.last)
	if l.full(e) {
		l.left, l.last = l.burst-n, 0
		return true, true
	}
	// The missing tokens must be complete before the next nanosecond.
	if n > l.left && !l.interval.fit(uint64(n)-uint64(l.left), uint64(e)+1) {
		return false, false
	}
	const half = 1 << 62
	if e > half || l.left < n-half {
		e = l.rebase(e)
	}
	l.left, l.last = l.left-n, e
	return true, far
}

// full reports whether all that is missing has flowed in.
func (l *TokenBucket) full(e time.Duration) bool {
	return l.left == l.burst || l.interval.fit(uint64(l.burst)-uint64(l.left), uint64(e))
}

// rebase moves at, in a bucket that has not been full for ages, by as many whole
// intervals as there are until e, and returns e as counted from there.
func (l *TokenBucket) rebase(e time.Duration) time.Duration {
	n, took := l.interval.whole(uint64(e))
	l.left += int64(n)
	l.at = l.at.Add(time.Duration(took))
	return e - time.Duration(took)
}

// tokens returns the tokens there are at e after at. The whole ones are counted,
// as grant does it: left and what has flowed in can be too large for a float64.
func (l *TokenBucket) tokens(e time.Duration) float64 {
	e = max(e, l.last)
	if l.limit == Inf || l.full(e) {
		return float64(l.burst)
	}
	n, rest := l.interval.count(uint64(e))
	return min(float64(l.left+int64(n))+rest*float64(l.limit)/1e9, float64(l.burst))
}

// now returns the instant on the clock of the limiter.
func (l *TokenBucket) now() time.Time {
	if l.clock != nil {
		return l.clock.Now()
	}
	return time.Now()
}
