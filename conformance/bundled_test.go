package conformance_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/debounce"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

// bundledDebouncer describes debounce.Debouncer, on the clock that the environment
// has or on package time.
func bundledDebouncer(name string, source conformance.TimeSource) conformance.DebouncerSpec {
	return conformance.DebouncerSpec{
		Name: name,
		Time: source,
		New: func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
			d := debounce.New(cfg.Wait, fire, debounceOptions(source, env, cfg)...)
			return conformance.DebouncerFuncs{
				Call: d.Call, CancelReports: d.Cancel, Flush: func() { d.Flush() }, Pending: d.Pending, Stop: d.Stop,
				Close: func() { _ = d.Close(context.Background()) },
			}
		},
		Traits: debounceTraits,
	}
}

// debounceTraits are the choices of package debounce.
var debounceTraits = conformance.DebounceTraits{
	Edges:         []conformance.Edges{conformance.Trailing, conformance.Leading, conformance.LeadingAndTrailing},
	Payload:       conformance.LastPayload,
	Tie:           conformance.ResetFirst,
	StaleFire:     conformance.StaleForbidden,
	CancelBarrier: conformance.CommitBarrier,
	AfterCancel:   conformance.CancelReusable,
	StopPending:   conformance.StopDrops,
	ZeroWait:      conformance.ZeroSync,
	Overlap:       conformance.Serial,
	BothSingle:    conformance.BothOnce,
	MaxWait:       conformance.MaxWaitFromFirst,
	ClockBack:     conformance.BackBounded,
	PanicPolicy:   conformance.PanicPropagates,
	CloseFlush:    conformance.CloseFires,
}

// debounceOptions says in the terms of package debounce what cfg says.
func debounceOptions(source conformance.TimeSource, env conformance.Env, cfg conformance.DebounceConfig) []debounce.Option {
	opts := []debounce.Option{debounce.WithClock(clockFor(source, env))}
	switch cfg.Edges {
	case conformance.Leading:
		opts = append(opts, debounce.Leading())
	case conformance.LeadingAndTrailing:
		opts = append(opts, debounce.LeadingAndTrailing())
	}
	if cfg.MaxWait > 0 {
		opts = append(opts, debounce.MaxWait(cfg.MaxWait))
	}
	return opts
}

// bundledTwice describes debounce.Debouncer where a burst of one call fires twice.
func bundledTwice(name string, source conformance.TimeSource) conformance.DebouncerSpec {
	spec := bundledDebouncer(name, source)
	spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		opts := debounceOptions(source, env, cfg)
		if cfg.Edges == conformance.LeadingAndTrailing {
			opts = append(opts, debounce.LeadingAndTrailingTwice())
		}
		d := debounce.New(cfg.Wait, fire, opts...)
		return conformance.DebouncerFuncs{
			Call: d.Call, CancelReports: d.Cancel, Flush: func() { d.Flush() }, Pending: d.Pending, Stop: d.Stop,
		}
	}
	spec.Traits.BothSingle = conformance.BothTwice
	return spec
}

// bundledBatch describes debounce.Batch.
func bundledBatch(name string, source conformance.TimeSource) conformance.DebouncerSpec {
	spec := bundledDebouncer(name, source)
	spec.New = nil
	spec.NewBatch = func(env conformance.Env, cfg conformance.DebounceConfig, fire func([]int)) conformance.DebouncerFuncs {
		d := debounce.NewBatch(cfg.Wait, fire, debounceOptions(source, env, cfg)...)
		return conformance.DebouncerFuncs{
			Call: d.Call, CancelReports: d.Cancel, Flush: func() { d.Flush() }, Pending: d.Pending, Stop: d.Stop,
			Close: func() { _ = d.Close(context.Background()) },
		}
	}
	spec.Traits.Payload = conformance.AllPayloads
	return spec
}

// bundledKeyed describes debounce.Keyed, with 0 as the key of calls that have none.
func bundledKeyed(name string, source conformance.TimeSource) conformance.DebouncerSpec {
	spec := bundledDebouncer(name, source)
	spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		d := debounce.NewKeyed(cfg.Wait, func(_, v int) { fire(v) }, debounceOptions(source, env, cfg)...)
		call := func(key, v int) { _ = d.Call(key, v) } // without MaxKeys there is no error
		return conformance.DebouncerFuncs{
			Call:          func(v int) { call(0, v) },
			CallKey:       call,
			CancelReports: func() bool { return d.Cancel(0) },
			Flush:         func() { d.Flush(0) },
			Pending:       func() bool { return d.Pending(0) },
			Stop:          d.Stop,
			Close:         func() { _ = d.Close(context.Background()) },
		}
	}
	return spec
}

// bundledStream describes debounce.Stream. Its reader is the callback.
func bundledStream(name string, source conformance.TimeSource) conformance.DebouncerSpec {
	spec := bundledDebouncer(name, source)
	spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
		ctx, cancel := context.WithCancel(context.Background())
		in := make(chan int)
		out := debounce.Stream(ctx, in, cfg.Wait, nil, debounceOptions(source, env, cfg)...)
		go func() {
			for v := range out {
				fire(v)
			}
		}()
		return conformance.DebouncerFuncs{
			Call: func(v int) {
				select {
				case in <- v:
				case <-ctx.Done():
				}
			},
			Stop:  cancel,
			Close: func() { close(in) },
		}
	}
	spec.Traits.Tie = conformance.FireFirst
	spec.Traits.StaleFire = conformance.StaleAllowed // a value is called when it is read, and what is due goes first
	spec.Traits.ZeroWait = conformance.ZeroNextTick
	spec.Traits.Reentrancy = conformance.ReentrancyForbidden // a reader that sends waits for itself
	spec.Traits.StopBarrier = conformance.NoBarrier          // a context is done before the goroutine has seen it
	return spec
}

// bundledLimiter describes limiters.TokenBucket.
func bundledLimiter(name string, source conformance.TimeSource) conformance.LimiterSpec {
	return conformance.LimiterSpec{
		Name: name,
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

// bundledThrottle describes limiters.Throttle.
func bundledThrottle(name string, source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: name,
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

// bundledThrottleStream describes limiters.ThrottleStream. Its items carry their
// numbers, the errors too.
func bundledThrottleStream(name string, source conformance.TimeSource) conformance.ThrottleSpec {
	return conformance.ThrottleSpec{
		Name: name,
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

			ClockBack:   conformance.BackBounded,
			PanicPolicy: conformance.PanicPropagates,
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
		Traits: conformance.LeakyBucketTraits{Head: conformance.HeadAtOnce, CloseFlush: conformance.CloseAtDeadline},
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

// bundledGCRA describes limiters.GCRA. It judges an instant before the newest as it
// stands, where there is less.
func bundledGCRA(name string, source conformance.TimeSource) conformance.QuotaSpec {
	answer := func(r limiters.GCRAResult) conformance.Answer {
		return conformance.Answer{OK: r.Allowed, Remaining: r.Remaining, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter}
	}
	return conformance.QuotaSpec{
		Name: name,
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
	for _, debouncer := range []struct {
		name string
		spec func(string, conformance.TimeSource) conformance.DebouncerSpec
	}{
		{"DebouncerTwice", bundledTwice}, {"Batch", bundledBatch}, {"Keyed", bundledKeyed}, {"Stream", bundledStream},
	} {
		t.Run(debouncer.name, func(t *testing.T) {
			reports = append(reports, conformance.RunDebouncer(t, debouncer.spec("debounce."+debouncer.name, conformance.Injected)))
		})
	}
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
	t.Run("ThrottleStream", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottleStream("limiters.ThrottleStream", conformance.Injected)))
	})
	t.Run("ThrottleStreamPackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunThrottle(t, bundledThrottleStream("limiters.ThrottleStream", conformance.PackageTime)))
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
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run("GCRA"+source.String(), func(t *testing.T) {
			if r := conformance.RunQuota(t, bundledGCRA("limiters.GCRA", source)); source == conformance.PackageTime {
				reports = append(reports, r)
			}
		})
	}
	t.Run("Clock", func(t *testing.T) {
		reports = append(reports, conformance.RunClock(t, bundledClock("fakeclock.Clock", conformance.WaitsForFunctions)))
	})
	t.Run("ClockSettled", func(t *testing.T) {
		reports = append(reports, conformance.RunClock(t, bundledClock("fakeclock.Clock WithSettle", conformance.WaitsForAll)))
	})
	t.Log("\n" + conformance.Table(reports...))
}
