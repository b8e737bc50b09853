package fakeclock

import (
	"fmt"
	"runtime"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
)

// Advance moves the clock by d, fires what is due on the way and at the target,
// in order, and waits for it as the package comment describes.
// Advance(0) fires what [Clock.AdvanceUntil] left.
//
// Concurrent calls queue and add up. Advance panics if d is negative, if it
// would leave the clock's range of 292 years, and if a function calls it that
// an Advance is waiting for. It panics too, and says where, if the functions that
// one timer started arm a million zero-duration timers, or sleep for 0 as often:
// as with f = func() { c.AfterFunc(0, f) }, time would never move on. The clock
// then stands at that instant, and zero-duration timers wait for the next Advance.
func (c *Clock) Advance(d time.Duration) {
	if d < 0 {
		panic(fmt.Sprintf("fakeclock: Advance(%v): time does not go back; use a duration >= 0", d))
	}
	c.begin("Advance")
	defer c.end()
	now := c.now.Load()
	if int64(d) > never-now {
		panic(fmt.Sprintf("fakeclock: Advance(%v): a clock covers 292 years, of which %v have passed; use another clock", d, time.Duration(now)))
	}
	c.move(now+int64(d), now+int64(d))
}

// AdvanceTo is Advance to an instant instead of by a duration. It panics if t is
// before Now when its turn comes.
func (c *Clock) AdvanceTo(t time.Time) {
	c.begin("AdvanceTo")
	defer c.end()
	target := c.offset("AdvanceTo", t)
	c.move(target, target)
}

// AdvanceUntil moves the clock to t but fires only what is due before t. What is
// due at t itself stays armed, with Now() == t, until the next Advance, which
// may be Advance(0). This lets an operation happen at the very instant of a
// deadline and before the timer. It panics as AdvanceTo does.
func (c *Clock) AdvanceUntil(t time.Time) {
	c.begin("AdvanceUntil")
	defer c.end()
	target := c.offset("AdvanceUntil", t)
	c.move(target-1, target)
}

// AdvanceNext moves the clock to the next deadline, fires all that is due there,
// and returns that instant. It returns the zero time and false, and does not
// move, if no timer is armed.
func (c *Clock) AdvanceNext() (time.Time, bool) {
	c.begin("AdvanceNext")
	defer c.end()
	next := c.next()
	if next == never {
		return time.Time{}, false
	}
	c.move(next, next)
	return c.at(next), true
}

// Next returns the earliest deadline of all armed timers, or the zero time and
// false if none is armed. The next tick of a ticker counts even if it will be
// dropped; a deadline beyond the clock's range does not.
func (c *Clock) Next() (time.Time, bool) {
	c.lock()
	defer c.mu.Unlock()
	next := c.next()
	if next == never {
		return time.Time{}, false
	}
	return c.at(next), true
}

func (c *Clock) next() int64 {
	c.requeueRead()
	next := c.queue.first().when
	for _, t := range c.unread {
		next = min(next, t.nextTick(c.visited))
	}
	return next
}

// offset returns t as an offset from the start, in the turn of op.
func (c *Clock) offset(op string, t time.Time) int64 {
	elapsed, now := c.now.Load(), c.Now()
	d := t.Sub(now) // saturates
	if d < 0 {
		panic(fmt.Sprintf("fakeclock: %s(%v): time does not go back from %v; use a later time, or SetWall", op, t, now))
	}
	if int64(d) > never-elapsed || !now.Add(d).Equal(t) {
		panic(fmt.Sprintf("fakeclock: %s(%v): a clock covers 292 years, of which %v have passed; use WithStart", op, t, time.Duration(elapsed)))
	}
	return elapsed + int64(d)
}

// move fires what is due up to and including last, one timer at a time, then
// sets the clock to target.
func (c *Clock) move(last, target int64) {
	c.last, c.relays = last, c.settle == nil && c.hook == nil
	for c.fireNext() {
		c.rest()
	}
	if c.now.Load() != target { // to store costs more
		c.now.Store(target)
	}
	c.visited = max(c.visited, last)
}

// fireNext fires the first timer that is due up to and including last, and reports whether
// there was one.
func (c *Clock) fireNext() bool {
	t := c.due(c.last)
	if t == nil {
		return false
	}
	c.now.Store(t.when)
	c.visited = t.when - 1
	c.fire(t, c.settle == nil)
	return true
}

// relay goes on in place of the Advance that waits: where a function was the last that it
// waits for, the goroutine of that one fires what comes next, up to the next function. To hand
// over to the Advance, only for it to start the next, would take as long as all the rest. It
// does not if there is a function of WithEvents, which may end a test.
func (c *Clock) relay() {
	for c.relays && c.active == 1 && c.stuck == "" && c.fireNext() {
		c.instant = 0
	}
}

// due removes the first timer from the queue and returns it, nil if there is
// none that is due up to and including last.
func (c *Clock) due(last int64) *timer {
	last = min(last, never-1)
	first := c.queue.first()
	if len(c.unread) > 0 && first.when > c.now.Load() {
		if t := c.unread[0]; len(c.unread) > 1 || !t.ticked() {
			if c.stays(t, min(last, first.when-1)) {
				return t
			}
			c.requeueRead()
			first = c.queue.first()
		}
	}
	if first.when > last {
		return nil
	}
	c.queue.remove(first.t)
	return first.t
}

// begin takes the turn for op and returns with the lock held, in a settled clock.
func (c *Clock) begin(op string) {
	c.lock()
	if c.busy || c.active > 0 || c.telling || c.settle != nil {
		c.await(op)
		return
	}
	c.busy, c.halted = true, false
}

// await takes the turn where that is not free, or settle is to be called. The turn is a flag with a condition rather
// than a mutex because a goroutine that waits for a mutex would keep a bubble from settling.
func (c *Clock) await(op string) {
	if c.inCallback() {
		c.mu.Unlock()
		panic("fakeclock: " + op + " called from a function that an Advance is waiting for; " +
			"return first, or arm another timer, or use WithSettle")
	}
	if c.telling && c.teller.On() {
		c.mu.Unlock()
		panic("fakeclock: " + op + " called from the function of WithEvents; " +
			"return first, and move the clock where the test does")
	}
	waits := c.busy
	for c.busy {
		c.queued++
		c.turn.Wait()
		c.queued--
	}
	c.busy, c.halted = true, false
	if c.settle == nil && !waits {
		return
	}
	settled := false
	defer func() {
		if !settled { // settle panicked or ended the test: the caller cannot end the turn
			c.end()
		}
	}()
	if waits {
		c.unlocked(func() { sched.Woken("fakeclock." + op) })
	}
	if c.settle != nil {
		c.rest()
	}
	settled = true
}

// end passes the turn on. It is deferred: settle may panic, or end a test.
func (c *Clock) end() {
	if c.dog != nil {
		c.dog.timer.Stop()
		c.dog = nil
	}
	c.stuck = ""
	c.busy, c.relays = false, false
	if c.queued > 0 {
		c.turn.Signal()
	}
	c.mu.Unlock()
}

// rest lets what was just started come to rest: by settle if there is one, else
// until the functions that this turn started have returned or sleep.
func (c *Clock) rest() {
	c.tell()
	c.instant = 0
	if c.settle == nil {
		if c.active > 0 && c.dog == nil {
			// Most functions end at once: sparing an Advance of one of them the
			// watchdog and the sleep halves its cost.
			c.unlocked(runtime.Gosched)
		}
		for c.active > 0 {
			c.guard()
			c.quiet.Wait()
		}
	} else {
		c.unlocked(c.settle)
	}
	if c.stuck != "" {
		panic(c.stuck)
	}
}
