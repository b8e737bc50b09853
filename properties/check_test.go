package properties_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/properties"
	"github.com/jonboulle/clockwork"
)

func clockFor(source conformance.TimeSource, env conformance.Env) clockwork.Clock {
	if source == conformance.PackageTime {
		return nil
	}
	return env.Clock
}

func debouncer(source conformance.TimeSource) conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: "debounce.Debouncer",
		Time: source,
		New: func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			d := debounce.New(cfg.Wait, fire, debounce.WithClock(clockFor(source, env)))
			return conformance.DebouncerFuncs{
				Call: d.Call, CancelReports: d.Cancel, Flush: func() { d.Flush() }, Pending: d.Pending, Stop: d.Stop,
			}
		},
		Traits: conformance.DebounceTraits{
			Edges:         []conformance.Edges{conformance.Trailing},
			Payload:       conformance.LastPayload,
			Tie:           conformance.ResetFirst,
			StaleFire:     conformance.StaleForbidden,
			CancelBarrier: conformance.CommitBarrier,
			AfterCancel:   conformance.CancelReusable,
			StopPending:   conformance.StopDrops,
			ZeroWait:      conformance.ZeroSync,
			Overlap:       conformance.Serial,
		},
	}
}

func limiter(source conformance.TimeSource) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "limiters.TokenBucket",
		Time: source,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			clock := clockFor(source, env)
			l := limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst, limiters.WithClock(clock))
			return conformance.LimiterFuncs{
				Allow: l.Allow, AllowN: func(n int) bool { return l.AllowN(env.Clock.Now(), n) }, AllowAt: l.AllowN,
				Tokens: l.Tokens, TokensAt: l.TokensAt,
			}
		},
		Traits: conformance.LikeXTime,
	}
}

func throttle(source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "limiters.Throttle",
		Time: source,
		New: func(env conformance.Env, cfg conformance.ThrottleConfig, _ func(int)) conformance.ThrottleFuncs {
			h := limiters.NewThrottle(cfg.Interval, limiters.WithClock(clockFor(source, env)))
			return conformance.ThrottleFuncs{Allow: h.Allow, AllowAt: h.AllowAt, Reset: h.Reset}
		},
		Traits: conformance.ThrottleTraits{
			Edges:    []conformance.Edges{conformance.Leading},
			Boundary: conformance.BoundaryPasses,
		},
	}
}

func throttleFunc(source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "limiters.ThrottleFunc",
		Time: source,
		New: func(env conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
			edges := map[conformance.Edges]limiters.Edges{
				conformance.Leading:            limiters.Leading,
				conformance.Trailing:           limiters.Trailing,
				conformance.LeadingAndTrailing: limiters.Leading | limiters.Trailing,
			}[cfg.Edges]
			h := limiters.NewThrottleFunc(cfg.Interval, emit, edges, limiters.WithClock(clockFor(source, env)))
			return conformance.ThrottleFuncs{Call: h.Call, Stop: h.Stop}
		},
		Traits: conformance.ThrottleTraits{
			Edges:      []conformance.Edges{conformance.Leading, conformance.Trailing, conformance.LeadingAndTrailing},
			Boundary:   conformance.BoundaryPasses,
			BothSingle: conformance.BothOnce,
			Payload:    conformance.LastPayload,
		},
	}
}

func clock() conformance.ClockSpec {
	return conformance.ClockSpec{
		Name:   "fakeclock.Clock",
		New:    func(conformance.ClockEnv) conformance.ClockFuncs { return conformance.ClockOf(fakeclock.New()) },
		Traits: conformance.ClockTraits{Waits: conformance.WaitsForFunctions},
	}
}

// What this module brings keeps its rules on random schedules.
func TestCheck_bundled(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run(source.String(), func(t *testing.T) {
			t.Run("TokenBucket", func(t *testing.T) { properties.CheckLimiter(t, limiter(source)) })
			t.Run("Throttle", func(t *testing.T) { properties.CheckThrottle(t, throttle(source)) })
			if source != conformance.Explicit {
				t.Run("Debouncer", func(t *testing.T) { properties.CheckDebouncer(t, debouncer(source)) })
				t.Run("ThrottleFunc", func(t *testing.T) { properties.CheckThrottle(t, throttleFunc(source)) })
			}
		})
	}
	t.Run("Clock", func(t *testing.T) { properties.CheckClock(t, clock()) })
}

// What this module brings keeps the laws of two runs.
func TestLaws_bundled(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run(source.String(), func(t *testing.T) {
			t.Run("TokenBucket", func(t *testing.T) { properties.LawsLimiter(t, limiter(source)) })
			t.Run("Throttle", func(t *testing.T) { properties.LawsThrottle(t, throttle(source)) })
			if source != conformance.Explicit {
				t.Run("Debouncer", func(t *testing.T) { properties.LawsDebouncer(t, debouncer(source)) })
				t.Run("ThrottleFunc", func(t *testing.T) { properties.LawsThrottle(t, throttleFunc(source)) })
			}
		})
	}
}

func FuzzDebouncer(f *testing.F) { properties.FuzzDebouncer(f, debouncer(conformance.Injected)) }
func FuzzThrottle(f *testing.F)  { properties.FuzzThrottle(f, throttleFunc(conformance.Injected)) }
func FuzzLimiter(f *testing.F)   { properties.FuzzLimiter(f, limiter(conformance.Explicit)) }

// The token bucket decides as an exact bucket does, however long the history.
func TestMachineLimiter_bundled(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run(source.String(), func(t *testing.T) { properties.MachineLimiter(t, limiter(source)) })
	}
}
