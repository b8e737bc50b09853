package limiters_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// Two per second, and three may wait.
func ExampleLeakyBucket() {
	clock := fakeclock.New()
	b := limiters.NewLeakyBucket(time.Second/2, 3, func(job string) {
		fmt.Println(clock.Elapsed(), job)
	}, limiters.WithClock(clock))

	for _, job := range []string{"a", "b", "c", "d", "e"} {
		if _, err := b.Put(job); errors.Is(err, limiters.ErrQueueFull) {
			fmt.Println(job, "is refused")
		}
	}
	clock.Advance(time.Minute)
	b.Stop()

	// Output:
	// 0s a
	// e is refused
	// 500ms b
	// 1s c
	// 1.5s d
}

func ExampleLeakyBucket_Cancel() {
	clock := fakeclock.New()
	b := limiters.NewLeakyBucket(time.Second, 3, func(job string) {
		fmt.Println(clock.Elapsed(), job)
	}, limiters.WithClock(clock))

	_, _ = b.Put("a")
	ticket, _ := b.Put("b")
	_, _ = b.Put("c")
	fmt.Println(b.Cancel(ticket))
	clock.Advance(time.Minute)

	// Output:
	// 0s a
	// true
	// 1s c
}
