package peers

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	juju "github.com/juju/ratelimit"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

var began = time.Now()

// BenchmarkLimiter measures, on package time, a request that is granted: from a
// burst that does not run out, or at a rate that is higher than requests can come.
// A denial is of a burst that is spent for the hour. The floor is one read of the
// monotonic clock. All in one binary, serial and from all processors:
//
//	go test -run '^$' -bench Limiter -count 10 -cpu 2 .
func BenchmarkLimiter(b *testing.B) {
	const plenty, hour = 1 << 30, time.Hour
	gcra, gcraSpent := limiters.NewGCRA(1, plenty), limiters.NewGCRA(hour, 1)
	own, ownSpent := limiters.NewTokenBucket(1e9, plenty), limiters.NewTokenBucket(limiters.Every(hour), 1)
	xtime, xtimeSpent := rate.NewLimiter(1e9, plenty), rate.NewLimiter(rate.Every(hour), 1)
	jujuPlenty, jujuSpent := juju.NewBucket(1, plenty), juju.NewBucket(hour, 1)
	unlimited := uber.New(1e9)
	bursty := ratelimiter.NewBursty[any](plenty, hour)
	smoothSpent := ratelimiter.NewSmooth[any](1, hour)
	store := func(quota throttled.RateQuota) func() bool {
		mem, err := memstore.NewCtx(0)
		if err != nil {
			b.Fatal(err)
		}
		lim, err := throttled.NewGCRARateLimiterCtx(mem, quota)
		if err != nil {
			b.Fatal(err)
		}
		return func() bool {
			limited, _, err := lim.RateLimitCtx(context.Background(), "", 1)
			return !limited && err == nil
		}
	}
	stored := store(throttled.RateQuota{MaxRate: throttled.PerSec(1e9), MaxBurst: 1 << 30})
	storedSpent := store(throttled.RateQuota{MaxRate: throttled.PerHour(1), MaxBurst: 0})
	background := context.Background()
	deadline, cancel := context.WithTimeout(background, hour)
	defer cancel()
	for _, spend := range []func() bool{gcraSpent.Allow, ownSpent.Allow, xtimeSpent.Allow, smoothSpent.TryAcquirePermit, storedSpent} {
		spend()
	}
	jujuSpent.TakeAvailable(1)

	for _, bench := range []struct {
		name string
		call func() bool
		want bool
	}{
		{"floor/monotonic read", func() bool { return time.Since(began) > 0 }, true},

		{"grant/GCRA.Allow", gcra.Allow, true},
		{"grant/GCRA.AllowN", func() bool { return gcra.AllowN(time.Now(), 1) }, true},
		{"grant/TokenBucket.Allow", own.Allow, true},
		{"grant/xtime.Allow", xtime.Allow, true},
		{"grant/juju.TakeAvailable", func() bool { return jujuPlenty.TakeAvailable(1) == 1 }, true},
		{"grant/failsafe bursty", bursty.TryAcquirePermit, true},
		{"grant/throttled GCRA", stored, true},
		{"grant/uber.Take", func() bool { unlimited.Take(); return true }, true},

		{"deny/GCRA.Allow", gcraSpent.Allow, false},
		{"deny/TokenBucket.Allow", ownSpent.Allow, false},
		{"deny/xtime.Allow", xtimeSpent.Allow, false},
		{"deny/juju.TakeAvailable", func() bool { return jujuSpent.TakeAvailable(1) == 1 }, false},
		{"deny/failsafe smooth", smoothSpent.TryAcquirePermit, false},
		{"deny/throttled GCRA", storedSpent, false},

		{"reserve/TokenBucket", func() bool { return own.Reserve().OK() }, true},
		{"reserve/xtime", func() bool { return xtime.Reserve().OK() }, true},
		{"wait/TokenBucket", func() bool { return own.Wait(background) == nil }, true},
		{"wait/xtime", func() bool { return xtime.Wait(background) == nil }, true},
		{"wait deadline/TokenBucket", func() bool { return own.Wait(deadline) == nil }, true},
		{"wait deadline/xtime", func() bool { return xtime.Wait(deadline) == nil }, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if bench.call() != bench.want {
					b.Fatalf("got %v, want %v", !bench.want, bench.want)
				}
			}
		})
		b.Run(bench.name+"/parallel", func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if bench.call() != bench.want {
						b.Errorf("got %v, want %v", !bench.want, bench.want)
						return
					}
				}
			})
		})
	}
}
