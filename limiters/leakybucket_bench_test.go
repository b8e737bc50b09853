package limiters

import (
	"testing"
	"time"
)

// Claims: to wait and to be refused cost a lock and a clock, to leave at once another lock,
// and the function. Nothing is allocated.
func BenchmarkLeakyBucket_Put(b *testing.B) {
	for _, bm := range []struct {
		name     string
		interval time.Duration
		size     int
	}{
		{"leaves", 0, 0},
		{"refused", time.Hour, 0},
	} {
		b.Run(bm.name, func(b *testing.B) {
			bucket := NewLeakyBucket(bm.interval, bm.size, func(int) {})
			b.ReportAllocs()
			for b.Loop() {
				_, _ = bucket.Put(1)
			}
			bucket.Stop()
		})
	}
	b.Run("queued and cancelled", func(b *testing.B) {
		bucket := NewLeakyBucket(time.Hour, 2, func(int) {})
		_, _ = bucket.Put(1)
		_, _ = bucket.Put(1)
		b.ReportAllocs()
		for b.Loop() {
			t, _ := bucket.Put(1)
			bucket.Cancel(t)
		}
		bucket.Stop()
	})
}
