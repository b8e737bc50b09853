package sched

import (
	"math"
	"time"
)

const never = math.MaxInt64

// Timer calls a function at an instant of the bubble, when the run chooses it. Package time's
// would run those of one instant in a random order.
type Timer struct {
	ID      int
	PCs     [depth]uintptr
	Period  time.Duration // of a ticker
	Channel any           // that it sends to, nil if to none
	Unread  func() bool   // of a ticker: its last tick has not been received, so that time needs not stop for the next

	run   *Run
	fire  func()
	async bool
	when  int64
	armed bool
	hash  uint64
}

// NewTimer returns a timer that is not armed. Its function must not block; with async it runs on a
// goroutine of its own.
func (g *G) NewTimer(async bool, fire func()) *Timer {
	g.run.numbers++
	return &Timer{ID: g.run.numbers, PCs: g.here, run: g.run, fire: fire, async: async}
}

// now is the bubble's time in nanoseconds.
func (r *Run) now() int64 {
	if len(r.timers) == 0 && !r.timed {
		return r.base
	}
	return time.Now().UnixNano()
}

// Start arms the timer, also again.
func (t *Timer) Start(g *G, d time.Duration) {
	t.Stop()
	r := g.run
	r.timed = true
	t.run, t.armed, t.when = r, true, after(r.now(), d)
	r.timers = append(r.timers, t)
}

// Stop disarms the timer, and reports whether it was armed.
func (t *Timer) Stop() bool {
	if !t.armed {
		return false
	}
	t.armed = false
	for i, other := range t.run.timers {
		if other == t {
			t.run.timers = append(t.run.timers[:i:i], t.run.timers[i+1:]...)
		}
	}
	return true
}

// after returns the instant d after now.
func after(now int64, d time.Duration) int64 {
	if d <= 0 {
		return now
	}
	if int64(d) > never-1-now {
		return never - 1
	}
	return now + int64(d)
}

// unread reports whether the timer is a ticker that nobody reads.
func (t *Timer) unread() bool { return t.Unread != nil && t.Unread() }

// expire lets the timer fire.
func (t *Timer) expire(r *Run) {
	when := t.when
	t.Stop()
	if t.Period > 0 {
		for now := r.now(); when <= now; when += int64(t.Period) {
		}
		t.when, t.armed = when, true
		r.timers = append(r.timers, t)
	}
	if !t.async {
		t.fire()
		return
	}
	g := r.newG(t.PCs)
	g.hash = t.hash
	go g.main(t.fire)
}

// Sleep is a Point that ends d later.
func (g *G) Sleep(d time.Duration) {
	g.run.timed = true
	g.park(Op{Name: "after Sleep", PCs: g.here, until: after(time.Now().UnixNano(), d)})
}

// next is the next instant at which something is due.
func (r *Run) next() int64 {
	now, next := r.now(), int64(never)
	for _, t := range r.timers {
		if t.when > now && !t.unread() {
			next = min(next, t.when)
		}
	}
	for _, g := range r.live {
		if g.parked && g.op.until > now {
			next = min(next, g.op.until)
		}
	}
	return next
}

// sleep moves the bubble's time to an instant, or to an earlier one at which code that takes no part
// wakes a goroutine. It reports whether that happened.
func (r *Run) sleep(until int64) bool {
	r.mu.Lock()
	r.sleeping = true
	r.mu.Unlock()
	timer := time.NewTimer(time.Duration(until - time.Now().UnixNano()))
	defer timer.Stop()
	arrived := false
	select {
	case <-r.arrived:
		arrived = true
	case <-timer.C:
	}
	r.mu.Lock()
	if r.sleeping = false; !arrived {
		select {
		case <-r.arrived:
		default:
		}
	}
	r.mu.Unlock()
	return arrived
}

// patience is how long timers of code that takes no part may be pending.
const patience = 1000 * time.Hour

// foreign waits for a timer of code that takes no part, and reports whether that woke a goroutine.
func (r *Run) foreign() bool {
	r.timed = true
	r.last = nil
	return r.sleep(after(time.Now().UnixNano(), patience))
}
