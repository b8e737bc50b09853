package quota

import (
	"math"
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// keyed is a limiter for each key, correct unless mutant names a mistake of the table.
func keyed(mutant string, kind qt.Kind, source qt.TimeSource) qt.Spec {
	one := limiterSpec("", kind, source)
	return qt.Spec{
		Name: one.Name + " for each key", Time: source, Kind: kind, Traits: one.Traits,
		New: func(env qt.Env, cfg qt.Config) qt.Funcs {
			one.New(env, cfg) // refuses what any key would
			until := idle(kind, cfg)
			if mutant == zoo.TenIntervals {
				until = 10 * cfg.Window / time.Duration(cfg.Limit)
			}
			keys := zoo.Keyed[qt.Funcs]{
				Make:   func() qt.Funcs { return one.New(env, cfg) },
				Idle:   until,
				Mutant: mutant,
			}
			of := func(key int, t time.Time) qt.Funcs {
				own, returned := keys.Of(key, t)
				if returned && mutant == "a key that comes back is empty" {
					for full := max(cfg.Limit, cfg.Burst); full > 0; full-- {
						if own.TakeAt != nil {
							own.TakeAt(t, 1)
						} else {
							own.Take(1)
						}
					}
				}
				return own
			}
			return qt.Funcs{
				TakeKey:   func(key, n int) qt.Answer { return of(key, env.Clock.Now()).Take(n) },
				TakeKeyAt: func(t time.Time, key, n int) qt.Answer { return of(key, t).TakeAt(t, n) },
				Reset: func() {
					if of(1, env.Clock.Now()).Reset(); mutant == resetsTwo {
						of(65, env.Clock.Now()).Reset()
					}
				},
			}
		},
	}
}

// resetsTwo is a mistake of who has keys in shards.
const resetsTwo = "a reset is of another key, too"

// idle is after how long a limiter is as good as new.
func idle(kind qt.Kind, cfg qt.Config) time.Duration {
	one, n := cfg.Window, 2
	if kind == qt.GCRA {
		one, n = cfg.Window/time.Duration(cfg.Limit), max(cfg.Burst, 1)
	}
	if one > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return one * time.Duration(n)
}

// keyedUnits is that of those who count in units, which each key may have for itself.
func keyedUnits(mutant string, kind qt.Kind, source qt.TimeSource) qt.Spec {
	spec := keyed(mutant, kind, source)
	spec.Name, spec.Traits.Resolution = spec.Name+", in units", time.Millisecond
	return spec
}

// keyedMutants are the mistakes of the table, of one kind after the other.
func keyedMutants() []zoo.Mutant {
	kinds := []qt.Kind{qt.FixedWindow, qt.SlidingLog, qt.SlidingCounter, qt.GCRA}
	var all []zoo.Mutant
	for i, m := range zoo.KeyedMutants {
		kind := kinds[i%len(kinds)]
		spec := keyed(m.Name, kind, qt.Injected)
		all = append(all, zoo.Mutant{Name: kind.String() + ": " + m.Name, Rule: m.Rule, Spec: spec,
			Only: zoo.OfKeys, Chance: m.Rule == "X-CONC"})
	}
	const sixteen = "keys share sixteen"
	return append(all,
		zoo.Mutant{Name: "FixedWindow: a grain is declared: " + sixteen, Rule: "X-ISO",
			Spec: keyedUnits(sixteen, qt.FixedWindow, qt.Injected), Only: zoo.OfKeys},
		zoo.Mutant{Name: qt.SlidingLog.String() + ": " + resetsTwo, Rule: "GC-FRESH",
			Spec: keyed(resetsTwo, qt.SlidingLog, qt.Injected)},
		zoo.Mutant{Name: qt.GCRA.String() + ": " + zoo.TenIntervals, Rule: "X-EVICT",
			Spec: keyed(zoo.TenIntervals, qt.GCRA, qt.Injected), Only: zoo.OfKeys})
}
