package conformance_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

// bundledDebouncer describes package debounce, on the clock that the environment
// has or on package time.
func bundledDebouncer(name string, source conformance.TimeSource) conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: name,
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

// bundledLimiter describes limiters.TokenBucket.
func bundledLimiter(name string, source conformance.TimeSource) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: name,
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

// bundledThrottle describes limiters.Throttle.
func bundledThrottle(name string, source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: name,
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

// bundledThrottleFunc describes limiters.ThrottleFunc.
func bundledThrottleFunc(name string, source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: name,
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

// bundledBucket describes limiters.LeakyBucket.
func bundledBucket(name string, source conformance.TimeSource) conformance.LeakyBucketSpec {
	return conformance.LeakyBucketSpec{
		Name: name,
		Time: source,
		New: func(env conformance.Env, cfg conformance.LeakyBucketConfig, leave func(int)) conformance.LeakyBucketFuncs {
			b := limiters.NewLeakyBucket(cfg.Interval, cfg.Backlog, leave, limiters.WithClock(clockFor(source, env)))
			var tickets sync.Map
			return conformance.LeakyBucketFuncs{
				Put: func(v int) bool {
					ticket, err := b.Put(v)
					tickets.Store(v, ticket)
					return err == nil
				},
				Cancel: func(v int) bool {
					ticket, ok := tickets.Load(v)
					return ok && b.Cancel(ticket.(limiters.Ticket))
				},
				Close: func() { _ = b.Close(context.Background()) },
				Stop:  b.Stop,
			}
		},
		Traits: conformance.LeakyBucketTraits{Head: conformance.HeadAtOnce, Close: conformance.CloseDrains},
	}
}

// bundledWindow describes one of the limiters by windows.
func bundledWindow(kind conformance.QuotaKind, source conformance.TimeSource) conformance.QuotaSpec {
	type window interface {
		AllowN(t time.Time, n int) bool
		Allow() bool
		Remaining() int
		RemainingAt(t time.Time) int
	}
	return conformance.QuotaSpec{
		Name: "limiters." + kind.String(),
		Time: source,
		Kind: kind,
		New: func(env conformance.Env, cfg conformance.QuotaConfig) conformance.QuotaFuncs {
			var w window
			switch clock := limiters.WithClock(clockFor(source, env)); kind {
			case conformance.FixedWindow:
				w = limiters.NewFixedWindow(cfg.Limit, cfg.Window, clock)
			case conformance.SlidingLog:
				w = limiters.NewSlidingLog(cfg.Limit, cfg.Window, clock)
			case conformance.SlidingCounter:
				w = limiters.NewSlidingCounter(cfg.Limit, cfg.Window, clock)
			}
			return conformance.QuotaFuncs{
				Take: func(n int) conformance.Answer {
					if n == 1 {
						return conformance.Answer{OK: w.Allow(), Remaining: w.Remaining()}
					}
					return conformance.Answer{OK: w.AllowN(env.Clock.Now(), n), Remaining: w.Remaining()}
				},
				TakeAt: func(t time.Time, n int) conformance.Answer {
					return conformance.Answer{OK: w.AllowN(t, n), Remaining: w.RemainingAt(t)}
				},
				Peek:   func() conformance.Answer { return conformance.Answer{Remaining: w.Remaining()} },
				PeekAt: func(t time.Time) conformance.Answer { return conformance.Answer{Remaining: w.RemainingAt(t)} },
			}
		},
		Traits: conformance.QuotaTraits{
			Edge:     conformance.EdgeHalfOpen,
			Align:    conformance.AlignEpoch,
			Denied:   conformance.DeniedFree,
			BackTime: conformance.BackClamp,
			Answers:  conformance.AnswersRemaining,
		},
	}
}

// bundledClock describes fakeclock.Clock, either as it is or told to settle.
func bundledClock(name string, waits conformance.ClockWaits) conformance.ClockSpec {
	return conformance.ClockSpec{
		Name: name,
		New: func(env conformance.ClockEnv) conformance.ClockFuncs {
			var opts []fakeclock.Option
			if waits == conformance.WaitsForAll {
				opts = append(opts, fakeclock.WithSettle(env.Settle))
			}
			clock := fakeclock.New(opts...)
			f := conformance.ClockOf(clock)
			f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return fakeclock.WithTimeout(parent, clock, d)
			}
			f.WithDeadline = func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
				return fakeclock.WithDeadline(parent, clock, t)
			}
			return f
		},
		Traits: conformance.ClockTraits{Waits: waits},
	}
}

// clockFor is the clock to inject, nil for package time.
func clockFor(source conformance.TimeSource, env conformance.Env) clockwork.Clock {
	if source == conformance.PackageTime {
		return nil
	}
	return env.Clock
}

// TestVerdicts runs the suite over everything that this module brings and prints
// the table of verdicts.
func TestVerdicts(t *testing.T) {
	var reports []*conformance.Report
	t.Run("Debouncer", func(t *testing.T) {
		reports = append(reports, conformance.RunDebouncer(t, bundledDebouncer("debounce.Debouncer", conformance.Injected)))
	})
	t.Run("DebouncerPackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunDebouncer(t, bundledDebouncer("debounce.Debouncer", conformance.PackageTime)))
	})
	t.Run("TokenBucket", func(t *testing.T) {
		reports = append(reports, conformance.RunLimiter(t, bundledLimiter("limiters.TokenBucket", conformance.Injected)))
	})
	t.Run("TokenBucketPackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunLimiter(t, bundledLimiter("limiters.TokenBucket", conformance.PackageTime)))
	})
	t.Run("TokenBucketExplicit", func(t *testing.T) {
		reports = append(reports, conformance.RunLimiter(t, bundledLimiter("limiters.TokenBucket", conformance.Explicit)))
	})
	t.Run("Throttle", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottle("limiters.Throttle", conformance.Injected)))
	})
	t.Run("ThrottlePackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottle("limiters.Throttle", conformance.PackageTime)))
	})
	t.Run("ThrottleExplicit", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottle("limiters.Throttle", conformance.Explicit)))
	})
	t.Run("ThrottleFunc", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottleFunc("limiters.ThrottleFunc", conformance.Injected)))
	})
	t.Run("ThrottleFuncPackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottleFunc("limiters.ThrottleFunc", conformance.PackageTime)))
	})
	t.Run("LeakyBucket", func(t *testing.T) {
		reports = append(reports, conformance.RunLeakyBucket(t, bundledBucket("limiters.LeakyBucket", conformance.Injected)))
	})
	t.Run("LeakyBucketPackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunLeakyBucket(t, bundledBucket("limiters.LeakyBucket", conformance.PackageTime)))
	})
	for _, kind := range []conformance.QuotaKind{conformance.FixedWindow, conformance.SlidingLog, conformance.SlidingCounter} {
		for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
			t.Run(kind.String()+source.String(), func(t *testing.T) {
				if r := conformance.RunQuota(t, bundledWindow(kind, source)); source == conformance.PackageTime {
					reports = append(reports, r) // the others have the same verdicts
				}
			})
		}
	}
	t.Run("Clock", func(t *testing.T) {
		reports = append(reports, conformance.RunClock(t, bundledClock("fakeclock.Clock", conformance.WaitsForFunctions)))
	})
	t.Run("ClockSettled", func(t *testing.T) {
		reports = append(reports, conformance.RunClock(t, bundledClock("fakeclock.Clock WithSettle", conformance.WaitsForAll)))
	})
	t.Log("\n" + conformance.Table(reports...))
}
