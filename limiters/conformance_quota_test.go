package limiters_test

import (
	"context"
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

// A KeyedGCRA is a GCRA for each key, and what a Keyed has is a limiter for each.
func TestConformance_KeyedGCRA(t *testing.T) {
	everyTime(t, func(t *testing.T, source quotatest.TimeSource) { quotatest.Run(t, keyedGCRASpec(source)) })
}

func TestConformance_Keyed(t *testing.T) {
	everyTime(t, func(t *testing.T, source quotatest.TimeSource) { quotatest.Run(t, keyedLogSpec(source)) })
}

// A TokenBucket decides and answers as a GCRA does, but clamps instants.
func TestConformance_TokenBucketDecisions(t *testing.T) {
	everyTime(t, func(t *testing.T, source quotatest.TimeSource) { quotatest.Run(t, bucketDecisionsSpec(source)) })
}

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
	limiters.Taker
	AllowAt(t time.Time, n int) limiters.Decision
}

// everything is what the decisions of this package tell.
const everything = quotatest.FieldRetry | quotatest.FieldReset | quotatest.FieldRemaining

func answer(d limiters.Decision) quotatest.Answer {
	return quotatest.Answer{OK: d.Allowed, RetryAfter: d.RetryAfter, ResetAfter: d.ResetAfter, Remaining: d.Remaining}
}

// took is the answer of a limiter that decides now.
func took(l limiters.Taker, n int) quotatest.Answer {
	d, _ := l.Take(context.Background(), "", n)
	return answer(d)
}

// windowSpec describes a limiter by windows.
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
					d, _ := w.Take(context.Background(), "", n)
					return answer(d)
				},
				TakeAt: func(t time.Time, n int) quotatest.Answer { return answer(w.AllowAt(t, n)) },
				Peek: func() quotatest.Answer {
					d, _ := w.Take(context.Background(), "", 0)
					return answer(d)
				},
				PeekAt: func(t time.Time) quotatest.Answer { return answer(w.AllowAt(t, 0)) },
			}
		},
		Traits: quotatest.Traits{
			Edge: quotatest.EdgeHalfOpen, Align: quotatest.AlignEpoch, CountDenied: quotatest.DeniedFree,
			RetryNever: quotatest.RetryForever, BackTime: quotatest.BackClamp, Fields: everything,
		},
	}
}

// gcraSpec describes a GCRA, which judges an instant before the newest one as it stands,
// where there is less: it may deny what it would grant at the newest.
func gcraSpec(source quotatest.TimeSource) quotatest.Spec {
	return quotatest.Spec{
		Name: "limiters.GCRA", Time: source, Kind: quotatest.GCRA,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			interval := cfg.Window / time.Duration(cfg.Limit)
			g := limiters.NewGCRA(interval, cfg.Burst, limiters.WithClock(injected(source, env)))
			return quotatest.Funcs{
				Take:   func(n int) quotatest.Answer { return took(g, n) },
				TakeAt: func(t time.Time, n int) quotatest.Answer { return answer(g.AllowAt(t, n)) },
				Peek:   func() quotatest.Answer { return took(g, 0) },
				PeekAt: func(t time.Time) quotatest.Answer { return answer(g.AllowAt(t, 0)) },
			}
		},
		Traits: quotatest.Traits{
			RetryNever: quotatest.RetryForever, BackTime: quotatest.BackReject, Fields: everything,
		},
	}
}

// keys is for how many keys there is room in what has a limiter for each.
const keys = 130

// keyedGCRASpec describes a KeyedGCRA.
func keyedGCRASpec(source quotatest.TimeSource) quotatest.Spec {
	spec := gcraSpec(source)
	spec.Name = "limiters.KeyedGCRA"
	spec.New = func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
		interval := cfg.Window / time.Duration(cfg.Limit)
		g := limiters.NewKeyedGCRA[int](keys, interval, cfg.Burst, limiters.WithClock(injected(source, env)))
		take := func(key, n int) quotatest.Answer {
			d, _ := g.Take(context.Background(), key, n)
			return answer(d)
		}
		takeAt := func(t time.Time, key, n int) quotatest.Answer {
			d, _ := g.AllowAt(key, t, n)
			return answer(d)
		}
		return quotatest.Funcs{
			TakeKey: take, TakeKeyAt: takeAt,
			Peek:   func() quotatest.Answer { return take(1, 0) },
			PeekAt: func(t time.Time) quotatest.Answer { return takeAt(t, 1, 0) },
		}
	}
	return spec
}

// keyedLogSpec describes a Keyed of SlidingLogs.
func keyedLogSpec(source quotatest.TimeSource) quotatest.Spec {
	spec := quotaSpec(quotatest.SlidingLog, source)
	spec.Name = "limiters.Keyed of limiters.SlidingLog"
	spec.New = func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
		logs := limiters.NewKeyed(keys, func(int) *limiters.SlidingLog {
			return limiters.NewSlidingLog(cfg.Limit, cfg.Window, limiters.WithClock(injected(source, env)))
		}, (*limiters.SlidingLog).Fresh)
		take := func(key, n int) (d limiters.Decision) {
			_ = logs.Do(key, func(l *limiters.SlidingLog) { d, _ = l.Take(context.Background(), "", n) })
			return d
		}
		takeAt := func(t time.Time, key, n int) (d limiters.Decision) {
			_ = logs.Do(key, func(l *limiters.SlidingLog) { d = l.AllowAt(t, n) })
			return d
		}
		return quotatest.Funcs{
			TakeKey:   func(key, n int) quotatest.Answer { return answer(take(key, n)) },
			TakeKeyAt: func(t time.Time, key, n int) quotatest.Answer { return answer(takeAt(t, key, n)) },
			Peek:      func() quotatest.Answer { return answer(take(1, 0)) },
			PeekAt:    func(t time.Time) quotatest.Answer { return answer(takeAt(t, 1, 0)) },
		}
	}
	return spec
}

// bucketDecisionsSpec describes the decisions of a TokenBucket.
func bucketDecisionsSpec(source quotatest.TimeSource) quotatest.Spec {
	return quotatest.Spec{
		Name: "limiters.TokenBucket", Time: source, Kind: quotatest.GCRA,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			interval := cfg.Window / time.Duration(cfg.Limit)
			if interval == 0 {
				panic("no whole number of nanoseconds, by which this contract counts")
			}
			b := limiters.NewTokenBucket(limiters.Every(interval), cfg.Burst, limiters.WithClock(injected(source, env)))
			take := func(n int) quotatest.Answer {
				d, _ := b.Take(context.Background(), "", n)
				return answer(d)
			}
			return quotatest.Funcs{
				Take:   take,
				TakeAt: func(t time.Time, n int) quotatest.Answer { return answer(b.AllowAt(t, n)) },
				Peek:   func() quotatest.Answer { return take(0) },
				PeekAt: func(t time.Time) quotatest.Answer { return answer(b.AllowAt(t, 0)) },
			}
		},
		Traits: quotatest.Traits{
			RetryNever: quotatest.RetryForever, BackTime: quotatest.BackClamp, Fields: everything,
		},
	}
}
