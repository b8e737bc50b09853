package limiter

import (
	"math"
	"runtime"
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// bucket is a plain token bucket in floating point, correct unless mutant
// names one of its mistakes.
type bucket struct {
	rate   float64 // per second
	burst  int
	mutant string

	mu     sync.Mutex
	tokens float64
	last   time.Time
	began  bool
	count  int
	idle   int // how often it was left alone
}

func newBucket(cfg lt.Config, mutant string) *bucket {
	if mutant == "goroutine left behind" {
		zoo.LeaveForGood()
	}
	return &bucket{rate: cfg.Rate.PerSecond(), burst: cfg.Burst, mutant: mutant}
}

func (l *bucket) is(mutant string) bool { return l.mutant == mutant }

// fill returns the tokens at t.
func (l *bucket) fill(t time.Time) float64 {
	elapsed := max(0, t.Sub(l.last))
	if t.Before(l.last) && l.is("an old instant brings a nanosecond") {
		elapsed = 1
	}
	more := elapsed.Seconds() * l.rate
	switch l.mutant {
	case "counts whole tokens only":
		more = math.Floor(more + 1e-9)
	case "refills too fast":
		more *= 1.01
	case "refills too slowly":
		more *= 0.99
	case "the last nanosecond before it is full is cut off":
		full := time.Duration((float64(l.burst) - l.tokens) / l.rate * 1e9)
		more = min(elapsed, full).Seconds() * l.rate
	case "a product overflows after a long time":
		more = float64(int64(elapsed)*int64(l.rate)) / 1e9
	case "a product of 64 bits wraps":
		if l.rate == math.Trunc(l.rate) && l.rate < 1e9 {
			more = float64(uint64(elapsed)*uint64(l.rate)) / 1e9
		}
	case "interval is cut to a microsecond":
		if us := time.Duration(1e6 / l.rate); us > 0 && us < 1000 {
			more = float64(elapsed) / float64(us*time.Microsecond)
		}
	case "interval is cut to a nanosecond":
		if l.rate >= 1e8 {
			more = float64(elapsed / max(1, time.Duration(1e9/l.rate)))
		}
	}
	limit := float64(l.burst)
	switch l.mutant {
	case "bucket one too large":
		limit++
	case "bucket without a bound":
		limit = math.Inf(1)
	case idleAddsUp:
		limit += float64(l.idle / 8)
	}
	return min(limit, l.tokens+more)
}

func (l *bucket) allow(t time.Time, n int) (ok bool) {
	if l.is(keepsLock) {
		defer func() {
			if !ok {
				l.mu.Lock()
			}
		}()
	}
	if l.is("counts before it locks") {
		l.count++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin(t)
	if t.Before(l.last) && l.is("an old instant is denied") {
		return false
	}
	if ok, decided := l.unusual(n); decided {
		return ok
	}
	tokens := l.fill(t)
	if l.is("moves on when it denies") && t.After(l.last) && tokens < float64(n) {
		l.last = t // and what has come is not stored
	}
	need := float64(n) - 1e-10
	switch l.mutant {
	case "needs a little more than there is":
		need += 1e-3
	case unrounded:
		need = float64(n)
	case roomForOne:
		need = min(1, need)
	case "grants a little early":
		need -= 1e-3
	}
	if n > l.burst {
		need = float64(l.burst)
	}
	switch {
	case l.is("checks without the lock"):
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
	case l.is("panics when it is empty") && tokens <= 0:
		panic("integer divide by zero")
	}
	if tokens < need {
		if l.is("a denied request costs a token") {
			l.tokens, l.last = max(0, tokens-0.5), t
		}
		return false
	}
	if t.Sub(l.last).Seconds()*l.rate > float64(l.burst)+1 {
		l.idle++
	}
	if l.tokens = tokens - float64(n); l.is(roomForOne) {
		l.tokens = max(0, l.tokens)
	}
	if t.After(l.last) || l.is("an old instant rewinds") {
		l.last = t
	}
	if l.is("forgets the rest on a grant") {
		l.tokens = math.Floor(l.tokens + 1e-9)
	}
	return true
}

// begin fills a new bucket.
func (l *bucket) begin(t time.Time) {
	if !l.began || l.is("the zero time means new") && l.last.IsZero() ||
		l.is("unix 0 means new") && l.last.Unix() == 0 {
		l.began, l.last, l.tokens = true, t, float64(l.burst)
		if l.is("starts empty") {
			l.tokens = 0
		}
	}
}

// unusual decides requests at an infinite rate, for no tokens, for fewer, and for more than the burst.
func (l *bucket) unusual(n int) (ok, decided bool) {
	switch {
	case n > 0 && l.rate >= math.MaxFloat64 && !l.is("an infinite rate grants no more than the burst"):
		return true, true
	case n > l.burst && l.is("a large request resets the bucket"):
		l.tokens = 0
		return false, true
	case n > l.burst:
		return false, !l.is("grants more than the burst")
	case n < 0:
		return false, !l.is("a negative request adds tokens")
	}
	return !l.is("a request for 0 is denied"), n == 0
}

func (l *bucket) tokensAt(t time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.began && !l.is("a new bucket shows what came since the zero time") {
		return float64(l.burst)
	}
	return l.fill(t)
}

// unrounded is a correct bucket: what is missing of a token is less than a nanosecond brings.
const unrounded = "sums of fractions count as they are"

// bucketSpec describes it.
func bucketSpec(mutant string, source lt.TimeSource) lt.Spec {
	spec := bucketOf("zoo: "+mutant, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newBucket(cfg, mutant)
		return onClock(env.Clock, lt.Funcs{AllowAt: l.allow, TokensAt: l.tokensAt})
	})
	spec.Traits.Zero = lt.ZeroGranted
	return spec
}

// bucketOf describes a bucket that is made in some way.
func bucketOf(name string, source lt.TimeSource, make func(env lt.Env, cfg lt.Config) lt.Funcs) lt.Spec {
	return lt.Spec{Name: name, Time: source, New: make, Traits: lt.XTimeRate()}
}

// losesTime is a plain bucket that loses time.
func losesTime() lt.Spec {
	return bucketOf("zoo: "+zoo.LosesTime, lt.Injected, func(env lt.Env, cfg lt.Config) lt.Funcs {
		return onClock(zoo.LosingTime(env.Clock), lt.Funcs{AllowAt: newBucket(cfg, "").allow})
	})
}
