package debounce_test

import (
	"context"
	"math"
	"testing"

	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/debounce"
)

// A Batch with a size and a delay is a batcher.
func TestConformance_BatchOfSize(t *testing.T) {
	everyTime(t, func(t *testing.T, source debouncertest.TimeSource) { batchtest.Run(t, sizedSpec(source, false)) })
}

// One that is stopped drops what is there.
func TestConformance_BatchStopped(t *testing.T) {
	batchtest.Run(t, sizedSpec(batchtest.Injected, true))
}

// sizedSpec describes a Batch as a batcher, which is stopped at its end, or closed.
func sizedSpec(source batchtest.TimeSource, stops bool) batchtest.Spec {
	spec := batchtest.Spec{
		Name: "debounce.Batch of a size",
		Time: source,
		New: func(env batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			wait, opts := cfg.Delay, []debounce.Option{}
			if source == batchtest.Injected {
				opts = append(opts, debounce.WithClock(env.Clock))
			}
			if cfg.Size > 0 {
				opts = append(opts, debounce.MaxSize(cfg.Size))
			}
			if wait > 0 {
				opts = append(opts, debounce.MaxDelay(wait))
			} else {
				wait = math.MaxInt64
			}
			b := debounce.NewBatch(wait, batch, opts...)
			f := batchtest.Funcs{Add: b.Call, Flush: func() { b.Flush() }}
			if f.Close = func() { _ = b.Close(context.Background()) }; stops {
				f.Close = b.Stop
			}
			return f
		},
		Traits: batchtest.Traits{
			Anchor: batchtest.AnchorFirstItem, CloseFlush: batchtest.CloseFires, Busy: batchtest.BusyQueues,
		},
	}
	if stops {
		spec.Name, spec.Traits.CloseFlush = "debounce.Batch of a size, stopped", batchtest.CloseDrops
	}
	return spec
}
