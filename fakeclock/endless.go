package fakeclock

import (
	"fmt"

	"github.com/escapement-go/escapement/internal/sched"
)

// endless is how many timers for no time, and sleeps of none, the functions that one
// timer started may come to before the clock takes them for a loop. Nobody needs so
// many; a loop of them takes about a second.
const endless = 1_000_000

// loops reports whether t, which is to be armed for no time, is one too many: where each
// starts the next, time would stand still for ever. If so it makes the Advance under way
// panic, and t stays armed for the next. Who is not awaited does not keep Advance from
// returning, and may go on.
func (c *Clock) loops(t *timer, awaited bool) bool {
	if !c.busy || c.settle == nil && !awaited {
		return false
	}
	if c.instant++; c.instant <= c.endless {
		return false
	}
	if c.stuck == "" {
		c.stuck = fmt.Sprintf("fakeclock: Advance has fired %d zero-duration timers or sleeps at %s, and "+
			"would for ever: each arms the next.\nUse a duration > 0, or end the loop. The last is %v, armed "+
			"in %v.",
			c.endless, stamp(c.Now()), Timer{t.kind, c.at(c.now.Load()), 0, t.site.String()}, here())
		c.abandon()
		c.halted = true // or others that loop, and are not awaited any more, would go on
	}
	return true
}

// doze is Sleep of no time: it returns at once, unless that would be for ever. Then it
// blocks until the next Advance.
func (c *Clock) doze() {
	c.lock()
	if !c.busy {
		c.mu.Unlock()
		return
	}
	t := c.newTimer(KindSleep)
	t.wake = make(chan struct{})
	loops := c.loops(t, c.inCallback())
	if loops {
		t.when = c.now.Load()
		c.note(EventArmed, t)
		c.queue.push(t)
		c.changed()
	}
	c.unlock()
	if loops {
		<-t.wake
		sched.Woken("fakeclock.Sleep")
	}
}
