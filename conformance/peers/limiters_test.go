package peers

import (
	"context"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/juju/ratelimit"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// xtime is golang.org/x/time/rate: a "token bucket" that is "initially full", with
// OK false "if n exceeds the Limiter's burst size". Its docs say nothing of instants
// that go back or of negative numbers (golang/go#54082 asks for them), so no rule is
// opted out of.
func xtime(source limitertest.TimeSource, known ...limitertest.Known) limitertest.Spec {
	return limitertest.Spec{
		Name: "golang.org/x/time/rate v0.14.0",
		Time: source,
		New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			l := rate.NewLimiter(rate.Limit(cfg.Rate.PerSecond()), cfg.Burst)
			reserve := func(t time.Time, n int) limitertest.Reservation {
				r := l.ReserveN(t, n)
				return limitertest.Reservation{OK: r.OK, Delay: r.Delay, DelayFrom: r.DelayFrom, Cancel: r.Cancel, CancelAt: r.CancelAt}
			}
			return limitertest.Funcs{
				Allow:      l.Allow,
				AllowN:     func(n int) bool { return l.AllowN(time.Now(), n) },
				AllowAt:    l.AllowN,
				Tokens:     l.Tokens,
				TokensAt:   l.TokensAt,
				WaitN:      l.WaitN,
				Reserve:    func(n int) limitertest.Reservation { return reserve(time.Now(), n) },
				ReserveAt:  reserve,
				SetLimit:   func(r limitertest.Rate) { l.SetLimit(rate.Limit(r.PerSecond())) },
				SetLimitAt: func(t time.Time, r limitertest.Rate) { l.SetLimitAt(t, rate.Limit(r.PerSecond())) },
				SetBurst:   l.SetBurst,
				SetBurstAt: l.SetBurstAt,
			}
		},
		Traits:       limitertest.XTimeRate(),
		KnownFailing: known,
	}
}

// jujuBucket "represents a token bucket that fills at a predetermined rate": one
// token at each multiple of the interval since it was made. Take "takes count tokens
// from the bucket without blocking. It returns the time that the caller should wait";
// "this is irrevocable".
func jujuBucket(known ...limitertest.Known) limitertest.Spec {
	return limitertest.Spec{
		Name: "juju/ratelimit v1.0.2",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			if !cfg.Rate.Exact() {
				panic("it is made with an interval, in whole nanoseconds")
			}
			b := ratelimit.NewBucketWithClock(cfg.Rate.Interval(), int64(cfg.Burst), env.Clock)
			return limitertest.Funcs{
				Allow:  func() bool { return b.TakeAvailable(1) == 1 },
				AllowN: func(n int) bool { _, ok := b.TakeMaxDuration(int64(n), 0); return ok },
				Tokens: func() float64 { return float64(b.Available()) },
				Wait:   func(n int) { b.Wait(int64(n)) },
				Reserve: func(n int) limitertest.Reservation {
					d := b.Take(int64(n))
					return limitertest.Reservation{Delay: func() time.Duration { return d }}
				},
			}
		},
		Traits:       limitertest.JujuRatelimit(),
		KnownFailing: known,
	}
}

// throttledGCRA is the GCRA of throttled over its store in memory: MaxBurst "defines
// the number of requests that will be allowed to exceed the rate in a single burst",
// so that a burst of b is a MaxBurst of b-1.
func throttledGCRA(known ...limitertest.Known) limitertest.Spec {
	return limitertest.Spec{
		Name: "throttled/v2 v2.15.0 GCRA",
		Time: limitertest.PackageTime,
		New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			if cfg.Rate.Events < 1 || cfg.Burst < 1 {
				panic("it is made with a count for a period, and at least one request is allowed")
			}
			store, err := memstore.NewCtx(0)
			if err != nil {
				panic(err)
			}
			l, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: throttled.PerDuration(cfg.Rate.Events, cfg.Rate.Per), MaxBurst: cfg.Burst - 1})
			if err != nil {
				panic(err)
			}
			return limitertest.Funcs{AllowKey: func(key, n int) bool {
				for { // an error says that others were faster, ten times
					if limited, _, err := l.RateLimitCtx(context.Background(), strconv.Itoa(key), n); err == nil {
						return !limited
					}
				}
			}}
		},
		Traits: limitertest.Traits{
			Initial: limitertest.InitialFull, Oversize: limitertest.OversizeRejected, Inf: limitertest.InfAbsent,
			ZeroRate: limitertest.ZeroRateRefused,
		},
		KnownFailing: known,
	}
}

// uberLimiter is a leaky bucket. Slack "allows the limiter to accumulate 'unspent'
// requests for future bursts of traffic": with a slack of b-1 it lets b pass in a
// row, and WithSlack(0) is WithoutSlack. Slack must first be earned, as the source
// and the README's example show: of a new limiter only the first Take is free.
func uberLimiter(known ...limitertest.Known) limitertest.Spec {
	return limitertest.Spec{
		Name: "go.uber.org/ratelimit v0.3.1",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			l := uber.New(cfg.Rate.Events, uber.Per(cfg.Rate.Per), uber.WithClock(env.Clock), uber.WithSlack(cfg.Burst-1))
			return limitertest.Funcs{Wait: func(int) { l.Take() }}
		},
		Traits:       limitertest.UberRatelimit(),
		KnownFailing: known,
	}
}

// What is known to fail. Each is shown by the library alone in
// limiters_reproductions_test.go.
var (
	xtimeKnown = []limitertest.Known{
		{
			Rule: "RL-ENV", Schedule: "rate=10/1s burst=3 | allow 3 @0 | reserve 1 @0 | cancel 1 @0 | cancel 1 @0 | reserve 1 @0",
			Why: "a second Cancel refunds again, and what it refunds is granted on top of the burst; the docs of Cancel do not mention it",
		},
		{
			Rule: "RL-NEG", Schedule: "rate=10/1s burst=3 | allow 1 @0 | allow -1 @0 | allow 3 @0",
			Why: "AllowN with a negative n gives tokens back; the docs do not mention n < 0 (golang/go#54082), and some callers count on it",
		},
		{
			Rule: "RL-TINY", Schedule: "rate=1/2562047h47m16.854775807s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "a delay of 2^63ns is rounded to one that overflows, and becomes none: every request is granted (the rest of golang/go#71154)",
		},
		{
			Rule: "RL-INFOUT", Schedule: "rate=inf burst=2 | reserve 1 @0 | setlimit 10/1s @0 | allow 1 @0 | allow 1 @0 | cancel 1 @0 | allow 1 @0",
			Why: "Cancel of a reservation made under Inf refunds tokens that were never taken; the docs do not mention it",
		},
		{
			Rule: "CN-LIFO", Schedule: "rate=10/1s burst=3 | allow 3 @0 | reserve 1 @0 | setlimit 5/1s @0 | reserve 1 @0 | cancel 2 @0 | cancel 1 @0 | reserve 1 @0",
			Why: "Cancel counts what was reserved later in time at the limit of then: of two reservations cancelled in reverse, one stays taken; the docs do not mention it",
		},
		{
			Rule: "CN-UPPER", Schedule: "rate=10/1s burst=5 | reserve 3 @0 | setburst 1 @0 | setburst 5 @0 | cancel 1 @0 | allow 2 @0",
			Why: "Cancel gives back what a lower burst has taken meanwhile; the docs do not mention it",
		},
		{
			Rule: "CN-IDEM", Schedule: "rate=10/1s burst=3 | allow 3 @0 | reserve 1 @0 | cancel 1 @0 | cancel 1 @0 | reserve 1 @0",
			Why: "a second Cancel refunds again; the docs do not mention it",
		},
	}
	xtimeWaits = limitertest.Known{
		Rule: "W-CANCEL", Schedule: "rate=10/1s burst=3 | allow 1 @0 | wait 3 @0 | wait 1 @0 | cancel 1 @0 | wait 1 @0 | cancel 2 @0 | wait 1 @0",
		Why: "who waits after another has given up may be due before the rest; the one that was due last gives back more than it took when it gives up; the docs do not mention it",
	}
	xtimePast = limitertest.Known{
		Rule: "RL-PAST", Schedule: "rate=1/1s burst=2 | allow 1 @0 | allow 0 @-1s | allow 2 @0",
		Why: "AllowN with an older t moves the limiter back, and the time since is paid again; the docs do not mention it (golang/go#56287)",
	}
	jujuBucketKnown = []limitertest.Known{
		{
			Rule: "RL-NBIG", Schedule: "rate=10/1s burst=3 | allow 9223372036854775807 @0",
			Why: "the wait for so many tokens overflows and is less than any maximum: they are granted at once; the docs set no bound to count",
		},
		{
			Rule:     "RL-TINY",
			Schedule: "rate=1/200000h burst=3 | reserve 1 @0 | reserve 3 @0 | reserve 3 @0 | reserve 3 @0 | reserve 3 @0 | allow 3 @0",
			Why:      "a wait of more than 292 years overflows and is less than any maximum: it is granted at once",
		},
		{
			Rule: "X-CFG", Schedule: "rate=10/1s burst=9223372036854775807 | allow 1 @0 | allow 1 @1h | allow 1 @2h",
			Why: "what comes to a bucket that holds nearly MaxInt64 overflows, and everything is denied; the docs set no bound to capacity",
		},
	}
	throttledKnown = []limitertest.Known{
		{
			Rule: "RL-ENV", Schedule: "rate=600000000/1s burst=1 | allow 1 @0 | allow 1 @1ns | allow 1 @2ns",
			Why: "the time for one request is cut to whole nanoseconds; the docs of PerDuration do not mention it",
		},
		{
			Rule: "RL-MODEL", Schedule: "rate=600000000/1s burst=1 | allow 1 @0 | allow 1 @1ns | allow 1 @2ns",
			Why: "the time for one request is cut to whole nanoseconds; the docs of PerDuration do not mention it",
		},
		{
			Rule: "RL-NEG", Schedule: "rate=10/1s burst=3 | allow 1 @0 | allow -1 @0 | allow 3 @0",
			Why: "a negative quantity gives requests back; the docs do not mention it",
		},
		{
			Rule: "RL-NBIG", Schedule: "rate=10/1s burst=3 | allow 9223372036854775807 @0",
			Why: "the time for so many requests overflows, and they are allowed; the docs set no bound to quantity",
		},
		{
			Rule: "RL-TINY", Schedule: "rate=1/2562047h47m16.854775807s burst=1 | allow 1 @0 | allow 1 @0",
			Why: "the instant at which the next request may come overflows, and every request is allowed",
		},
		{
			Rule: "X-CFG", Schedule: "rate=1/2562047h47m16.854775807s burst=2 | allow 1 @0",
			Why: "the time for a burst overflows, and everything is denied; the docs do not bound it",
		},
	}
	uberKnown = []limitertest.Known{
		{
			Rule: "RL-ENV", Schedule: "rate=600000000/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0",
			Why: "the time for one request is cut to whole nanoseconds: 6e8 a second become 1e9; the docs of New promise \"the given RPS\"",
		},
		{
			Rule: "RL-HUGE", Schedule: "rate=1500000000/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0",
			Why: "the time for one request is cut to whole nanoseconds: above 1e9 a second nothing waits; the docs of New promise \"the given RPS\"",
		},
		{
			Rule: "W-EATS", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @0",
			Why: "a clock at Unix(0) looks like a new limiter: every Take is the first, and takes nothing from the next; the docs do not mention it",
		},
		{
			Rule: "RL-EPOCH", Schedule: "rate=10/1s burst=2 epoch=1970-01-01T00:00:00Z | wait 1 @0 | wait 1 @0",
			Why: "a clock at Unix(0) looks like a new limiter: every Take is the first; the docs do not mention it",
		},
	}
)

// rateLimiters leaves failsafe-go's smooth limiter out: whether it breaks W-PRE, and on which schedule, is
// chance, as TestFailsafe_doneContextTakesByChance shows; it breaks no other rule.
func rateLimiters() []peer[limitertest.Spec] {
	return []peer[limitertest.Spec]{
		{"XTimeExplicit", xtime(limitertest.Explicit, append(xtimeKnown[:len(xtimeKnown):len(xtimeKnown)], xtimePast)...)},
		{"XTimePackageTime", xtime(limitertest.PackageTime, append(xtimeKnown[:len(xtimeKnown):len(xtimeKnown)], xtimeWaits)...)},
		{"JujuRatelimit", jujuBucket(jujuBucketKnown...)},
		{"Throttled", throttledGCRA(throttledKnown...)},
		{"UberRatelimit", uberLimiter(uberKnown...)},
	}
}
