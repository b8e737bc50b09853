package concurrency

import (
	"context"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// asleep is a channel with a slot for each that runs, behind a mutex that keeps those who
// wait in order: the first waits for a slot and holds it.
func asleep(source ct.TimeSource) ct.Spec {
	spec := channel(source)
	spec.Name = "zoo channel behind a mutex"
	inner := spec.New
	spec.New = func(env ct.Env, cfg ct.Config) ct.Funcs {
		f := inner(env, cfg)
		var mu sync.Mutex
		acquire := f.Acquire
		return ct.Funcs{Release: f.Release, Acquire: func(ctx context.Context, n int) error {
			mu.Lock()
			defer mu.Unlock()
			return acquire(ctx, n)
		}}
	}
	spec.Traits.HoldsLockWhileWaiting = true
	return spec
}

// UndeclaredAsleep is that design without the declaration. Inlined into a test of the suite
// its functions would count as the suite's.
//
//go:noinline
func UndeclaredAsleep(source ct.TimeSource) ct.Spec {
	spec := asleep(source)
	spec.Traits.HoldsLockWhileWaiting = false
	return spec
}
