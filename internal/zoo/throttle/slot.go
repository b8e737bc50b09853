package throttle

import "sync"

// slot is there for an interval and throttles on both edges. Its timer runs whatever its callbacks
// do, and has to wait while one runs where that holds a lock.
type slot struct {
	base
	locked bool        // the trailing edge emits under the lock
	serial *sync.Mutex // callbacks run one at a time; nil if they need not

	mu      sync.Mutex
	open    bool
	pending bool
	value   int
}

func (d *slot) call(v int) {
	d.mu.Lock()
	if d.open {
		d.pending, d.value = true, v
		d.mu.Unlock()
		return
	}
	if d.cfg.Interval > 0 {
		d.opens()
	}
	d.mu.Unlock()
	d.emits(v)
}

// opens begins an interval.
func (d *slot) opens() {
	d.open = true
	d.clock.AfterFunc(d.cfg.Interval, d.ends)
}

func (d *slot) ends() {
	d.mu.Lock()
	if d.open = d.pending; !d.open {
		d.mu.Unlock()
		return
	}
	d.pending = false
	v := d.value
	d.opens()
	if d.locked {
		defer d.mu.Unlock()
		d.emit(v)
		return
	}
	d.mu.Unlock()
	d.emits(v)
}

func (d *slot) emits(v int) {
	if d.serial != nil && d.cfg.Interval > 0 {
		d.serial.Lock()
		defer d.serial.Unlock()
	}
	d.emit(v)
}
