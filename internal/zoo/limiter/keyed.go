package limiter

import (
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// keyedSpec is a bucket for each key, correct unless mutant names a mistake of the table.
func keyedSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: a bucket for each key " + mutant,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			until := cfg.Burst // it is full by then
			if mutant == zoo.TenIntervals {
				until = 10
			}
			keys := zoo.Keyed[*bucket]{
				Make:   func() *bucket { return newBucket(cfg, "") },
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
		Traits: lt.LikeXTime,
	}
}

// keyedMutants are the mistakes of the table.
func keyedMutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range zoo.KeyedMutants {
		all = append(all, zoo.Mutant{Name: m.Name, Rule: m.Rule, Spec: keyedSpec(m.Name, lt.Injected),
			Family: "keys", Chance: m.Rule == "X-CONC"})
	}
	return append(all,
		zoo.Mutant{Name: zoo.TenIntervals, Rule: "X-EVICT", Spec: keyedSpec(zoo.TenIntervals, lt.Injected), Family: "keys"})
}
