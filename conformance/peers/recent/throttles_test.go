package recent

import (
	"context"
	"math"

	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/zeromicro/go-zero/core/executors"
	"google.golang.org/api/support/bundler"
	"storj.io/common/sync2"
)

// googleBundler handles a bundle a delay after "the first message is added" to it; its newest
// item stands for the bundle. Flush waits for its handler.
func googleBundler() throttletest.Spec {
	return throttletest.Spec{
		Name: "google.golang.org/api v0.296.0 bundler",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			b := bundler.NewBundler(0, func(items any) { emit(items.([]int)[len(items.([]int))-1]) })
			b.DelayThreshold, b.BundleCountThreshold = cfg.Interval, math.MaxInt
			return throttletest.Funcs{Call: func(v int) { _ = b.Add(v, 1) }, Flush: b.Flush}
		},
		Traits: throttletest.Traits{
			Edges: []throttletest.Edges{throttletest.Trailing}, Payload: throttletest.LastPayload,
		},
		KnownFailing: bundlerKnown,
	}
}

// storjCooldown is "an event that can only occur once in a given timeframe".
func storjCooldown() throttletest.Spec {
	return throttletest.Spec{
		Name: "storj.io/common 26b53789c348 sync2.Cooldown",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			c := sync2.NewCooldown(cfg.Interval)
			go func() {
				_ = c.Run(context.Background(), func(context.Context) error { emit(0); return nil })
			}()
			return throttletest.Funcs{Call: func(int) { c.Trigger() }, Stop: c.Stop}
		},
		Traits: throttletest.Traits{
			Edges: []throttletest.Edges{throttletest.Leading}, Boundary: throttletest.BoundaryEither,
			Payload: throttletest.NoPayload, Anchor: throttletest.AnchorEnd,
		},
		KnownFailing: cooldownKnown,
	}
}

// zeroLess is go-zero's "executor to limit execution once within given time interval".
func zeroLess() throttletest.Spec {
	return throttletest.Spec{
		Name: "zeromicro/go-zero v1.10.3 LessExecutor",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			x := executors.NewLessExecutor(cfg.Interval)
			return throttletest.Funcs{Call: func(v int) { x.DoOrDiscard(func() { emit(v) }) }}
		},
		Traits: throttletest.Traits{
			Edges: []throttletest.Edges{throttletest.Leading}, Boundary: throttletest.BoundaryWaits,
		},
		KnownFailing: lessKnown,
	}
}
