package guide

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// later runs f after a while, unless it is cancelled before.
func later(clock clockwork.Clock, wait time.Duration, f func()) (cancel func()) {
	timer := clock.AfterFunc(wait, f)
	return func() { timer.Stop() }
}

// laterAnyway has a bug: nothing cancels it.
func laterAnyway(clock clockwork.Clock, wait time.Duration, f func()) (cancel func()) {
	clock.AfterFunc(wait, f)
	return func() {}
}

func absenceBefore(t testing.TB, clock clockwork.Clock) {
	var ran atomic.Bool
	cancel := laterAnyway(clock, 10*time.Millisecond, func() { ran.Store(true) })
	cancel()
	time.Sleep(15 * time.Millisecond)
	if ran.Load() {
		t.Error("ran, though it was cancelled")
	}
}

func TestAbsence_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		var ran atomic.Bool
		cancel := later(clockwork.NewRealClock(), time.Minute, func() { ran.Store(true) })
		synctestcompat.Sleep(time.Minute - 1)
		cancel() // at the last moment
		synctestcompat.Sleep(24 * time.Hour)
		if ran.Load() {
			t.Error("ran, though it was cancelled")
		}
	})
}

func TestAbsence_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	ran := false
	cancel := later(clock, time.Minute, func() { ran = true })
	clock.Advance(time.Minute - 1)
	cancel()
	if left := clock.Timers(); len(left) != 0 {
		t.Errorf("still armed after cancel: %v", left)
	}
	clock.Advance(24 * time.Hour)
	if ran {
		t.Error("ran, though it was cancelled")
	}
}

// Both find the bug that the test which sleeps passes over.
func TestAbsence_findsTheBug(t *testing.T) {
	clock := fakeclock.New()
	ran := false
	laterAnyway(clock, time.Minute, func() { ran = true })()
	if len(clock.Timers()) != 1 {
		t.Error("nothing is armed after a cancel that does nothing")
	}
	clock.Advance(24 * time.Hour)
	if !ran {
		t.Error("a cancel that does nothing had an effect")
	}
}
