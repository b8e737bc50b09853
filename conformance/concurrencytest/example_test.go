package concurrencytest_test

import (
	"context"
	"fmt"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// How a concurrency limiter is described.
func ExampleRun() {
	spec := concurrencytest.Spec{
		Name: "limiters.Concurrency",
		Time: concurrencytest.Injected,
		New: func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
				limiters.WithClock(env.Clock))
			return concurrencytest.Funcs{Acquire: c.Acquire, Release: c.Release}
		},
		Traits: concurrencytest.Traits{
			Backlog: concurrencytest.BacklogBounded, Timeout: concurrencytest.TimeoutBounded,
			Context: concurrencytest.ContextHonoured, SeatHeld: concurrencytest.SeatFreed,
			Fair: concurrencytest.FairFIFO, Oversize: concurrencytest.OversizeFails,
			OverRelease: concurrencytest.OverReleasePanics, Hook: concurrencytest.HookNone,
		},
	}
	// In a test: concurrencytest.Run(t, spec)
	c := spec.New(concurrencytest.Env{Clock: fakeclock.New()}, concurrencytest.Config{Limit: 1})
	fmt.Println(c.Acquire(context.Background(), 1))
	fmt.Println(c.Acquire(context.Background(), 1))
	// Output:
	// <nil>
	// limiters: no slot is free and the backlog is full
}
