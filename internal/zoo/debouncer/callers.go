package debouncer

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// sleeper starts a goroutine with each burst, which sleeps until the quiet has
// lasted.
type sleeper struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu       sync.Mutex
	sleeping bool
	pending  bool
	last     time.Time
	value    int
}

func (d *sleeper) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending, d.value, d.last = true, v, d.clock.Now()
	if !d.sleeping {
		d.sleeping = true
		go d.sleep(d.wait)
	}
}

func (d *sleeper) sleep(rest time.Duration) {
	for {
		d.clock.Sleep(rest)
		d.mu.Lock()
		rest = d.wait - d.clock.Since(d.last)
		if d.pending && rest > 0 {
			d.mu.Unlock()
			continue
		}
		v, ok := d.value, d.pending
		d.sleeping, d.pending = false, false
		d.mu.Unlock()
		if ok {
			d.fire(v)
		}
		return
	}
}

func (d *sleeper) cancel() { d.mu.Lock(); defer d.mu.Unlock(); d.pending = false }

// tooLate is a debouncer with a plain timer that nobody can take back once it has
// expired: a stale fire is part of what it documents. Its cancel is final.
type tooLate struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	mu    sync.Mutex
	timer clockwork.Timer
	done  bool
}

func (d *tooLate) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = d.clock.AfterFunc(d.wait, func() { d.fire(v) })
}

func (d *tooLate) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// lateCaller fires what is overdue before it takes the new event: FireFirst. Its
// payload is the burst's first event, its callbacks run one at a time under a lock
// of their own, and its Stop fires what is pending.
type lateCaller struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(int)

	turn    sync.Mutex // held while a callback runs
	mu      sync.Mutex
	gen     int
	pending bool
	value   int
	due     time.Time
	stopped bool
	armed   armed
}

func (d *lateCaller) call(v int) {
	d.mu.Lock()
	if d.stopped {
		d.mu.Unlock()
		return
	}
	old, overdue := d.value, d.pending && !d.clock.Now().Before(d.due)
	if overdue || !d.pending {
		d.value = v
	}
	d.gen++
	gen := d.gen
	d.pending, d.due = true, d.clock.Now().Add(d.wait)
	d.armed.add(d.clock.AfterFunc(d.wait, func() { d.expire(gen) }))
	d.mu.Unlock()
	if overdue {
		d.run(old)
	}
}

func (d *lateCaller) expire(gen int) {
	d.mu.Lock()
	v, ok := d.value, d.pending && gen == d.gen
	if ok {
		d.pending = false
	}
	d.mu.Unlock()
	if ok {
		d.run(v)
	}
}

func (d *lateCaller) run(v int) {
	d.turn.Lock()
	defer d.turn.Unlock()
	d.fire(v)
}

func (d *lateCaller) stop() {
	d.mu.Lock()
	v, ok := d.value, d.pending
	d.stopped, d.pending = true, false
	d.armed.stop()
	d.mu.Unlock()
	if ok {
		d.run(v)
	}
}

// barred is a debouncer whose cancel and stop wait for a running callback, so that
// they must not be called from it.
type barred struct {
	perCallTimer
	running sync.RWMutex
}

func newBarred(clock clockwork.Clock, wait time.Duration, fire func(int)) *barred {
	d := &barred{}
	d.perCallTimer = perCallTimer{clock: clock, wait: wait, fire: fire}
	return d
}

func (d *barred) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gen++
	gen := d.gen
	d.pending, d.value = true, v
	d.clock.AfterFunc(d.wait, func() {
		d.running.RLock()
		defer d.running.RUnlock()
		d.mu.Lock()
		live := gen == d.gen && d.pending
		if live {
			d.pending = false
		}
		d.mu.Unlock()
		if live {
			d.fire(v)
		}
	})
}

func (d *barred) cancel() {
	d.take()
	d.running.Lock() //nolint:staticcheck // waits for the callback
	defer d.running.Unlock()
}
