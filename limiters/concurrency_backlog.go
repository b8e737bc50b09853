package limiters

import (
	"sync"
	"time"
)

// waiter is a request in the backlog.
type waiter struct {
	n        int64
	ready    chan struct{} // closed when it is answered. Of a bubble, so that it cannot be used again
	awake    *sync.Cond    // or, for who waits for nothing else, this. L is the mutex
	err      error         // the answer, nil for slots; set before it is told
	deadline time.Duration // with a timeout on package time

	waits      bool // it has not been answered
	prev, next *waiter
}

// backlog is the requests that wait, in the order in which they came.
type backlog struct {
	first, last *waiter
	len         int
}

func (b *backlog) push(w *waiter) {
	w.waits, w.prev = true, b.last
	if b.last == nil {
		b.first = w
	} else {
		b.last.next = w
	}
	b.last = w
	b.len++
}

func (b *backlog) remove(w *waiter) {
	if w.prev == nil {
		b.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next == nil {
		b.last = w.prev
	} else {
		w.next.prev = w.prev
	}
	w.waits, w.prev, w.next = false, nil, nil
	b.len--
}

// waiter returns a request that is to wait. mu is held.
func (c *Concurrency) waiter(n int64, alone bool) *waiter {
	if !alone {
		return &waiter{n: n, ready: make(chan struct{})}
	}
	w := c.spare
	if w == nil {
		return &waiter{n: n, awake: sync.NewCond(&c.mu)}
	}
	c.spare, w.next = w.next, nil
	w.n, w.err = n, nil
	return w
}

// sleep waits for the answer to w, which comes for certain. Where others wait still, w is kept
// for the next.
func (c *Concurrency) sleep(w *waiter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w.waits {
		w.awake.Wait()
	}
	if c.waiters.len == 0 {
		c.spare = nil
	} else {
		w.next, c.spare = c.spare, w
	}
	return w.err
}
