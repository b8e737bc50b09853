package fakeclock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// Code that takes a clock gives it to its contexts too. In production that is
// clockwork.NewRealClock().
func ExampleWithTimeout() {
	fetch := func(ctx context.Context, clock clockwork.Clock) error {
		ctx, cancel := fakeclock.WithTimeout(ctx, clock, time.Minute)
		defer cancel()
		<-ctx.Done() // no answer
		return ctx.Err()
	}

	clock := fakeclock.New()
	result := make(chan error)
	go func() { result <- fetch(context.Background(), clock) }()
	clock.BlockUntil(1)
	clock.Advance(time.Minute)
	fmt.Println(<-result)
	// Output:
	// context deadline exceeded
}

func ExampleWithTimeoutCause() {
	clock := fakeclock.New()
	ctx, cancel := fakeclock.WithTimeoutCause(context.Background(), clock, time.Minute, errors.New("no answer from the cache"))
	defer cancel()
	child, cancelChild := context.WithCancel(ctx)
	defer cancelChild()

	fmt.Println(child.Err(), context.Cause(child))
	clock.Advance(time.Minute)
	fmt.Println(child.Err(), context.Cause(child))
	// Output:
	// <nil> <nil>
	// context deadline exceeded no answer from the cache
}
