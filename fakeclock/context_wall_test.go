package fakeclock_test

import (
	"context"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
)

// wallSteps are steps of the wall clock, in both directions, further than what is armed.
var wallSteps = []time.Duration{-time.Hour, -time.Minute, -1, 0, 1, time.Minute, time.Hour, 48 * time.Hour}

// wantAliveFor moves the clock to an instant before the end of ctx, and to it.
func wantAliveFor(t *testing.T, clock *fakeclock.Clock, step time.Duration, ctx context.Context, d time.Duration) {
	t.Helper()
	if ctx.Err() != nil {
		t.Errorf("step %v: a context that has %v left has ended: %v", step, d, ctx.Err())
		return
	}
	clock.Advance(d - 1)
	if ctx.Err() != nil {
		t.Errorf("step %v: the context has ended before %v: %v", step, d, ctx.Err())
	}
	clock.Advance(1)
	if ctx.Err() != context.DeadlineExceeded {
		t.Errorf("step %v: after %v Err() = %v, want %v", step, d, ctx.Err(), context.DeadlineExceeded)
	}
}

// steppedClock is a clock that has shown the hours around now, and was stepped.
func steppedClock(step time.Duration) *fakeclock.Clock {
	clock := fakeclock.New()
	clock.Advance(2 * time.Hour)
	clock.SetWall(clock.Now().Add(step))
	clock.Advance(time.Second)
	return clock
}

func TestWithTimeout_afterStep(t *testing.T) {
	for _, step := range wallSteps {
		clock := steppedClock(step)
		ctx, cancel := clockctx.WithTimeout(context.Background(), clock, 5*time.Minute)
		wantAliveFor(t, clock, step, ctx, 5*time.Minute)
		cancel()

		clock = steppedClock(step)
		ctx, cancel = clockctx.WithDeadline(context.Background(), clock, clock.Now().Add(5*time.Minute))
		wantAliveFor(t, clock, step, ctx, 5*time.Minute)
		cancel()
	}
}

// What is armed before a step keeps the duration that is left.
func TestWithTimeout_beforeStep(t *testing.T) {
	for _, step := range wallSteps {
		clock := fakeclock.New()
		ctx, cancel := fakeclock.WithTimeout(context.Background(), clock, 5*time.Minute)
		clock.Advance(time.Minute)
		clock.SetWall(clock.Now().Add(step))
		wantAliveFor(t, clock, step, ctx, 4*time.Minute)
		cancel()
	}
}

// Of a parent from before a step and a child from after it the one with less time left ends first.
func TestWithTimeout_childOfOlderParent(t *testing.T) {
	for _, step := range wallSteps {
		for _, child := range []time.Duration{time.Minute, 4*time.Minute - 1, 4 * time.Minute, 4*time.Minute + 1, time.Hour} {
			clock := fakeclock.New()
			parent, cancelParent := fakeclock.WithTimeout(context.Background(), clock, 5*time.Minute)
			clock.Advance(time.Minute)
			clock.SetWall(clock.Now().Add(step))
			ctx, cancel := fakeclock.WithTimeout(parent, clock, child)
			want := 1
			if child <= 4*time.Minute {
				want = 2
			}
			if len(clock.Timers()) != want {
				t.Errorf("step %v, child of %v: %d timers are armed, want %d", step, child, len(clock.Timers()), want)
			}
			wantAliveFor(t, clock, step, ctx, min(child, 4*time.Minute))
			if ended := parent.Err() != nil; ended != (child >= 4*time.Minute) {
				t.Errorf("step %v, child of %v: parent.Err() = %v", step, child, parent.Err())
			}
			cancel()
			cancelParent()
		}
	}
}

// foreign is a clock that hides the methods which clockwork does not know.
type foreign struct{ clockwork.Clock }

// On a clock that does not tell how far it has moved, a new timeout lasts its duration, too.
func TestWithTimeout_foreignClockAfterStep(t *testing.T) {
	for _, step := range wallSteps {
		clock := steppedClock(step)
		ctx, cancel := clockctx.WithTimeout(context.Background(), foreign{clock}, 5*time.Minute)
		wantAliveFor(t, clock, step, ctx, 5*time.Minute)
		cancel()
	}
}

// Until is what a timer for the instant waits, after steps in both directions.
func TestClock_UntilAgreesWithNewTimerAt(t *testing.T) {
	for _, step := range wallSteps {
		for _, d := range []time.Duration{-time.Hour, -1, 0, 1, time.Second, 5 * time.Minute, 3 * time.Hour, maxRange - 3*time.Hour} {
			clock := steppedClock(step)
			at := clock.Now().Add(d)
			timer := clock.NewTimerAt(at)
			if d <= 0 {
				if got := clock.Until(at); got > 0 || len(timer.Chan()) != 1 {
					t.Errorf("step %v: Until(now%v) = %v, and %d values are sent", step, d, got, len(timer.Chan()))
				}
				continue
			}
			if got := clock.Until(at); got != d {
				t.Errorf("step %v: Until(now+%v) = %v", step, d, got)
			}
			clock.Advance(d)
			if len(timer.Chan()) != 1 || clock.Until(at) != 0 || clock.Since(at) != 0 {
				t.Errorf("step %v: after %v NewTimerAt has sent %d, Until = %v, Since = %v",
					step, d, len(timer.Chan()), clock.Until(at), clock.Since(at))
			}
		}
	}
}
