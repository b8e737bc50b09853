package debouncer

import (
	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// do runs f under the lock, and then what it has started.
func (d *choosy) do(f func()) {
	d.mu.Lock()
	f()
	runs := d.runs
	d.runs = nil
	d.mu.Unlock()
	inTurn(runs)
}

func (d *choosy) serial() bool { return d.traits.Overlap != db.Parallel }

// start starts a callback for values.
func (d *choosy) start(values []int, apart bool) {
	if len(values) == 0 {
		return
	}
	d.flying++
	run := func() { d.callback(values) }
	if d.serial() {
		d.queue = append(d.queue, values)
		if d.running {
			return
		}
		d.running, run = true, d.work
	}
	if apart {
		go run()
	} else {
		d.runs = append(d.runs, run)
	}
}

func (d *choosy) callback(values []int) {
	defer func() {
		if d.traits.PanicPolicy == db.PanicRecovered {
			_ = recover()
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.flying--
		d.idle.Broadcast()
	}()
	if d.barred() {
		return
	}
	d.fire(values)
}

// barred reports whether Stop has forbidden what was decided before it.
func (d *choosy) barred() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopped
}

// work runs what is in the queue, one after the other.
func (d *choosy) work() {
	defer func() { // whatever the callback does
		d.mu.Lock()
		d.next()
		d.running = len(d.queue) > 0
		again := d.running
		d.mu.Unlock()
		if again {
			d.work()
		}
	}()
	d.mu.Lock()
	if len(d.queue) == 0 {
		d.mu.Unlock()
		return
	}
	values := d.queue[0]
	d.queue = d.queue[1:]
	d.mu.Unlock()
	d.callback(values)
}

// next does what has had to wait for a callback.
func (d *choosy) next() {
	settle := func() {
		if len(d.queue) == 0 && d.expired {
			d.settle(true)
		}
	}
	if !d.ways.inboxFirst {
		settle()
	}
	for len(d.inbox) > 0 && len(d.queue) == 0 {
		f := d.inbox[0]
		d.inbox = d.inbox[1:]
		f()
	}
	settle()
}

// inTurn runs what was started, all of it, whatever a callback does.
func inTurn(runs []func()) {
	if len(runs) > 0 {
		defer inTurn(runs[1:])
		runs[0]()
	}
}
