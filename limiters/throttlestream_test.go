package limiters

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

func TestThrottleStream(t *testing.T) {
	failed := errors.New("failed")
	c := fakeclock.New()
	in := make(chan Item[int])
	out := ThrottleStream(context.Background(), NewThrottle(100, WithClock(c)), in)
	for i, tt := range []struct {
		err  error
		pass bool
		then int64 // the clock moves on
	}{
		{failed, true, 0}, // opens no window
		{nil, true, 50},
		{failed, true, 0},
		{nil, false, 49},
		{failed, true, 0}, // does not extend it
		{nil, false, 1},
		{nil, true, 0},
		{failed, true, 0},
		{nil, false, 0},
	} {
		in <- Item[int]{i, tt.err}
		if tt.pass {
			if got := <-out; got != (Item[int]{i, tt.err}) {
				t.Errorf("step %d: got %v", i, got)
			}
		}
		if tt.then > 0 {
			// What was denied is decided once an error that follows it is out.
			in <- Item[int]{-1, failed}
			if got := <-out; got.Value != -1 {
				t.Errorf("step %d: got %v, want it denied", i, got)
			}
			c.Advance(time.Duration(tt.then))
		}
	}
	close(in)
	if item, ok := <-out; ok {
		t.Errorf("got %v, want a closed channel", item)
	}
}

func TestThrottleStream_zeroInterval(t *testing.T) {
	in := make(chan Item[int])
	out := ThrottleStream(context.Background(), NewThrottle(0), in)
	for i := range 5 {
		in <- Item[int]{Value: i}
		if got := <-out; got.Value != i {
			t.Errorf("got %v, want %d", got, i)
		}
	}
	close(in)
	<-out
}

// Cancellation closes the channel where the goroutine waits for in, where it
// waits for a reader, and before it has begun. A closed channel is the end of it.
func TestThrottleStream_cancel(t *testing.T) {
	for _, sent := range []int{-1, 0, 1} {
		ctx, cancel := context.WithCancel(context.Background())
		in := make(chan Item[int], 5)
		if sent < 0 {
			cancel()
			in <- Item[int]{}
		}
		out := ThrottleStream(ctx, NewThrottle(0), in)
		if sent > 0 {
			unread := make(chan Item[int])
			out = ThrottleStream(ctx, NewThrottle(0), unread)
			unread <- Item[int]{Value: 1} // received, and now on its way
		}
		cancel()
		n := 0
		for range out {
			n++
		}
		if n > max(sent, 0) {
			t.Errorf("sent %d: %d items after cancel", sent, n)
		}
	}
}
