package floor

import (
	"errors"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// retry calls f until it succeeds, with a pause that doubles.
func retry(clock clockwork.Clock, attempts int, pause time.Duration, f func() error) (err error) {
	for i := range attempts {
		if i > 0 {
			clock.Sleep(pause)
			pause *= 2
		}
		if err = f(); err == nil {
			return nil
		}
	}
	return err
}

// A test of this used to sleep for three real seconds and to hope. Now it moves
// the clock from one sleep to the next and sees each attempt at its instant.
func TestFakeClockInsteadOfSleep(t *testing.T) {
	clock := fakeclock.New()
	var at []time.Duration
	done := make(chan error)
	go func() {
		done <- retry(clock, 3, time.Second, func() error {
			at = append(at, clock.Elapsed())
			return errors.New("not yet")
		})
	}()
	for range 2 {
		clock.BlockUntil(1) // retry is asleep
		clock.AdvanceNext()
	}
	if err := <-done; err == nil || len(at) != 3 || at[1] != time.Second || at[2] != 3*time.Second {
		t.Errorf("attempts at %v, error %v; want attempts at 0s, 1s and 3s and an error", at, err)
	}
}
