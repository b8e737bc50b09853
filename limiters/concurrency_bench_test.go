package limiters

import (
	"context"
	"testing"
)

// BenchmarkConcurrency supports the claim that, where nobody waits, Acquire and
// Release are one atomic operation each. conformance/peers has it beside
// golang.org/x/sync/semaphore.
func BenchmarkConcurrency(b *testing.B) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, bench := range []struct {
		name string
		run  func(c *Concurrency)
	}{
		{"acquire", func(c *Concurrency) {
			if c.Acquire(ctx, 1) == nil {
				c.Release(1)
			}
		}},
		{"try", func(c *Concurrency) {
			if c.TryAcquire(1) {
				c.Release(1)
			}
		}},
		{"do", func(c *Concurrency) { _ = c.Do(ctx, func() error { return nil }) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			c := NewConcurrency(100)
			b.ReportAllocs()
			for b.Loop() {
				bench.run(c)
			}
		})
		b.Run(bench.name+"/parallel", func(b *testing.B) {
			c := NewConcurrency(100)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bench.run(c)
				}
			})
		})
	}
}
