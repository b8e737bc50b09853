package limiter

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// keyedSpec is a bucket for each key, correct unless mutant names a mistake of the table.
func keyedSpec(mutant string, source lt.TimeSource) lt.Spec {
	return keyedBy("zoo: a bucket for each key "+mutant, mutant, source, newBucket)
}

// keyedBy is that with buckets that are made in some way.
func keyedBy(name, mutant string, source lt.TimeSource, make func(cfg lt.Config, mutant string) *bucket) lt.Spec {
	return bucketOf(name, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		until := cfg.Burst // it is full by then
		if mutant == zoo.TenIntervals {
			until = 10
		}
		keys := zoo.Keyed[*bucket]{
			Make:   func() *bucket { return make(cfg, "") },
			Idle:   max(0, time.Duration(until)*cfg.Rate.Interval()),
			Mutant: mutant,
		}
		return onClock(env.Clock, lt.Funcs{AllowKeyAt: func(t time.Time, key, n int) bool {
			l, returned := keys.Of(key, t)
			if returned && mutant == "a key that comes back is empty" {
				l.allow(t, cfg.Burst)
			}
			return l.allow(t, n)
		}})
	})
}

// keyedFloat32Spec is that of those who hold the rate in a float32.
func keyedFloat32Spec(mutant string, source lt.TimeSource) lt.Spec {
	spec := keyedBy("zoo: a bucket for each key, rate in float32 "+mutant, mutant, source, newFloat32)
	spec.Traits.Precision = lt.PrecisionFloat32
	return spec
}

// keyedUnits is that of those who count in units, which each key may have for itself.
func keyedUnits(mutant string, source lt.TimeSource) lt.Spec {
	spec := keyedBy("zoo: a bucket for each key, in units "+mutant, mutant, source, newBucket)
	spec.Traits.Resolution = time.Millisecond
	return spec
}

// keyedTimers is a bucket for each key, which a timer forgets when it is full. It is correct unless mutant names one
// of its mistakes.
func keyedTimers(mutant string, source lt.TimeSource) lt.Spec {
	name := "zoo: a bucket for each key, with a timer " + mutant
	return bucketOf(name, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		type held struct {
			*bucket
			asked time.Time
			timer clockwork.Timer // nil if it is never full
		}
		var mu sync.Mutex
		own := map[int]*held{}
		full := max(0, time.Duration(cfg.Burst)*cfg.Rate.Interval())
		forget := func(key int, l *held) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case own[key] == l && env.Clock.Since(l.asked) >= full:
				delete(own, key)
			case mutant == stopForgets:
				l.timer.Reset(full)
			}
		}
		allow := func(key, n int) bool {
			mu.Lock()
			defer mu.Unlock()
			l := own[key]
			if l == nil {
				l = &held{bucket: newBucket(cfg, "")}
				if own[key] = l; full > 0 {
					l.timer = env.Clock.AfterFunc(full, func() { forget(key, l) })
				}
			}
			if l.asked = env.Clock.Now(); l.timer != nil {
				l.timer.Reset(full)
			}
			return l.allow(l.asked, n)
		}
		return lt.Funcs{AllowKey: allow, Stop: func() {
			mu.Lock()
			defer mu.Unlock()
			for _, l := range own {
				if l.timer != nil && mutant != stopForgets {
					l.timer.Stop()
				}
			}
			clear(own)
		}}
	})
}

// keyedLimits has a bucket for each key, whose limit and burst can be changed. It is correct unless mutant names one
// of its mistakes.
type keyedLimits struct {
	mutant string

	mu   sync.Mutex
	cfg  lt.Config // of keys that come
	set  lt.Config // what was set
	keys zoo.Keyed[*bucket]
	last int // the key that was asked for last
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
}

func newKeyedLimits(cfg lt.Config, mutant string) *keyedLimits {
	l := &keyedLimits{mutant: mutant, cfg: cfg, set: cfg}
	l.keys.Make = func() *bucket {
		own := newBucket(l.cfg, "")
		own.rate = perSecond(l.cfg.Rate)
		return own
	}
	l.keys.Idle = l.full()
	return l
}

func (l *keyedLimits) is(mutant string) bool { return l.mutant == mutant }

// full is in which time a bucket is full.
func (l *keyedLimits) full() time.Duration { return time.Duration(l.set.Burst) * l.set.Rate.Interval() }

func (l *keyedLimits) allow(t time.Time, key, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	case "after a change keys are old that would be full without it":
	default: // in which any bucket is full at any limit and burst so far
		l.keys.Idle = max(l.keys.Idle, l.full())
	}
	cfg, i := l.set, 0
	l.keys.Each(func(key int, own *bucket) bool {
		first := i == 0
		i++
		switch {
		case l.is("a change is for the key that was asked last") && key != l.last,
			l.is("a change is for the first sixteen keys") && i > 16:
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

// stopForgets is a mistake that shows only if keys are there as it is stopped.
const stopForgets = "stop forgets the keys, and their timers come again and again"

// keyedMutants are the mistakes of the table.
func keyedMutants() []zoo.Mutant {
	table := func(prefix string, k kind, source lt.TimeSource, name, rule string) zoo.Mutant {
		m := k.mutants(prefix, source, mistake{name: name, rule: rule, family: "keys"})[0]
		m.Only = zoo.OfKeys
		return m
	}
	var all []zoo.Mutant
	for _, m := range zoo.KeyedMutants {
		all = append(all, table("", keyedSpec, lt.Injected, m.Name, m.Rule))
	}
	all = append(all, kind(keyedLimitsSpec).mutants("", lt.Injected, keyedLimitsMutants...)...)
	return append(all,
		zoo.Mutant{Name: stopForgets, Rule: "X-LEAK", Spec: keyedTimers(stopForgets, lt.Injected)},
		table("a grain is declared: ", keyedUnits, lt.Injected, "keys share sixteen", "X-ISO"),
		table("", keyedSpec, lt.Injected, zoo.TenIntervals, "X-EVICT"),
		table("rate in float32: ", keyedFloat32Spec, lt.Explicit, "the newest fifty keys are kept", "X-ISO"))
}
