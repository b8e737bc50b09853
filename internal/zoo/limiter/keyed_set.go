package limiter

import (
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// keyedLimits has a bucket for each key, whose limit and burst can be changed. It is correct unless mutant names one
// of its mistakes.
type keyedLimits struct {
	mutant string

	mu   sync.Mutex
	cfg  lt.Config // of keys that come
	set  lt.Config // what was set
	keys zoo.Keyed[*bucket]
	last int           // the key that was asked for last
	idle time.Duration // in which any bucket was full at any limit and burst so far

	asked, came time.Time // when any key was asked for last, and when the newest one came; only a mistake wants to know
}

// keyedLimitsMutants are the mistakes of a keyedLimits.
var keyedLimitsMutants = []mistake{
	{name: "a change is for the key that was asked last", rule: "X-ISO", family: "keys"},
	{name: "a change is for the first sixteen keys", rule: "X-ISO", family: "keys"},
	{name: "a change forgets all keys but the first", rule: "X-ISO", family: "keys"},
	{name: "a change empties all keys but the first", rule: "X-ISO", family: "keys"},
	{name: "a change does not concern new keys", rule: "X-ISO", family: "keys"},
	{name: "a change is retroactive for all keys but the first", rule: "X-ISO", family: "keys"},
	{name: "after a change keys are old that would be full by now", rule: "X-ISO", family: "keys"},
	{name: "after a change keys are old that would be full without it", rule: "X-ISO", family: "keys"},
	{name: "a change is not for keys that are old, and not forgotten", rule: "X-ISO", family: "keys"},
}

func newKeyedLimits(cfg lt.Config, mutant string) *keyedLimits {
	l := &keyedLimits{mutant: mutant, cfg: cfg, set: cfg}
	l.keys.Make = func() *bucket {
		own := newBucket(l.cfg, "")
		own.rate, l.came = perSecond(l.cfg.Rate), l.asked
		return own
	}
	if l.idle = l.full(); mutant != "a change is not for keys that are old, and not forgotten" {
		l.keys.Idle = l.idle
	}
	return l
}

func (l *keyedLimits) is(mutant string) bool { return l.mutant == mutant }

// full is in which time a bucket is full.
func (l *keyedLimits) full() time.Duration { return time.Duration(l.set.Burst) * l.set.Rate.Interval() }

func (l *keyedLimits) allow(t time.Time, key, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = t
	own, _ := l.keys.Of(key, t)
	if l.last = key; l.set.Rate == lt.Inf {
		return n >= 0
	}
	return own.allow(t, n)
}

// change sets the limit or the burst of each key.
func (l *keyedLimits) change(t time.Time, to func(cfg *lt.Config)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to(&l.set)
	switch l.mutant {
	case "after a change keys are old that would be full by now":
		l.keys.Idle = l.full()
	case "after a change keys are old that would be full without it",
		"a change is not for keys that are old, and not forgotten":
	default:
		l.idle = max(l.idle, l.full())
		l.keys.Idle = l.idle
	}
	cfg, i := l.set, 0
	l.keys.Each(func(key int, asked time.Time, own *bucket) bool {
		first := i == 0
		i++
		switch {
		case l.is("a change is for the key that was asked last") && key != l.last,
			l.is("a change is for the first sixteen keys") && i > 16,
			l.is("a change is not for keys that are old, and not forgotten") && l.came.Sub(asked) >= l.idle:
			return true
		case l.is("a change forgets all keys but the first") && !first:
			return false
		case l.is("a change is retroactive for all keys but the first") && !first:
			own.rate, own.burst = perSecond(cfg.Rate), cfg.Burst
			return true
		}
		if own.set(t, cfg); l.is("a change empties all keys but the first") && !first {
			own.tokens = 0
		}
		return true
	})
	if !l.is("a change does not concern new keys") || i == 0 {
		l.cfg = cfg
	}
}

// set sets the rate and the burst: what came before came at the old rate.
func (l *bucket) set(t time.Time, cfg lt.Config) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tokens = min(float64(cfg.Burst), l.fill(t)); t.After(l.last) {
		l.last = t
	}
	l.rate, l.burst = perSecond(cfg.Rate), cfg.Burst
}

// perSecond is 0 if the rate is infinite: then nothing is taken, and nothing need come.
func perSecond(r lt.Rate) float64 {
	if r == lt.Inf {
		return 0
	}
	return r.PerSecond()
}

// keyedLimitsSpec describes it.
func keyedLimitsSpec(mutant string, source lt.TimeSource) lt.Spec {
	return bucketOf("zoo: keys with limits that change "+mutant, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newKeyedLimits(cfg, mutant)
		return onClock(env.Clock, lt.Funcs{
			AllowKeyAt: l.allow,
			SetLimitAt: func(t time.Time, r lt.Rate) { l.change(t, func(cfg *lt.Config) { cfg.Rate = r }) },
			SetBurstAt: func(t time.Time, n int) { l.change(t, func(cfg *lt.Config) { cfg.Burst = n }) },
		})
	})
}
