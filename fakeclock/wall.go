package fakeclock

import (
	"math"
	"time"
)

// SetWall steps the wall clock to t, forward or back, as an operator or a time
// server does. Now becomes t, in t's location, and goes on from there.
//
// Elapsed time does not step: timers keep the durations that are left, and what
// they send is the wall time at their instants. Next, Timers, AdvanceTo,
// AdvanceUntil, NewTimerAt and AfterFuncAt speak in wall time after the last
// step. An Advance already under way, or a variant of it, keeps its target.
//
// [Clock.Since] measures elapsed time across steps. t.Sub(u) of two times of this clock
// includes the steps between them, unlike package time's: only the runtime can give a time
// the monotonic reading that Sub would use.
//
// A monotonic reading of t is dropped.
func (c *Clock) SetWall(t time.Time) {
	c.lock()
	defer c.mu.Unlock()
	now := c.now.Load()
	c.wall.Store(newSegment(t.Round(0).Add(-time.Duration(now)), now, c.wall.Load()))
	c.changed()
}

// Since returns the time elapsed since t. After steps of the wall clock a time may have
// occurred more than once, or never: t is taken as its latest occurrence, or else as
// wall time after the last step. Without steps this is Now().Sub(t).
func (c *Clock) Since(t time.Time) time.Duration {
	last, now := c.reading()
	// As below for the latest step, without what Sub does for times centuries apart.
	if sec := t.Unix() - last.sec; uint64(sec+1) < 1<<33 {
		d := sec*int64(time.Second) + int64(t.Nanosecond()) - last.nsec
		if last.from <= d && d <= now {
			return time.Duration(now - d)
		}
	}
	end := now
	for s := last; s != nil; end, s = s.from, s.before {
		d := t.Sub(s.zero) // saturates
		if s.from <= int64(d) && int64(d) <= end && d != math.MaxInt64 {
			return time.Duration(now) - d
		}
	}
	return last.at(now).Sub(t)
}

// Until returns the duration until t, which is what a timer of NewTimerAt(t) or a context
// with the deadline t would wait: a t after Now is wall time after the last step, even if it
// occurred before a step back. For any other t it is -Since(t).
func (c *Clock) Until(t time.Time) time.Duration {
	last, now := c.reading()
	// As in Since, without what Sub does for times centuries apart.
	if sec := t.Unix() - last.sec; uint64(sec+1) < 1<<33 {
		if d := sec*int64(time.Second) + int64(t.Nanosecond()) - last.nsec; d > now {
			return time.Duration(d - now)
		}
	} else if d := t.Sub(last.at(now)); d > 0 {
		return d
	}
	return -c.Since(t)
}

// segment maps elapsed to wall time between two steps of the wall clock. It
// does not change, so that Now and Since take no lock.
type segment struct {
	zero   time.Time // wall time at the start of the clock, had there been no other
	from   int64     // since start
	before *segment  // up to from; nil for the first

	sec, nsec int64 // zero, since 1970
	place     *time.Location
}

// newSegment returns a segment; zero has no monotonic reading.
func newSegment(zero time.Time, from int64, before *segment) *segment {
	return &segment{zero, from, before, zero.Unix(), int64(zero.Nanosecond()), zero.Location()}
}

// origin is where a clock starts unless WithStart says.
var origin = newSegment(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), 0, nil)

// at is zero.Add, in less time.
func (s *segment) at(offset int64) time.Time {
	return time.Unix(s.sec+offset/int64(time.Second), s.nsec+offset%int64(time.Second)).In(s.place)
}

// reading returns the last segment and the time since start, which were both
// current at some instant during the call.
func (c *Clock) reading() (*segment, int64) {
	for {
		s := c.wall.Load()
		now := c.now.Load()
		if c.wall.Load() != s {
			continue
		}
		if s == nil { // a zero Clock that nobody has used
			s = origin
		}
		return s, now
	}
}

// at returns the wall time at an offset from the start. Only of what a Hold
// kept back is that before the last step.
func (c *Clock) at(offset int64) time.Time {
	s := c.wall.Load()
	for offset < s.from {
		s = s.before
	}
	return s.at(offset)
}
