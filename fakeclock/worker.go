package fakeclock

import (
	"github.com/escapement-go/escapement/internal/sched"
	"github.com/escapement-go/escapement/internal/stackmark"
)

// worker runs a function whose end an Advance awaits, on a new goroutine. Methods know
// by its mark on the stack that the function called them. It serves one function after
// another, so that marks stay short and nothing is allocated; a clock has as many workers
// as functions were under way at once.
type worker struct {
	mark  uint64
	work  func()
	f     func() // the function to run
	timer *timer // whose function it is, nil between two and when given up
	bed   *timer // of its last Sleep
}

// run starts t's function on a worker. In a body that package interleave explores, when that
// begins to run is a choice.
func (c *Clock) run(t *timer) {
	c.active++
	w := c.hire()
	w.f, w.timer = t.f, t
	go sched.Child(w.work)()
}

// hire returns a worker that runs nothing.
func (c *Clock) hire() *worker {
	if last := len(c.idle) - 1; last >= 0 {
		w := c.idle[last]
		c.idle = c.idle[:last]
		return w
	}
	w := &worker{mark: stackmark.New()}
	w.work = func() {
		defer c.retire(w) // deferred for functions that call runtime.Goexit
		stackmark.Call(w.mark, w.f)
	}
	c.workers[w.mark] = w
	return w
}

// retire ends w's function.
func (c *Clock) retire(w *worker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.timer == nil { // given up
		return
	}
	w.f, w.timer, w.bed = nil, nil, nil
	c.idle = append(c.idle, w)
	c.relay()
	c.leave()
}

// awake reports whether w runs a function that does not sleep.
func (w *worker) awake() bool {
	return w.timer != nil && (w.bed == nil || w.bed.pos == unarmed && !w.bed.held)
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
	return c.marked()
}

// marked is caller while an Advance waits for some: apart, as what it returns is on the heap.
func (c *Clock) marked() (caller *worker) {
	stackmark.Any(func(mark uint64) bool {
		caller = c.workers[mark]
		return caller != nil
	})
	return caller
}
