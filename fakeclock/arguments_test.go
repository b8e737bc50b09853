package fakeclock_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/fakeclock/clockctx"
)

// What each exported function, constructor and waiting method does with arguments that make no sense: a panic on the
// goroutine of the caller that begins with the package and the function and has the way out, or "" for a result.
// TestClock_panics has the other methods.
func TestArguments(t *testing.T) {
	var (
		none    context.Context
		noClock clockwork.Clock
		ctx     = context.Background()
		clock   = fakeclock.New()
		now     = clock.Now()
		ready   = func([]fakeclock.Timer) bool { return true }
	)
	for _, tt := range []struct {
		want string
		call func()
	}{
		{"", func() { fakeclock.New(nil, fakeclock.WithStart(time.Time{}), fakeclock.WithWatchdog(-1)).Advance(1) }},
		{"", func() { fakeclock.New(fakeclock.WithSettle(nil), fakeclock.WithEvents(nil)).Advance(math.MaxInt64) }},
		{"fakeclock: NewTest(nil): there is no test to fail; use New", func() { fakeclock.NewTest(nil) }},
		{"", func() { fakeclock.NewTest(t, nil) }},
		{"fakeclock: BlockUntilFunc(ctx, nil): there is nothing to ask; use", func() { _ = clock.BlockUntilFunc(ctx, nil) }},
		{"fakeclock: BlockUntilFunc(nil, ready): there is no context; use", func() { _ = clock.BlockUntilFunc(none, ready) }},
		{"fakeclock: BlockUntilContext(nil, 1): there is no context; use", func() { _ = clock.BlockUntilContext(none, 1) }},
		{"", func() { clock.BlockUntil(math.MinInt) }},
		{"", func() { clock.SetWall(time.Time{}); clock.SetWall(time.Unix(math.MaxInt64, 0)) }},
		{"", func() { clock.NewTimerAt(time.Time{}); clock.NewTimer(math.MinInt64); clock.Sleep(math.MinInt64) }},
		{"clockctx: WithTimeout: clock is nil: use", func() { clockctx.WithTimeout(ctx, noClock, 1) }},
		{"clockctx: WithDeadline: clock is nil: use", func() { clockctx.WithDeadline(ctx, noClock, now) }},
		{"clockctx: WithTimeoutCause: clock is nil: use", func() { clockctx.WithTimeoutCause(ctx, noClock, 1, nil) }},
		{"clockctx: WithDeadlineCause: clock is nil: use", func() { fakeclock.WithDeadlineCause(ctx, noClock, now, nil) }},
		{"cannot create context from nil parent", func() { clockctx.WithTimeout(none, clock, 1) }}, // package context's text
		{"cannot create context from nil parent", func() { fakeclock.WithDeadline(none, clock, now) }},
		{"", func() {
			ctx, cancel := fakeclock.WithTimeout(ctx, clock, math.MaxInt64)
			defer cancel()
			_, cancel = fakeclock.WithTimeoutCause(ctx, clock, math.MinInt64, nil)
			cancel()
		}},
	} {
		got, _ := panicOf(tt.call).(string)
		if tt.want == "" && got != "" || !strings.HasPrefix(got, tt.want) {
			t.Errorf("panicked with %q, want %q", got, tt.want)
		}
	}
}
