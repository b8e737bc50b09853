package limiters

import (
	"testing"
	"time"
)

// Claims: a decision allocates nothing, takes constant time whatever the limit, and
// costs a read of the clock, a lock and little else.
func BenchmarkWindows_Allow(b *testing.B) {
	for _, bm := range []struct {
		name  string
		allow func() bool
	}{
		{"FixedWindow/grant", NewFixedWindow(1<<30, time.Hour).Allow},
		{"FixedWindow/deny", NewFixedWindow(1, time.Hour).Allow},
		{"SlidingLog/grant", NewSlidingLog(1<<20, time.Microsecond).Allow},
		{"SlidingLog/deny", NewSlidingLog(1, time.Hour).Allow},
		{"SlidingLog/deny/100000", full(NewSlidingLog(100_000, time.Hour))},
		{"SlidingCounter/grant", NewSlidingCounter(1<<30, time.Hour).Allow},
		{"SlidingCounter/deny", NewSlidingCounter(1, time.Hour).Allow},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bm.allow()
			}
		})
		b.Run(bm.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bm.allow()
				}
			})
		})
	}
}

// full uses up a log with events at different instants.
func full(w *SlidingLog) func() bool {
	now := time.Now()
	for i := range w.Limit() {
		w.AllowN(now.Add(time.Duration(i)), 1)
	}
	return w.Allow
}
