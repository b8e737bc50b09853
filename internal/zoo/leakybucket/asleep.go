package leakybucket

import (
	"sync"
	"time"

	lb "github.com/escapement-go/escapement/conformance/leakybuckettest"
)

// asleep lets callers pass one interval after the other, and holds its lock while one of
// them sleeps until then.
func asleep(source lb.TimeSource) lb.Spec {
	return lb.Spec{
		Name: "zoo asleep with its lock",
		Time: source,
		New: func(env lb.Env, cfg lb.Config, _ func(int)) lb.Funcs {
			var mu sync.Mutex
			var next time.Time
			take := func() bool {
				mu.Lock()
				defer mu.Unlock()
				now := env.Clock.Now()
				if next.After(now) {
					env.Clock.Sleep(next.Sub(now))
					now = next
				}
				next = now.Add(cfg.Interval)
				return true
			}
			return lb.Funcs{Take: take}
		},
		Traits: lb.Traits{FirstItem: lb.FirstAtOnce, Unbounded: true, HoldsLockWhileWaiting: true},
	}
}

// UndeclaredAsleep is that design without the declaration. Inlined into a test of the suite
// its functions would count as the suite's.
//
//go:noinline
func UndeclaredAsleep(source lb.TimeSource) lb.Spec {
	spec := asleep(source)
	spec.Traits.HoldsLockWhileWaiting = false
	return spec
}
