package limiters_test

import (
	"context"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/synctestcompat"
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

// What becomes of a request that waits for more than a lower limit is the limiter's choice, of which
// the suite says nothing.
func TestConformance_Concurrency_resizeBelowAWaiter(t *testing.T) {
	synctestcompat.Require(t)
	s, err := conformance.ParseSchedule("limit=2 backlog=3 timeout=1h | " +
		"acquire 1 @0 | acquire 2 2 @0 | acquire 3 @0 | resize 1 @0 | release 1 @0")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range concurrencySpec(concurrencytest.Injected).Judge(t).Run(s) {
		t.Error(v.Text())
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
