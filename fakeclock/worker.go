package fakeclock

import "runtime"

// worker is a goroutine on which functions run whose end an Advance awaits. One
// serves all the functions of an Advance in turn, as long as none sleeps: the
// look-up of a goroutine's identity costs more than the goroutine.
type worker struct {
	id   uint64
	next chan func() // closed when the Advance ends
	busy bool
}

// run starts f on a worker.
func (c *Clock) run(f func()) {
	c.active++
	w := c.idle
	if w == nil {
		w = &worker{next: make(chan func(), 1)}
		go c.work(w)
	}
	c.idle = nil
	w.busy = true
	w.next <- f
}

// work runs functions until there is another idle worker or the Advance ends.
func (c *Clock) work(w *worker) {
	w.id = goroutineID()
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
	w.busy = false
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
	if w.busy {
		c.leave()
	}
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
	if c.active == 0 {
		c.quiet.Signal()
	}
}

// inCallback reports whether the caller runs in a function that an Advance is
// waiting for.
func (c *Clock) inCallback() bool {
	return c.active > 0 && c.workers[goroutineID()] != nil
}

// goroutineID reads the caller's number from the first line of its stack,
// "goroutine 7 [running]:". There is no other way to ask.
func goroutineID() uint64 {
	var buf [32]byte
	runtime.Stack(buf[:], false)
	id := uint64(0)
	for _, b := range buf[len("goroutine "):] {
		if b < '0' || b > '9' {
			break
		}
		id = id*10 + uint64(b-'0')
	}
	return id
}
