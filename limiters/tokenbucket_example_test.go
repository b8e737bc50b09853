package limiters_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// Reserving now, for actions that others do later.
func ExampleTokenBucket_Reserve() {
	clock := fakeclock.New()
	lim := limiters.NewTokenBucket(10, 1, limiters.WithClock(clock))

	first, second, third := lim.Reserve(), lim.Reserve(), lim.Reserve()
	fmt.Println(first.Delay(), second.Delay(), third.Delay())
	third.Cancel() // The next one gets its turn.
	fmt.Println(lim.Reserve().Delay())

	// Output:
	// 0s 100ms 200ms
	// 200ms
}

// Waiting for a turn, but not longer than there is time.
func ExampleTokenBucket_Wait() {
	clock := fakeclock.New()
	lim := limiters.NewTokenBucket(10, 1, limiters.WithClock(clock))
	lim.Allow()

	ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, 50*time.Millisecond)
	defer cancel()
	err := lim.Wait(ctx)
	fmt.Println(err)
	fmt.Println(errors.Is(err, limiters.ErrDeadline), errors.Is(err, context.DeadlineExceeded))

	done := make(chan error)
	go func() { done <- lim.Wait(context.Background()) }()
	clock.BlockUntil(2) // the context and the wait
	clock.Advance(100 * time.Millisecond)
	fmt.Println(<-done, clock.Elapsed())

	// Output:
	// limiters: WaitN(n=1): tokens would come too late: context deadline exceeded
	// true true
	// <nil> 100ms
}

// What was collected stays, what comes in follows the new limit.
func ExampleTokenBucket_SetLimit() {
	clock := fakeclock.New()
	lim := limiters.NewTokenBucket(1, 100, limiters.WithClock(clock))
	lim.AllowN(clock.Now(), 100)

	clock.Advance(5 * time.Second)
	lim.SetLimit(10)
	fmt.Println(lim.Tokens())
	clock.Advance(time.Second)
	fmt.Println(lim.Tokens())

	// Output:
	// 5
	// 15
}

// What a rate limit answers an HTTP client.
func ExampleGCRA() {
	clock := fakeclock.New()
	lim := limiters.NewGCRA(100*time.Millisecond, 2, limiters.WithClock(clock)) // 10 per second, 2 at once

	for range 3 {
		r, _ := lim.Take(context.Background(), "", 1) // a GCRA has one limit for all keys
		fmt.Printf("%v, %d remaining, retry after %v, reset after %v\n", r.Allowed, r.Remaining, r.RetryAfter, r.ResetAfter)
		clock.Advance(30 * time.Millisecond)
	}

	// Output:
	// true, 1 remaining, retry after 0s, reset after 100ms
	// true, 0 remaining, retry after 0s, reset after 170ms
	// false, 0 remaining, retry after 40ms, reset after 140ms
}
