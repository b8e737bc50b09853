package bundled

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/limiters"
)

// TokenBucket describes limiters.TokenBucket.
func TokenBucket(source conformance.TimeSource) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "limiters.TokenBucket",
		Time: source,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			clock := clockFor(source, env)
			l := limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst, limiters.WithClock(clock))
			reserve := func(t time.Time, n int) conformance.Reservation {
				r := l.ReserveN(t, n)
				return conformance.Reservation{OK: r.OK, Delay: r.Delay, DelayFrom: r.DelayFrom, Cancel: r.Cancel, CancelAt: r.CancelAt}
			}
			return conformance.LimiterFuncs{
				Allow: l.Allow, AllowN: func(n int) bool { return l.AllowN(env.Clock.Now(), n) }, AllowAt: l.AllowN,
				Tokens: l.Tokens, TokensAt: l.TokensAt, WaitN: l.WaitN,
				Reserve: func(n int) conformance.Reservation { return reserve(env.Clock.Now(), n) }, ReserveAt: reserve,
				SetLimit:   func(r conformance.Rate) { l.SetLimit(limiters.Limit(r.PerSecond())) },
				SetLimitAt: func(t time.Time, r conformance.Rate) { l.SetLimitAt(t, limiters.Limit(r.PerSecond())) },
				SetBurst:   l.SetBurst, SetBurstAt: l.SetBurstAt,
			}
		},
		Traits: conformance.LikeXTime,
	}
}

// GCRABucket describes limiters.GCRA as the token bucket that it is.
func GCRABucket(source conformance.TimeSource) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: "limiters.GCRA, a token bucket",
		Time: source,
		New: func(env conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
			g := limiters.NewGCRA(cfg.Rate.Interval(), cfg.Burst, limiters.WithClock(clockFor(source, env)))
			return conformance.LimiterFuncs{
				Allow:   g.Allow,
				AllowN:  func(n int) bool { return g.AllowN(n).Allowed },
				AllowAt: func(t time.Time, n int) bool { return g.AllowAt(t, n).Allowed },
			}
		},
		Traits: conformance.LimiterTraits{
			Initial:  conformance.InitialFull,
			Oversize: conformance.OversizeRejected,
			ZeroRate: conformance.ZeroRateRefused,
			Inf:      conformance.InfAbsent,
			BackTime: conformance.BackReject,
		},
	}
}

// Throttle describes limiters.Throttle.
func Throttle(source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "limiters.Throttle",
		Time: source,
		New: func(env conformance.Env, cfg conformance.ThrottleConfig, _ func(int)) conformance.ThrottleFuncs {
			h := limiters.NewThrottle(cfg.Interval, limiters.WithClock(clockFor(source, env)), limiters.PerWindow(max(1, cfg.K)))
			return conformance.ThrottleFuncs{Allow: h.Allow, AllowAt: h.AllowAt, Reset: h.Reset}
		},
		Traits: conformance.ThrottleTraits{
			Edges:     []conformance.Edges{conformance.Leading},
			Boundary:  conformance.BoundaryPasses,
			Windows:   conformance.WindowsFromFirst,
			ClockBack: conformance.BackBounded,
		},
	}
}

// ThrottleStream describes limiters.ThrottleStream. Its items carry their
// numbers, the errors too.
func ThrottleStream(source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: "limiters.ThrottleStream",
		Time: source,
		New: func(env conformance.Env, cfg conformance.ThrottleConfig, emit func(int)) conformance.ThrottleFuncs {
			h := limiters.NewThrottle(cfg.Interval, limiters.WithClock(clockFor(source, env)))
			ctx, cancel := context.WithCancel(context.Background())
			in := make(chan limiters.Item[int])
			out := limiters.ThrottleStream(ctx, h, in)
			var closed atomic.Bool
			go func() {
				for item := range out {
					emit(item.Value)
				}
				closed.Store(true)
			}()
			return conformance.ThrottleFuncs{
				Call:   func(v int) { in <- limiters.Item[int]{Value: v} },
				Fault:  func(v int) { in <- limiters.Item[int]{Value: v, Err: errors.ErrUnsupported} },
				Close:  func() { close(in) },
				Cancel: cancel,
				Closed: closed.Load,
			}
		},
		Traits: conformance.ThrottleTraits{
			Edges:    []conformance.Edges{conformance.Leading},
			Boundary: conformance.BoundaryPasses,
		},
	}
}

// ThrottleFunc describes limiters.ThrottleFunc.
func ThrottleFunc(source conformance.TimeSource) conformance.ThrottleSpec {
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

			ClockBack:   conformance.BackBounded,
			PanicPolicy: conformance.PanicPropagates,
		},
	}
}

// LeakyBucket describes limiters.LeakyBucket.
func LeakyBucket(source conformance.TimeSource) conformance.LeakyBucketSpec {
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

// Concurrency describes limiters.Concurrency.
func Concurrency(source conformance.TimeSource) conformance.ConcurrencySpec {
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

// UnboundedConcurrency describes limiters.Concurrency without options.
func UnboundedConcurrency() conformance.ConcurrencySpec {
	spec := Concurrency(conformance.PackageTime)
	spec.Name = "limiters.Concurrency without options"
	spec.New = func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
		c := limiters.NewConcurrency(cfg.Limit)
		return conformance.ConcurrencyFuncs{Acquire: c.Acquire, TryAcquire: c.TryAcquire, Release: c.Release, Resize: c.Resize}
	}
	spec.Traits.Backlog, spec.Traits.Timeout = conformance.BacklogUnbounded, conformance.TimeoutNone
	return spec
}
