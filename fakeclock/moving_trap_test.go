package fakeclock_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// What a trap of another fake clock is for: to wait until the code has armed its timer, and to act between the
// deadline and what it starts.
func TestMoving_trapLike(t *testing.T) {
	clock := fakeclock.NewTest(t)
	canceled, ended := make(chan struct{}), make(chan string)
	go func() { // the code under test
		timer := clock.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-timer.Chan():
			ended <- "ran"
		case <-canceled:
			ended <- "canceled"
		}
	}()
	at := clock.Now().Add(time.Second)
	err := clock.BlockUntilFunc(context.Background(), func(ts []fakeclock.Timer) bool {
		return slices.ContainsFunc(ts, func(t fakeclock.Timer) bool { return t.Deadline.Equal(at) })
	})
	if err != nil {
		t.Fatal(err)
	}
	release := clock.Hold()
	clock.Advance(time.Second)
	close(canceled)
	if got := <-ended; got != "canceled" {
		t.Errorf("the code %s between the deadline and what it starts, want canceled", got)
	}
	release()
}
