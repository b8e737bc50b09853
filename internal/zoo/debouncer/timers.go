package debouncer

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// armed are the timers of a debouncer that arms one for each event. Stop ends those that have not expired.
type armed []clockwork.Timer

func (a *armed) add(t clockwork.Timer) { *a = append(*a, t) }

func (a *armed) stop() {
	for _, t := range *a {
		t.Stop()
	}
	*a = nil
}

// perCallTimer has a new timer for each call and a generation count.
type perCallTimer struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu      sync.Mutex
	gen     int
	pending bool
	value   int
	stopped bool
	armed   armed
}

func (d *perCallTimer) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.gen++
	gen := d.gen
	d.pending, d.value = true, v
	d.armed.add(d.clock.AfterFunc(d.wait, func() {
		d.mu.Lock()
		live := gen == d.gen && d.pending
		if live {
			d.pending = false
		}
		d.mu.Unlock()
		if live {
			d.fire(v)
		}
	}))
}

func (d *perCallTimer) take() (v int, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ok, d.pending = d.pending, false
	return d.value, ok
}

func (d *perCallTimer) cancel() bool { _, ok := d.take(); return ok }

func (d *perCallTimer) flush() {
	if v, ok := d.take(); ok {
		d.fire(v)
	}
}

func (d *perCallTimer) isPending() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.pending }

func (d *perCallTimer) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped, d.pending = true, false
	d.armed.stop()
}

// oneByOne runs a callback under a lock. The function of the next timer waits for it meanwhile.
func oneByOne(fire func(int)) func(int) {
	var mu sync.Mutex
	return func(v int) {
		mu.Lock()
		defer mu.Unlock()
		fire(v)
	}
}
