package conformance_test

import (
	"context"
	"fmt"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// A schedule is read from the text that a failure prints.
func ExampleParseSchedule() {
	s, err := conformance.ParseSchedule("wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms~ | idle 1s")
	fmt.Println(s, err)
	for _, step := range s.Steps {
		fmt.Println(step.Op, step.N, step.At, step.Racing)
	}
	// Output:
	// wait=100ms | call 1 @0 | call 2 @99.999999ms | cancel @150ms~ | idle 1s <nil>
	// call 1 0s false
	// call 2 99.999999ms false
	// cancel 0 150ms true
	// idle 0 1.15s false
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range conformance.Rules("limiter")[:2] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// RL-ENV (core): In any window of length L at most rate*L + burst tokens MUST be granted.
	// RL-WORK (core): A request that the bucket can pay for MUST be granted.
}

// A rate is an exact fraction; implementations take it as they need it.
func ExampleRate() {
	r := conformance.Rate{Events: 3, Per: 1e9}
	fmt.Println(r, r.PerSecond(), r.Interval(), r.Exact())
	// Output: 3/1s 3 333.333333ms false
}

// How a concurrency limiter is described.
func ExampleRunConcurrency() {
	spec := conformance.ConcurrencySpec{
		Name: "mine",
		Time: conformance.Injected,
		New: func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout), limiters.WithClock(env.Clock))
			return conformance.ConcurrencyFuncs{Acquire: c.Acquire, Release: c.Release}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog: conformance.BacklogBounded, Timeout: conformance.TimeoutBounded, Context: conformance.ContextHonoured,
			SeatHeld: conformance.SeatFreed, Fair: conformance.FairFIFO, Oversize: conformance.OversizeFails,
			OverRelease: conformance.OverReleasePanics, Hook: conformance.HookNone,
		},
	}
	// In a test: conformance.RunConcurrency(t, spec)
	c := spec.New(conformance.Env{Clock: fakeclock.New()}, conformance.ConcurrencyConfig{Limit: 1})
	fmt.Println(c.Acquire(context.Background(), 1), c.Acquire(context.Background(), 1))
	// Output: <nil> limiters: no slot is free and the backlog is full
}
