package peers

import (
	"sync"
	"testing"

	"github.com/eapache/go-resiliency/batcher"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/samber/lo"
)

// eapacheBatches is the batcher of eapacheBatcher as what it says it is: it "will batch all calls to Run that occur within
// `timeout` time before calling doWork just once for the entire batch". It has no size.
func eapacheBatches() batchtest.Spec {
	return batchtest.Spec{
		Name: "eapache/go-resiliency v1.7.0 batcher",
		Time: batchtest.PackageTime,
		New: func(_ batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			if cfg.Size > 0 {
				panic("it has no size")
			}
			b := batcher.New(cfg.Delay, func(all []interface{}) error {
				items := make([]int, len(all))
				for i, v := range all {
					items[i] = v.(int)
				}
				batch(items)
				return nil
			})
			return batchtest.Funcs{Add: func(v int) { go b.Run(v) }} // waits for its batch
		},
		Traits: batchtest.Traits{ // "must be safe to run concurrently with itself"
			Anchor: batchtest.AnchorFirstItem, Busy: batchtest.BusyOverlaps,
		},
	}
}

// loBuffer reads a channel with BufferWithTimeout again and again: a slice of n elements, or what has come within the
// timeout, which begins with the call.
func loBuffer() batchtest.Spec {
	return batchtest.Spec{
		Name: "samber/lo v1.53.0 BufferWithTimeout",
		Time: batchtest.PackageTime,
		New: func(_ batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
			if cfg.Size == 0 || cfg.Delay == 0 {
				panic("it has both")
			}
			in := make(chan int)
			go func() {
				for ok := true; ok; {
					var items []int
					if items, _, _, ok = lo.BufferWithTimeout(in, cfg.Size, cfg.Delay); ok || len(items) > 0 {
						batch(items)
					}
				}
			}()
			var mu sync.RWMutex // a channel must not be closed while somebody sends
			closed := false
			add := func(v int) {
				mu.RLock()
				defer mu.RUnlock()
				if !closed {
					in <- v
				}
			}
			return batchtest.Funcs{Add: add, Close: func() {
				mu.Lock()
				defer mu.Unlock()
				closed = true
				close(in)
			}}
		},
		Traits: batchtest.Traits{ // source; the loop is who calls back
			Anchor: batchtest.AnchorLastBatch, CloseFlush: batchtest.CloseFires, Busy: batchtest.BusyBlocks,
			EmptyBatches: true, Reentrancy: batchtest.ReentrancyForbidden,
		},
	}
}

// batchers are what TestBatchers judges.
func batchers() []peer[batchtest.Spec] {
	return []peer[batchtest.Spec]{
		{"EapacheBatcher", eapacheBatches()},
		{"LoBuffer", loBuffer()},
	}
}

func TestBatchers(t *testing.T) {
	var reports []*conformance.Report
	each(t, batchers(), func(t *testing.T, spec batchtest.Spec) { reports = append(reports, batchtest.Run(t, spec)) })
	t.Log("\n" + conformance.Table(reports...))
}
