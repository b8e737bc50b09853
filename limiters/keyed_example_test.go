package limiters_test

import (
	"context"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

func ExampleKeyed() {
	clock := fakeclock.New()
	users := limiters.NewKeyed(2, func(string) *limiters.SlidingLog {
		return limiters.NewSlidingLog(1, time.Minute, limiters.WithClock(clock))
	}, (*limiters.SlidingLog).Fresh)

	ask := func(name string) {
		ok := false
		err := users.Do(name, func(l *limiters.SlidingLog) { ok = l.Allow() })
		fmt.Println(clock.Elapsed(), name, ok, err)
	}
	ask("ann")
	ask("ann")
	ask("bob")
	ask("cid") // ann and bob could not be forgotten without granting more
	clock.Advance(time.Minute)
	ask("cid")

	// Output:
	// 0s ann true <nil>
	// 0s ann false <nil>
	// 0s bob true <nil>
	// 0s cid false limiters: too many keys are in use
	// 1m0s cid true <nil>
}

// A limit for each of up to a million users: 2 requests at once, then one every 30 seconds.
func ExampleKeyedGCRA() {
	clock := fakeclock.New()
	users := limiters.NewKeyedGCRA[string](1_000_000, 30*time.Second, 2, limiters.WithClock(clock))
	fmt.Println(users.Allow("ann"), users.Allow("ann"), users.Allow("ann"), users.Allow("bob"))

	clock.Advance(10 * time.Second)
	d, err := users.Take(context.Background(), "ann", 1) // as middleware does, for what it tells
	fmt.Println(d.Allowed, d.RetryAfter, err)

	clock.Advance(d.RetryAfter)
	fmt.Println(users.Allow("ann"))

	// Output:
	// true true false true
	// false 20s <nil>
	// true
}
