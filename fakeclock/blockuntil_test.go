package fakeclock

import (
	"context"
	"testing"
)

func TestClock_forgetsCancelledWaiters(t *testing.T) {
	c := New()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for range 10 {
		if err := c.BlockUntilContext(ctx, 1); err == nil {
			t.Error("BlockUntilContext(cancelled, 1) = nil with nothing armed")
		}
	}
	if n := len(c.waiting); n != 0 {
		t.Errorf("%d waiters retained, want 0", n)
	}
}
