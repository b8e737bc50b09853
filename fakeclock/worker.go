package fakeclock

import "github.com/escapement-go/escapement/internal/goroutine"

// worker is a goroutine on which functions run whose end an Advance awaits. One
// serves all the functions of an Advance in turn, as long as none sleeps: the
// look-up of a goroutine's identity costs more than the goroutine.
type worker struct {
	id    uint64
	next  chan func() // closed when the Advance ends
	timer *timer      // whose function runs, nil between two and when given up
	bed   *timer      // of its last Sleep
}

// run starts t's function on a worker.
func (c *Clock) run(t *timer) {
	c.active++
	w := c.idle
	if w == nil {
		w = &worker{next: make(chan func(), 1)}
		go c.work(w)
	}
	c.idle = nil
	w.timer = t
	w.next <- t.f
}

// work runs functions until there is another idle worker or the Advance ends.
func (c *Clock) work(w *worker) {
	w.id = goroutine.ID()
	c.mu.Lock()
	c.workers[w.id] = w
	c.mu.Unlock()
	defer c.retire(w) // deferred for functions that call runtime.Goexit
	for f := range w.next {
		f()
		if !c.finish(w) {
			return
		}
	}
}

// finish ends w's function and reports whether w is to wait for another.
func (c *Clock) finish(w *worker) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.timer == nil { // given up
		return false
	}
	w.timer = nil
	c.leave()
	if c.idle != nil {
		return false
	}
	c.idle = w
	return true
}

func (c *Clock) retire(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.workers, w.id)
	if w.timer != nil {
		c.leave()
	}
}

// awake reports whether w runs a function that does not sleep.
func (w *worker) awake() bool {
	return w.timer != nil && (w.bed == nil || w.bed.pos == unarmed && !w.bed.held)
}

// dismiss ends the idle worker.
func (c *Clock) dismiss() {
	if c.idle != nil {
		close(c.idle.next)
		c.idle = nil
	}
}

// leave takes one function out of those that an Advance waits for.
func (c *Clock) leave() {
	c.active--
	c.steps++
	if c.active == 0 {
		c.quiet.Signal()
	}
}

// inCallback reports whether the caller runs in a function that an Advance is
// waiting for.
func (c *Clock) inCallback() bool { return c.caller() != nil }

// caller returns the worker that the caller runs on, nil if it is none that an
// Advance is waiting for.
func (c *Clock) caller() *worker {
	if c.active == 0 {
		return nil
	}
	return c.workers[goroutine.ID()]
}
