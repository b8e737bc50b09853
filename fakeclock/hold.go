package fakeclock

import "sync/atomic"

// Hold delays everything that timers start until release is called. A timer that comes
// due meanwhile counts as fired: it is not armed, and Stop of an AfterFunc returns
// false. But the function does not run, the sleeper does not wake, and the value is not
// on the channel; as with any unread value, Stop and Reset of the timer return true and
// discard it, and a ticker drops further ticks.
//
// This models the operation that comes after a timer has fired and before the
// first instruction of its function. Advance does not wait for what is held.
//
// release starts what was held, in firing order, and waits for each as Advance
// does before it starts the next. Calling it again does nothing. Like
// Advance it takes turns with other calls and panics in a function that an
// Advance is waiting for. Holds nest: the last release starts everything.
func (c *Clock) Hold() (release func()) {
	c.lock()
	defer c.mu.Unlock()
	c.holds++
	var released atomic.Bool
	return func() {
		if released.Load() {
			return // without taking a turn
		}
		c.begin("release")
		defer c.end()
		if released.Swap(true) {
			return
		}
		c.holds--
		c.releaseHeld()
	}
}

// releaseHeld delivers what is held. It takes one timer at a time off the list,
// because what it starts may stop a later one, or hold again.
func (c *Clock) releaseHeld() {
	for c.holds == 0 && len(c.held) > 0 {
		t := c.held[0]
		c.held = c.held[1:]
		t.held = false
		c.deliver(t, c.settle == nil)
		c.rest()
	}
	if len(c.held) == 0 {
		c.held = nil
	}
}
