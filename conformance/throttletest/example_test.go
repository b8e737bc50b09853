package throttletest_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// How a throttle is described that emits what comes first and what comes last.
func ExampleRun() {
	spec := throttletest.Spec{
		Name: "limiters.ThrottleFunc",
		Time: throttletest.Injected,
		New: func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			h := limiters.NewThrottleFunc(cfg.Interval, emit, limiters.WithClock(env.Clock))
			return throttletest.Funcs{Call: h.Call, Stop: h.Stop}
		},
		Traits: throttletest.Traits{
			Edges:      []throttletest.Edges{throttletest.LeadingAndTrailing},
			Boundary:   throttletest.BoundaryPasses,
			BothSingle: throttletest.BothOnce,
			Payload:    throttletest.LastPayload,
		},
	}
	// In a test: throttletest.Run(t, spec)
	clock := fakeclock.New()
	cfg := throttletest.Config{Interval: time.Second, Edges: throttletest.LeadingAndTrailing}
	h := spec.New(throttletest.Env{Clock: clock}, cfg, func(v int) { fmt.Println(clock.Elapsed(), v) })
	for v := 1; v <= 3; v++ {
		h.Call(v)
	}
	clock.Advance(time.Minute)
	// Output:
	// 0s 1
	// 1s 3
}

// A throttle that is like one that is known starts from its traits. This one is told the
// time, and reports what passes.
func ExampleXTimeSometimes() {
	spec := throttletest.Spec{
		Name: "limiters.Throttle",
		Time: throttletest.Explicit,
		New: func(_ throttletest.Env, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
			return throttletest.Funcs{AllowAt: limiters.NewThrottle(cfg.Interval).AllowAt}
		},
		Traits: throttletest.XTimeSometimes(),
	}
	// In a test: throttletest.Run(t, spec)
	h := spec.New(throttletest.Env{}, throttletest.Config{Interval: time.Second}, nil)
	start := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Duration{0, time.Second - 1, time.Second} {
		fmt.Println(at, h.AllowAt(start.Add(at)))
	}
	// Output:
	// 0s true
	// 999.999999ms false
	// 1s true
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range throttletest.Rules()[2:4] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// TH-SPACE (core): Two emissions MUST be at least the interval apart.
	// TH-DROP (core): With the leading edge alone an event within an interval MUST be dropped, and never emitted later.
}
