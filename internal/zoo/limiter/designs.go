package limiter

import (
	"context"
	"math"
	"slices"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// waitsOnly is a design without its requests.
func waitsOnly(spec lt.Spec) lt.Spec {
	return over(spec, spec.Name+", waits only", func(_ lt.Env, f lt.Funcs) lt.Funcs {
		return lt.Funcs{Wait: f.Wait, WaitN: f.WaitN, Tokens: f.Tokens, Stop: f.Stop}
	})
}

// waitsForOne is one whose waits are for one token at a time, and panic for another number.
func waitsForOne(spec lt.Spec) lt.Spec {
	spec.Traits.OneAtATime = true
	return over(spec, spec.Name+", one at a time", func(_ lt.Env, f lt.Funcs) lt.Funcs {
		wait := f.WaitN
		f.WaitN = func(ctx context.Context, n int) error { single(n); return wait(ctx, n) }
		return f
	})
}

// single panics if a limiter for one token at a time is asked for another number.
func single(n int) {
	if n != 1 {
		panic("one token at a time")
	}
}

// retrySpec is the bucket in floating point whose waits sleep and try again, so
// that anybody can overtake them.
func retrySpec(source lt.TimeSource) lt.Spec {
	return retrying("", "zoo: bucket that is tried again", source, lt.DeadlineSleeps, untilThere)
}

// untilThere is how long what is missing takes.
func untilThere(l *bucket, now time.Time, n int) time.Duration {
	missing := float64(n) - l.tokensAt(now)
	return time.Duration(min(math.Ceil(missing/l.rate*1e9-1e-3), 1e18))
}

// pollingSpec is that whose waits look again every 30ms: while they are asleep others get what
// they wait for.
func pollingSpec(source lt.TimeSource) lt.Spec {
	often := func(l *bucket, _ time.Time, _ int) time.Duration {
		return time.Duration(max(0.03, min(0.3/l.rate, 3600)) * 1e9) // at a low rate, not so often
	}
	return retrying("", "zoo: bucket that is polled", source, lt.DeadlineSleeps, often)
}

// hastySpec is that of retrySpec whose waits fail as soon as their tokens come after their deadline, with an error
// of their own: also at that very instant, if another was faster.
func hastySpec(source lt.TimeSource) lt.Spec {
	spec := retrying("", "zoo: bucket that is tried again while there is time", source, lt.DeadlineFailFast, untilThere)
	spec.Traits.WaitErrors = lt.WaitErrorsContext
	return spec
}

// retrying is a bucket whose waits sleep for so long and try again, unless they fail fast.
func retrying(mutant, name string, source lt.TimeSource, check lt.DeadlineCheck, sleep pause) lt.Spec {
	return lt.Spec{
		Name: name,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			return retried(env, cfg, check, tries(env, cfg, mutant, sleep))
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, Oversize: lt.OversizeRejected, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateBurst, Inf: lt.InfAbsent, Fair: lt.FairNone,
			DeadlineCheck: check, Refund: lt.RefundFull, OnChange: lt.OnChangeKeeps,
		},
	}
}

// pause is how long who is denied n tokens sleeps.
type pause func(l *bucket, now time.Time, n int) time.Duration

// try takes n tokens now, or else says when to try again.
type try func(n int) (ok bool, retry time.Duration)

// tries makes a bucket that is tried.
func tries(env lt.Env, cfg lt.Config, mutant string, sleep pause) try {
	if cfg.Rate == lt.Inf {
		panic("no such limiter")
	}
	l := newBucket(cfg, mutant)
	return func(n int) (ok bool, retry time.Duration) {
		now := env.Clock.Now()
		return l.allow(now, n), sleep(l, now, n)
	}
}

// retried are a request that takes what is there, and a wait that sleeps and tries again, unless it fails fast.
func retried(env lt.Env, cfg lt.Config, check lt.DeadlineCheck, take try) lt.Funcs {
	wait := func(ctx context.Context, n int) error {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			ok, retry := take(n)
			switch {
			case ok:
				return nil
			case n > cfg.Burst, n < 0: // which would go on asking
				return errTooMany
			case check == lt.DeadlineFailFast && retry > patience(ctx, env.Clock.Now()):
				return errTooLate
			case !zoo.Sleep(env.Clock, retry, ctx.Done()):
				return ctx.Err()
			}
		}
	}
	return lt.Funcs{AllowN: func(n int) bool { ok, _ := take(n); return ok }, WaitN: wait}
}

// spins is a mistake of a wait: it sleeps in whole microseconds, and asks without end while less than one is missing.
// It knows nothing of its context either.
const spins = "spins while less than a microsecond is missing"

func spinsSpec(source lt.TimeSource) lt.Spec {
	spec := retrySpec(source)
	spec.Name = "zoo: bucket that " + spins
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newBucket(cfg, "")
		return lt.Funcs{
			AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) },
			WaitN: func(_ context.Context, n int) error {
				if n > cfg.Burst {
					return errTooMany
				}
				for now := env.Clock.Now(); !l.allow(now, n); now = env.Clock.Now() {
					if d := untilThere(l, now, n).Truncate(time.Microsecond); d > 0 {
						env.Clock.Sleep(d)
					}
				}
				return nil
			},
		}
	}
	return spec
}

// waitsOnlyMutants are mistakes of limiters without requests: a wait that is given up at once is one.
func waitsOnlyMutants() []zoo.Mutant {
	tried := kind(func(mutant string, source lt.TimeSource) lt.Spec {
		return retrying(mutant, "zoo: bucket that is tried again: "+mutant, source, lt.DeadlineSleeps, untilThere)
	})
	untilFull := func(l *bucket, now time.Time, _ int) time.Duration { return untilThere(l, now, l.burst) }
	const full, rest = "sleeps until the bucket is full", "forgets the rest on a grant"
	return slices.Concat(
		kind(queueSpec).with(waitsOnly).mutants("waits only: ", lt.Injected,
			mistake{name: "a wait for several takes one less", rule: "RL-ENV", family: "waits"}),
		kind(creditSpec).with(waitsOnly).mutants("waits only: ", lt.Injected,
			mistake{name: "Tokens shows the burst", rule: "RL-TOKENS", family: "waits"}),
		tried.with(waitsOnly).mutants("waits only: ", lt.Injected,
			mistake{name: "refills too slowly", rule: "RL-WORK", family: "burst 1"},
			mistake{name: "a negative request adds tokens", rule: "RL-NEG", family: "odd numbers"},
			mistake{name: "grants more than the burst", rule: "RL-NBIG", family: "odd bursts"},
			mistake{name: "a denied request costs a token", rule: "RL-DENYPURE", family: "burst 3"}),
		[]zoo.Mutant{
			{Name: "one wait that may be overtaken: " + full, Rule: "W-EATS", Spec: overtaken("", full, untilFull)},
			{Name: "one wait that may be overtaken: " + rest, Rule: "W-EATS", Spec: overtaken(rest, rest, untilThere)},
		},
	)
}

// overtaken is a wait for one token that may be overtaken, and is late although nobody overtakes it.
func overtaken(mutant, name string, sleep pause) lt.Spec {
	spec := retrying(mutant, "", lt.PackageTime, 0, sleep)
	spec.Traits = lt.Traits{Initial: lt.InitialFull, Fair: lt.FairNone, OneAtATime: true}
	return over(spec, "zoo: one wait that is tried again: "+name, func(_ lt.Env, f lt.Funcs) lt.Funcs {
		return lt.Funcs{Wait: func(n int) {
			if single(n); f.WaitN(context.Background(), n) != nil {
				panic("a token comes")
			}
		}}
	})
}

// perSecondSpec is the bucket in floating point of those who say only how many per
// second: that is its burst, too. Its time begins when it is made.
func perSecondSpec(mutant string, source lt.TimeSource) lt.Spec {
	return bucketOf("zoo: so many per second: "+mutant, source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		if cfg.Burst != cfg.Rate.Events || cfg.Rate.Per != time.Second {
			panic("it takes events per second, and nothing else")
		}
		l := newBucket(cfg, mutant)
		l.began, l.last, l.tokens = true, env.Start, float64(cfg.Burst)
		return lt.Funcs{AllowAt: l.allow}
	})
}

// perPeriodSpec is that of those who say how many in a period, all of which may come at once.
func perPeriodSpec(source lt.TimeSource) lt.Spec {
	spec := bucketOf("zoo: so many per period", source, func(env lt.Env, cfg lt.Config) lt.Funcs {
		period, ok := cfg.Rate.Period(cfg.Burst)
		if !ok {
			panic("no such period")
		}
		l := newBucket(cfg, "")
		l.rate = float64(cfg.Burst) / period.Seconds()
		return onClock(env.Clock, lt.Funcs{AllowAt: l.allow})
	})
	spec.Traits.Zero, spec.Traits.Inf, spec.Traits.ZeroRate = lt.ZeroGranted, lt.InfAbsent, lt.ZeroRateRefused
	return spec
}
