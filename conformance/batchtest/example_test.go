package batchtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
)

// How a batcher is described that takes its time from a clock.
func ExampleRun() {
	spec := batchtest.Spec{
		Name: "debounce.Batch",
		Time: batchtest.Injected,
		New: func(env batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			if cfg.Size == 0 || cfg.Delay == 0 {
				panic("this batcher has both bounds") // what it cannot be made with is left out
			}
			b := debounce.NewBatch(cfg.Delay, batch, debounce.WithClock(env.Clock),
				debounce.MaxSize(cfg.Size), debounce.MaxDelay(cfg.Delay))
			return batchtest.Funcs{
				Add: b.Call, Flush: func() { b.Flush() }, Close: func() { _ = b.Close(context.Background()) },
			}
		},
		Traits: batchtest.Traits{
			Anchor: batchtest.AnchorFirstItem, CloseFlush: batchtest.CloseFires, Busy: batchtest.BusyQueues,
		},
	}
	// In a test: batchtest.Run(t, spec)
	clock := fakeclock.New()
	batch := func(items []int) { fmt.Println(clock.Elapsed(), items) }
	b := spec.New(batchtest.Env{Clock: clock}, batchtest.Config{Size: 2, Delay: time.Second}, batch)
	for v := 1; v <= 3; v++ {
		b.Add(v)
	}
	clock.Advance(time.Minute)
	// Output:
	// 0s [1 2]
	// 1s [3]
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range batchtest.Rules()[1:2] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// BT-ORDER (core): Items MUST keep their order, within a batch and from batch to batch.
}
