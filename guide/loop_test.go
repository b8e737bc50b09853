package guide

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// runEvery calls f at once and then in each interval, until ctx is done.
func runEvery(ctx context.Context, clock clockwork.Clock, interval time.Duration, f func()) {
	ticker := clock.NewTicker(interval)
	defer ticker.Stop()
	f()
	for {
		select {
		case <-ticker.Chan():
			f()
		case <-ctx.Done():
			return
		}
	}
}

func loopBefore(t testing.TB, clock clockwork.Clock) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var runs atomic.Int32
	go runEvery(ctx, clock, 10*time.Millisecond, func() { runs.Add(1) })
	time.Sleep(35 * time.Millisecond)
	if n := runs.Load(); n != 4 {
		t.Errorf("%d runs in 35ms, want one at 0, 10, 20 and 30ms", n)
	}
}

func TestLoop_bubble(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		var runs atomic.Int32
		go runEvery(ctx, clockwork.NewRealClock(), time.Minute, func() { runs.Add(1) })
		synctestcompat.Sleep(time.Hour - 1)
		if n := runs.Load(); n != 60 {
			t.Errorf("%d runs in the first hour, want 60", n)
		}
		synctestcompat.Sleep(1)
		if n := runs.Load(); n != 61 {
			t.Errorf("%d runs after an hour, want 61", n)
		}
		cancel()
		synctestcompat.Sleep(time.Hour)
		if n := runs.Load(); n != 61 {
			t.Errorf("%d runs after its end, want none", n-61)
		}
	})
}

func TestLoop_fakeClock(t *testing.T) {
	clock := fakeclock.NewTest(t)
	ctx, cancel := context.WithCancel(context.Background())
	ran, ended := make(chan time.Duration), make(chan struct{})
	go func() {
		defer close(ended)
		runEvery(ctx, clock, time.Minute, func() { ran <- clock.Elapsed() })
	}()
	for i := range 60 {
		if at := <-ran; at != time.Duration(i)*time.Minute { // shakes hands with the loop
			t.Errorf("run %d at %v", i, at)
		}
		clock.Advance(time.Minute)
	}
	<-ran
	cancel()
	<-ended // NewTest sees that the ticker is stopped
}
