package limiter

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// tickerSpec is a channel of tokens that a goroutine fills on a ticker, correct
// unless mutant says that the ticker outlives it.
func tickerSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name: "zoo: channel of tokens",
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			tokens, ticker := filledByTicker(env, cfg)
			stop := make(chan struct{})
			go func() {
				if mutant == "" {
					defer ticker.Stop()
				}
				for {
					select {
					case <-ticker.Chan():
						select {
						case tokens <- struct{}{}:
						default:
						}
					case <-stop:
						return
					}
				}
			}()
			return lt.Funcs{
				Allow: func() bool {
					select {
					case <-tokens:
						return true
					default:
						return false
					}
				},
				WaitN: func(ctx context.Context, _ int) error {
					if err := ctx.Err(); err != nil {
						return err
					}
					select {
					case <-tokens:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				},
				Stop: func() { close(stop) },
			}
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, OneAtATime: true, RefillSize: 1, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateRefused, Inf: lt.InfAbsent, Fair: lt.FairFIFO,
			DeadlineCheck: lt.DeadlineSleeps, Refund: lt.RefundFull, OnChange: lt.OnChangeServes,
		},
	}
}

// filledByTicker is a channel full of tokens, and the ticker at which one more comes.
func filledByTicker(env lt.Env, cfg lt.Config) (tokens chan struct{}, ticker clockwork.Ticker) {
	if cfg.Burst < 1 || !cfg.Rate.Exact() {
		panic("ticker: want a burst of 1 or more, and a rate with a whole period")
	}
	tokens = make(chan struct{}, cfg.Burst)
	for range cfg.Burst {
		tokens <- struct{}{}
	}
	return tokens, env.Clock.NewTicker(cfg.Rate.Interval())
}

// lateSpec is that channel, filled by a goroutine that looks at its next tick whether it was stopped.
func lateSpec(source lt.TimeSource) lt.Spec {
	spec := tickerSpec("", source)
	spec.Name = "zoo: channel of tokens that ends at a tick"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		tokens, ticker := filledByTicker(env, cfg)
		var stopped atomic.Bool
		go func() {
			defer ticker.Stop()
			for range ticker.Chan() {
				if stopped.Load() {
					return
				}
				select {
				case tokens <- struct{}{}:
				default:
				}
			}
		}()
		return lt.Funcs{
			Allow: func() bool {
				select {
				case <-tokens:
					return true
				default:
					return false
				}
			},
			Stop: func() { stopped.Store(true) },
		}
	}
	return spec
}

// waitsOnly is a design without its requests.
func waitsOnly(spec lt.Spec) lt.Spec {
	whole := spec.New
	spec.Name += ", waits only"
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f := whole(env, cfg)
		return lt.Funcs{Wait: f.Wait, WaitN: f.WaitN, Tokens: f.Tokens, Stop: f.Stop}
	}
	return spec
}

// waitsForOne is one whose waits are for one token at a time, and panic for another number.
func waitsForOne(spec lt.Spec) lt.Spec {
	whole := spec.New
	spec.Name, spec.Traits.OneAtATime = spec.Name+", one at a time", true
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		f := whole(env, cfg)
		wait := f.WaitN
		f.WaitN = func(ctx context.Context, n int) error {
			if n != 1 {
				panic("one token at a time")
			}
			return wait(ctx, n)
		}
		return f
	}
	return spec
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
func retrying(mutant, name string, source lt.TimeSource, check lt.DeadlineCheck,
	sleep func(l *bucket, now time.Time, n int) time.Duration) lt.Spec {
	return lt.Spec{
		Name: name,
		Time: source,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			if cfg.Rate == lt.Inf {
				panic("no such limiter")
			}
			l := newBucket(cfg, mutant)
			take := func(n int) (ok bool, retry time.Duration) {
				now := env.Clock.Now()
				if l.allow(now, n) {
					return true, 0
				}
				return false, sleep(l, now, n)
			}
			return lt.Funcs{
				AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) },
				WaitN:  waitN(env, cfg, check, take),
			}
		},
		Traits: lt.Traits{
			Initial: lt.InitialFull, Oversize: lt.OversizeRejected, BackTime: lt.BackClamp,
			ZeroRate: lt.ZeroRateBurst, Inf: lt.InfAbsent, Fair: lt.FairNone,
			DeadlineCheck: check, Refund: lt.RefundFull, OnChange: lt.OnChangeKeeps,
		},
	}
}

// waitN is a wait that sleeps as long as take says and tries again, unless it fails fast.
func waitN(env lt.Env, cfg lt.Config, check lt.DeadlineCheck,
	take func(n int) (ok bool, retry time.Duration)) func(ctx context.Context, n int) error {
	return func(ctx context.Context, n int) error {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			ok, retry := take(n)
			switch by, ends := ctx.Deadline(); {
			case ok:
				return nil
			case n > cfg.Burst, n < 0: // which would go on asking
				return errTooMany
			case ends && check == lt.DeadlineFailFast && retry > by.Sub(env.Clock.Now()):
				return errTooLate
			}
			timer := env.Clock.NewTimer(retry)
			select {
			case <-timer.Chan():
			case <-ctx.Done():
				timer.Stop()
				return ctx.Err()
			}
		}
	}
}

// overtakenMutants are mistakes of waits that may be overtaken, and are late although nobody overtakes them.
func overtakenMutants() (all []zoo.Mutant) {
	untilFull := func(l *bucket, now time.Time, _ int) time.Duration { return untilThere(l, now, l.burst) }
	for _, m := range []struct {
		mutant, name, rule string
		sleep              func(l *bucket, now time.Time, n int) time.Duration
	}{
		{"", "sleeps until the bucket is full", "W-EATS", untilFull},
		{"forgets the rest on a grant", "forgets the rest on a grant", "W-EATS", untilThere},
	} {
		spec := retrying(m.mutant, "zoo: one wait that is tried again: "+m.name, lt.PackageTime, 0, m.sleep)
		whole := spec.New
		spec.Traits = lt.Traits{Initial: lt.InitialFull, Fair: lt.FairNone, OneAtATime: true}
		spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
			wait := whole(env, cfg).WaitN
			return lt.Funcs{Wait: func(n int) {
				if n != 1 || wait(context.Background(), n) != nil {
					panic("one token at a time, which comes")
				}
			}}
		}
		all = append(all, zoo.Mutant{Name: "one wait that may be overtaken: " + m.name, Rule: m.rule, Spec: spec})
	}
	return all
}

// perSecondSpec is the bucket in floating point of those who say only how many per
// second: that is its burst, too. Its time begins when it is made.
func perSecondSpec(mutant string) lt.Spec {
	return lt.Spec{
		Name: "zoo: so many per second: " + mutant,
		Time: lt.Explicit,
		New: func(env lt.Env, cfg lt.Config) lt.Funcs {
			if cfg.Burst != cfg.Rate.Events || cfg.Rate.Per != time.Second {
				panic("it takes events per second, and nothing else")
			}
			l := newBucket(cfg, mutant)
			l.began, l.last, l.tokens = true, env.Start, float64(cfg.Burst)
			return lt.Funcs{AllowAt: l.allow}
		},
		Traits: lt.XTimeRate(),
	}
}

// perPeriodSpec is that of those who say how many in a period, all of which may come at once.
func perPeriodSpec(source lt.TimeSource) lt.Spec {
	spec := bucketSpec("", source)
	spec.Name, spec.Traits.Inf, spec.Traits.ZeroRate = "zoo: so many per period", lt.InfAbsent, lt.ZeroRateRefused
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		period, ok := cfg.Rate.Period(cfg.Burst)
		if !ok {
			panic("no such period")
		}
		l := newBucket(cfg, "")
		l.rate = float64(cfg.Burst) / period.Seconds()
		return lt.Funcs{AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) }, AllowAt: l.allow}
	}
	return spec
}
