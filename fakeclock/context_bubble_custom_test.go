package fakeclock_test

import (
	"context"
	"errors"
	"sync"
)

// customContext is a context of somebody's own making, which ends by itself only.
type customContext struct {
	context.Context
	done chan struct{}
	err  error

	mu   sync.Mutex
	over bool
	next int
	tell map[int]func()
}

func (c *customContext) Done() <-chan struct{} { return c.done }

func (c *customContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return c.err
	}
	return nil
}

func (c *customContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return
	}
	c.over = true
	close(c.done)
	for _, f := range c.tell {
		go f()
	}
	c.tell = nil
}

// customAfterFunc saves package context a goroutine.
type customAfterFunc struct{ *customContext }

func (c *customAfterFunc) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		go f()
		return func() bool { return false }
	}
	if c.tell == nil {
		c.tell = make(map[int]func())
	}
	id := c.next
	c.next++
	c.tell[id] = f
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.tell[id]
		delete(c.tell, id)
		return ok
	}
}

// renaming is a custom context that gives another error for its parent's, and
// holds a lock while it asks.
type renaming struct{ locking }

func (c *renaming) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Context.Err() != nil {
		return errRenamed
	}
	return nil
}

var errRenamed = errors.New("renamed")
