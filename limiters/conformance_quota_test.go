package limiters_test

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

func TestConformance_FixedWindow(t *testing.T)    { testQuota(t, quotatest.FixedWindow) }
func TestConformance_SlidingLog(t *testing.T)     { testQuota(t, quotatest.SlidingLog) }
func TestConformance_SlidingCounter(t *testing.T) { testQuota(t, quotatest.SlidingCounter) }
func TestConformance_GCRA(t *testing.T)           { testQuota(t, quotatest.GCRA) }

// testQuota runs the suite on a limiter of a kind, however it gets its time.
func testQuota(t *testing.T, kind quotatest.Kind) {
	everyTime(t, func(t *testing.T, source quotatest.TimeSource) { quotatest.Run(t, quotaSpec(kind, source)) })
}

// quotaSpec describes the limiter of a kind.
func quotaSpec(kind quotatest.Kind, source quotatest.TimeSource) quotatest.Spec {
	switch kind {
	case quotatest.FixedWindow:
		return windowSpec(kind, source, func(limit int, d time.Duration, clock clockwork.Clock) windowed {
			return limiters.NewFixedWindow(limit, d, limiters.WithClock(clock))
		})
	case quotatest.SlidingLog:
		return windowSpec(kind, source, func(limit int, d time.Duration, clock clockwork.Clock) windowed {
			return limiters.NewSlidingLog(limit, d, limiters.WithClock(clock))
		})
	case quotatest.SlidingCounter:
		return windowSpec(kind, source, func(limit int, d time.Duration, clock clockwork.Clock) windowed {
			return limiters.NewSlidingCounter(limit, d, limiters.WithClock(clock))
		})
	}
	return gcraSpec(source)
}

// windowed is what the limiters by windows have in common.
type windowed interface {
	AllowN(t time.Time, n int) bool
	Allow() bool
	Remaining() int
	RemainingAt(t time.Time) int
}

// windowSpec describes a limiter by windows. A request for one goes through Allow, which
// reads the clock itself.
func windowSpec(
	kind quotatest.Kind, source quotatest.TimeSource,
	make func(limit int, d time.Duration, clock clockwork.Clock) windowed,
) quotatest.Spec {
	return quotatest.Spec{
		Name: "limiters." + kind.String(), Time: source, Kind: kind,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			w := make(cfg.Limit, cfg.Window, injected(source, env))
			return quotatest.Funcs{
				Take: func(n int) quotatest.Answer {
					if n == 1 {
						return quotatest.Answer{OK: w.Allow(), Remaining: w.Remaining()}
					}
					return quotatest.Answer{OK: w.AllowN(env.Clock.Now(), n), Remaining: w.Remaining()}
				},
				TakeAt: func(t time.Time, n int) quotatest.Answer {
					return quotatest.Answer{OK: w.AllowN(t, n), Remaining: w.RemainingAt(t)}
				},
				Peek:   func() quotatest.Answer { return quotatest.Answer{Remaining: w.Remaining()} },
				PeekAt: func(t time.Time) quotatest.Answer { return quotatest.Answer{Remaining: w.RemainingAt(t)} },
			}
		},
		Traits: quotatest.Traits{
			Edge: quotatest.EdgeHalfOpen, Align: quotatest.AlignEpoch, Denied: quotatest.DeniedFree,
			BackTime: quotatest.BackClamp, Answers: quotatest.AnswersRemaining,
		},
	}
}

// gcraSpec describes a GCRA, which judges an instant before the newest one as it stands,
// where there is less: it may deny what it would grant at the newest.
func gcraSpec(source quotatest.TimeSource) quotatest.Spec {
	answer := func(r limiters.GCRAResult) quotatest.Answer {
		return quotatest.Answer{
			OK: r.Allowed, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter, Remaining: r.Remaining,
		}
	}
	return quotatest.Spec{
		Name: "limiters.GCRA", Time: source, Kind: quotatest.GCRA,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			interval := cfg.Window / time.Duration(cfg.Limit)
			g := limiters.NewGCRA(interval, cfg.Burst, limiters.WithClock(injected(source, env)))
			return quotatest.Funcs{
				Take:   func(n int) quotatest.Answer { return answer(g.AllowN(n)) },
				TakeAt: func(t time.Time, n int) quotatest.Answer { return answer(g.AllowAt(t, n)) },
				Peek:   func() quotatest.Answer { return answer(g.AllowN(0)) },
				PeekAt: func(t time.Time) quotatest.Answer { return answer(g.AllowAt(t, 0)) },
			}
		},
		Traits: quotatest.Traits{
			TooLarge: quotatest.TooLargeForever, BackTime: quotatest.BackReject,
			Answers: quotatest.AnswersRetry | quotatest.AnswersReset | quotatest.AnswersRemaining,
		},
	}
}
