package leakybuckettest_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// How a leaky bucket is described that takes its time from a clock.
func ExampleRun() {
	spec := leakybuckettest.Spec{
		Name: "limiters.LeakyBucket",
		Time: leakybuckettest.Injected,
		New: func(env leakybuckettest.Env, cfg leakybuckettest.Config, leave func(int)) leakybuckettest.Funcs {
			b := limiters.NewLeakyBucket(cfg.Interval, cfg.Backlog, leave, limiters.WithClock(env.Clock))
			put := func(v int) bool { _, err := b.Put(v); return err == nil }
			return leakybuckettest.Funcs{Put: put, Stop: b.Stop}
		},
		Traits: leakybuckettest.Traits{Head: leakybuckettest.HeadAtOnce},
	}
	// In a test: leakybuckettest.Run(t, spec)
	clock := fakeclock.New()
	leave := func(v int) { fmt.Println(clock.Elapsed(), v) }
	b := spec.New(leakybuckettest.Env{Clock: clock}, leakybuckettest.Config{Interval: time.Second, Backlog: 1}, leave)
	for v := 1; v <= 3; v++ {
		fmt.Println(v, b.Put(v))
	}
	clock.Advance(time.Minute)
	// Output:
	// 0s 1
	// 1 true
	// 2 true
	// 3 false
	// 1s 2
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range leakybuckettest.Rules()[1:2] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// LB-EXACT (core): While items wait they MUST leave exactly the interval apart.
}
