package peers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/RussellLuo/slidingwindow"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// throttledQuota "uses the generic cell-rate algorithm", with "quantity 0" to "peek";
// RetryAfter "should be -1 unless the rate limit has been exceeded", and is for what
// never fits. wrap may put something in front of the store.
func throttledQuota(
	name string, wrap func(throttled.GCRAStoreCtx) throttled.GCRAStoreCtx, known ...quotatest.Known,
) quotatest.Spec {
	return quotatest.Spec{
		Name: name,
		Time: quotatest.PackageTime,
		Kind: quotatest.GCRA,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			store, err := memstore.NewCtx(0)
			if err != nil {
				panic(err)
			}
			l, err := throttled.NewGCRARateLimiterCtx(wrap(store), throttled.RateQuota{
				MaxRate: throttled.PerDuration(cfg.Limit, cfg.Window), MaxBurst: cfg.Burst - 1,
			})
			if err != nil {
				panic(err)
			}
			ask := func(key, n int) quotatest.Answer {
				ctx := context.WithValue(context.Background(), races{}, new(int))
				limited, r, err := l.RateLimitCtx(ctx, strconv.Itoa(key), n)
				if err != nil {
					panic(err)
				}
				return quotatest.Answer{
					OK: !limited, RetryAfter: r.RetryAfter, ResetAfter: r.ResetAfter, Remaining: r.Remaining,
				}
			}
			return quotatest.Funcs{TakeKey: ask} // which peeks for 0
		},
		Traits:       quotatest.Throttled(),
		KnownFailing: known,
	}
}

// losesFirst is a store in which somebody else wins the first race of each request.
type losesFirst struct{ throttled.GCRAStoreCtx }

type races struct{}

func (s losesFirst) CompareAndSwapWithTTL(
	ctx context.Context, key string, old, value int64, ttl time.Duration,
) (bool, error) {
	if n := ctx.Value(races{}).(*int); *n == 0 {
		*n++
		return false, nil
	}
	return s.GCRAStoreCtx.CompareAndSwapWithTTL(ctx, key, old, value, ttl)
}

// slidingWindow blends two windows that begin at whole multiples of their size.
func slidingWindow(known ...quotatest.Known) quotatest.Spec {
	return quotatest.Spec{
		Name: "RussellLuo/slidingwindow 535bb99",
		Time: quotatest.Explicit,
		Kind: quotatest.SlidingCounter,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			local := func() (slidingwindow.Window, slidingwindow.StopFunc) { return slidingwindow.NewLocalWindow() }
			l, _ := slidingwindow.NewLimiter(cfg.Window, int64(cfg.Limit), local)
			return quotatest.Funcs{TakeAt: func(t time.Time, n int) quotatest.Answer {
				return quotatest.Answer{OK: l.AllowN(t, int64(n))}
			}}
		},
		Traits:       quotatest.RussellLuo(),
		KnownFailing: known,
	}
}

// ulule counts every request of a key that expires a period after the first; Reset is
// in whole seconds, so it is not looked at. It runs without the cleaner of its default
// store, a goroutine that only the garbage collector can stop.
func ulule(known ...quotatest.Known) quotatest.Spec {
	return quotatest.Spec{
		Name: "ulule/limiter v3.11.2",
		Time: quotatest.PackageTime,
		Kind: quotatest.FixedWindow,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			l := limiter.New(memory.NewStoreWithOptions(limiter.StoreOptions{}),
				limiter.Rate{Limit: int64(cfg.Limit), Period: cfg.Window})
			answer := func(c limiter.Context, err error) quotatest.Answer {
				if err != nil {
					panic(err)
				}
				return quotatest.Answer{OK: !c.Reached, Remaining: int(c.Remaining)}
			}
			return quotatest.Funcs{
				TakeKey: func(key, n int) quotatest.Answer {
					return answer(l.Increment(context.Background(), strconv.Itoa(key), int64(n)))
				},
				Peek: func() quotatest.Answer { return answer(l.Peek(context.Background(), "1")) },
			}
		},
		Traits:       quotatest.Ulule(), // source: expired is strictly after; it increments first
		KnownFailing: known,
	}
}

// failsafeBurstyQuota allows so many executions per period, one period after the other.
func failsafeBurstyQuota(known ...quotatest.Known) quotatest.Spec {
	return quotatest.Spec{
		Name: "failsafe-go v0.9.8 bursty",
		Time: quotatest.PackageTime,
		Kind: quotatest.FixedWindow,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			l := ratelimiter.NewBursty[any](uint(cfg.Limit), cfg.Window)
			return quotatest.Funcs{Take: func(n int) quotatest.Answer {
				if n < 0 {
					panic("failsafe takes unsigned numbers only")
				}
				return quotatest.Answer{OK: l.TryAcquirePermits(uint(n))}
			}}
		},
		Traits:       quotatest.FailsafeBursty(),
		KnownFailing: known,
	}
}

// uberBucket is a "leaky-bucket rate limit algorithm": callers block for their turn,
// any number of them. With slack it lets so many more pass after idle time.
func uberBucket(slack int, known ...leakybuckettest.Known) leakybuckettest.Spec {
	return leakybuckettest.Spec{
		Name: fmt.Sprintf("go.uber.org/ratelimit v0.3.1, slack %d", slack),
		Time: leakybuckettest.Injected,
		New: func(env leakybuckettest.Env, cfg leakybuckettest.Config, _ func(int)) leakybuckettest.Funcs {
			l := uber.New(1, uber.Per(cfg.Interval), uber.WithClock(env.Clock), uber.WithSlack(slack))
			return leakybuckettest.Funcs{Take: func() bool { l.Take(); return true }}
		},
		Traits:       leakybuckettest.UberRatelimit(slack),
		KnownFailing: known,
	}
}

// failsafeSmoothQuota spreads executions "evenly over a period": callers block for their
// turn.
func failsafeSmoothQuota(known ...leakybuckettest.Known) leakybuckettest.Spec {
	return leakybuckettest.Spec{
		Name: "failsafe-go v0.9.8 smooth",
		Time: leakybuckettest.PackageTime,
		New: func(_ leakybuckettest.Env, cfg leakybuckettest.Config, _ func(int)) leakybuckettest.Funcs {
			l := ratelimiter.NewSmoothWithMaxRate[any](cfg.Interval)
			return leakybuckettest.Funcs{Take: func() bool { return l.AcquirePermit(context.Background()) == nil }}
		},
		Traits:       leakybuckettest.FailsafeSmooth(),
		KnownFailing: known,
	}
}

// xtimeBucket is x/time/rate with a burst of 1, of which callers Wait for their turn: it
// "allows events up to rate r and permits bursts of at most b tokens".
func xtimeBucket(known ...leakybuckettest.Known) leakybuckettest.Spec {
	return leakybuckettest.Spec{
		Name: "golang.org/x/time/rate v0.14.0, burst 1",
		Time: leakybuckettest.PackageTime,
		New: func(_ leakybuckettest.Env, cfg leakybuckettest.Config, _ func(int)) leakybuckettest.Funcs {
			l := rate.NewLimiter(rate.Every(cfg.Interval), 1)
			return leakybuckettest.Funcs{Take: func() bool { return l.Wait(context.Background()) == nil }}
		},
		Traits:       leakybuckettest.XTimeRate(),
		KnownFailing: known,
	}
}

// known makes an entry of a list of known failures.
func known(rule, schedule, why string) conformance.Known {
	return conformance.Known{Rule: rule, Schedule: schedule, Why: why}
}

const (
	overflows = "the sum of what was used and a number near the largest int64 is negative; " +
		"the docs do not bound the number"
	givesBack   = "a negative number gives back what was never taken; the docs do not mention it"
	unixZeroNew = "a clock at Unix(0) looks like a new limiter; the docs do not mention it"
	tooLong     = "four times 146 years do not fit, so that everything is denied; the docs do not bound the time"
	cut         = "a wait is cut to whole nanoseconds, so that a turn may come one early; " +
		"the docs do not say how exact it is"
	grid = "what is idle is rounded down to whole intervals, so that the next turn may come early; " +
		"the docs promise an even spread"
)

var (
	throttledQuotaKnown = []conformance.Known{
		known("GC-REMAIN", "rate=10/1s burst=4 | allow -1 @0",
			"after a negative quantity more than Limit remain; the docs of Limit call it the maximum"),
		known("GC-NEG", "rate=10/1s burst=4 | allow 1 @0 | allow -1 @0 | allow 4 @0", givesBack),
		known("RL-NBIG", "rate=10/1s burst=4 | allow 9223372036854775807 @0", overflows),
		known("X-CFG", "rate=1/1281023h53m38.427387904s burst=4 | allow 1 @0", tooLong),
	}
	throttledRacingKnown = append(slices.Clone(throttledQuotaKnown),
		known("GC-RETRY", "rate=10/1s burst=4 | allow 1 @0 | allow 0 @0 | allow 4 @0", peekTakes),
		known("GC-RESET", "rate=10/1s burst=4 | allow 1 @0 | allow 0 @0", peekTakes),
		known("GC-PEEKPURE", "rate=10/1s burst=4 | allow 0 @0 | allow 0 @0 | allow 4 @0", peekTakes),
	)
	slidingWindowKnown = []conformance.Known{
		known("SC-APPROX", "rate=9223372036854775807/1s | allow 4096 @0 | allow 9223372036854775807 @0", overflows),
		known("RL-EPOCH", "rate=2/1s epoch=0001-01-01T00:00:00Z | allow 1 @0 | allow 1 @1s | allow 1 @2s",
			"instants are kept in nanoseconds since 1970, which do not reach the year 1; the docs do not mention it"),
		known("GC-NEG", "rate=4/1s | allow -1 @0 | allow 1 @0 | allow 4 @0", givesBack),
		known("RL-NBIG", "rate=4/1s | allow 1 @0 | allow 9223372036854775807 @0", overflows),
	}
	ululeKnown = []conformance.Known{
		known("GC-REMAIN", "rate=4/1s | allow -1 @0", "after a negative count more than Limit remain"),
		known("GC-NEG", "rate=4/1s | allow -1 @0 | allow 1 @0 | allow 4 @0", givesBack),
		known("RL-NBIG", "rate=4/1s | allow 1 @0 | allow 9223372036854775807 @0", overflows),
		known("X-CFG", "rate=1/2562047h47m16.854775807s | allow 1 @0 | allow 1 @0 | allow 1 @0",
			"292 years from now are no number of nanoseconds since 1970, so that all is granted; "+
				"the docs do not bound the period"),
	}
	burstyKnown = []conformance.Known{
		known("X-CFG", "rate=0/1s | allow 1 @0",
			"a limit of 0 is accepted, and the first request divides by it; the docs do not mention it"),
		known("RL-NBIG", "rate=4/1s | allow 4 @0 | allow 9223372036854775807 @0", overflows),
	}
	uberBucketKnown = []conformance.Known{
		known("LB-SPACE", "interval=100ms backlog=2 epoch=1970-01-01T00:00:00Z | put 1 @0 | put 2 @0", unixZeroNew),
		known("LB-IDLE", "interval=100ms backlog=2 epoch=1970-01-01T00:00:00Z | put 1 @0 | put 2 @1ns", unixZeroNew),
		known("LB-SAMEINSTANT", "interval=100ms backlog=2 epoch=1970-01-01T00:00:00Z | put 1 @0 | put 2 @0",
			unixZeroNew),
	}
	uberSlackKnown = []conformance.Known{
		known("LB-SPACE",
			"interval=100ms backlog=2 inside=put epoch=1970-01-01T00:00:00Z | put 1 @0 | put 2 @0 | put 3 @0 | put 4 @0",
			unixZeroNew),
		known("LB-EXACT", "interval=100ms backlog=2 epoch=1970-01-01T00:00:00Z | put 1 @0 | put 2 @1ns | put 3 @2ns",
			unixZeroNew),
	}
	smoothKnown = []conformance.Known{
		known("LB-SPACE", "interval=100ms backlog=1 | put 1 @0 | put 2 @100.000001ms | put 3 @100.000001ms", grid),
		known("LB-IDLE", "interval=100ms backlog=1 | put 1 @0 | put 2 @100.000001ms | put 3 @100.000001ms", grid),
	}
)

var xtimeBucketKnown = []conformance.Known{
	known("LB-SPACE", "interval=100ms backlog=1 | put 1 @0 | put 2 @1ns", cut),
	known("LB-IDLE", "interval=100ms backlog=1 | put 1 @0 | put 2 @1ns", cut),
}

const peekTakes = "the quantity 0 is overwritten by 1 before the first attempt, and taken in the second; " +
	"the docs say no update is performed"

func quotas() []peer[quotatest.Spec] {
	as := func(s throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return s }
	losing := func(s throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return losesFirst{s} }
	racing := throttledQuota("throttled v2.15.0 GCRA, losing each first race", losing, throttledRacingKnown...)
	return []peer[quotatest.Spec]{
		{"Throttled", throttledQuota("throttled v2.15.0 GCRA", as, throttledQuotaKnown...)},
		{"ThrottledRacing", racing},
		{"SlidingWindow", slidingWindow(slidingWindowKnown...)},
		{"Ulule", ulule(ululeKnown...)},
		{"FailsafeBursty", failsafeBurstyQuota(burstyKnown...)},
	}
}

func leakyBuckets() []peer[leakybuckettest.Spec] {
	return []peer[leakybuckettest.Spec]{
		{"UberRatelimit", uberBucket(0, uberBucketKnown...)},
		{"UberRatelimitSlack", uberBucket(3, uberSlackKnown...)},
		{"FailsafeSmooth", failsafeSmoothQuota(smoothKnown...)},
		{"XTimeRate", xtimeBucket(xtimeBucketKnown...)},
	}
}

// TestQuotas runs the suite over published limiters by windows, GCRA and leaky
// buckets, and prints the table of verdicts.
func TestQuotas(t *testing.T) {
	var reports []*conformance.Report
	each(t, quotas(), func(t *testing.T, spec quotatest.Spec) {
		reports = append(reports, quotatest.Run(t, spec))
	})
	t.Run("LeakyBucket", func(t *testing.T) {
		each(t, leakyBuckets(), func(t *testing.T, spec leakybuckettest.Spec) {
			reports = append(reports, leakybuckettest.Run(t, spec))
		})
	})
	t.Log("\n" + conformance.Table(reports...))
}
