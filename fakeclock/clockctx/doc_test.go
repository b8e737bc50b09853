package clockctx_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
)

// On any clock but its own fake one clockwork's contexts run on real time: hours of the clock
// pass, and they do not end.
func TestPackageComment_contextsOfClockwork(t *testing.T) {
	theirs := clockwork.NewFakeClock()
	for name, tt := range map[string]struct {
		clock clockwork.Clock
		ends  bool
	}{"its own": {theirs, true}, "its own, wrapped": {hands{theirs}, false}} {
		ctx, cancel := clockwork.WithTimeout(context.Background(), tt.clock, 10*time.Hour)
		ours, cancelOurs := clockctx.WithTimeout(context.Background(), tt.clock, 10*time.Hour)
		theirs.Advance(20 * time.Hour)
		<-ours.Done()
		if tt.ends {
			<-ctx.Done()
		} else if ctx.Err() != nil {
			t.Errorf("%s: a context of clockwork ends with %v", name, ctx.Err())
		}
		cancel()
		cancelOurs()
	}
}

// Deadlines are compared as instants, also those of a clock far from package time: if the
// parent's comes first there is no timer, and it is the parent that ends the context.
func TestPackageComment_instants(t *testing.T) {
	far := time.Now().AddDate(100, 0, 0) // only that it is far matters
	parent, cancelParent := context.WithTimeout(context.Background(), time.Hour)
	defer cancelParent()
	for name, tt := range map[string]struct {
		start  time.Time
		timers int
	}{"clock in the past": {far.AddDate(-200, 0, 0), 1}, "clock in the future": {far, 0}} {
		clock := fakeclock.New(fakeclock.WithStart(tt.start))
		goroutines := runtime.NumGoroutine()
		ctx, cancel := clockctx.WithTimeout(parent, clock, time.Minute)
		if got := len(clock.Timers()); got != tt.timers {
			t.Errorf("%s: %d timers are armed, want %d", name, got, tt.timers)
		}
		if got := runtime.NumGoroutine(); got > goroutines {
			t.Errorf("%s: %d goroutines more than before", name, got-goroutines)
		}
		clock.Advance(time.Hour)
		if got, want := ctx.Err() != nil, tt.timers == 1; got != want {
			t.Errorf("%s: an hour of the clock later the context has ended: %v, want %v", name, got, want)
		}
		cancel()
	}
}
