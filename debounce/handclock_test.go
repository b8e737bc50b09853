package debounce

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// handClock is a clock for one goroutine. It runs the functions of its timers
// itself, in order, each at its instant; those due at the very end of an advance
// can be held back, as a scheduler may hold back the goroutine of a timer.
type handClock struct {
	clockwork.Clock // nil: any other method is a mistake
	now             time.Time
	timers          []*handTimer
	held            []func()
	armed           int // how often a timer was armed
}

type handTimer struct {
	c  *handClock
	at time.Time // zero: not armed
	f  func()
}

func newHandClock() *handClock {
	return &handClock{now: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (c *handClock) Now() time.Time                  { return c.now }
func (c *handClock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

func (c *handClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &handTimer{c: c, f: f}
	c.timers = append(c.timers, t)
	t.Reset(d)
	return t
}

// advance moves time by d, and leaves what is due then for release.
func (c *handClock) advance(d time.Duration) {
	end := c.now.Add(d)
	for {
		next := c.next()
		if next == nil || next.at.After(end) {
			break
		}
		if next.at.After(c.now) && len(c.held) > 0 {
			c.release() // This may stop next.
			continue
		}
		c.now = next.at
		next.at = time.Time{}
		c.held = append(c.held, next.f)
	}
	if end.After(c.now) && len(c.held) > 0 {
		c.release()
		c.advance(end.Sub(c.now)) // It may have armed something.
	}
	if end.After(c.now) { // A callback may have moved time further.
		c.now = end
	}
}

// next returns the armed timer with the earliest deadline.
func (c *handClock) next() (next *handTimer) {
	for _, t := range c.timers {
		if !t.at.IsZero() && (next == nil || t.at.Before(next.at)) {
			next = t
		}
	}
	return next
}

// release runs what advance has held back.
func (c *handClock) release() {
	for len(c.held) > 0 {
		f := c.held[0]
		c.held = c.held[1:]
		f()
	}
}

func (t *handTimer) Chan() <-chan time.Time { panic("no channel") }

func (t *handTimer) Stop() bool {
	was := !t.at.IsZero()
	t.at = time.Time{}
	return was
}

func (t *handTimer) Reset(d time.Duration) bool {
	was := t.Stop()
	t.at = t.c.now.Add(max(d, 0))
	t.c.armed++
	return was
}
