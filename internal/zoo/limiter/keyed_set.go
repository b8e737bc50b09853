package limiter

import (
	"slices"
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// keyedLimits has a bucket for each key, whose limit and burst can be changed. It is correct unless mutant names one
// of its mistakes.
type keyedLimits struct {
	mutant string

	mu   sync.Mutex
	cfg  lt.Config // of keys that come
	set  lt.Config // what was set
	keys []int     // in the order in which they came
	own  map[int]*bucket
	last int // the key that was asked for last

	asked map[int]time.Time // for each key
	idle  time.Duration     // in which any bucket was full at any limit and burst so far
}

// The mistakes of a keyedLimits.
var keyedLimitsMutants = []string{
	"a change is for the key that was asked last",
	"a change is for one half of the keys",
	"a change is for the first sixteen keys",
	"a change forgets all keys but the first",
	"a change empties all keys but the first",
	"a change does not concern new keys",
	"a change is retroactive for all keys but the first",
	oldNow, oldThen, oldStays,
}

const (
	oldNow    = "after a change keys are old that would be full by now"
	oldThen   = "after a change keys are old that would be full without it"
	oldStays  = "a change is not for keys that are old, and not forgotten"
	oldListed = "a change looks for keys that were forgotten" // which ends in a panic
)

func (l *keyedLimits) is(mutant string) bool { return l.mutant == mutant }

func (l *keyedLimits) allow(t time.Time, key, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own[key] == nil {
		l.sweep(t)
		l.own[key] = newBucket(l.cfg, "")
		l.own[key].rate = perSecond(l.cfg.Rate)
		l.keys = append(l.keys, key)
	}
	l.asked[key] = t
	if l.last = key; l.set.Rate == lt.Inf {
		return n >= 0
	}
	return l.own[key].allow(t, n)
}

// full is in which time a bucket is full.
func (l *keyedLimits) full() time.Duration { return time.Duration(l.set.Burst) * l.set.Rate.Interval() }

// sweep forgets the keys whose buckets are full.
func (l *keyedLimits) sweep(t time.Time) {
	full := l.idle
	if l.is(oldNow) {
		full = l.full()
	}
	l.keys = slices.DeleteFunc(l.keys, func(key int) bool {
		old := full > 0 && t.Sub(l.asked[key]) >= full
		if old && !l.is(oldStays) {
			delete(l.own, key)
		}
		return old && !l.is(oldListed)
	})
}

// change sets the limit or the burst of each key.
func (l *keyedLimits) change(t time.Time, to func(cfg *lt.Config)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to(&l.set)
	if !l.is(oldThen) {
		l.idle = max(l.idle, l.full())
	}
	cfg := l.set
	if !l.is("a change does not concern new keys") || len(l.keys) == 0 {
		l.cfg = cfg
	}
	var keep []int
	for i, key := range l.keys {
		first := i == 0
		switch {
		case l.is("a change is for the key that was asked last") && key != l.last,
			l.is("a change is for one half of the keys") && key%2 == 1,
			l.is("a change is for the first sixteen keys") && i >= 16:
		case l.is("a change forgets all keys but the first") && !first:
			delete(l.own, key)
			continue
		case l.is("a change empties all keys but the first") && !first:
			l.own[key].set(t, cfg)
			l.own[key].tokens = 0
		case l.is("a change is retroactive for all keys but the first") && !first:
			l.own[key].rate, l.own[key].burst = perSecond(cfg.Rate), cfg.Burst
		default:
			l.own[key].set(t, cfg)
		}
		keep = append(keep, key)
	}
	l.keys = keep
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
	return lt.Spec{
		Name: "zoo: keys with limits that change " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			l := &keyedLimits{mutant: mutant, cfg: cfg, set: cfg, own: map[int]*bucket{}, asked: map[int]time.Time{}}
			l.idle = l.full()
			limit := func(t time.Time, r lt.Rate) { l.change(t, func(cfg *lt.Config) { cfg.Rate = r }) }
			burst := func(t time.Time, n int) { l.change(t, func(cfg *lt.Config) { cfg.Burst = n }) }
			return lt.Funcs{
				AllowKey:   func(key, n int) bool { return l.allow(env.Clock.Now(), key, n) },
				AllowKeyAt: l.allow,
				SetLimit:   func(r lt.Rate) { limit(env.Clock.Now(), r) },
				SetLimitAt: limit,
				SetBurst:   func(n int) { burst(env.Clock.Now(), n) },
				SetBurstAt: burst,
			}
		},
		Traits: lt.XTimeRate(),
	}
}
