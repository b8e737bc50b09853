package limiter

import (
	"context"
	"sync"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

const neverUnlocks = "a wait never gives its lock back"

// asleepBucket is a bucket in debt behind a mutex that a wait holds while it sleeps: nobody
// overtakes, and every other caller waits as long.
type asleepBucket struct {
	mu      sync.Mutex
	inner   lt.Funcs
	unlocks bool
}

func (b *asleepBucket) allow(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inner.AllowN(n)
}

func (b *asleepBucket) wait(ctx context.Context, n int) error {
	b.mu.Lock()
	err := b.inner.WaitN(ctx, n)
	if b.unlocks {
		b.mu.Unlock()
	}
	return err
}

func asleepSpec(mutant string, source lt.TimeSource) lt.Spec {
	spec := debtSpec("", source)
	spec.Name = "zoo: asleep with its lock: " + mutant
	inner := spec.New
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		b := &asleepBucket{inner: inner(env, cfg), unlocks: mutant != neverUnlocks}
		return lt.Funcs{AllowN: b.allow, WaitN: b.wait}
	}
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
