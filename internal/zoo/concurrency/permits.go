package concurrency

import (
	"context"
	"sync"

	ct "github.com/escapement-go/escapement/conformance/concurrencytest"
)

// Mistakes of permits that are given back a second time.
const (
	permitTwice  = "a permit gives its slots back twice"
	permitOthers = "a permit that is given back twice gives back another's slots"
	triedTwice   = "a permit of a try gives its slots back twice"
)

// permitsSpec is a queue that hands out what gives the slots back, which it does once.
func permitsSpec(mutant string, source ct.TimeSource) ct.Spec {
	spec := queueSpec("", source)
	spec.Name = "zoo permits: " + mutant
	spec.Traits.OverRelease = ct.OverReleaseIgnored
	spec.New = func(env ct.Env, cfg ct.Config) ct.Funcs {
		q, again := newQueue(env, cfg, ""), mutant == permitTwice
		if again || mutant == triedTwice {
			q.mutant = "a release too many raises the limit"
		}
		permit := func(weight int) func() {
			if mutant == permitOthers {
				return func() { q.releaseHeld(weight) }
			}
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
			TryTake: func(weight int) (func(), bool) {
				if mutant == triedTwice {
					return func() { q.release(weight) }, q.try(weight)
				}
				return permit(weight), q.try(weight)
			},
			Resize: q.resize,
		}
	}
	return spec
}

// releaseHeld gives slots back if so many are taken, whoever has them.
func (q *queue) releaseHeld(weight int) {
	q.mu.Lock()
	held := q.used >= weight
	q.mu.Unlock()
	if held {
		q.release(weight)
	}
}
