package limiter

import (
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// keyedSpec is a bucket for each key, correct unless mutant names a mistake of the table.
func keyedSpec(mutant string, source lt.TimeSource) lt.Spec {
	return keyedBy("zoo: a bucket for each key "+mutant, mutant, source, func(cfg lt.Config) *bucket {
		return newBucket(cfg, "")
	})
}

// keyedBy is that with buckets that are made in some way.
func keyedBy(name, mutant string, source lt.TimeSource, make func(cfg lt.Config) *bucket) lt.Spec {
	return lt.Spec{
		Name: name,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			until := cfg.Burst // it is full by then
			if mutant == zoo.TenIntervals {
				until = 10
			}
			keys := zoo.Keyed[*bucket]{
				Make:   func() *bucket { return make(cfg) },
				Idle:   max(0, time.Duration(until)*cfg.Rate.Interval()),
				Mutant: mutant,
			}
			allow := func(t time.Time, key, n int) bool {
				l, returned := keys.Of(key, t)
				if returned && mutant == "a key that comes back is empty" {
					l.allow(t, cfg.Burst)
				}
				return l.allow(t, n)
			}
			return lt.Funcs{
				AllowKey:   func(key, n int) bool { return allow(env.Clock.Now(), key, n) },
				AllowKeyAt: allow,
			}
		},
		Traits: lt.XTimeRate(),
	}
}

// keyedFloat32Spec is that of those who hold the rate in a float32.
func keyedFloat32Spec(mutant string, source lt.TimeSource) lt.Spec {
	spec := keyedBy("zoo: a bucket for each key, rate in float32 "+mutant, mutant, source, func(cfg lt.Config) *bucket {
		l := newBucket(cfg, "")
		l.rate = float64(float32(l.rate))
		return l
	})
	spec.Traits.Precision = lt.PrecisionFloat32
	return spec
}

// keyedUnits is that of those who count in units, which each key may have for itself.
func keyedUnits(mutant string, source lt.TimeSource) lt.Spec {
	spec := keyedSpec(mutant, source)
	spec.Name = "zoo: a bucket for each key, in units " + mutant
	spec.Traits.Resolution = time.Millisecond
	return spec
}

// keyedTimers is a bucket for each key, which a timer forgets when it is full. It is correct unless mutant names one
// of its mistakes.
func keyedTimers(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: a bucket for each key, with a timer " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			type held struct {
				*bucket
				asked time.Time
				timer interface { // nil if it is never full
					Reset(d time.Duration) bool
					Stop() bool
				}
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
		},
		Traits: lt.XTimeRate(),
	}
}

// stopForgets is a mistake that shows only if keys are there as it is stopped.
const stopForgets = "stop forgets the keys, and their timers come again and again"

// keyedMutants are the mistakes of the table.
func keyedMutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range zoo.KeyedMutants {
		all = append(all, zoo.Mutant{Name: m.Name, Rule: m.Rule, Spec: keyedSpec(m.Name, lt.Injected),
			Family: "keys", Only: zoo.OfKeys, Chance: m.Rule == "X-CONC"})
	}
	for _, name := range keyedLimitsMutants {
		all = append(all, zoo.Mutant{Name: name, Rule: "X-ISO", Spec: keyedLimitsSpec(name, lt.Injected),
			Family: "keys"})
	}
	all = append(all, zoo.Mutant{Name: oldListed, Rule: "X-CALLS", Spec: keyedLimitsSpec(oldListed, lt.Injected)})
	all = append(all, zoo.Mutant{Name: stopForgets, Rule: "X-LEAK", Spec: keyedTimers(stopForgets, lt.Injected)})
	const sixteen = "keys share sixteen"
	all = append(all, zoo.Mutant{Name: "a grain is declared: " + sixteen, Rule: "X-ISO",
		Spec: keyedUnits(sixteen, lt.Injected), Family: "keys", Only: zoo.OfKeys})
	const newest = "the newest fifty keys are kept"
	return append(all,
		zoo.Mutant{Name: zoo.TenIntervals, Rule: "X-EVICT", Spec: keyedSpec(zoo.TenIntervals, lt.Injected),
			Family: "keys", Only: zoo.OfKeys},
		zoo.Mutant{Name: "rate in float32: " + newest, Rule: "X-ISO", Spec: keyedFloat32Spec(newest, lt.Explicit),
			Family: "keys", Only: zoo.OfKeys})
}
