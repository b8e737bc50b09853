package limiters_test

import (
	"context"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// The same requests, one at the end of the first second and one every 200ms of the
// next, four per second allowed: what the windows promise differs.
func ExampleFixedWindow() {
	for _, w := range []interface {
		AllowN(t time.Time, n int) bool
	}{
		limiters.NewFixedWindow(4, time.Second),
		limiters.NewSlidingLog(4, time.Second),
		limiters.NewSlidingCounter(4, time.Second),
	} {
		start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
		fmt.Printf("%T: 4 at 0.9s %v,", w, w.AllowN(start.Add(900*time.Millisecond), 4))
		for at := 1000; at < 2000; at += 200 {
			fmt.Printf(" %.1fs %v", float64(at)/1000, w.AllowN(start.Add(time.Duration(at)*time.Millisecond), 1))
		}
		fmt.Println()
	}

	// Output:
	// *limiters.FixedWindow: 4 at 0.9s true, 1.0s true 1.2s true 1.4s true 1.6s true 1.8s false
	// *limiters.SlidingLog: 4 at 0.9s true, 1.0s false 1.2s false 1.4s false 1.6s false 1.8s false
	// *limiters.SlidingCounter: 4 at 0.9s true, 1.0s false 1.2s false 1.4s true 1.6s true 1.8s true
}

// Never more than three in a second, wherever it starts. Who is denied learns when to come
// again.
func ExampleSlidingLog() {
	clock := fakeclock.New()
	log := limiters.NewSlidingLog(3, time.Second, limiters.WithClock(clock))
	for range 5 {
		d := log.AllowAt(clock.Now(), 1)
		fmt.Println(clock.Elapsed(), d.Allowed, "remaining", d.Remaining, "retry after", d.RetryAfter)
		clock.Advance(300 * time.Millisecond)
	}

	// Output:
	// 0s true remaining 2 retry after 0s
	// 300ms true remaining 1 retry after 0s
	// 600ms true remaining 0 retry after 0s
	// 900ms false remaining 0 retry after 100ms
	// 1.2s true remaining 0 retry after 0s
}

// Two counters instead of a log: in the second window the four events of the first one
// count less and less.
func ExampleSlidingCounter() {
	clock := fakeclock.New()
	counter := limiters.NewSlidingCounter(4, time.Second, limiters.WithClock(clock))
	fmt.Println(clock.Elapsed(), counter.AllowN(clock.Now(), 4))
	clock.Advance(time.Second)
	for range 4 {
		fmt.Println(clock.Elapsed(), counter.Allow(), "remaining", counter.Remaining())
		clock.Advance(250 * time.Millisecond)
	}

	// Output:
	// 0s true
	// 1s false remaining 0
	// 1.25s true remaining 0
	// 1.5s true remaining 0
	// 1.75s true remaining 0
}

// Any limiter that never waits, behind one interface.
func ExampleTaker() {
	clock := fakeclock.New()
	perUser := limiters.NewKeyed(1000, func(string) *limiters.GCRA {
		return limiters.NewGCRA(time.Second, 2, limiters.WithClock(clock))
	}, (*limiters.GCRA).Fresh)
	for _, l := range []limiters.Taker{
		limiters.NewFixedWindow(2, time.Minute, limiters.WithClock(clock)), // for all users together
		perUser,
	} {
		for _, user := range []string{"ann", "bob", "ann", "ann"} {
			d, err := l.Take(context.Background(), user, 1)
			if err != nil { // limiters.ErrTooManyKeys, or a context that is done
				fmt.Println(err)
			}
			fmt.Print(" ", user, " ", d.Allowed, " ", d.RetryAfter)
		}
		fmt.Println()
	}

	// Output:
	//  ann true 0s bob true 0s ann false 1m0s ann false 1m0s
	//  ann true 0s bob true 0s ann true 0s ann false 1s
}
