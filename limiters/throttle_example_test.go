package limiters_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

func ExampleThrottle() {
	clock := fakeclock.New()
	h := limiters.NewThrottle(time.Second, limiters.WithClock(clock))
	for range 5 {
		fmt.Println(clock.Elapsed(), h.Allow())
		clock.Advance(500 * time.Millisecond)
	}

	// Output:
	// 0s true
	// 500ms false
	// 1s true
	// 1.5s false
	// 2s true
}

// The edges, for the same five events.
func ExampleThrottleFunc() {
	for _, edges := range []limiters.Edges{
		limiters.Leading, limiters.Trailing, limiters.Leading | limiters.Trailing, limiters.Sample,
	} {
		clock := fakeclock.New()
		h := limiters.NewThrottleFunc(time.Second, func(v string) {
			fmt.Print(" ", v, "@", clock.Elapsed())
		}, edges, limiters.WithClock(clock))
		for _, v := range []string{"a", "b", "c", "d", "e"} {
			h.Call(v)
			clock.Advance(600 * time.Millisecond)
		}
		clock.Advance(time.Minute)
		h.Stop()
		fmt.Println()
	}

	// Output:
	//  a@0s c@1.2s e@2.4s
	//  b@1s d@2s e@3s
	//  a@0s b@1s d@2s e@3s
	//  b@1s d@2s e@3s
}

func ExampleThrottleStream() {
	in := make(chan limiters.Item[string], 3)
	in <- limiters.Item[string]{Value: "first"}
	in <- limiters.Item[string]{Value: "second"}
	in <- limiters.Item[string]{Err: errors.New("broken")}
	close(in)

	h := limiters.NewThrottle(time.Second, limiters.WithClock(fakeclock.New()))
	for item := range limiters.ThrottleStream(context.Background(), h, in) {
		fmt.Println(item.Value, item.Err)
	}

	// Output:
	// first <nil>
	//  broken
}

func ExampleSometimes() {
	clock := fakeclock.New()
	s := limiters.Sometimes{First: 2, Interval: time.Second, Clock: clock}
	for range 6 {
		s.Do(func() { fmt.Println(clock.Elapsed()) })
		clock.Advance(400 * time.Millisecond)
	}

	// Output:
	// 0s
	// 400ms
	// 1.6s
}
