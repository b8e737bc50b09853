package limiters_test

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/limiters"
)

func TestConformance_TokenBucket(t *testing.T) {
	everyTime(t, func(t *testing.T, source limitertest.TimeSource) { limitertest.Run(t, tokenBucketSpec(source)) })
}

// tokenBucketSpec describes a TokenBucket.
func tokenBucketSpec(source limitertest.TimeSource) limitertest.Spec {
	return limitertest.Spec{
		Name: "limiters.TokenBucket",
		Time: source,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			limit := limiters.Limit(cfg.Rate.PerSecond())
			l := limiters.NewTokenBucket(limit, cfg.Burst, limiters.WithClock(injected(source, env)))
			return tokenBucketFuncs(env, l)
		},
		Traits: limitertest.XTimeRate(),
	}
}

// tokenBucketFuncs are the operations of a bucket.
func tokenBucketFuncs(env limitertest.Env, l *limiters.TokenBucket) limitertest.Funcs {
	reservation := func(r *limiters.Reservation) limitertest.Reservation {
		return limitertest.Reservation{
			OK: r.OK, Delay: r.Delay, DelayFrom: r.DelayFrom, Cancel: r.Cancel, CancelAt: r.CancelAt,
		}
	}
	reserve := func(n int) limitertest.Reservation {
		if n == 1 {
			return reservation(l.Reserve())
		}
		return reservation(l.ReserveN(env.Clock.Now(), n))
	}
	wait := func(ctx context.Context, n int) error {
		if n == 1 {
			return l.Wait(ctx)
		}
		return l.WaitN(ctx, n)
	}
	return limitertest.Funcs{
		Allow: l.Allow, AllowN: func(n int) bool { return l.AllowN(env.Clock.Now(), n) }, AllowAt: l.AllowN,
		Tokens: l.Tokens, TokensAt: l.TokensAt, WaitN: wait, Reserve: reserve,
		ReserveAt:  func(t time.Time, n int) limitertest.Reservation { return reservation(l.ReserveN(t, n)) },
		SetLimit:   func(r limitertest.Rate) { l.SetLimit(limiters.Limit(r.PerSecond())) },
		SetLimitAt: func(t time.Time, r limitertest.Rate) { l.SetLimitAt(t, limiters.Limit(r.PerSecond())) },
		SetBurst:   l.SetBurst, SetBurstAt: l.SetBurstAt,
	}
}

// GCRA as the token bucket that it is. On package time, where its Allow is quickest, the
// instant comes from another place than that of AllowN.
func TestConformance_GCRA_tokenBucket(t *testing.T) {
	limitertest.Run(t, limitertest.Spec{
		Name: "limiters.GCRA, a token bucket",
		Time: limitertest.PackageTime,
		New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			g := limiters.NewGCRA(cfg.Rate.Interval(), cfg.Burst)
			return limitertest.Funcs{Allow: g.Allow, AllowN: func(n int) bool { return took(g, n).OK }}
		},
		Traits: limitertest.Traits{
			Initial:  limitertest.InitialFull,
			Oversize: limitertest.OversizeRejected,
			ZeroRate: limitertest.ZeroRateRefused,
			Inf:      limitertest.InfAbsent,
			BackTime: limitertest.BackReject,
		},
	})
}

// A Keyed of TokenBuckets is one for each key.
func TestConformance_Keyed_tokenBucket(t *testing.T) {
	everyTime(t, func(t *testing.T, source limitertest.TimeSource) { limitertest.Run(t, keyedBucketSpec(source)) })
}

// keyedBucketSpec describes a Keyed of TokenBuckets.
func keyedBucketSpec(source limitertest.TimeSource) limitertest.Spec {
	return limitertest.Spec{
		Name: "limiters.Keyed of limiters.TokenBucket",
		Time: source,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			limit := limiters.Limit(cfg.Rate.PerSecond())
			buckets := limiters.NewKeyed(keys, func(int) *limiters.TokenBucket {
				return limiters.NewTokenBucket(limit, cfg.Burst, limiters.WithClock(injected(source, env)))
			}, (*limiters.TokenBucket).Fresh)
			allowAt := func(at time.Time, key, n int) (ok bool) {
				_ = buckets.Do(key, func(l *limiters.TokenBucket) { ok = l.AllowN(at, n) })
				return ok
			}
			return limitertest.Funcs{
				AllowKey:   func(key, n int) bool { return allowAt(env.Clock.Now(), key, n) },
				AllowKeyAt: allowAt,
			}
		},
		Traits: limitertest.XTimeRate(),
	}
}
