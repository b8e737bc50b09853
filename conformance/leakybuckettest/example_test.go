package leakybuckettest_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

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
		Traits: leakybuckettest.Traits{FirstItem: leakybuckettest.FirstAtOnce},
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

// turns is a limiter whose callers block for their turn.
type turns struct {
	clock    clockwork.Clock
	interval time.Duration
	mu       sync.Mutex
	next     time.Time
}

func (l *turns) Take() {
	l.mu.Lock()
	now := l.clock.Now()
	turn := l.next
	if turn.Before(now) {
		turn = now
	}
	l.next = turn.Add(l.interval)
	l.mu.Unlock()
	if turn.After(now) {
		l.clock.Sleep(turn.Sub(now))
	}
}

// How a limiter is described whose callers block for their turn.
func ExampleFuncs_take() {
	spec := leakybuckettest.Spec{
		Name: "turns",
		Time: leakybuckettest.Injected,
		New: func(env leakybuckettest.Env, cfg leakybuckettest.Config, _ func(int)) leakybuckettest.Funcs {
			l := &turns{clock: env.Clock, interval: cfg.Interval}
			return leakybuckettest.Funcs{Take: func() bool { l.Take(); return true }}
		},
		Traits: leakybuckettest.UberRatelimit(0),
	}
	// In a test: leakybuckettest.Run(t, spec)
	clock := fakeclock.New()
	take := spec.New(leakybuckettest.Env{Clock: clock}, leakybuckettest.Config{Interval: time.Second}, nil).Take
	take() // the first has not to wait
	fmt.Println(clock.Elapsed())
	done := make(chan struct{})
	go func() { take(); close(done) }()
	clock.BlockUntil(1)
	clock.Advance(time.Second)
	<-done
	fmt.Println(clock.Elapsed())
	// Output:
	// 0s
	// 1s
}

// Rules can be listed with their sentences.
func ExampleRules() {
	for _, r := range leakybuckettest.Rules()[6:7] {
		fmt.Printf("%s (%s): %s\n", r.ID, r.Level, r.Text)
	}
	// Output:
	// LB-FIFO (core): Items MUST leave in the order in which they came.
}
