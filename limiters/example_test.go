package limiters_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

func Example() {
	clock := fakeclock.New()
	lim := limiters.NewTokenBucket(2, 5, limiters.WithClock(clock)) // 2 per second, 5 at once

	for range 3 {
		granted := 0
		for range 10 {
			if lim.Allow() {
				granted++
			}
		}
		fmt.Printf("%v: %d of 10 granted\n", clock.Elapsed(), granted)
		clock.Advance(time.Second)
	}

	// Output:
	// 0s: 5 of 10 granted
	// 1s: 2 of 10 granted
	// 2s: 2 of 10 granted
}

// Deciding about the past, from a log: no clock is read.
func ExampleTokenBucket_AllowN() {
	lim := limiters.NewTokenBucket(limiters.Every(100*time.Millisecond), 3)
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

	for _, entry := range []struct {
		after time.Duration
		size  int
	}{
		{0, 2}, {0, 2}, {99 * time.Millisecond, 2}, {100 * time.Millisecond, 2}, {time.Hour, 4},
	} {
		at := start.Add(entry.after)
		fmt.Printf("%v: %d tokens, %d wanted: %v\n", entry.after, int(lim.TokensAt(at)), entry.size, lim.AllowN(at, entry.size))
	}

	// Output:
	// 0s: 3 tokens, 2 wanted: true
	// 0s: 1 tokens, 2 wanted: false
	// 99ms: 1 tokens, 2 wanted: false
	// 100ms: 2 tokens, 2 wanted: true
	// 1h0m0s: 3 tokens, 4 wanted: false
}

func ExampleEvery() {
	fmt.Println(limiters.Every(100*time.Millisecond), limiters.Every(time.Minute) == 1./60, limiters.Every(0))

	// Output:
	// 10/s true Inf
}
