package bundled

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/limiters"
)

// Quota describes the limiter of a kind: GCRA, or one by windows.
func Quota(kind conformance.QuotaKind, source conformance.TimeSource) conformance.QuotaSpec {
	if kind == conformance.GCRA {
		return gcra(source)
	}
	return window(kind, source)
}

// window describes a limiter by windows.
func window(kind conformance.QuotaKind, source conformance.TimeSource) conformance.QuotaSpec {
	type windowed interface {
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
			var w windowed
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

// gcra describes limiters.GCRA. It judges an instant before the newest as it
// stands, where there is less.
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
