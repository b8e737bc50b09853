package guide

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
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

var errDown = errors.New("down")

func retryBefore(t testing.TB, clock clockwork.Clock) {
	began := time.Now()
	err := retry(clock, 3, 10*time.Millisecond, func() error { return errDown })
	if took := time.Since(began); took < 30*time.Millisecond || took > 38*time.Millisecond {
		t.Errorf("gave up after %v, want 30ms or a little more", took)
	}
	if err == nil {
		t.Error("no error")
	}
}

func TestRetry_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		began := time.Now()
		var attempts []time.Duration
		err := retry(clockwork.NewRealClock(), 3, time.Second, func() error {
			attempts = append(attempts, time.Since(began))
			return errDown
		})
		if want := []time.Duration{0, time.Second, 3 * time.Second}; !slices.Equal(attempts, want) || err == nil {
			t.Errorf("attempts at %v and error %v, want attempts at %v and an error", attempts, err, want)
		}
	})
}

func TestRetry_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	var attempts []time.Duration
	ended := make(chan error)
	go func() {
		ended <- retry(clock, 3, time.Second, func() error {
			attempts = append(attempts, clock.Elapsed())
			return errDown
		})
	}()
	for range 2 {
		clock.BlockUntil(1) // it is asleep
		clock.AdvanceNext()
	}
	err := <-ended
	if want := []time.Duration{0, time.Second, 3 * time.Second}; !slices.Equal(attempts, want) || err == nil {
		t.Errorf("attempts at %v and error %v, want attempts at %v and an error", attempts, err, want)
	}
}
