package fakeclock

import (
	"fmt"
	"strconv"
	"time"
)

// Event is something that happened to a timer: what [WithEvents] delivers. The
// zero value describes nothing.
type Event struct {
	Kind  EventKind // what happened
	At    time.Time // when it happened
	Timer Timer     // as it was then; of a fired one, due when it fired
}

// String returns one line, such as
// "2000-01-01 00:00:00 armed Timer due 2000-01-01 00:00:05". Do not depend on
// its form.
func (e Event) String() string { return fmt.Sprintf("%s %v %v", stamp(e.At), e.Kind, e.Timer) }

// EventKind says what happened to a timer. The zero value is EventArmed.
type EventKind uint8

// What happens to timers. A timer that is due at once is armed, or reset, and then
// fires. A ticker fires at each tick that it sends, and re-arms itself silently;
// dropped ticks give no event. During a Hold a timer fires when it comes due; its
// release gives no event.
const (
	EventArmed   EventKind = iota // made
	EventFired                    // came due
	EventStopped                  // Stop disarmed it or discarded its unread value
	EventReset                    // Reset armed it, whatever it was before
)

// String returns the name of k in lower case, such as "fired".
func (k EventKind) String() string {
	names := [...]string{"armed", "fired", "stopped", "reset"}
	if int(k) < len(names) {
		return names[k]
	}
	return "EventKind(" + strconv.Itoa(int(k)) + ")"
}

// note records what happened to t, which is or was due at t.when.
func (c *Clock) note(kind EventKind, t *timer) {
	if c.hook != nil {
		c.record(kind, t)
	}
}

func (c *Clock) record(kind EventKind, t *timer) {
	c.events = append(c.events, Event{kind, c.at(c.now.Load()), c.describe(t, t.when)})
}

// unlock is mu.Unlock after the events of the operation were delivered.
func (c *Clock) unlock() {
	if len(c.events) == 0 {
		c.mu.Unlock()
		return
	}
	defer c.mu.Unlock()
	c.tell()
}

// tell delivers the recorded events, in order and without the lock. If another
// goroutine is at it already, or the hook itself has come back, then these
// events are delivered there: waiting for it might be waiting for oneself.
func (c *Clock) tell() {
	if len(c.events) > 0 && !c.telling {
		c.tellAll()
	}
}

func (c *Clock) tellAll() {
	c.telling = true
	defer func() { c.telling = false }() // the hook may panic or end the test
	for len(c.events) > 0 {
		e := c.events[0]
		c.events = c.events[1:]
		c.teller.Unlocked(&c.mu, func() { c.hook(e) })
	}
}

// unlocked calls f, which is foreign, without the lock.
func (c *Clock) unlocked(f func()) {
	c.mu.Unlock()
	defer c.mu.Lock()
	f()
}
