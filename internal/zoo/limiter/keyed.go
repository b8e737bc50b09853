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
