package limiters_test

import (
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
