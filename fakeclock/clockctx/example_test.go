package clockctx_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
)

// Client is production code: it takes a clock, which is clockwork.NewRealClock() there.
type Client struct {
	clock   clockwork.Clock
	answers chan string
}

// Get waits for an answer for a second.
func (c *Client) Get(ctx context.Context) (string, error) {
	ctx, cancel := clockctx.WithTimeoutCause(ctx, c.clock, time.Second, errors.New("no answer"))
	defer cancel()
	select {
	case answer := <-c.answers:
		return answer, nil
	case <-ctx.Done():
		return "", fmt.Errorf("get: %w (%v)", ctx.Err(), context.Cause(ctx))
	}
}

func Example() {
	clock := fakeclock.New() // only the test knows this package
	client := &Client{clock: clock}
	done := make(chan error)
	go func() {
		_, err := client.Get(context.Background())
		done <- err
	}()
	clock.BlockUntil(1)
	clock.Advance(time.Second)
	err := <-done
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), len(clock.Timers()), "timers are left")

	// Output:
	// get: context deadline exceeded (no answer)
	// true 0 timers are left
}

func ExampleWithDeadline() {
	clock := fakeclock.New()
	ctx, cancel := clockctx.WithDeadline(context.Background(), clock, clock.Now().Add(time.Minute))
	defer cancel()
	below, cancelBelow := context.WithCancel(ctx)
	defer cancelBelow()

	clock.Advance(time.Minute - 1)
	fmt.Println(below.Err())
	clock.Advance(1)
	fmt.Println(below.Err())

	// Output:
	// <nil>
	// context deadline exceeded
}
