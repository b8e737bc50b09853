package limiter

import (
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// float32Spec is the bucket in floating point of those who hold the rate in a float32.
func float32Spec(mutant string, source lt.TimeSource) lt.Spec {
	spec := bucketSpec(mutant, source)
	spec.Name = "zoo: rate in float32: " + mutant
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newBucket(cfg, mutant)
		l.rate = float64(float32(l.rate))
		return lt.Funcs{AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) }, AllowAt: l.allow}
	}
	spec.Traits.Precision = lt.PrecisionFloat32
	return spec
}

// millisecondSpec is that of those who cut instants to milliseconds.
func millisecondSpec(mutant string, source lt.TimeSource) lt.Spec {
	spec := bucketSpec(mutant, source)
	spec.Name = "zoo: instants in milliseconds: " + mutant
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newBucket(cfg, mutant)
		allow := func(t time.Time, n int) bool { return l.allow(t.Truncate(time.Millisecond), n) }
		return lt.Funcs{AllowN: func(n int) bool { return allow(env.Clock.Now(), n) }, AllowAt: allow}
	}
	spec.Traits.Resolution = time.Millisecond
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
	stop   chan struct{}
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
			l := &tickBucket{tokens: float64(cfg.Burst), stop: make(chan struct{})}
			l.adds = mutant == "a negative request adds tokens"
			if mutant == "its ticker fills it twice" {
				each *= 2
			}
			l.cond = sync.NewCond(&l.mu)
			go l.fill(env, tick, each, float64(cfg.Burst))
			return lt.Funcs{AllowN: l.allow, Wait: l.wait, Stop: func() { close(l.stop) }}
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
		l := &tickBucket{tokens: float64(cfg.Burst), stop: make(chan struct{})}
		l.cond = sync.NewCond(&l.mu)
		go l.fill(env, period, l.tokens, l.tokens)
		return lt.Funcs{Stop: func() { close(l.stop) }, Wait: func(n int) {
			if n != 1 {
				panic("tickBucket: one token at a time")
			}
			l.wait(n)
		}}
	}
	spec.Traits.Resolution, spec.Traits.OneAtATime = 0, true
	spec.Traits.RefillSize = 100 // the largest burst that is tried
	return spec
}

func (l *tickBucket) fill(env lt.Env, period time.Duration, each, burst float64) {
	ticker := env.Clock.NewTicker(period)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.Chan():
			l.mu.Lock()
			l.tokens = min(burst, l.tokens+each)
			l.mu.Unlock()
			l.cond.Broadcast()
		case <-l.stop:
			return
		}
	}
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

// oneSpec is a bucket that hands out single tokens only, of one goroutine only.
func oneSpec(mutant string, source lt.TimeSource) lt.Spec {
	spec := bucketSpec("", source)
	spec.Name = "zoo: one token, one goroutine: " + mutant
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := &oneBucket{every: cfg.Rate.Interval(), burst: time.Duration(cfg.Burst)}
		overflows := l.burst > 0 && cfg.Rate.Interval() > time.Duration(1<<62)/l.burst
		if cfg.Burst < 1 || !cfg.Rate.Exact() || overflows && mutant != "a burst that takes centuries overflows" {
			panic("oneBucket: want a burst of at least 1 and a rate with a whole period")
		}
		if mutant == "room for one more" {
			l.burst++
		}
		return lt.Funcs{AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) }, AllowAt: l.allow}
	}
	spec.Traits = lt.Traits{
		Initial: lt.InitialFull, OneAtATime: true, OneGoroutine: true, BackTime: lt.BackReject,
		ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent,
	}
	return spec
}

// oneBucket has no lock.
type oneBucket struct {
	every, burst time.Duration
	next         time.Time // when the bucket will be full
}

func (l *oneBucket) allow(t time.Time, n int) bool {
	if n != 1 {
		panic("oneBucket: one token at a time")
	}
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
