package fakeclock_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

func TestClock_NewTimerAt(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	clock.Advance(10)
	local := time.FixedZone("somewhere", 3600)
	for _, tt := range []struct {
		at    time.Time
		fires time.Duration // since start, -1 for never
	}{
		{start.Add(11), 11},
		{start.Add(12).In(local), 12},
		{start.Add(10), 10},
		{start.Add(3), 10}, // passed
		{time.Time{}, 10},
		{start.Add(maxRange - 1), maxRange - 1},
		{start.Add(maxRange), -1},
		{start.Add(maxRange).Add(maxRange), -1},
		{start.AddDate(5000, 0, 0), -1},
	} {
		clock := fakeclock.New()
		clock.Advance(10)
		var ran time.Duration = -1
		timer := clock.NewTimerAt(tt.at)
		function := clock.AfterFuncAt(tt.at.Add(1), func() { ran = clock.Elapsed() })
		if tt.fires == 10 {
			wantReceived(t, "at once", timer.Chan(), start, 10)
			continue // AfterFuncAt runs where it likes
		}
		clock.Advance(maxRange - 10)
		wantReceived(t, tt.at.String(), timer.Chan(), start, tt.fires)
		want := tt.fires + 1
		if tt.fires < 0 || tt.fires == maxRange-1 {
			want = -1
		}
		if ran != want {
			t.Errorf("AfterFuncAt(%v) ran at %v, want %v", tt.at.Add(1), ran, want)
		}
		wantBool(t, "Stop()", function.Stop(), want == -1)
	}
	wantTimers(t, "fired", clock)
	clock.NewTimerAt(start.Add(20))
	clock.AfterFuncAt(start.Add(15), func() {})
	wantTimers(t, "armed", clock, "AfterFunc 15", "Timer 20")
}

func TestClock_AfterFuncAtPast(t *testing.T) {
	clock := fakeclock.New()
	ran := make(chan struct{})
	timer := clock.AfterFuncAt(clock.Now(), func() { close(ran) })
	<-ran
	wantBool(t, "Stop()", timer.Stop(), false)
	if timer.Chan() != nil {
		t.Error("AfterFuncAt's Chan() is not nil")
	}
}

// However fast the clock runs, a timer is armed for its very instant, or else
// that had come.
func TestClock_NewTimerAtIsAtomic(t *testing.T) {
	clock := fakeclock.New()
	var stop atomic.Bool
	var end sync.WaitGroup
	end.Add(1)
	go func() {
		defer end.Done()
		for !stop.Load() {
			clock.Advance(1)
		}
	}()
	for i := range 200_000 {
		at := clock.Now().Add(time.Duration(i % 1000))
		timer := clock.NewTimerAt(at)
		for _, armed := range clock.Timers() {
			if armed.Deadline != at {
				t.Fatalf("NewTimerAt(%v) armed a timer for %v", at, armed.Deadline)
			}
		}
		timer.Stop()
	}
	stop.Store(true)
	end.Wait()
}
