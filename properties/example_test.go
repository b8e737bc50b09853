//go:build go1.25

package properties_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/limitertest"
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
var newWindow = limitertest.Spec{
	Name: "window",
	Time: limitertest.Explicit,
	New: func(_ limitertest.Env, cfg limitertest.Config) limitertest.Funcs {
		w := &window{n: cfg.Burst, interval: cfg.Rate.Interval() * time.Duration(cfg.Burst)}
		return limitertest.Funcs{AllowAt: w.AllowN}
	},
	Traits: limitertest.XTimeRate(),
}

// A window that starts anew grants twice the burst within an instant; one schedule
// is enough to see it.
func Example() {
	t := new(testing.T) // go test does this
	judge := newWindow.Judge(t)
	s, _ := conformance.ParseSchedule("rate=10/1s burst=3 | allow 1 @0 | allow 2 @299ms | allow 3 @300ms")
	for _, v := range judge.Run(s) {
		fmt.Println(v.Rule, v.Headline)
	}
	// Output:
	// RL-ENV 5 tokens were granted from 299ms to 300ms, want 3.01 at the most
	// RL-MODEL allow 3 at 300ms was granted, want denied
}

// A law of one's own: asking again at the same instant does not help.
func ExampleSchedules() {
	helps := func(judge conformance.Judge, s conformance.Schedule) bool {
		done := judge.Trace(s).Done
		for i := 1; i < len(done); i++ {
			if a, b := done[i-1], done[i]; a.At == b.At && a.N == b.N && !a.OK && b.OK {
				return true
			}
		}
		return false
	}
	testAgain := func(t *testing.T) {
		judge := newWindow.Judge(t)
		schedules := properties.Schedules(judge)
		rapid.Check(t, func(rt *rapid.T) {
			if s := schedules.Draw(rt, "schedule"); helps(judge, s) {
				rt.Fatal("asking again helps")
			}
		})
	}
	_ = testAgain // go test runs it; here are a hundred schedules without it

	judge := newWindow.Judge(new(testing.T))
	broken := 0
	for seed := range 100 {
		if helps(judge, properties.Schedules(judge).Example(seed)) {
			broken++
		}
	}
	fmt.Println(broken, "of 100 break it")
	// Output: 0 of 100 break it
}

// A schedule that a fuzzer or a log came up with is made smaller.
func ExampleCheck_smallest() {
	judge := newWindow.Judge(new(testing.T))
	s, _ := conformance.ParseSchedule("rate=10/1s burst=3 | allow 1 @0 | allow 1 @50ms | allow 2 @290ms | " +
		"allow 1 @301ms | allow 2 @301ms | allow 1 @2s")
	fmt.Println(judge.Smallest(s, "RL-ENV"))
	// Output: rate=10/1s burst=3 | allow 1 @0 | allow 2 @290ms | allow 2 @301ms
}

// A history of one's own: two wait, one gives up, and a slot comes free as the other does.
func ExampleCheck_concurrency() {
	spec := concurrencytest.Spec{
		Name: "mine",
		Time: concurrencytest.Injected,
		New: func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
				limiters.WithClock(env.Clock))
			return concurrencytest.Funcs{Acquire: c.Acquire, Release: c.Release}
		},
		Traits: concurrencytest.Traits{
			Backlog:     concurrencytest.BacklogBounded,
			Timeout:     concurrencytest.TimeoutBounded,
			Context:     concurrencytest.ContextHonoured,
			SeatHeld:    concurrencytest.SeatFreed,
			Fair:        concurrencytest.FairFIFO,
			Oversize:    concurrencytest.OversizeFails,
			OverRelease: concurrencytest.OverReleasePanics,
			Hook:        concurrencytest.HookNone,
		},
	}
	// In a test: properties.Check(t, spec)
	judge := spec.Judge(new(testing.T))
	s, _ := conformance.ParseSchedule("limit=1 backlog=2 timeout=100ms | acquire 1 @0 | acquire 2 @0 | " +
		"acquire 3 @0 | cancel 2 @50ms | release 1 @100ms~")
	fmt.Println(len(judge.Run(s)), "rules broken")
	// Output: 0 rules broken
}
