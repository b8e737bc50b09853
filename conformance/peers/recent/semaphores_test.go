package recent

import (
	"context"
	"errors"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/zeromicro/go-zero/core/syncx"
	"storj.io/common/sync2"
)

// zeroTimeoutLimit "is used to borrow with timeouts".
func zeroTimeoutLimit() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "zeromicro/go-zero v1.10.3 syncx.TimeoutLimit",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			l := syncx.NewTimeoutLimit(cfg.Limit)
			return concurrencytest.Funcs{
				Acquire:    func(context.Context, int) error { return l.Borrow(cfg.Timeout) },
				TryAcquire: func(int) bool { return l.TryBorrow() },
				Release:    func(int) { _ = l.Return() },
			}
		},
		Traits: concurrencytest.Traits{
			Backlog: concurrencytest.BacklogUnbounded, Timeout: concurrencytest.TimeoutBounded,
			Context: concurrencytest.ContextIgnored, Fair: concurrencytest.FairNone, OneAtATime: true,
			OverRelease: concurrencytest.OverReleaseIgnored, Hook: concurrencytest.HookNone,
		},
		KnownFailing: timeoutLimitKnown,
	}
}

// storjLimiter is "concurrent goroutine limiting". A function that it runs holds a slot.
func storjLimiter() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "storj.io/common 26b53789c348 sync2.Limiter",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			l := sync2.NewLimiter(cfg.Limit)
			return concurrencytest.Funcs{
				Take: func(ctx context.Context, _ int) (func(), error) {
					done := make(chan struct{})
					if !l.Go(ctx, func() { <-done }) {
						return nil, errors.New("not started")
					}
					return func() { close(done) }, nil
				},
				Stop: l.Close,
			}
		},
		Traits: concurrencytest.Traits{
			Backlog: concurrencytest.BacklogUnbounded, Timeout: concurrencytest.TimeoutNone,
			Context: concurrencytest.ContextHonoured, ContextError: concurrencytest.ErrorOfOwn,
			Fair: concurrencytest.FairFIFO, OneAtATime: true,
			OverRelease: concurrencytest.OverReleasePanics, Hook: concurrencytest.HookNone,
		},
	}
}

// storjSemaphore is "a closable semaphore".
func storjSemaphore() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "storj.io/common 26b53789c348 sync2.Semaphore",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			s := sync2.NewSemaphore(cfg.Limit)
			return concurrencytest.Funcs{
				Lock:    func(int) { s.Lock() },
				Release: func(int) { s.Unlock() },
				Stop:    s.Close,
			}
		},
		Traits: unbounded(concurrencytest.FairFIFO, concurrencytest.OverReleasePanics),
	}
}
