package limiters_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/limiters"
)

func TestConformance_LeakyBucket(t *testing.T) {
	everyClock(t, func(t *testing.T, source leakybuckettest.TimeSource) {
		leakybuckettest.Run(t, leakyBucketSpec(source))
	})
}

// leakyBucketSpec describes a LeakyBucket.
func leakyBucketSpec(source leakybuckettest.TimeSource) leakybuckettest.Spec {
	return leakybuckettest.Spec{
		Name: "limiters.LeakyBucket",
		Time: source,
		New: func(env leakybuckettest.Env, cfg leakybuckettest.Config, leave func(int)) leakybuckettest.Funcs {
			b := limiters.NewLeakyBucket(cfg.Interval, cfg.Backlog, leave, limiters.WithClock(injected(source, env)))
			var tickets sync.Map
			return leakybuckettest.Funcs{
				Put: func(v int) bool {
					ticket, err := b.Put(v)
					tickets.Store(v, ticket)
					return err == nil
				},
				Cancel: func(v int) bool {
					ticket, ok := tickets.Load(v)
					return ok && b.Cancel(ticket.(limiters.Ticket))
				},
				Close: func() { _ = b.Close(context.Background()) },
				Stop:  b.Stop,
			}
		},
		Traits: leakybuckettest.Traits{
			FirstItem: leakybuckettest.FirstAtOnce, CloseFlush: leakybuckettest.CloseAtDeadline,
			ClockBack: leakybuckettest.BackBounded,
		},
	}
}

// Who waits for a turn instead of putting an item in stands in the same queue, which is as
// long here as any caller likes.
func TestConformance_LeakyBucket_wait(t *testing.T) {
	everyClock(t, func(t *testing.T, source leakybuckettest.TimeSource) {
		leakybuckettest.Run(t, leakybuckettest.Spec{
			Name: "limiters.LeakyBucket, by its Wait",
			Time: source,
			New: func(env leakybuckettest.Env, cfg leakybuckettest.Config, leave func(int)) leakybuckettest.Funcs {
				b := limiters.NewLeakyBucket[int](cfg.Interval, math.MaxInt, nil, limiters.WithClock(injected(source, env)))
				wait := func(v int) {
					if b.Wait(context.Background()) == nil {
						leave(v)
					}
				}
				return leakybuckettest.Funcs{Put: func(v int) bool { go wait(v); return true }, Stop: b.Stop}
			},
			Traits: leakybuckettest.FailsafeSmooth(),
		})
	})
}
