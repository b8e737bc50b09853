package recent

import (
	"strconv"
	"time"

	"github.com/didip/tollbooth/v7"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/jonboulle/clockwork"
	temporal "go.temporal.io/server/common/clock"
	"go.temporal.io/server/common/quotas"
	"golang.org/x/time/rate"
)

// temporalQuota "wraps a rate.Limiter" of golang.org/x/time, so that it "respects the time
// determined by the timeSource"; its WaitN is its own.
func temporalQuota() limitertest.Spec {
	return limitertest.Spec{
		Name: "go.temporal.io/server v1.30.8 quotas",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			x := rate.NewLimiter(rate.Limit(cfg.Rate.PerSecond()), cfg.Burst)
			l := quotas.NewClockedRateLimiter(x, temporalSource{env.Clock})
			return limitertest.Funcs{
				Allow: l.Allow, WaitN: l.WaitN,
				Tokens: func() float64 { return float64(l.TokensAt(env.Clock.Now())) },
			}
		},
		Traits: limitertest.Traits{ // what is not its own is x/time/rate's
			Initial: limitertest.InitialFull, Oversize: limitertest.OversizeRejected,
			BackTime: limitertest.BackClamp, ZeroRate: limitertest.ZeroRateBurst, Inf: limitertest.InfGrants,
			Fair: limitertest.FairFIFO, DeadlineCheck: limitertest.DeadlineFailFast,
			Refund: limitertest.RefundConservative, OnChange: limitertest.OnChangeKeeps,
			WaitErrors: limitertest.WaitErrorsOwn, // ErrRateLimiterWaitInterrupted, and another
		},
		KnownFailing: quotasKnown,
	}
}

// temporalSource is a clock as Temporal's server has it.
type temporalSource struct{ clockwork.Clock }

func (s temporalSource) AfterFunc(d time.Duration, f func()) temporal.Timer {
	return s.Clock.AfterFunc(d, f)
}

func (s temporalSource) NewTimer(d time.Duration) (<-chan time.Time, temporal.Timer) {
	t := s.Clock.NewTimer(d)
	return t.Chan(), t
}

// tollboothLimiter has a bucket for each key, which it makes at the first request of that key.
// SetMax and SetBurst are for keys that come later, and are not looked at:
// TestTollbooth_knownKeysKeepTheirLimit.
func tollboothLimiter() limitertest.Spec {
	return limitertest.Spec{
		Name: "didip/tollbooth v7.0.2",
		Time: limitertest.PackageTime,
		New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			l := tollbooth.NewLimiter(cfg.Rate.PerSecond(), nil).SetBurst(cfg.Burst)
			return limitertest.Funcs{
				Allow:    func() bool { return !l.LimitReached("1") },
				AllowKey: func(key, _ int) bool { return !l.LimitReached(strconv.Itoa(key)) },
				Tokens:   func() float64 { return float64(l.Tokens("1")) },
			}
		},
		Traits: limitertest.Traits{
			Initial: limitertest.InitialFull, ZeroRate: limitertest.ZeroRateBurst, Inf: limitertest.InfGrants,
			Fair: limitertest.FairFIFO,
		},
		KnownFailing: tollboothKnown,
	}
}
