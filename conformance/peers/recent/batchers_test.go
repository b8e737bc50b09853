package recent

import (
	"context"
	"math"

	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/graph-gophers/dataloader/v7"
	"github.com/vikstrous/dataloadgen"
	"google.golang.org/api/support/bundler"
)

// bundles is the bundler of googleBundler as what it says it is: it "collects items added to it into a bundle until the
// bundle exceeds a given size", or "once this delay has passed" from its first item.
func bundles() batchtest.Spec {
	return batchtest.Spec{
		Name: "google.golang.org/api v0.296.0 bundler",
		Time: batchtest.PackageTime,
		New: func(_ batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			b := bundler.NewBundler(0, func(items any) { batch(items.([]int)) })
			if b.BundleCountThreshold = cfg.Size; cfg.Size == 0 {
				b.BundleCountThreshold = math.MaxInt
			}
			if b.DelayThreshold = cfg.Delay; cfg.Delay == 0 {
				b.DelayThreshold = math.MaxInt64
			}
			return batchtest.Funcs{Put: func(v int) error { return b.Add(v, 1) }, Flush: b.Flush}
		},
		Traits: batchtest.Traits{ // "HandlerLimit ... The default is 1"
			Anchor: batchtest.AnchorFirstItem, Busy: batchtest.BusyQueues,
		},
		KnownFailing: bundlesKnown,
	}
}

// graphLoader asks for what is loaded in batches of WithBatchCapacity, or when WithWait is over, "the amount of time to
// wait before triggering a batch".
func graphLoader() batchtest.Spec {
	return batchtest.Spec{
		Name: "graph-gophers/dataloader v7.1.0",
		Time: batchtest.PackageTime,
		New: func(_ batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			fetch := func(_ context.Context, keys []int) []*dataloader.Result[int] {
				batch(keys)
				return make([]*dataloader.Result[int], len(keys))
			}
			l := dataloader.NewBatchedLoader(fetch, dataloader.WithCache(&dataloader.NoCache[int, int]{}),
				dataloader.WithBatchCapacity[int, int](cfg.Size), dataloader.WithWait[int, int](cfg.Delay))
			return batchtest.Funcs{Add: func(v int) { l.Load(context.Background(), v) }}
		},
		Traits: batchtest.Traits{Anchor: batchtest.AnchorFirstItem, Busy: batchtest.BusyOverlaps}, // source
	}
}

// generatedLoader is the same with "a given fetch, wait, and maxBatch".
func generatedLoader() batchtest.Spec {
	return batchtest.Spec{
		Name: "vikstrous/dataloadgen v0.0.10",
		Time: batchtest.PackageTime,
		New: func(_ batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			fetch := func(_ context.Context, keys []int) ([]int, []error) {
				batch(keys)
				return keys, nil
			}
			l := dataloadgen.NewLoader(fetch, dataloadgen.WithoutCache(), dataloadgen.WithBatchCapacity(cfg.Size),
				dataloadgen.WithWait(cfg.Delay))
			return batchtest.Funcs{Add: func(v int) { l.LoadThunk(context.Background(), v) }}
		},
		Traits: batchtest.Traits{Anchor: batchtest.AnchorFirstItem, Busy: batchtest.BusyOverlaps}, // source
	}
}
