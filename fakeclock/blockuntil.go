package fakeclock

import (
	"context"
	"slices"
)

// BlockUntil blocks until at least n timers are armed, of every kind: timers,
// tickers, AfterFuncs and sleepers. Fired and stopped ones do not count; a
// ticker counts until it is stopped. With n <= 0 it returns at once.
func (c *Clock) BlockUntil(n int) {
	if w := c.waitCount(n); w != nil {
		<-w.reached
	}
}

// BlockUntilContext is BlockUntil that gives up when ctx is done and then
// returns ctx.Err(). If enough timers are armed when it is called it returns
// nil even if ctx is done.
func (c *Clock) BlockUntilContext(ctx context.Context, n int) error {
	w := c.waitCount(n)
	if w == nil {
		return nil
	}
	select {
	case <-w.reached:
		return nil
	case <-ctx.Done():
		c.forget(w)
		return ctx.Err()
	}
}

// countWaiter is a call that waits for n armed timers.
type countWaiter struct {
	n       int
	reached chan struct{} // closed then
}

// waitCount returns nil if n timers are armed, else a waiter for them.
func (c *Clock) waitCount(n int) *countWaiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed() >= n {
		return nil
	}
	w := &countWaiter{n, make(chan struct{})}
	c.waiting = append(c.waiting, w)
	return w
}

// countChanged wakes the waiters whose count is reached.
func (c *Clock) countChanged() {
	if len(c.waiting) == 0 {
		return
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w *countWaiter) bool {
		if c.armed() < w.n {
			return false
		}
		close(w.reached)
		return true
	})
}

func (c *Clock) forget(w *countWaiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(v *countWaiter) bool { return v == w })
}
