package properties_test

import (
	"context"
	"sync"
	"testing"
	"time"

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

func concurrency(source conformance.TimeSource) conformance.ConcurrencySpec {
	return conformance.ConcurrencySpec{
		Name: "limiters.Concurrency",
		Time: source,
		New: func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
				limiters.WithClock(clockFor(source, env)))
			return conformance.ConcurrencyFuncs{
				Acquire: c.Acquire, TryAcquire: c.TryAcquire, Release: c.Release, Resize: c.Resize,
				Do: func(ctx context.Context, run func()) error {
					return c.Do(ctx, func() error { run(); return nil })
				},
			}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog:     conformance.BacklogBounded,
			Timeout:     conformance.TimeoutBounded,
			Context:     conformance.ContextHonoured,
			SeatHeld:    conformance.SeatFreed,
			Fair:        conformance.FairFIFO,
			Oversize:    conformance.OversizeFails,
			OverRelease: conformance.OverReleasePanics,
			Hook:        conformance.HookNone,
		},
	}
}

func leakyBucket(source conformance.TimeSource) conformance.LeakyBucketSpec {
	return conformance.LeakyBucketSpec{
		Name: "limiters.LeakyBucket",
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
		Traits: conformance.LeakyBucketTraits{Head: conformance.HeadAtOnce, CloseFlush: conformance.CloseAtDeadline},
	}
}

// quota describes one of the limiters by windows.
func quota(kind conformance.QuotaKind, source conformance.TimeSource) conformance.QuotaSpec {
	type window interface {
		AllowN(t time.Time, n int) bool
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

func gcra(source conformance.TimeSource) conformance.QuotaSpec {
	answer := func(r limiters.GCRAResult) conformance.Answer {
		return conformance.Answer{OK: r.Allowed, Remaining: r.Remaining, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter}
	}
	return conformance.QuotaSpec{
		Name: "limiters.GCRA",
		Time: source,
		Kind: conformance.GCRA,
		New: func(env conformance.Env, cfg conformance.QuotaConfig) conformance.QuotaFuncs {
			g := limiters.NewGCRA(cfg.Window/time.Duration(cfg.Limit), cfg.Burst, limiters.WithClock(clockFor(source, env)))
			return conformance.QuotaFuncs{
				Take:   func(n int) conformance.Answer { return answer(g.AllowN(n)) },
				TakeAt: func(t time.Time, n int) conformance.Answer { return answer(g.AllowAt(t, n)) },
				Peek:   func() conformance.Answer { return answer(g.AllowN(0)) },
				PeekAt: func(t time.Time) conformance.Answer { return answer(g.AllowAt(t, 0)) },
			}
		},
		Traits: conformance.QuotaTraits{
			TooLarge: conformance.TooLargeForever,
			BackTime: conformance.BackReject,
			Answers:  conformance.AnswersRetry | conformance.AnswersReset | conformance.AnswersRemaining,
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
			for _, kind := range []conformance.QuotaKind{conformance.FixedWindow, conformance.SlidingLog, conformance.SlidingCounter} {
				t.Run(kind.String(), func(t *testing.T) { properties.CheckQuota(t, quota(kind, source)) })
			}
			t.Run("GCRA", func(t *testing.T) { properties.CheckQuota(t, gcra(source)) })
			if source != conformance.Explicit {
				t.Run("Concurrency", func(t *testing.T) { properties.CheckConcurrency(t, concurrency(source)) })
				t.Run("LeakyBucket", func(t *testing.T) { properties.CheckLeakyBucket(t, leakyBucket(source)) })
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
