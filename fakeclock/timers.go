package fakeclock

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Timer describes an armed timer of any kind: what [Clock.Timers] returns. It
// is a snapshot: it does not change when the timer does. The zero value
// describes no timer.
type Timer struct {
	Kind     Kind          // what made it
	Deadline time.Time     // of a ticker, the next tick, even if it will be dropped
	Period   time.Duration // of a ticker, else 0
	Site     string        // where the timer was made, "pkg.Func file.go:7"; see WithSites
}

// String returns a line for reports, such as
// "AfterFunc due 2000-01-01 00:00:05 (made in pkg.Func file.go:7)". Do not
// depend on its form.
func (t Timer) String() string {
	s := t.Kind.String()
	if t.Period != 0 {
		s += fmt.Sprintf(" every %v", t.Period)
	}
	s += " due " + stamp(t.Deadline)
	if t.Site != "" {
		s += " (made in " + t.Site + ")"
	}
	return s
}

// stamp formats an instant for reports.
func stamp(t time.Time) string { return t.Format("2006-01-02 15:04:05.999999999") }

// Timers returns all armed timers, of every kind, ordered by deadline and then
// by the order of arming: the order in which they will fire. Fired and stopped
// ones do not count; a ticker counts until it is stopped. A deadline beyond the
// clock's range appears as the end of it.
func (c *Clock) Timers() []Timer {
	c.lock()
	defer c.mu.Unlock()
	return c.timers()
}

func (c *Clock) timers() []Timer {
	entries := slices.Concat(c.queue.young.entries, c.queue.old.entries)
	for i, e := range entries {
		entries[i] = e.t.entry()
	}
	for _, t := range c.unread { // not armed for the next tick yet: last of its instant
		entries = append(entries, entry{t.nextTick(c.visited), math.MaxUint64, t})
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.when, b.when), cmp.Compare(a.order, b.order))
	})
	timers := make([]Timer, len(entries))
	for i, e := range entries {
		timers[i] = c.describe(e.t, e.when)
	}
	return timers
}

// describe returns t as users see it, due at when.
func (c *Clock) describe(t *timer, when int64) Timer {
	return Timer{t.kind, c.at(when), time.Duration(t.period), t.site.String()}
}
