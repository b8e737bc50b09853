//go:build go1.25

package properties_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/properties"
)

// window grants n requests in each interval.
type window struct {
	n, used  int
	interval time.Duration
	began    time.Time
}

func (w *window) AllowN(t time.Time, n int) bool {
	if t.Sub(w.began) >= w.interval {
		w.began, w.used = t, 0
	}
	if w.used+n > w.n {
		return false
	}
	w.used += n
	return true
}

// newWindow describes a limiter of one's own.
var newWindow = conformance.LimiterSpec{
	Name: "window",
	Time: conformance.Explicit,
	New: func(_ conformance.Env, cfg conformance.LimiterConfig) conformance.LimiterFuncs {
		w := &window{n: cfg.Burst, interval: cfg.Rate.Interval() * time.Duration(cfg.Burst)}
		return conformance.LimiterFuncs{AllowAt: w.AllowN}
	},
	Traits: conformance.LikeXTime,
}

// A window that starts anew grants twice the burst within an instant; one schedule
// is enough to see it.
func Example() {
	t := new(testing.T) // go test does this
	judge := conformance.JudgeLimiter(t, newWindow)
	s, _ := conformance.ParseSchedule("rate=10/1s burst=3 | allow 1 @0 | allow 2 @299ms | allow 3 @300ms")
	for _, v := range judge.Run(s) {
		fmt.Println(v.Rule, v.Headline)
	}
	// Output:
	// RL-ENV 5 tokens were granted from 299ms to 300ms, want 3.01 at the most
	// RL-MODEL allow 3 at 300ms was granted, want denied
}

// A law of one's own: asking again at the same instant does not help.
func ExampleLimiters() {
	helps := func(judge *conformance.Judge, s conformance.Schedule) bool {
		done := judge.Trace(s).Done
		for i := 1; i < len(done); i++ {
			if a, b := done[i-1], done[i]; a.At == b.At && a.N == b.N && !a.OK && b.OK {
				return true
			}
		}
		return false
	}
	testAgain := func(t *testing.T) {
		judge := conformance.JudgeLimiter(t, newWindow)
		schedules := properties.Limiters(judge, newWindow)
		rapid.Check(t, func(rt *rapid.T) {
			if s := schedules.Draw(rt, "schedule"); helps(judge, s) {
				rt.Fatal("asking again helps")
			}
		})
	}
	_ = testAgain // go test runs it; here are a hundred schedules without it

	judge := conformance.JudgeLimiter(new(testing.T), newWindow)
	broken := 0
	for seed := range 100 {
		if helps(judge, properties.Limiters(judge, newWindow).Example(seed)) {
			broken++
		}
	}
	fmt.Println(broken, "of 100 break it")
	// Output: 0 of 100 break it
}

// A schedule that a fuzzer or a log came up with is made smaller.
func ExampleCheck() {
	judge := conformance.JudgeLimiter(new(testing.T), newWindow)
	s, _ := conformance.ParseSchedule("rate=10/1s burst=3 | allow 1 @0 | allow 1 @50ms | allow 2 @290ms | allow 1 @301ms | allow 2 @301ms | allow 1 @2s")
	fmt.Println(judge.Smallest(s, "RL-ENV"))
	// Output: rate=10/1s burst=3 | allow 1 @0 | allow 2 @290ms | allow 2 @301ms
}

// A history of one's own: two wait, one gives up, and a slot comes free as the other does.
func ExampleCheckConcurrency() {
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
	// In a test: properties.CheckConcurrency(t, spec)
	judge := conformance.JudgeConcurrency(new(testing.T), spec)
	s, _ := conformance.ParseSchedule("limit=1 backlog=2 timeout=100ms | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | cancel 2 @50ms | release 1 @100ms~")
	fmt.Println(len(judge.Run(s)), "rules broken")
	// Output: 0 rules broken
}
