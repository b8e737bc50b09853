package fakeclock_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

func Example() {
	clock := fakeclock.New()

	// The code under test takes a clockwork.Clock.
	expired := false
	session := clock.AfterFunc(30*time.Minute, func() { expired = true })

	clock.Advance(20 * time.Minute)
	session.Reset(30 * time.Minute) // the user did something

	clock.Advance(30*time.Minute - 1)
	fmt.Println(expired)
	clock.Advance(1)
	fmt.Println(expired)
	// Output:
	// false
	// true
}

// One Advance stops at every deadline, also at those that appear on the way.
func ExampleClock_Advance() {
	clock := fakeclock.New()
	wait := time.Second
	var retry func()
	retry = func() {
		fmt.Println("attempt at", clock.Elapsed())
		wait *= 2
		clock.AfterFunc(wait, retry)
	}
	clock.AfterFunc(wait, retry)

	clock.Advance(10 * time.Second)
	fmt.Println("now", clock.Elapsed())
	// Output:
	// attempt at 1s
	// attempt at 3s
	// attempt at 7s
	// now 10s
}

// A test need not know when things happen to see what happens next.
func ExampleClock_AdvanceNext() {
	clock := fakeclock.New()
	clock.AfterFunc(90*time.Second, func() { fmt.Println("renew") })
	clock.AfterFunc(2*time.Minute, func() { fmt.Println("expire") })

	for at, ok := clock.AdvanceNext(); ok; at, ok = clock.AdvanceNext() {
		fmt.Println(at.Format(time.TimeOnly))
	}
	// Output:
	// renew
	// 00:01:30
	// expire
	// 00:02:00
}

// Cancel at the very instant of the deadline, before the timer.
func ExampleClock_AdvanceUntil() {
	clock := fakeclock.New()
	timer := clock.AfterFunc(time.Second, func() { fmt.Println("fired") })

	clock.AdvanceUntil(clock.Now().Add(time.Second))
	fmt.Println(clock.Elapsed(), timer.Stop())
	clock.Advance(0)
	// Output:
	// 1s true
}

// Wait until the other goroutine sleeps, then move time.
func ExampleClock_BlockUntil() {
	clock := fakeclock.New()
	done := make(chan struct{})
	go func() {
		defer close(done)
		clock.Sleep(time.Hour)
		fmt.Println("awake at", clock.Elapsed())
	}()

	clock.BlockUntil(1)
	clock.Advance(time.Hour)
	<-done
	// Output:
	// awake at 1h0m0s
}

// Wait until the other goroutine has armed one timer in particular.
func ExampleClock_BlockUntilFunc() {
	clock := fakeclock.New()
	stopped := make(chan time.Time)
	go func() {
		<-clock.After(time.Second) // connected
		idle := clock.NewTimer(time.Minute)
		stopped <- <-idle.Chan()
	}()

	ctx := context.Background()
	clock.BlockUntil(1)
	clock.Advance(time.Second)
	err := clock.BlockUntilFunc(ctx, func(timers []fakeclock.Timer) bool {
		return slices.ContainsFunc(timers, func(t fakeclock.Timer) bool {
			return t.Deadline.Sub(clock.Now()) == time.Minute
		})
	})
	clock.Advance(time.Minute)
	fmt.Println(err, (<-stopped).Format(time.TimeOnly))
	// Output:
	// <nil> 00:01:01
}

// An operation that arrives after the timer has fired and before its function
// runs: the moment at which stopping comes too late.
func ExampleClock_Hold() {
	clock := fakeclock.New()
	timer := clock.AfterFunc(time.Second, func() { fmt.Println("flush") })

	release := clock.Hold()
	clock.Advance(time.Second)
	fmt.Println("stopped:", timer.Stop())
	release()
	// Output:
	// stopped: false
	// flush
}

// What is armed, soonest first.
func ExampleClock_Timers() {
	clock := fakeclock.New()
	clock.AfterFunc(time.Minute, func() {})
	clock.NewTicker(10 * time.Second)
	clock.After(30 * time.Second)

	for _, timer := range clock.Timers() {
		fmt.Println(timer)
	}
	// Output:
	// Ticker every 10s due 2000-01-01 00:00:10
	// After due 2000-01-01 00:00:30
	// AfterFunc due 2000-01-01 00:01:00
}

// Why did nothing fire? In a test the hook would call t.Log.
func ExampleWithEvents() {
	clock := fakeclock.New(fakeclock.WithEvents(func(e fakeclock.Event) { fmt.Println(e) }))
	timer := clock.NewTimer(time.Minute)
	clock.Advance(40 * time.Second)
	timer.Reset(time.Minute)
	clock.Advance(40 * time.Second)
	timer.Stop()
	// Output:
	// 2000-01-01 00:00:00 armed Timer due 2000-01-01 00:01:00
	// 2000-01-01 00:00:40 reset Timer due 2000-01-01 00:01:40
	// 2000-01-01 00:01:20 stopped Timer due 2000-01-01 00:01:40
}

// A timer at an instant, wherever the clock is by then.
func ExampleClock_NewTimerAt() {
	clock := fakeclock.New()
	noon := time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
	timer := clock.NewTimerAt(noon)

	clock.AdvanceTo(noon.Add(time.Hour))
	fmt.Println((<-timer.Chan()).Format(time.TimeOnly))
	// Output:
	// 12:00:00
}

// The wall clock is set back an hour; what was to happen in a minute still is.
func ExampleClock_SetWall() {
	clock := fakeclock.New()
	began := clock.Now()
	timer := clock.NewTimer(time.Minute)

	clock.Advance(40 * time.Second)
	clock.SetWall(clock.Now().Add(-time.Hour))
	clock.Advance(20 * time.Second)
	fmt.Println("fired at", (<-timer.Chan()).Format(time.TimeOnly))
	fmt.Println("passed:", clock.Since(began))
	fmt.Println("by subtraction:", clock.Now().Sub(began))
	// Output:
	// fired at 23:01:00
	// passed: 1m0s
	// by subtraction: -59m0s
}

// In a test pass t; here something that prints instead.
func ExampleNewTest() {
	t := &printer{}
	clock := fakeclock.NewTest(t)
	newCache(clock) // forgets to stop what cleans it
	t.end()
	// Output:
	// fakeclock: 1 still armed at the end of the test, at 2000-01-01 00:00:00:
	// 	Ticker every 1m0s due 2000-01-01 00:01:00 (made in fakeclock_test.newCache example_test.go:211)
	// Stop timers and tickers, cancel contexts, advance until sleepers wake, or use WithLeftovers.
}

func newCache(clock clockwork.Clock) {
	go clean(clock.NewTicker(time.Minute))
}

func clean(clockwork.Ticker) {}

// printer is a test that prints its errors.
type printer struct {
	end func()
}

func (*printer) Helper()            {}
func (p *printer) Cleanup(f func()) { p.end = f }

func (*printer) Errorf(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
}
