package recent

import (
	"testing"
	"time"

	"code.cloudfoundry.org/clock"
	cloudfoundry "code.cloudfoundry.org/clock/fakeclock"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/ethereum/go-ethereum/common/mclock"
	"github.com/jonboulle/clockwork"
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
			Inf: limitertest.InfGrants, Fair: limitertest.FairFIFO, Digits: 7, // qps is a float32
		},
		KnownFailing: clientGoKnown,
	}
}

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// TestPeers runs the suite over the libraries and prints the table of verdicts.
func TestPeers(t *testing.T) {
	var reports []*conformance.Report
	t.Run("ethereum", func(t *testing.T) { reports = append(reports, clocktest.Run(t, ethereum())) })
	t.Run("cloudfoundry", func(t *testing.T) { reports = append(reports, clocktest.Run(t, cloudfoundryClock())) })
	t.Run("client-go", func(t *testing.T) { reports = append(reports, limitertest.Run(t, clientGo())) })
	t.Log("\n" + conformance.Table(reports...))
}
