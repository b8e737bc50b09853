package limitertest_test

import (
	"fmt"

	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// How a rate limiter is described: one that takes its time from a clock, and chooses as
// golang.org/x/time/rate does.
func ExampleRun() {
	spec := limitertest.Spec{
		Name: "limiters.TokenBucket",
		Time: limitertest.Injected,
		New: func(env limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
			l := limiters.NewTokenBucket(limiters.Limit(cfg.Rate.PerSecond()), cfg.Burst, limiters.WithClock(env.Clock))
			return limitertest.Funcs{Allow: l.Allow, WaitN: l.WaitN}
		},
		Traits: limitertest.LikeXTime,
	}
	// In a test: limitertest.Run(t, spec)
	rate := limitertest.Rate{Events: 10, Per: 1e9}
	l := spec.New(limitertest.Env{Clock: fakeclock.New()}, limitertest.Config{Rate: rate, Burst: 2})
	fmt.Println(l.Allow(), l.Allow(), l.Allow())
	// Output: true true false
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range limitertest.Rules()[:2] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// RL-ENV (core): In any window of length L at most rate*L + burst tokens MUST be granted.
	// RL-WORK (core): A request that the bucket can pay for MUST be granted.
}
