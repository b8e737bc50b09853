package fakeclock_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

func exit() { runtime.Goexit() }

func TestClock_panics(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name string
		call func(*fakeclock.Clock)
		want []string // parts of the text; one alone is all of it
	}{
		{"Advance negative", func(c *fakeclock.Clock) { c.Advance(-time.Second) },
			[]string{"fakeclock: Advance(-1s): time does not go back; use a duration >= 0"}},
		{"Advance range", func(c *fakeclock.Clock) { c.Advance(time.Second); c.Advance(maxRange) },
			[]string{"fakeclock: Advance(2562047h47m16.854775807s): a clock covers 292 years, of which 1s have passed", "; use "}},
		{"AdvanceTo back", func(c *fakeclock.Clock) { c.Advance(2); c.AdvanceTo(start.Add(1)) },
			[]string{"fakeclock: AdvanceTo(2000-01-01 00:00:00.000000001 +0000 UTC): time does not go back from 2000-01-01 00:00:00.000000002 +0000 UTC", "; use "}},
		{"AdvanceTo far back", func(c *fakeclock.Clock) { c.AdvanceTo(time.Time{}) }, []string{"fakeclock: AdvanceTo(", "time does not go back", "; use "}},
		{"AdvanceTo range", func(c *fakeclock.Clock) { c.AdvanceTo(start.Add(maxRange).Add(1)) },
			[]string{"fakeclock: AdvanceTo(", "a clock covers 292 years, of which 0s have passed", "; use WithStart"}},
		{"AdvanceUntil back", func(c *fakeclock.Clock) { c.AdvanceUntil(start.Add(-1)) }, []string{"fakeclock: AdvanceUntil(", "time does not go back", "; use "}},
		{"AdvanceUntil range", func(c *fakeclock.Clock) { c.AdvanceUntil(start.AddDate(300, 0, 0)) }, []string{"fakeclock: AdvanceUntil(", "292 years", "; use WithStart"}},
		{"AfterFunc nil", func(c *fakeclock.Clock) { c.AfterFunc(time.Second, nil) },
			[]string{"fakeclock: AfterFunc(1s, nil): there is nothing to call; use NewTimer"}},
		{"ContextAfterFunc nil", func(c *fakeclock.Clock) { c.ContextAfterFunc(time.Second, nil) },
			[]string{"fakeclock: ContextAfterFunc(1s, nil): there is nothing to call; use NewTimer"}},
		{"AfterFuncAt nil", func(c *fakeclock.Clock) { c.AfterFuncAt(c.Now(), nil) },
			[]string{"fakeclock: AfterFuncAt(2000-01-01 00:00:00 +0000 UTC, nil): there is nothing to call; use NewTimerAt"}},
		{"NewTicker 0", func(c *fakeclock.Clock) { c.NewTicker(0) }, []string{"non-positive interval for NewTicker"}},
		{"NewTicker negative", func(c *fakeclock.Clock) { c.NewTicker(-1) }, []string{"non-positive interval for NewTicker"}},
		{"Ticker.Reset 0", func(c *fakeclock.Clock) { c.NewTicker(5).Reset(0) }, []string{"non-positive interval for Ticker.Reset"}},
		{"Ticker.Reset negative", func(c *fakeclock.Clock) { c.NewTicker(5).Reset(-1) }, []string{"non-positive interval for Ticker.Reset"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := fakeclock.New()
			got, _ := panicOf(func() { tt.call(clock) }).(string)
			for _, part := range tt.want {
				if !strings.Contains(got, part) || len(tt.want) == 1 && got != part {
					t.Errorf("panic text %q, want %q", got, part)
				}
			}
			clock.Advance(1) // the clock works on
		})
	}
}

func TestClock_panicsInAwaitedCallback(t *testing.T) {
	for _, tt := range []struct {
		name string
		call func(c *fakeclock.Clock, release func())
	}{
		{"Advance", func(c *fakeclock.Clock, _ func()) { c.Advance(0) }},
		{"AdvanceTo", func(c *fakeclock.Clock, _ func()) { c.AdvanceTo(c.Now()) }},
		{"AdvanceUntil", func(c *fakeclock.Clock, _ func()) { c.AdvanceUntil(c.Now()) }},
		{"AdvanceNext", func(c *fakeclock.Clock, _ func()) { c.AdvanceNext() }},
		{"release", func(_ *fakeclock.Clock, release func()) { release() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := fakeclock.New()
			var direct, afterSleep, nested any
			clock.AfterFunc(1, func() {
				release := clock.Hold()
				direct = panicOf(func() { tt.call(clock, release) })
			})
			clock.Advance(1)
			clock = fakeclock.New()
			clock.AfterFunc(1, func() {
				clock.AfterFunc(0, func() {
					clock.Sleep(1)
					release := clock.Hold()
					nested = panicOf(func() { tt.call(clock, release) })
				})
			})
			clock.Advance(2)
			clock = fakeclock.New()
			clock.AfterFunc(1, func() {
				clock.Sleep(1)
				release := clock.Hold()
				afterSleep = panicOf(func() { tt.call(clock, release) })
			})
			clock.Advance(1)
			clock.Advance(1)
			want := "fakeclock: " + tt.name + " called from a function that an Advance is waiting for; " +
				"return first, or arm another timer, or use WithSettle"
			for _, got := range []any{direct, afterSleep, nested} {
				if got != want {
					t.Errorf("panic text %q, want %q", got, want)
				}
			}
			clock.Advance(1) // the clock works on
		})
	}
}

// A settle that panics or ends its goroutine once left the clock locked for
// ever, because begin had not yet handed over to the deferred end.
func TestWithSettle_panicPassesTurnOn(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fails int // the call of settle that fails
		moved time.Duration
	}{{"before the move", 1, 0}, {"after a timer", 2, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			calls := 0
			clock := fakeclock.New(fakeclock.WithSettle(func() {
				if calls++; calls == tt.fails {
					panic("settle")
				}
			}))
			timer := clock.NewTimer(1)
			later := clock.NewTimer(2)
			if got := panicOf(func() { clock.Advance(3) }); got != "settle" {
				t.Fatalf("Advance panicked with %v, want settle", got)
			}
			wantElapsed(t, clock, tt.moved)
			clock.Advance(5)
			wantReceived(t, "timer", timer.Chan(), clock.Now(), 1-tt.moved-5)
			wantReceived(t, "later", later.Chan(), clock.Now(), 2-tt.moved-5)
		})
	}
	t.Run("Goexit", func(t *testing.T) {
		calls, done := 0, make(chan struct{})
		clock := fakeclock.New(fakeclock.WithSettle(func() {
			if calls++; calls == 1 {
				exit()
			}
		}))
		go func() {
			defer close(done)
			clock.Advance(1)
		}()
		<-done
		clock.Advance(1)
		wantElapsed(t, clock, 1)
	})
}
