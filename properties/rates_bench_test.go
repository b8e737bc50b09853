package properties_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/properties"
)

// What a schedule costs, drawn, run and judged: 100 of them, the default of a check, take
// well under a second.
func BenchmarkSchedule(b *testing.B) {
	schedules := func(spec conformance.Spec) func(b *testing.B) {
		return func(b *testing.B) {
			j := spec.Judge(new(testing.T))
			g := properties.Schedules(j)
			for i := 0; b.Loop(); i++ {
				j.Run(g.Example(i))
			}
		}
	}
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		b.Run("Debouncer"+source.String(), schedules(debouncertest.Spec{
			Time: source,
			New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				opts := []debounce.Option{debounce.WithClock(env.Clock)}
				if source == conformance.PackageTime {
					opts = nil
				}
				d := debounce.New(cfg.Wait, fire, opts...)
				return debouncertest.Funcs{Call: d.Call, CancelReports: d.Cancel, Pending: d.Pending, Stop: d.Stop}
			},
			Traits: debouncertest.Traits{
				Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
				Tie: debouncertest.ResetFirst, StaleFire: debouncertest.StaleForbidden,
				AfterCancel: debouncertest.CancelReusable, StopPending: debouncertest.StopDrops,
				ZeroWait: debouncertest.ZeroSync, Overlap: debouncertest.Serial,
			},
		}))
		b.Run("Limiter"+source.String(), schedules(limitertest.Spec{
			Time: source,
			New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
				opts := []limiters.Option{limiters.WithClock(env.Clock)}
				if source == conformance.PackageTime {
					opts = nil
				}
				l := limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst, opts...)
				return limitertest.Funcs{Allow: l.Allow, Tokens: l.Tokens}
			},
			Traits: limitertest.XTimeRate(),
		}))
	}
}
