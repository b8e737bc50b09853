package limiters_test

import (
	"context"
	"testing"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/limiters"
)

func TestConformance_Concurrency(t *testing.T) {
	everyClock(t, func(t *testing.T, source concurrencytest.TimeSource) {
		concurrencytest.Run(t, concurrencySpec(source))
	})
}

// concurrencySpec describes a Concurrency.
func concurrencySpec(source concurrencytest.TimeSource) concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "limiters.Concurrency",
		Time: source,
		New: func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
				limiters.WithClock(injected(source, env)))
			funcs := concurrencyFuncs(c)
			funcs.Do = func(ctx context.Context, run func()) error {
				return c.Do(ctx, func() error { run(); return nil })
			}
			return funcs
		},
		Traits: concurrencyTraits(concurrencytest.BacklogBounded, concurrencytest.TimeoutBounded),
	}
}

// Without options nothing bounds who waits, nor how long.
func TestConformance_Concurrency_withoutOptions(t *testing.T) {
	concurrencytest.Run(t, concurrencytest.Spec{
		Name: "limiters.Concurrency without options",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			return concurrencyFuncs(limiters.NewConcurrency(cfg.Limit))
		},
		Traits: concurrencyTraits(concurrencytest.BacklogUnbounded, concurrencytest.TimeoutNone),
	})
}

func concurrencyFuncs(c *limiters.Concurrency) concurrencytest.Funcs {
	return concurrencytest.Funcs{Acquire: c.Acquire, TryAcquire: c.TryAcquire, Release: c.Release, Resize: c.Resize}
}

func concurrencyTraits(backlog concurrencytest.Backlog, timeout concurrencytest.Timeout) concurrencytest.Traits {
	return concurrencytest.Traits{
		Backlog:     backlog,
		Timeout:     timeout,
		Context:     concurrencytest.ContextHonoured,
		SeatHeld:    concurrencytest.SeatFreed,
		Fair:        concurrencytest.FairFIFO,
		Oversize:    concurrencytest.OversizeFails,
		OverRelease: concurrencytest.OverReleasePanics,
		Hook:        concurrencytest.HookNone,
	}
}
