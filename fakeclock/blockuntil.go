package fakeclock

import (
	"context"
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/internal/sched"
)

// BlockUntil blocks until at least n timers are armed, of every kind: timers,
// tickers, AfterFuncs, sleepers and contexts. Fired and stopped ones do not
// count; a ticker counts until it is stopped. With n <= 0 it returns at once.
func (c *Clock) BlockUntil(n int) {
	if w := c.waitCount(n); w != nil {
		<-w.reached
		sched.Woken("fakeclock.BlockUntil")
	}
}

// BlockUntilContext is BlockUntil that gives up when ctx is done and then returns
// ctx.Err(). If enough timers are already armed it returns nil even if ctx is done. It
// panics if ctx is nil.
func (c *Clock) BlockUntilContext(ctx context.Context, n int) error {
	if ctx == nil {
		panic(fmt.Sprintf("fakeclock: BlockUntilContext(nil, %d): there is no context; use BlockUntil", n))
	}
	w := c.waitCount(n)
	if w == nil {
		return nil
	}
	return c.wait(ctx, w)
}

// BlockUntilFunc blocks until ready reports true for what [Clock.Timers]
// returns, or until ctx is done, and then returns ctx.Err(). It calls ready at
// once, so it may return nil though ctx is done, and again after timers were
// armed, stopped, reset or fired; changes in quick succession may be seen as
// one. It calls ready on its own goroutine, and ready may use the clock. It panics
// if ctx or ready is nil.
func (c *Clock) BlockUntilFunc(ctx context.Context, ready func([]Timer) bool) error {
	switch {
	case ctx == nil:
		panic("fakeclock: BlockUntilFunc(nil, ready): there is no context; use context.Background()")
	case ready == nil:
		panic("fakeclock: BlockUntilFunc(ctx, nil): there is nothing to ask; use BlockUntil")
	}
	for {
		timers, w := c.watch()
		if ready(timers) {
			c.forget(w)
			return nil
		}
		if err := c.wait(ctx, w); err != nil {
			return err
		}
	}
}

// waiter is a call that waits for n armed timers, or with n < 0 for any change
// of the armed timers.
type waiter struct {
	n       int
	reached chan struct{} // closed then
}

// waitCount returns nil if n timers are armed, else a waiter for them.
func (c *Clock) waitCount(n int) *waiter {
	c.lock()
	defer c.mu.Unlock()
	if c.armed() >= n {
		return nil
	}
	return c.newWaiter(n)
}

// watch returns the armed timers and a waiter for the next change of them.
func (c *Clock) watch() ([]Timer, *waiter) {
	c.lock()
	defer c.mu.Unlock()
	return c.timers(), c.newWaiter(-1)
}

func (c *Clock) newWaiter(n int) *waiter {
	w := &waiter{n, make(chan struct{})}
	c.waiting = append(c.waiting, w)
	return w
}

func (c *Clock) wait(ctx context.Context, w *waiter) error {
	defer sched.Woken("fakeclock.BlockUntil")
	select {
	case <-w.reached:
		return nil
	case <-ctx.Done():
		c.forget(w)
		return ctx.Err()
	}
}

// changed wakes the waiters that a change of the armed timers concerns.
func (c *Clock) changed() {
	if len(c.waiting) > 0 {
		c.wake()
	}
}

func (c *Clock) wake() {
	c.waiting = slices.DeleteFunc(c.waiting, func(w *waiter) bool {
		if c.armed() < w.n {
			return false
		}
		close(w.reached)
		return true
	})
}

func (c *Clock) forget(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(v *waiter) bool { return v == w })
}
