package peers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/sync/semaphore"
)

// BenchmarkConcurrency measures a request that finds a free slot and gives it back,
// with a context that can be cancelled, as those of requests can.
func BenchmarkConcurrency(b *testing.B) {
	const limit = 100
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sem, own, perm := semaphore.NewWeighted(limit), limiters.NewConcurrency(limit), bulkhead.New[any](limit)
	nothing := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	r := httptest.NewRequest("GET", "/", nil).WithContext(ctx)
	serve := func(h http.Handler) func() bool {
		return func() bool { h.ServeHTTP(nil, r); return true }
	}
	for _, bench := range []struct {
		name string
		run  func() bool
	}{
		{"acquire/xsync", func() bool { ok := sem.Acquire(ctx, 1) == nil; sem.Release(1); return ok }},
		{"acquire/failsafe", func() bool { ok := perm.AcquirePermit(ctx) == nil; perm.ReleasePermit(); return ok }},
		{"acquire/escapement", func() bool { ok := own.Acquire(ctx, 1) == nil; own.Release(1); return ok }},
		{"try/xsync", func() bool { ok := sem.TryAcquire(1); sem.Release(1); return ok }},
		{"try/escapement", func() bool { ok := own.TryAcquire(1); own.Release(1); return ok }},
		{"handler/chi", serve(middleware.Throttle(limit)(nothing))},
		{"handler/escapement", serve(httplimit.New(limit)(nothing))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !bench.run() {
					b.Fatal("no slot")
				}
			}
		})
		b.Run(bench.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if !bench.run() {
						b.Error("no slot")
					}
				}
			})
		})
	}
}

// BenchmarkConcurrency_queue measures the way through the backlog: one slot, and eight
// goroutines, each of which lets another run while it holds it, so that all wait.
func BenchmarkConcurrency_queue(b *testing.B) {
	ctx := context.Background()
	sem, own := semaphore.NewWeighted(1), limiters.NewConcurrency(1)
	for _, bench := range []struct {
		name string
		run  func()
	}{
		{"xsync", func() { _ = sem.Acquire(ctx, 1); runtime.Gosched(); sem.Release(1) }},
		{"escapement", func() { _ = own.Acquire(ctx, 1); runtime.Gosched(); own.Release(1) }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					bench.run()
				}
			})
		})
	}
}
