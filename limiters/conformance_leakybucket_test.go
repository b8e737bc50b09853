package limiters_test

import (
	"context"
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
		Traits: leakybuckettest.Traits{Head: leakybuckettest.HeadAtOnce, CloseFlush: leakybuckettest.CloseAtDeadline},
	}
}
