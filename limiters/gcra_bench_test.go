package limiters

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

var benchmarkBase = time.Now()

// A decision costs a read of the monotonic clock, which is the floor; a grant also
// one compare-and-swap. Nothing is allocated.
func BenchmarkGCRA(b *testing.B) {
	grant, deny := NewGCRA(1, 1<<30), NewGCRA(time.Hour, 1)
	clock := NewGCRA(1, 1<<30, WithClock(clockwork.NewRealClock()))
	deny.Allow()
	for _, bm := range []struct {
		name string
		call func()
	}{
		{"floor", func() { time.Since(benchmarkBase) }},
		{"grant", func() { grant.Allow() }},
		{"grant-result", func() { grant.allow(1) }},
		{"grant-real-clock", func() { clock.Allow() }},
		{"deny", func() { deny.Allow() }},
		{"deny-result", func() { deny.allow(1) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bm.call()
			}
		})
		b.Run(bm.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bm.call()
				}
			})
		})
	}
}
