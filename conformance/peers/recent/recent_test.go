package recent

import (
	"context"
	"net"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"code.cloudfoundry.org/clock"
	cloudfoundry "code.cloudfoundry.org/clock/fakeclock"
	"github.com/cockroachdb/tokenbucket"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/ethereum/go-ethereum/common/mclock"
	"github.com/go-chi/httprate"
	jmhodges "github.com/jmhodges/clock"
	"github.com/jonboulle/clockwork"
	"github.com/sourcegraph/conc/pool"
	"github.com/zeromicro/go-zero/core/executors"
	"github.com/zeromicro/go-zero/core/syncx"
	"golang.org/x/net/netutil"
	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/util/flowcontrol"
)

// ethereum is the "virtual Clock for reproducible time-sensitive tests". Its channels carry
// another type of time, so functions and sleeps are looked at, and no timers.
func ethereum() clocktest.Spec {
	return clocktest.Spec{
		Name: "ethereum/go-ethereum v1.17.10 mclock",
		New: func(clocktest.Env) clocktest.Funcs {
			c := new(mclock.Simulated)
			return clocktest.Funcs{
				Now:     func() time.Time { return start.Add(time.Duration(c.Now())) },
				Advance: c.Run, Sleep: c.Sleep, Armed: c.ActiveTimers, NoTimerReset: true,
				AfterFunc: func(d time.Duration, f func()) clockwork.Timer {
					return ethereumTimer{c.AfterFunc(d, f)}
				},
			}
		},
		Traits: clocktest.Traits{
			Waits: clocktest.WaitsForFunctions, OnAdvance: true, // "fn runs on the goroutine that calls Run"
		},
		KnownFailing: ethereumKnown,
	}
}

type ethereumTimer struct{ mclock.Timer }

func (ethereumTimer) Chan() <-chan time.Time   { return nil }
func (ethereumTimer) Reset(time.Duration) bool { panic("a function's timer cannot be reset") }

// cloudfoundryClock is the fake clock of Cloud Foundry, whose Increment tells all "the current
// time" at its end.
func cloudfoundryClock() clocktest.Spec {
	return clocktest.Spec{
		Name: "code.cloudfoundry.org/clock v1.60.0",
		New: func(clocktest.Env) clocktest.Funcs {
			c := cloudfoundry.NewFakeClock(start)
			return clocktest.Funcs{
				Now: c.Now, Since: c.Since, Advance: c.Increment, Sleep: c.Sleep, After: c.After,
				Armed: c.WatcherCount, NoTickerReset: true,
				NewTimer:  func(d time.Duration) clockwork.Timer { return foundryTimer{c.NewTimer(d)} },
				NewTicker: func(d time.Duration) clockwork.Ticker { return foundryTicker{c.NewTicker(d)} },
			}
		},
		KnownFailing: foundryKnown,
	}
}

type foundryTimer struct{ clock.Timer }

func (t foundryTimer) Chan() <-chan time.Time { return t.C() }

type foundryTicker struct{ clock.Ticker }

func (t foundryTicker) Chan() <-chan time.Time { return t.C() }
func (foundryTicker) Reset(time.Duration)      { panic("there is none") }

// clientGo is the limiter of Kubernetes: x/time/rate behind a clock, which "allows an
// injectable clock, for testing". Its Wait is that of x/time/rate, on package time whatever
// the clock, and is not looked at: TestClientGo_waitsOnPackageTime.
func clientGo() limitertest.Spec {
	return limitertest.Spec{
		Name: "k8s.io/client-go v0.37.2 flowcontrol",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			l := flowcontrol.NewTokenBucketRateLimiterWithClock(float32(cfg.Rate.PerSecond()), cfg.Burst, env.Clock)
			return limitertest.Funcs{Allow: l.TryAccept, Wait: func(int) { l.Accept() }}
		},
		Traits: limitertest.Traits{ // "initially filled with 'burst' tokens"; the rest is x/time/rate's
			Initial: limitertest.InitialFull, BackTime: limitertest.BackClamp, ZeroRate: limitertest.ZeroRateBurst,
			Fair: limitertest.FairFIFO,
			// qps is a float32, which has no room for what x/time/rate calls Inf.
			Inf: limitertest.InfAbsent, Precision: limitertest.PrecisionFloat32,
		},
		KnownFailing: clientGoKnown,
	}
}

// jmhodgesClock is a fake clock for timers; it has no tickers.
func jmhodgesClock() clocktest.Spec {
	return clocktest.Spec{
		Name: "jmhodges/clock v1.2.0",
		New: func(clocktest.Env) clocktest.Funcs {
			c := jmhodges.NewFake()
			return clocktest.Funcs{
				Now: c.Now, Since: c.Since, Advance: c.Add, After: c.After,
				NewTimer: func(d time.Duration) clockwork.Timer { return jmhodgesTimer{c.NewTimer(d)} },
			}
		},
		KnownFailing: jmhodgesKnown,
	}
}

type jmhodgesTimer struct{ *jmhodges.Timer }

func (t jmhodgesTimer) Chan() <-chan time.Time { return t.C }

// cockroach is the token bucket of CockroachDB, "not thread-safe". Its WaitCtx polls every
// nanosecond at rate 0, so that such a rate is not put to it.
func cockroach() limitertest.Spec {
	return limitertest.Spec{
		Name: "cockroachdb/tokenbucket 42689b6",
		Time: limitertest.PackageTime,
		New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			if cfg.Rate.PerSecond() == 0 {
				panic("it would wait in steps of a nanosecond")
			}
			var tb tokenbucket.TokenBucket
			limit, burst := tokenbucket.TokensPerSecond(cfg.Rate.PerSecond()), tokenbucket.Tokens(cfg.Burst)
			tb.Init(limit, burst)
			return limitertest.Funcs{
				AllowN: func(n int) bool { ok, _ := tb.TryToFulfill(tokenbucket.Tokens(n)); return ok },
				WaitN:  func(ctx context.Context, n int) error { return tb.WaitCtx(ctx, tokenbucket.Tokens(n)) },
				Tokens: func() float64 { tb.Update(); return float64(tb.Available()) },
				SetLimit: func(r limitertest.Rate) {
					limit = tokenbucket.TokensPerSecond(r.PerSecond())
					tb.UpdateConfig(limit, burst)
				},
				SetBurst: func(n int) { burst = tokenbucket.Tokens(n); tb.UpdateConfig(limit, burst) },
			}
		},
		Traits: limitertest.Traits{
			Initial: limitertest.InitialFull, Oversize: limitertest.OversizePrepaid, ZeroRate: limitertest.ZeroRateRefused,
			Inf: limitertest.InfAbsent, Zero: limitertest.ZeroGranted, Fair: limitertest.FairNone,
			DeadlineCheck: limitertest.DeadlineSleeps, Refund: limitertest.RefundFull, OnChange: limitertest.OnChangeKeeps,
			OnBurstRaised: limitertest.RaiseBringsTokens, WaitErrors: limitertest.WaitErrorsDeadline, OneGoroutine: true,
		},
		KnownFailing: cockroachKnown,
	}
}

// rateOfHTTP is the sliding counter of httprate, by what it answers in its headers.
func rateOfHTTP() quotatest.Spec {
	return quotatest.Spec{
		Name: "go-chi/httprate v0.16.1",
		Time: quotatest.PackageTime,
		Kind: quotatest.SlidingCounter,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			l := httprate.NewRateLimiter(cfg.Limit, cfg.Window)
			req := httptest.NewRequest("GET", "/", nil)
			return quotatest.Funcs{
				TakeKey: func(key, n int) quotatest.Answer {
					w := httptest.NewRecorder()
					ctx := httprate.WithIncrement(context.Background(), n)
					limited := l.OnLimit(w, req.WithContext(ctx), strconv.Itoa(key))
					left, _ := strconv.Atoi(w.Header().Get("X-RateLimit-Remaining"))
					return quotatest.Answer{OK: !limited, Remaining: left}
				},
			}
		},
		Traits: quotatest.Traits{
			Align: quotatest.AlignCreation, CountDenied: quotatest.DeniedFree, Fields: quotatest.FieldRemaining,
		},
		KnownFailing: httprateKnown,
	}
}

// zeroLimit is a channel of slots.
func zeroLimit() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "zeromicro/go-zero v1.10.3 syncx.Limit",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			l := syncx.NewLimit(cfg.Limit)
			return concurrencytest.Funcs{
				Lock:       func(int) { l.Borrow() },
				TryAcquire: func(int) bool { return l.TryBorrow() },
				Release:    func(int) { _ = l.Return() },
			}
		},
		Traits: unbounded(concurrencytest.FairFIFO, concurrencytest.OverReleaseIgnored),
	}
}

// unbounded are the traits of those whose callers wait for as long as it takes.
func unbounded(fair concurrencytest.Fairness, over concurrencytest.OverRelease) concurrencytest.Traits {
	return concurrencytest.Traits{
		Backlog: concurrencytest.BacklogUnbounded, Timeout: concurrencytest.TimeoutNone,
		Context: concurrencytest.ContextIgnored, Fair: fair, OneAtATime: true,
		OverRelease: over, Hook: concurrencytest.HookNone,
	}
}

// zeroDelay runs once, a delay after the first of several triggers.
func zeroDelay() throttletest.Spec {
	return throttletest.Spec{
		Name: "zeromicro/go-zero v1.10.3 DelayExecutor",
		Time: throttletest.PackageTime,
		New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			x := executors.NewDelayExecutor(func() { emit(0) }, cfg.Interval)
			return throttletest.Funcs{Call: func(int) { x.Trigger() }}
		},
		Traits: throttletest.Traits{
			Edges: []throttletest.Edges{throttletest.Trailing}, Payload: throttletest.NoPayload,
		},
	}
}

// group is an errgroup with a limit.
func group() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "golang.org/x/sync v0.24.0 errgroup",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			var g errgroup.Group
			g.SetLimit(cfg.Limit)
			return concurrencytest.Funcs{
				Take: func(context.Context, int) (func(), error) {
					done := make(chan struct{})
					g.Go(func() error { <-done; return nil })
					return func() { close(done) }, nil
				},
				TryTake: func(int) (func(), bool) {
					done := make(chan struct{})
					ok := g.TryGo(func() error { <-done; return nil })
					return func() { close(done) }, ok
				},
			}
		},
		Traits: unbounded(concurrencytest.FairFIFO, concurrencytest.OverReleasePanics),
	}
}

// concPool is a pool of goroutines, of which each takes what comes first.
func concPool() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "sourcegraph/conc v0.3.0 pool",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			p := pool.New().WithMaxGoroutines(cfg.Limit)
			return concurrencytest.Funcs{
				Do: func(_ context.Context, run func()) error {
					done := make(chan struct{})
					p.Go(func() { defer close(done); run() })
					<-done
					return nil
				},
				Stop: p.Wait,
			}
		},
		Traits: unbounded(concurrencytest.FairNone, 0),
	}
}

// limited is a listener that accepts so many connections.
func limited() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "golang.org/x/net v0.62.0 LimitListener",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			l := netutil.LimitListener(&listener{}, cfg.Limit)
			return concurrencytest.Funcs{
				Take: func(context.Context, int) (func(), error) {
					c, err := l.Accept()
					if err != nil {
						return nil, err
					}
					return func() { _ = c.Close() }, nil
				},
				Stop: func() { _ = l.Close() },
			}
		},
		Traits: unbounded(concurrencytest.FairFIFO, concurrencytest.OverReleaseIgnored),
	}
}

// listener has a connection for whoever asks.
type listener struct{ closed atomic.Bool }

func (l *listener) Accept() (net.Conn, error) {
	if l.closed.Load() {
		return nil, net.ErrClosed
	}
	return connection{}, nil
}
func (l *listener) Close() error   { l.closed.Store(true); return nil }
func (l *listener) Addr() net.Addr { return nil }

type connection struct{ net.Conn }

func (connection) Close() error { return nil }

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestPeers runs the suite over the libraries and prints the table of verdicts.
func TestPeers(t *testing.T) {
	var reports []*conformance.Report
	judge := func(name string, run func(t *testing.T) *conformance.Report) {
		t.Run(name, func(t *testing.T) { reports = append(reports, run(t)) })
	}
	clocks := func(name string, s clocktest.Spec) {
		judge(name, func(t *testing.T) *conformance.Report { return clocktest.Run(t, s) })
	}
	limiters := func(name string, s limitertest.Spec) {
		judge(name, func(t *testing.T) *conformance.Report { return limitertest.Run(t, s) })
	}
	throttles := func(name string, s throttletest.Spec) {
		judge(name, func(t *testing.T) *conformance.Report { return throttletest.Run(t, s) })
	}
	batchers := func(name string, s batchtest.Spec) {
		judge(name, func(t *testing.T) *conformance.Report { return batchtest.Run(t, s) })
	}
	semaphores := func(name string, s concurrencytest.Spec) {
		judge(name, func(t *testing.T) *conformance.Report { return concurrencytest.Run(t, s) })
	}
	clocks("ethereum", ethereum())
	clocks("cloudfoundry", cloudfoundryClock())
	clocks("jmhodges", jmhodgesClock())
	clocks("lnd", lndClock())
	clocks("temporal", temporalClock())
	limiters("client-go", clientGo())
	limiters("cockroach", cockroach())
	limiters("quotas", temporalQuota())
	limiters("tollbooth", tollboothLimiter())
	judge("httprate", func(t *testing.T) *conformance.Report { return quotatest.Run(t, rateOfHTTP()) })
	throttles("DelayExecutor", zeroDelay())
	throttles("LessExecutor", zeroLess())
	throttles("Cooldown", storjCooldown())
	throttles("bundler", googleBundler())
	batchers("bundles", bundles())
	batchers("graph", graphLoader())
	batchers("dataloadgen", generatedLoader())
	semaphores("Limit", zeroLimit())
	semaphores("errgroup", group())
	semaphores("conc", concPool())
	semaphores("LimitListener", limited())
	semaphores("TimeoutLimit", zeroTimeoutLimit())
	semaphores("Limiter", storjLimiter())
	semaphores("Semaphore", storjSemaphore())
	t.Log("\n" + conformance.Table(reports...))
}
