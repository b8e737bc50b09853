package fakeclock_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// What the package comment lists under "Differences from package time", but for what
// other tests show: AfterFunc(d, nil) and the end of the range.
func TestPackageComment_differences(t *testing.T) {
	t.Run("capacity", func(t *testing.T) {
		clock := fakeclock.New()
		timer, ticker, after := clock.NewTimer(1), clock.NewTicker(1), clock.After(1)
		for name, ch := range map[string]<-chan time.Time{"timer": timer.Chan(), "ticker": ticker.Chan(), "After": after} {
			if cap(ch) != 1 || len(ch) != 0 {
				t.Errorf("%s: capacity %d and length %d before it fires, want 1 and 0", name, cap(ch), len(ch))
			}
		}
		clock.Advance(1)
		for name, ch := range map[string]<-chan time.Time{"timer": timer.Chan(), "ticker": ticker.Chan(), "After": after} {
			if len(ch) != 1 {
				t.Errorf("%s: length %d with an unread value, want 1", name, len(ch))
			}
			if <-ch; len(ch) != 0 {
				t.Errorf("%s: length %d when it was read, want 0", name, len(ch))
			}
		}
	})
	t.Run("several deadlines", func(t *testing.T) {
		clock := fakeclock.New()
		earlier := clock.NewTimer(5)
		var later clockwork.Timer
		var before, after int
		clock.AfterFunc(5, func() { before, after = len(earlier.Chan()), len(later.Chan()) })
		later = clock.NewTimer(5)
		clock.Advance(5)
		if before != 1 || after != 0 || len(later.Chan()) != 1 {
			t.Errorf("the function found %d values of the timer before it and %d of the one after it, want 1 and 0", before, after)
		}
	})
	t.Run("out of reach", func(t *testing.T) {
		clock := fakeclock.New()
		func() {
			clock.NewTimer(5)
			clock.NewTicker(3)
		}()
		runtime.GC()
		runtime.GC()
		wantTimers(t, "collected", clock, "Ticker 3 3", "Timer 5")
	})
	t.Run("Sub across a step", func(t *testing.T) {
		clock := fakeclock.New()
		before := clock.Now()
		clock.SetWall(before.Add(time.Hour))
		if got := clock.Now().Sub(before); got != time.Hour || clock.Since(before) != 0 {
			t.Errorf("after a step of an hour Sub = %v and Since = %v, want 1h and 0", got, clock.Since(before))
		}
		if got := clock.Now(); got != got.Round(0) {
			t.Errorf("Now() = %v has a monotonic reading", got)
		}
	})
}

// Contexts of clockwork run on real time with this clock: hours pass, and they do not end.
func TestPackageComment_contextsOfClockwork(t *testing.T) {
	clock := fakeclock.NewTest(t)
	theirs, cancelTheirs := clockwork.WithTimeout(context.Background(), clock, 10*time.Hour)
	defer cancelTheirs()
	ours, cancelOurs := fakeclock.WithTimeout(context.Background(), clock, 10*time.Hour)
	defer cancelOurs()
	wantArmed(t, clock, 1)
	clock.Advance(20 * time.Hour)
	if theirs.Err() != nil || ours.Err() != context.DeadlineExceeded {
		t.Errorf("after twice their timeouts clockwork's context says %v and this one's %v", theirs.Err(), ours.Err())
	}
}

// What the comments of types say of zero values, options and the end of the range.
func TestPackageComment_types(t *testing.T) {
	if fakeclock.KindTimer != 0 || fakeclock.EventArmed != 0 {
		t.Error("the zero Kind is not KindTimer, or the zero EventKind not EventArmed")
	}
	goroutines := runtime.NumGoroutine()
	clock := fakeclock.New(fakeclock.WithLeftovers(),
		fakeclock.WithEvents(func(e fakeclock.Event) { t.Errorf("event %v though a later option said none", e) }), fakeclock.WithEvents(nil))
	if got := runtime.NumGoroutine(); got > goroutines {
		t.Errorf("New started %d goroutines", got-goroutines)
	}
	clock.Advance(7)
	clock.NewTimer(maxRange - 3) // beyond the range by 4
	wantTimers(t, "beyond the range", clock, "Timer 9223372036854775807")
	if _, ok := clock.Next(); ok {
		t.Error("Next() finds a deadline beyond the range")
	}
	clock.Timers()[0].Period = 5 // a copy
	if got := clock.Timers()[0].Period; got != 0 {
		t.Errorf("Timers() gives what belongs to the clock: period %v", got)
	}
	early := clock.Now()
	clock.Advance(time.Hour)
	if got := clock.Since(early); got != time.Hour || got != clock.Now().Sub(early) || clock.Until(early) != -got {
		t.Errorf("Since = %v, Until = %v, want 1h and -1h", got, clock.Until(early))
	}
}
