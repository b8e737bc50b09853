package limiter

import (
	"context"
	"sync"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// handed is the bucket, whose tokens a goroutine hands out.
func handed() lt.Spec {
	return over(bucketSpec("", lt.PackageTime), "zoo: tokens handed out", func(_ lt.Env, f lt.Funcs) lt.Funcs {
		by := &zoo.Handed{}
		return lt.Funcs{AllowN: func(n int) bool { return by.Out(func() bool { return f.AllowN(n) }) }}
	})
}

// gives is a mistake: a request that is denied gives back what it did not take, to whomever comes.
const gives = "denied requests bring tokens"

func givesSpec() lt.Spec {
	return over(bucketSpec("", lt.Explicit), "zoo: "+gives, func(_ lt.Env, f lt.Funcs) lt.Funcs {
		quarters := 0
		return lt.Funcs{AllowAt: func(t time.Time, n int) bool {
			if f.AllowAt(t, n) {
				return true
			}
			quarters += n
			return n > 0 && quarters%4 == 0
		}}
	})
}

// cancelsLater is the bucket in debt, with a mistake: a goroutine cancels its reservations.
func cancelsLater() lt.Spec {
	return over(debtSpec("", lt.Injected), "zoo: bucket in debt: ", func(_ lt.Env, f lt.Funcs) lt.Funcs {
		reserve := f.Reserve
		f.Reserve = func(n int) lt.Reservation {
			r := reserve(n)
			if cancel := r.Cancel; cancel != nil {
				r.Cancel = func() { go cancel() }
			}
			return r
		}
		return f
	})
}

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
