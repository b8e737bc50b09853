package fakeclock_test

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
)

// A tick read at its own instant, while the clock is still busy there, comes
// once, even if the next instant is the next tick.
func TestTicker_readAtItsInstant(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	ticker := clock.NewTicker(1)
	var first, next time.Duration
	clock.AfterFunc(1, func() {
		first = received(ticker.Chan(), start)
		at, _ := clock.Next()
		next = at.Sub(start)
	})
	clock.Advance(1)
	if first != 1 || next != 2 {
		t.Errorf("read %v, next tick at %v, want 1ns and 2ns", first, next)
	}
	wantReceived(t, "after Advance(1)", ticker.Chan(), start, -1)
}
