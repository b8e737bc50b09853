package fakeclock

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
)

// timer is what the clock arms and fires, one struct for every kind.
type timer struct {
	clock   *Clock
	c       chan time.Time // of a kind that sends
	f       func()         // of a kind that calls
	wake    chan struct{}  // of a sleeper, closed to wake it
	when    int64          // deadline; once fired, the instant of it
	order   uint64         // of arming, while it is in the queue
	period  int64          // of a ticker
	site    *site          // where it was made, if recorded
	pos     int32          // place in the queue, or one of the constants below
	kind    Kind
	held    bool // fired during a Hold: the value or the wake-up is kept back
	awaited bool // a sleeper that an Advance waited for until it slept
}

// Values of timer.pos outside the queue.
const (
	unarmed = -1
	unread  = -2 // armed, in Clock.unread
)

// never is a deadline beyond the clock's range. Timers due then stay armed and
// do not fire, so that a ticker cannot tick for ever at the last instant.
const never = math.MaxInt64

// Chan returns the channel on which the timer sends, nil for AfterFunc.
func (t *timer) Chan() <-chan time.Time { return t.c }

// Stop disarms the timer and discards an unread value. It reports whether the
// timer was armed or its value unread.
func (t *timer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.unlock()
	pending := t.clock.disarm(t)
	if pending {
		t.clock.note(EventStopped, t)
	}
	return pending
}

// Reset arms the timer for d from now, discards an unread value, and reports
// what Stop would have reported.
func (t *timer) Reset(d time.Duration) bool {
	t.clock.mu.Lock()
	defer t.clock.unlock()
	if d > 0 && t.pos >= 0 && t.clock.queue.postpone(t, later(t.clock.now.Load(), int64(d))) {
		t.clock.note(EventReset, t) // in the queue: no value is unread
		t.clock.changed()
		return true
	}
	pending := t.clock.disarm(t)
	t.clock.arm(t, d, EventReset)
	return pending
}

// newTimer returns a timer that is not armed.
func (c *Clock) newTimer(kind Kind) *timer {
	t := &timer{clock: c, kind: kind, pos: unarmed}
	if c.sites {
		t.site = here()
	}
	return t
}

// arm arms t for d from now, or fires it if d <= 0.
func (c *Clock) arm(t *timer, d time.Duration, kind EventKind) {
	t.when = later(c.now.Load(), max(int64(d), 0))
	c.note(kind, t)
	if d <= 0 {
		awaited := c.inCallback()
		if !c.halted && !c.loops(t, awaited) {
			c.fire(t, t.f != nil && awaited)
			return
		}
	}
	c.queue.push(t)
	c.changed()
}

// disarm takes t out of the clock, with a value that nobody received, and
// reports whether there was anything to take.
func (c *Clock) disarm(t *timer) bool {
	pending := t.pos != unarmed
	switch t.pos {
	case unarmed:
	case unread:
		c.unread = remove(c.unread, t)
		t.when = t.nextTick(c.visited)
	default:
		c.queue.remove(t)
	}
	t.pos = unarmed
	if pending {
		c.changed()
	}
	return c.dropValue(t) || pending
}

// dropValue discards the value that t sent or is about to send, if any.
func (c *Clock) dropValue(t *timer) bool {
	if t.held {
		t.held = false
		c.held = remove(c.held, t)
		return true
	}
	select {
	case <-t.c:
		return true
	default:
		return false
	}
}

// fire makes t, which is due now and not in the queue, take effect or, during
// a Hold, keeps the effect back. A ticker is armed again. If awaited,
// a function is one that the Advance under way waits for.
func (c *Clock) fire(t *timer, awaited bool) {
	c.note(EventFired, t)
	if t.c == nil {
		// Before the function starts or the sleeper wakes. Nobody can tell: Stop
		// answers false already. Of a value it must not, so that is sent first.
		c.tell()
	}
	if c.holds > 0 {
		t.held = t.f == nil // Stop and Reset take a value back, not a call
		c.held = append(c.held, t)
	} else {
		c.deliver(t, awaited)
	}
	if t.kind == KindTicker {
		c.rearm(t)
	}
	c.changed()
}

// deliver does what t is for. The channel is empty: Stop and Reset drain it,
// and a ticker with an unread tick is not in the queue.
func (c *Clock) deliver(t *timer, awaited bool) {
	switch t.kind {
	case KindTimer, KindAfter, KindTicker:
		t.c <- c.at(t.when)
	case KindAfterFunc, KindContext:
		if awaited {
			c.run(t)
		} else {
			go sched.Child(t.f)()
		}
	case KindSleep:
		if t.awaited {
			c.active++
		}
		close(t.wake)
	}
}

// rearm puts a ticker that has just ticked back into the queue, or aside while
// the tick is unread: until then further ticks would be dropped, so visiting
// them would cost time and show nothing.
func (c *Clock) rearm(t *timer) {
	aside := t.pos == unread
	switch {
	case t.ticked() && !aside:
		t.pos = unread
		c.unread = append(c.unread, t)
	case !t.ticked():
		if aside {
			c.unread = remove(c.unread, t)
		}
		t.when = later(t.when, t.period)
		c.queue.push(t)
	}
}

// ticked reports whether the tick of a ticker is unread.
func (t *timer) ticked() bool { return t.held || len(t.c) > 0 }

// requeueRead puts the tickers whose tick has been read back into the queue. It
// must run before the clock moves on, so that the next tick is the first after
// the read.
func (c *Clock) requeueRead() {
	still := 0
	for i, t := range c.unread {
		c.unread[i] = nil
		if t.ticked() {
			c.unread[still] = t
			still++
			continue
		}
		t.when = t.nextTick(c.visited)
		c.queue.push(t)
	}
	c.unread = c.unread[:still]
}

// stays arms t, a ticker that is aside and whose tick has been read, for the next tick where it
// is. It does nothing and reports false if others are aside, or that tick is not due up to and
// including last. The way through the queue and back would take as long as the tick.
func (c *Clock) stays(t *timer, last int64) bool {
	next := t.nextTick(c.visited)
	if len(c.unread) > 1 || next > last {
		return false
	}
	t.when = next
	return true
}

// nextTick returns the first tick after visited of a ticker that ticked at
// t.when, which at the instant of the tick itself is not visited yet.
func (t *timer) nextTick(visited int64) int64 {
	if since := visited - t.when; since >= t.period {
		return later(visited-since%t.period, t.period)
	}
	return later(t.when, t.period)
}

// armed returns the number of armed timers.
func (c *Clock) armed() int { return c.queue.len() + len(c.unread) }

// later returns offset+d for d >= 0, or never.
func later(offset, d int64) int64 {
	if d > never-offset {
		return never
	}
	return offset + d
}

// remove deletes t, which is in ts.
func remove(ts []*timer, t *timer) []*timer {
	i := slices.Index(ts, t)
	return slices.Delete(ts, i, i+1)
}
