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
	never := func([]Timer) bool { return false }
	if err := c.BlockUntilFunc(ctx, never); err != context.Canceled {
		t.Errorf("BlockUntilFunc(cancelled, never) = %v, want %v", err, context.Canceled)
	}
	if err := c.BlockUntilFunc(ctx, func([]Timer) bool { return true }); err != nil {
		t.Errorf("BlockUntilFunc(cancelled, always) = %v, want nil", err)
	}
	if n := len(c.waiting); n != 0 {
		t.Errorf("%d waiters retained by BlockUntilFunc, want 0", n)
	}
}
