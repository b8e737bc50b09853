package limiters

import (
	"slices"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// The timer may come when its window is no more, and finds that it is early.
func TestThrottleFunc_expiresEarly(t *testing.T) {
	c := fakeclock.New()
	var ran []time.Duration
	h := NewThrottleFunc(100, func(int) { ran = append(ran, c.Elapsed()) }, Trailing, WithClock(c))
	h.Call(1)
	for _, e := range []time.Duration{0, 1, 98} {
		c.Advance(e)
		h.expire()
	}
	if c.Advance(1); len(ran) != 1 || ran[0] != 100 {
		t.Errorf("ran at %d, want at 100", ran)
	}
	h.expire()
	if len(ran) != 1 || len(c.Timers()) != 0 {
		t.Errorf("with nothing pending it ran at %d, %d timers are armed", ran, len(c.Timers()))
	}
}

// The window stays when its event is dropped, and is that of the grid when it is flushed.
func TestThrottleFunc_windowStays(t *testing.T) {
	for _, tt := range []struct {
		edges ThrottleFuncOption
		end   func(h *ThrottleFunc[int]) bool
		want  []time.Duration
	}{
		{Trailing, (*ThrottleFunc[int]).Cancel, []time.Duration{100}},
		{Sample, (*ThrottleFunc[int]).Cancel, []time.Duration{100}},
		{Trailing, (*ThrottleFunc[int]).Flush, []time.Duration{10, 110}},
		{Sample, (*ThrottleFunc[int]).Flush, []time.Duration{10, 100}},
	} {
		c := fakeclock.New()
		var ran []time.Duration
		h := NewThrottleFunc(100, func(int) { ran = append(ran, c.Elapsed()) }, tt.edges, WithClock(c))
		h.Call(1)
		c.Advance(10)
		if !tt.end(h) || len(c.Timers()) != 0 {
			t.Errorf("%v: nothing was pending, or a timer is armed", tt.edges)
		}
		c.Advance(40)
		h.Call(2)
		c.Advance(time.Hour)
		if !slices.Equal(ran, tt.want) {
			t.Errorf("%v: ran at %d, want %d", tt.edges, ran, tt.want)
		}
		h.Call(3)
		if h.Stop(); len(c.Timers()) != 0 {
			t.Errorf("%v: a timer is armed after Stop", tt.edges)
		}
	}
}

// An event that is before the window by interval or more opens one; by less, the window counts
// from it.
func TestThrottleFunc_clockGoesBack(t *testing.T) {
	const interval = 100 * time.Millisecond
	for _, tt := range []struct {
		edges ThrottleFuncOption
		back  time.Duration
		want  []time.Duration // when it runs, on a clock that was set back at 0
	}{
		{Leading, interval - 1, []time.Duration{0}},
		{Leading, interval, []time.Duration{0, 0}},
		{Leading, time.Hour, []time.Duration{0, 0}},
		{Leading | Trailing, 1, []time.Duration{0, interval}},
		{Leading | Trailing, interval - 1, []time.Duration{0, interval}},
		{Leading | Trailing, interval, []time.Duration{0, 0}},
		{Sample, 1, []time.Duration{interval, 2 * interval}},
		{Sample, time.Hour, []time.Duration{interval, 2 * interval}},
	} {
		c := fakeclock.New()
		start := c.Elapsed()
		var ran []time.Duration
		h := NewThrottleFunc(interval, func(int) { ran = append(ran, c.Elapsed()-start) }, tt.edges, WithClock(c))
		h.Call(1)
		if tt.edges == Sample { // until nothing is pending
			c.Advance(interval)
		}
		c.SetWall(c.Now().Add(-tt.back))
		h.Call(2)
		c.Advance(time.Hour)
		if !slices.Equal(ran, tt.want) {
			t.Errorf("%v, back by %v: ran at %v, want %v", tt.edges, tt.back, ran, tt.want)
		}
	}
}

// A Flush that comes before the window, on a clock that went back, begins one.
func TestThrottleFunc_flushGoesBack(t *testing.T) {
	c := fakeclock.New()
	var ran []time.Duration
	h := NewThrottleFunc(100, func(int) { ran = append(ran, c.Elapsed()) }, Sample, WithClock(c))
	h.Call(1)
	c.SetWall(c.Now().Add(-30))
	h.Flush()
	c.Advance(10)
	h.Call(2)
	c.Advance(time.Hour)
	if want := []time.Duration{0, 100}; !slices.Equal(ran, want) {
		t.Errorf("ran at %d, want %d", ran, want)
	}
}

// What waits for a run with interval 0 can be cancelled.
func TestThrottleFunc_cancelsTheQueue(t *testing.T) {
	var h *ThrottleFunc[int]
	var ran []int
	h = NewThrottleFunc(0, func(v int) {
		if ran = append(ran, v); v == 1 {
			h.Call(2)
			if !h.Cancel() || h.Cancel() {
				t.Error("Cancel of one that waits, and of none, is not true and false")
			}
		}
	})
	h.Call(1)
	if h.Call(3); !slices.Equal(ran, []int{1, 3}) {
		t.Errorf("ran %v, want 1 and 3", ran)
	}
}
