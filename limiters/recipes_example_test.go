package limiters_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// What go.uber.org/ratelimit does with WithSlack(2): Take waits until events are evenly
// spaced, but lets those that are late catch up, by 2 at most. That is a bucket of slack+1
// tokens of which but one are gone at first.
func Example_uberSlack() {
	const slack = 2
	clock := fakeclock.New()
	bucket := limiters.NewTokenBucket(10, slack+1, limiters.WithClock(clock))
	bucket.AllowN(clock.Now(), slack)
	take := func() { // bucket.Wait(ctx), on a clock that this goroutine moves
		clock.Advance(bucket.Reserve().Delay())
		fmt.Print(" ", clock.Elapsed())
	}
	take()
	take()
	take()
	clock.Advance(time.Minute) // late
	for range 5 {
		take()
	}

	// Output:
	//  0s 100ms 200ms 1m0.2s 1m0.2s 1m0.2s 1m0.3s 1m0.4s
}

// The methods of github.com/juju/ratelimit. Take takes n tokens and says for how long to
// sleep; TakeMaxDuration takes them only if that is short enough; TakeAvailable takes what
// is there, n at most.
func Example_juju() {
	clock := fakeclock.New()
	bucket := limiters.NewTokenBucket(limiters.Every(100*time.Millisecond), 5, limiters.WithClock(clock))
	take := func(n int) time.Duration { return bucket.ReserveN(clock.Now(), n).Delay() }
	takeMaxDuration := func(n int, most time.Duration) (time.Duration, bool) {
		r := bucket.ReserveN(clock.Now(), n)
		if r.Delay() > most {
			r.Cancel()
			return 0, false
		}
		return r.Delay(), true
	}
	takeAvailable := func(n int) int {
		for {
			n = min(n, bucket.AllowAt(clock.Now(), 0).Remaining)
			if bucket.AllowN(clock.Now(), n) { // false if others were faster
				return n
			}
		}
	}

	fmt.Println(take(3))
	fmt.Println(takeMaxDuration(4, 100*time.Millisecond))
	fmt.Println(takeMaxDuration(4, 200*time.Millisecond))
	fmt.Println(takeAvailable(4))
	clock.Advance(500 * time.Millisecond)
	fmt.Println(takeAvailable(4), bucket.Tokens())

	// Output:
	// 0s
	// 0s false
	// 200ms true
	// 0
	// 3 0
}

// In Guava's RateLimiter it is the next one who waits for what a request costs. So a
// request for many passes at once, if those before are paid for: the wait is that of a
// reservation, less what its own tokens take. The burst is the most that one may ask for.
func Example_guava() {
	clock := fakeclock.New()
	const interval = 200 * time.Millisecond // 5 per second
	bucket := limiters.NewTokenBucket(limiters.Every(interval), 20, limiters.WithClock(clock))
	bucket.AllowN(clock.Now(), 20) // nothing is saved up at first
	acquire := func(n int) time.Duration {
		return max(0, bucket.ReserveN(clock.Now(), n).Delay()-time.Duration(n)*interval)
	}
	for _, n := range []int{10, 1, 1} {
		wait := acquire(n)
		clock.Advance(wait)
		fmt.Printf("%d after %v, at %v\n", n, wait, clock.Elapsed())
	}

	// Output:
	// 10 after 0s, at 0s
	// 1 after 2s, at 2s
	// 1 after 200ms, at 2.2s
}

// At the end of a program, what waits is run at once.
func ExampleThrottleFunc_Flush() {
	clock := fakeclock.New()
	progress := limiters.NewThrottleFunc(time.Second, func(percent int) {
		fmt.Println(clock.Elapsed(), percent)
	}, limiters.WithClock(clock))
	defer progress.Stop()
	for percent := 0; percent <= 100; percent += 20 {
		progress.Call(percent)
		clock.Advance(300 * time.Millisecond)
	}
	fmt.Println(progress.Flush(), progress.Flush())

	// Output:
	// 0s 0
	// 1s 60
	// 1.8s 100
	// true false
}
