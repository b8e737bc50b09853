package fakeclock_test

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// The zero Clock is a clock like those of New, whatever comes first. Its Advance once
// dereferenced nil.
func TestClock_zero(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, first := range map[string]func(c *fakeclock.Clock){
		"Now":               func(c *fakeclock.Clock) { c.Now() },
		"Since":             func(c *fakeclock.Clock) { c.Since(c.Now()) },
		"SetWall":           func(c *fakeclock.Clock) { c.SetWall(c.Now()) },
		"Advance":           func(c *fakeclock.Clock) { c.Advance(0) },
		"AdvanceTo":         func(c *fakeclock.Clock) { c.AdvanceTo(c.Now()) },
		"AdvanceUntil":      func(c *fakeclock.Clock) { c.AdvanceUntil(c.Now()) },
		"AdvanceNext":       func(c *fakeclock.Clock) { c.AdvanceNext() },
		"Next":              func(c *fakeclock.Clock) { c.Next() },
		"Timers":            func(c *fakeclock.Clock) { c.Timers() },
		"Hold":              func(c *fakeclock.Clock) { c.Hold()() },
		"Sleep":             func(c *fakeclock.Clock) { c.Sleep(0) },
		"NewTimer":          func(c *fakeclock.Clock) { c.NewTimer(time.Hour).Stop() },
		"NewTimerAt":        func(c *fakeclock.Clock) { c.NewTimerAt(start.Add(1)).Stop() },
		"NewTicker":         func(c *fakeclock.Clock) { c.NewTicker(time.Hour).Stop() },
		"AfterFunc":         func(c *fakeclock.Clock) { c.AfterFunc(time.Hour, func() {}).Stop() },
		"BlockUntilContext": func(c *fakeclock.Clock) { _ = c.BlockUntilContext(ctx, 1) },
		"BlockUntilFunc": func(c *fakeclock.Clock) {
			_ = c.BlockUntilFunc(ctx, func([]fakeclock.Timer) bool { return false })
		},
		"WithTimeout": func(c *fakeclock.Clock) {
			_, cancel := fakeclock.WithTimeout(context.Background(), c, time.Hour)
			cancel()
		},
	} {
		var c fakeclock.Clock
		first(&c)
		if !c.Now().Equal(start) || c.Elapsed() != 0 {
			t.Errorf("%s: a zero clock starts at %v", name, c.Now())
		}
		ran := 0
		for i := range 40 { // more than fit in the part of the queue for the newest
			c.AfterFunc(time.Duration(40-i)*time.Second, func() { ran++ })
		}
		c.Advance(time.Minute)
		if ran != 40 || c.Elapsed() != time.Minute {
			t.Errorf("%s: %d of 40 functions ran in %v", name, ran, c.Elapsed())
		}
	}
}
