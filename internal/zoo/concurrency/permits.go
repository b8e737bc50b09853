package concurrency

import (
	"context"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

const permitTwice = "a permit gives its slots back twice"

// permitsSpec is a queue that hands out what gives the slots back, which it does once.
func permitsSpec(mutant string, source ct.TimeSource) ct.Spec {
	spec := queueSpec("", source)
	spec.Name = "zoo permits: " + mutant
	spec.Traits.OverRelease = ct.OverReleaseIgnored
	spec.New = func(env ct.Env, cfg ct.Config) ct.Funcs {
		q, again := newQueue(env, cfg, ""), mutant == permitTwice
		if again {
			q.mutant = "a release too many raises the limit"
		}
		permit := func(weight int) func() {
			if again {
				return func() { q.release(weight) }
			}
			return sync.OnceFunc(func() { q.release(weight) })
		}
		return ct.Funcs{
			Take: func(ctx context.Context, weight int) (func(), error) {
				if err := q.acquire(ctx, weight); err != nil {
					return nil, err
				}
				return permit(weight), nil
			},
			TryTake: func(weight int) (func(), bool) { return permit(weight), q.try(weight) },
			Resize:  q.resize,
		}
	}
	return spec
}
