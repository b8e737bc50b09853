package limiter

import (
	"context"
	"sync"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

const neverUnlocks = "a wait never gives its lock back"

// asleepSpec is a bucket in debt behind a mutex that a wait holds while it sleeps: nobody
// overtakes, and every other caller waits as long.
func asleepSpec(mutant string, source lt.TimeSource) lt.Spec {
	name := "zoo: asleep with its lock: " + mutant
	spec := over(debtSpec("", source), name, func(_ lt.Env, f lt.Funcs) lt.Funcs {
		var mu sync.Mutex
		return lt.Funcs{
			AllowN: func(n int) bool {
				mu.Lock()
				defer mu.Unlock()
				return f.AllowN(n)
			},
			WaitN: func(ctx context.Context, n int) error {
				mu.Lock()
				if mutant != neverUnlocks {
					defer mu.Unlock()
				}
				return f.WaitN(ctx, n)
			},
		}
	})
	spec.Traits.HoldsLockWhileWaiting = true
	return spec
}

// UndeclaredAsleep is that design without the declaration. Inlined into a test of the suite
// its functions would count as the suite's.
//
//go:noinline
func UndeclaredAsleep(source lt.TimeSource) lt.Spec {
	spec := asleepSpec("", source)
	spec.Traits.HoldsLockWhileWaiting = false
	return spec
}
