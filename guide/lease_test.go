package guide

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

var errLost = errors.New("lease lost")

// keepLease renews a lease of a ttl that was just taken: after a third of it, and after a
// failure again in a quarter of what is left. It returns errLost when the ttl is over, or
// nil when ctx is done. It asks no renewal that could come back too late.
func keepLease(ctx context.Context, clock clockwork.Clock, ttl time.Duration, renew func() error) error {
	deadline := clock.Now().Add(ttl)
	timer := clock.NewTimer(ttl / 3)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.Chan():
		}
		asked := clock.Now() // the store counts from then, or later
		left := deadline.Sub(asked)
		if left <= 0 {
			return errLost
		}
		if renew() == nil {
			deadline = asked.Add(ttl)
			timer.Reset(ttl / 3)
		} else {
			timer.Reset(min(left, max(left/4, ttl/100)))
		}
	}
}

func leaseBefore(t testing.TB, clock clockwork.Clock) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- keepLease(ctx, clock, 30*time.Millisecond, func() error { return nil })
	}()
	time.Sleep(100 * time.Millisecond) // three times the ttl
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("%v, though every renewal succeeds", err)
	}
}

func TestLease_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		var healthy atomic.Bool
		healthy.Store(true)
		began := time.Now()
		ended := make(chan time.Duration, 1)
		go func() {
			if keepLease(context.Background(), clockwork.NewRealClock(), 30*time.Second, func() error {
				if healthy.Load() {
					return nil
				}
				return errDown
			}) == errLost {
				ended <- time.Since(began)
			}
		}()
		synctestcompat.Sleep(24 * time.Hour) // renewed at this instant too
		healthy.Store(false)
		synctestcompat.Sleep(20 * time.Second) // two failures or more
		healthy.Store(true)
		synctestcompat.Sleep(24*time.Hour - 20*time.Second)
		select {
		case at := <-ended:
			t.Errorf("lost at %v, though the store came back in time", at)
		default:
		}
		healthy.Store(false)
		at := <-ended // time moves on by itself
		if lost := at - 48*time.Hour; lost <= 20*time.Second || lost > 30*time.Second {
			t.Errorf("lost %v after the store went away, want a ttl after the last renewal", lost)
		}
	})
}

func TestLease_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	renewals := make(chan time.Duration)
	answers := make(chan error)
	ended := make(chan error, 1)
	go func() {
		ended <- keepLease(context.Background(), clock, 30*time.Second, func() error {
			renewals <- clock.Elapsed()
			return <-answers
		})
	}()
	for _, step := range []struct {
		at     time.Duration
		answer error
	}{
		{10 * time.Second, nil},
		{20 * time.Second, errDown}, // again in a quarter of the 20 s that are left
		{25 * time.Second, nil},     // recovered: good until 55 s
		{35 * time.Second, errDown},
		{40 * time.Second, errDown},
	} {
		clock.BlockUntil(1)
		clock.AdvanceNext()
		if at := <-renewals; at != step.at {
			t.Errorf("renewed at %v, want %v", at, step.at)
		}
		answers <- step.answer
	}
	for { // the store does not come back
		clock.BlockUntil(1)
		clock.AdvanceNext()
		select {
		case <-renewals:
			answers <- errDown
		case err := <-ended:
			if at := clock.Elapsed(); err != errLost || at != 55*time.Second {
				t.Errorf("keepLease = %v at %v, want %v at 55s", err, at, errLost)
			}
			return
		}
	}
}
