package races

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/limitertest"
)

// each judges a type that is right and one that is loose.
func each(t *testing.T, judge func(t *testing.T, name string, loose bool)) {
	t.Run("right", func(t *testing.T) { judge(t, "right", false) })
	t.Run("loose", func(t *testing.T) { judge(t, "loose", true) })
}

func TestConformance_bucket(t *testing.T) {
	each(t, func(t *testing.T, name string, loose bool) {
		limitertest.Run(t, limitertest.Spec{
			Name: name + " bucket",
			Time: limitertest.Explicit,
			New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
				if cfg.Rate.Interval() <= 0 || cfg.Burst <= 0 || cfg.Rate.Interval() > math.MaxInt64/4/time.Duration(cfg.Burst) {
					panic("no such bucket")
				}
				b := &Bucket{interval: cfg.Rate.Interval(), burst: cfg.Burst, loose: loose}
				return limitertest.Funcs{AllowAt: b.AllowAt}
			},
			Traits: limitertest.Traits{
				Initial: limitertest.InitialFull, Oversize: limitertest.OversizeRejected,
				ZeroRate: limitertest.ZeroRateRefused, Inf: limitertest.InfAbsent, BackTime: limitertest.BackReject,
			},
		})
	})
}

func TestConformance_semaphore(t *testing.T) {
	each(t, func(t *testing.T, name string, loose bool) {
		concurrencytest.Run(t, concurrencytest.Spec{
			Name: name + " semaphore",
			Time: concurrencytest.Injected,
			New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
				s := &Semaphore{free: cfg.Limit, loose: loose}
				return concurrencytest.Funcs{
					Acquire: func(ctx context.Context, _ int) error { return s.Acquire(ctx) },
					Release: func(int) { s.Release() },
				}
			},
			Traits: concurrencytest.Traits{
				Backlog: concurrencytest.BacklogUnbounded, Timeout: concurrencytest.TimeoutNone,
				Context: concurrencytest.ContextHonoured, ContextError: concurrencytest.ErrorOfContext,
				OneAtATime: true, SeatHeld: concurrencytest.SeatFreed,
				Fair: concurrencytest.FairFIFO, OverRelease: concurrencytest.OverReleaseUndefined,
				Hook: concurrencytest.HookNone,
			},
		})
	})
}

func TestConformance_debouncer(t *testing.T) {
	each(t, func(t *testing.T, name string, loose bool) {
		debouncertest.Run(t, debouncertest.Spec{
			Name: name + " debouncer",
			Time: debouncertest.PackageTime,
			New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				d := &Debouncer{wait: max(0, cfg.Wait), f: fire, loose: loose}
				return debouncertest.Funcs{Call: d.Call}
			},
			Traits: debouncertest.Traits{
				Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
				Tie: debouncertest.ResetFirst, StaleFire: debouncertest.StaleForbidden,
				ZeroWait: debouncertest.ZeroNextTick, Overlap: debouncertest.Parallel,
			},
		})
	})
}
