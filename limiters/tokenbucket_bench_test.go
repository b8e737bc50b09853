package limiters

import (
	"context"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// A decision costs a lock and a read of the monotonic clock; what is decided
// hardly matters, and nothing is allocated.
func BenchmarkTokenBucket_Allow(b *testing.B) {
	for _, bm := range []struct {
		name string
		l    *TokenBucket
	}{
		{"grant", NewTokenBucket(1e9, 1e6)},                                                 // full all the time
		{"grant-some", NewTokenBucket(1e6, 10)},                                             // never full
		{"deny", NewTokenBucket(1e-9, 1)},                                                   // but for the first
		{"inf", NewTokenBucket(Inf, 0)},                                                     // no lock, no clock
		{"real-clock", NewTokenBucket(1e-9, 1, WithClock(clockwork.NewRealClock()))},        // denied
		{"grant-real-clock", NewTokenBucket(1e9, 1e6, WithClock(clockwork.NewRealClock()))}, // full all the time
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bm.l.Allow()
			}
		})
		b.Run(bm.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bm.l.Allow()
				}
			})
		})
	}
}

// With the instant given there is only the lock and the arithmetic.
func BenchmarkTokenBucket_AllowN(b *testing.B) {
	for _, bm := range []struct {
		name string
		step time.Duration
		r    Limit
	}{
		{"full", time.Second, 10},
		{"grant", 100 * time.Millisecond, 10},
		{"deny", 0, 10},
		{"odd-rate", 100 * time.Millisecond, 10.000001},
	} {
		b.Run(bm.name, func(b *testing.B) {
			l, at := NewTokenBucket(bm.r, 5), t0
			l.AllowN(at, 5)
			b.ReportAllocs()
			for b.Loop() {
				at = at.Add(bm.step)
				l.AllowN(at, 1)
			}
		})
	}
}

// What need not wait costs as much as Allow, and a copy of the reservation; what
// must wait a division more. Nothing is allocated where nothing escapes.
func BenchmarkTokenBucket_Reserve(b *testing.B) {
	plenty, debt := NewTokenBucket(1e9, 1<<30), NewTokenBucket(1e6, 10)
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for _, bm := range []struct {
		name string
		call func()
	}{
		{"there", func() { plenty.Reserve() }},
		{"debt", func() { debt.Reserve() }},
		{"cancel", func() { debt.Reserve().Cancel() }},
		{"wait", func() { _ = plenty.Wait(context.Background()) }},
		{"wait-deadline", func() { _ = plenty.Wait(ctx) }},
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
