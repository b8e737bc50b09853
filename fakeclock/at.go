package fakeclock

import (
	"fmt"
	"time"

	"github.com/jonboulle/clockwork"
)

// NewTimerAt is NewTimer for an instant: the timer fires at t, or at once if t is not
// after Now. With NewTimer(t.Sub(Now())) another goroutine might advance the clock in
// between; this is atomic. A timer for an instant beyond the clock's range stays armed
// and never fires.
func (c *Clock) NewTimerAt(t time.Time) clockwork.Timer {
	u := c.newTimer(KindTimer)
	u.c = make(chan time.Time, 1)
	c.armAt(u, t)
	return u
}

// AfterFuncAt is AfterFunc for an instant, as NewTimerAt is NewTimer. It panics
// if f is nil.
func (c *Clock) AfterFuncAt(t time.Time, f func()) clockwork.Timer {
	if f == nil {
		panic(fmt.Sprintf("fakeclock: AfterFuncAt(%v, nil): there is nothing to call; use NewTimerAt", t))
	}
	u := c.newTimer(KindAfterFunc)
	u.f = f
	c.armAt(u, t)
	return u
}

func (c *Clock) armAt(u *timer, t time.Time) {
	c.lock()
	defer c.unlock()
	c.arm(u, t.Sub(c.Now()), EventArmed) // Sub saturates, and such a deadline never comes
}
