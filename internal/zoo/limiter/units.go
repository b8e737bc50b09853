package limiter

import (
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// newFloat32 is a bucket of those who hold the rate in a float32.
func newFloat32(cfg lt.Config, mutant string) *bucket {
	l := newBucket(cfg, mutant)
	l.rate = float64(float32(l.rate))
	return l
}

// float32Spec describes it.
func float32Spec(mutant string, source lt.TimeSource) lt.Spec {
	spec := bucketOf("zoo: rate in float32: "+mutant, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		return onClock(env.Clock, lt.Funcs{AllowAt: newFloat32(cfg, mutant).allow})
	})
	spec.Traits.Precision, spec.Traits.Zero = lt.PrecisionFloat32, lt.ZeroGranted
	return spec
}

// millisecondSpec is the bucket of those who cut instants to milliseconds.
func millisecondSpec(mutant string, source lt.TimeSource) lt.Spec {
	spec := bucketOf("zoo: instants in milliseconds: "+mutant, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newBucket(cfg, mutant)
		return onClock(env.Clock, lt.Funcs{AllowAt: func(t time.Time, n int) bool {
			return l.allow(t.Truncate(time.Millisecond), n)
		}})
	})
	spec.Traits.Resolution, spec.Traits.Zero = time.Millisecond, lt.ZeroGranted
	return spec
}

// tick is the period of the ticker that fills a tickBucket.
const tick = 50 * time.Millisecond

// tickBucket is filled by a ticker, at any rate, and wakes all who wait.
type tickBucket struct {
	mu     sync.Mutex
	cond   *sync.Cond
	tokens float64
	adds   bool // a mistake: a negative request does
}

// newTicked is a full one, to which each tick brings as many tokens, until it is stopped.
func newTicked(env lt.Env, burst int, period time.Duration, each float64) (l *tickBucket, stop func()) {
	full := float64(burst)
	l = &tickBucket{tokens: full}
	l.cond = sync.NewCond(&l.mu)
	return l, zoo.OnTicks(env.Clock.NewTicker(period), func() {
		l.mu.Lock()
		l.tokens = min(full, l.tokens+each)
		l.mu.Unlock()
		l.cond.Broadcast()
	})
}

func tickSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: filled every 50ms: " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			each := cfg.Rate.PerSecond() * tick.Seconds()
			if cfg.Burst < 1 || each < 1e-3 || cfg.Rate == lt.Inf {
				panic("tickBucket: want a burst of at least 1, and a token in fewer than a thousand ticks")
			}
			if mutant == "its ticker fills it twice" {
				each *= 2
			}
			l, stop := newTicked(env, cfg.Burst, tick, each)
			l.adds = mutant == "a negative request adds tokens"
			return lt.Funcs{AllowN: l.allow, Wait: l.wait, Stop: stop}
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, Oversize: lt.OversizeRejected, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent, Fair: lt.FairNone, Resolution: tick,
		},
	}
}

// burstsSpec is one for who waits that gets its whole burst at once.
func burstsSpec(source lt.TimeSource) lt.Spec {
	spec := tickSpec("", source)
	spec.Name = "zoo: filled as a whole, waits only"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		period, ok := cfg.Rate.Period(cfg.Burst)
		if !ok || cfg.Burst < 1 {
			panic("tickBucket: want a burst of at least 1, and a period in which it comes")
		}
		l, stop := newTicked(env, cfg.Burst, period, float64(cfg.Burst))
		return lt.Funcs{Wait: func(n int) { single(n); l.wait(n) }, Stop: stop}
	}
	spec.Traits.Resolution, spec.Traits.OneAtATime = 0, true
	spec.Traits.RefillSize = 100 // the largest burst that is tried
	return spec
}

func (l *tickBucket) allow(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take(n)
}

func (l *tickBucket) take(n int) bool {
	if n < 0 && !l.adds || n > 0 && l.tokens < float64(n)-grain {
		return false
	}
	l.tokens -= float64(n)
	return true
}

func (l *tickBucket) wait(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.take(n) {
		l.cond.Wait()
	}
}

// oneMutants are mistakes of a bucket that hands out single tokens only.
var oneMutants = []mistake{
	{name: "room for one more", rule: "RL-CAP"},
	{name: "a burst that takes centuries overflows", rule: "X-CFG", family: "tiny rates"},
}

// oneSpec is such a bucket, of one goroutine only.
func oneSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: one token, one goroutine: " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := &oneBucket{every: cfg.Rate.Interval(), burst: time.Duration(cfg.Burst)}
			overflows := l.burst > 0 && l.every > 1<<62/l.burst
			if cfg.Burst < 1 || !cfg.Rate.Exact() || overflows && mutant != "a burst that takes centuries overflows" {
				panic("oneBucket: want a burst of at least 1 and a rate with a whole period")
			}
			if mutant == "room for one more" {
				l.burst++
			}
			return onClock(env.Clock, lt.Funcs{AllowAt: l.allow})
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, OneAtATime: true, OneGoroutine: true, BackTime: lt.BackReject,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent,
		},
	}
}

// oneBucket has no lock.
type oneBucket struct {
	every, burst time.Duration
	next         time.Time // when the bucket will be full
}

func (l *oneBucket) allow(t time.Time, n int) bool {
	single(n)
	from := l.next
	if from.Before(t) {
		from = t
	}
	if next := from.Add(l.every); next.Sub(t) <= l.every*l.burst {
		l.next = next
		return true
	}
	return false
}
