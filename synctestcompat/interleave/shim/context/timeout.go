package context

import (
	"context"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
)

// timeout is a context that ends at a deadline. It is not std's, whose timer the run could not choose.
// Its channel is that of a context of std below parent, so that it is cancelled when parent is; std's
// children of it come by AfterFunc, and are cancelled before the call that cancels it returns.
type timeout struct {
	Context  // of std, a child of parent
	parent   Context
	deadline time.Time

	mu       sync.Mutex // not held while others are called
	err      error      // of its own end
	cause    error
	children map[*func()]bool
}

// WithDeadline is std's.
func WithDeadline(parent Context, d time.Time) (Context, CancelFunc) {
	return WithDeadlineCause(parent, d, nil)
}

// WithTimeout is std's.
func WithTimeout(parent Context, d time.Duration) (Context, CancelFunc) {
	return WithDeadlineCause(parent, time.Now().Add(d), nil)
}

// WithTimeoutCause is std's.
func WithTimeoutCause(parent Context, d time.Duration, cause error) (Context, CancelFunc) {
	return WithDeadlineCause(parent, time.Now().Add(d), cause)
}

// WithDeadlineCause is std's.
func WithDeadlineCause(parent Context, d time.Time, cause error) (Context, CancelFunc) {
	g := sched.Self()
	if g == nil {
		return context.WithDeadlineCause(parent, d, cause)
	}
	left := time.Until(d)
	if at, ok := parent.Deadline(); ok && at.Before(d) || left <= 0 {
		if left <= 0 {
			return context.WithDeadlineCause(parent, d, cause)
		}
		return WithCancel(parent)
	}
	if cause == nil {
		cause = DeadlineExceeded
	}
	std, cancel := context.WithCancel(parent)
	c := &timeout{Context: std, parent: parent, deadline: d, children: make(map[*func()]bool)}
	timer := g.NewTimer(true, func() {
		if g := sched.Self(); g != nil {
			g.Shows()
		}
		c.end(DeadlineExceeded, cause, cancel)
	})
	timer.Start(g, left)
	context.AfterFunc(std, func() { c.end(nil, nil, cancel) })
	return c, func() {
		point(c)
		timer.Stop()
		c.end(Canceled, Canceled, cancel)
	}
}

// end ends the context, unless it has ended, and with it its children.
func (c *timeout) end(err, cause error, cancel func()) {
	c.mu.Lock()
	if c.err == nil && c.Context.Err() == nil {
		c.err, c.cause = err, cause
	}
	children := c.children
	c.children = nil
	c.mu.Unlock()
	cancel()
	for f := range children {
		(*f)()
	}
}

// Deadline is the deadline.
func (c *timeout) Deadline() (time.Time, bool) { return c.deadline, true }

// Err says why the context has ended.
func (c *timeout) Err() error {
	std := c.Context.Err()
	c.mu.Lock()
	defer c.mu.Unlock()
	if std != nil && c.err != nil {
		return c.err
	}
	return std
}

// Value is the parent's: std must not take this context for the one inside.
func (c *timeout) Value(key any) any { return c.parent.Value(key) }

// AfterFunc is how std lets a child of this context end with it.
func (c *timeout) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.children == nil {
		go f()
		return func() bool { return false }
	}
	c.children[&f] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := c.children[&f]
		delete(c.children, &f)
		return was
	}
}

func (c *timeout) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil && c.Context.Err() != nil {
		return c.cause
	}
	return context.Cause(c.Context)
}
