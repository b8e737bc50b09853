package fakeclock

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// Now takes no lock: it returns while another holds it.
func TestClock_NowTakesNoLock(t *testing.T) {
	c := New()
	start := c.Now()
	c.Advance(7)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Since(start)
	if got := c.Now(); got != start.Add(7) {
		t.Errorf("Now() = %v, want %v", got, start.Add(7))
	}
}

// Contexts reach their timer through any wrapper of a clock, and it counts as
// what it is.
func TestClock_ContextAfterFunc(t *testing.T) {
	c, ran := New(), 0
	type wrapper struct{ *Clock }
	var through any = wrapper{c}
	timer := through.(interface {
		ContextAfterFunc(time.Duration, func()) clockwork.Timer
	}).ContextAfterFunc(5, func() { ran++ })
	if timers := c.Timers(); len(timers) != 1 || timers[0].Kind != KindContext {
		t.Errorf("Timers() = %v, want one of a context", timers)
	}
	if !timer.Stop() || timer.Reset(3) {
		t.Error("Stop() = false or Reset(3) = true, want true and false")
	}
	c.Advance(3)
	if ran != 1 || timer.Chan() != nil {
		t.Errorf("the function ran %d times, want 1, without a channel", ran)
	}
}
