package debouncer

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// lastCallTime decides as lodash's debounce does, by the times of the last call and
// the last fire, with one timer that is armed again for the rest.
type lastCallTime struct {
	clock clockwork.Clock
	cfg   db.Config
	fire  func(int)

	mu         sync.Mutex
	called     bool // lastCall is set
	lastCall   time.Time
	lastInvoke time.Time
	timer      clockwork.Timer // nil: none runs
	gen        int
	args       bool
	value      int
}

func (d *lastCallTime) bound() time.Duration {
	if d.cfg.MaxWait == 0 {
		return 0
	}
	return max(d.cfg.MaxWait, d.cfg.Wait)
}

func (d *lastCallTime) shouldInvoke(now time.Time) bool {
	since := now.Sub(d.lastCall)
	return !d.called || since >= d.cfg.Wait || since < 0 || d.bound() > 0 && now.Sub(d.lastInvoke) >= d.bound()
}

func (d *lastCallTime) remaining(now time.Time) time.Duration {
	rest := d.cfg.Wait - now.Sub(d.lastCall)
	if d.bound() > 0 {
		rest = min(rest, d.bound()-now.Sub(d.lastInvoke))
	}
	return rest
}

func (d *lastCallTime) arm(in time.Duration) {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.gen++
	gen := d.gen
	d.timer = d.clock.AfterFunc(in, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen {
			d.expired()
		}
	})
}

func (d *lastCallTime) expired() {
	now := d.clock.Now()
	if !d.shouldInvoke(now) {
		d.arm(d.remaining(now))
		return
	}
	d.trail(now)
}

func (d *lastCallTime) trail(now time.Time) {
	d.timer, d.gen = nil, d.gen+1
	if d.cfg.Edges&db.Trailing != 0 && d.args {
		d.invoke(now)
		return
	}
	d.args = false
}

// invoke runs the callback without the lock.
func (d *lastCallTime) invoke(now time.Time) {
	v := d.value
	d.args, d.lastInvoke = false, now
	d.mu.Unlock()
	defer d.mu.Lock()
	d.fire(v)
}

func (d *lastCallTime) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.clock.Now()
	due := d.shouldInvoke(now)
	d.args, d.value, d.lastCall, d.called = true, v, now, true
	switch {
	case due && d.timer == nil:
		d.lastInvoke = now
		d.arm(d.cfg.Wait)
		if d.cfg.Edges&db.Leading != 0 {
			d.invoke(now)
		}
	case due && d.bound() > 0: // in a tight loop
		d.arm(d.cfg.Wait)
		d.invoke(now)
	case d.timer == nil:
		d.arm(d.cfg.Wait)
	}
}

func (d *lastCallTime) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer, d.gen, d.args, d.called, d.lastInvoke = nil, d.gen+1, false, false, time.Time{}
}

func (d *lastCallTime) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.trail(d.clock.Now())
	}
}

func (d *lastCallTime) isPending() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.args }

// stampOnly is the leading edge alone: it compares the time of the event with that
// of the event before, in one atomic, and has no timer.
func stampOnly(clock clockwork.Clock, fire func(int), quiet func(gap time.Duration) bool) func(int) {
	start := clock.Now()
	var last atomic.Int64
	last.Store(-1 << 62)
	return func(v int) {
		now := int64(clock.Since(start))
		for {
			old := last.Load()
			if now < old {
				return
			}
			if last.CompareAndSwap(old, now) {
				if old == -1<<62 || quiet(time.Duration(now-old)) {
					fire(v)
				}
				return
			}
		}
	}
}
