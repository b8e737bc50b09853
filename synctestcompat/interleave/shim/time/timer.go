// Package time stands for std's time in code that was rewritten for package interleave. In an explored
// body timers fire when the run chooses; elsewhere they are std's.
package time

import (
	"reflect"
	"time"

	"github.com/escapement-go/escapement/internal/sched"
)

// Timer is std's.
type Timer struct {
	C <-chan Time

	std   *time.Timer  // of a timer that was made elsewhere
	timer *sched.Timer // of one that was made in an explored body
	c     chan Time
}

// Sleep is std's.
func Sleep(d Duration) {
	if g := sched.Self(); g != nil {
		g.Sleep(d)
		return
	}
	time.Sleep(d)
}

// After is std's.
func After(d Duration) <-chan Time { return NewTimer(d).C }

// Tick is std's.
func Tick(d Duration) <-chan Time {
	if d <= 0 {
		return nil
	}
	return NewTicker(d).C
}

// NewTimer is std's.
func NewTimer(d Duration) *Timer {
	g := sched.Self()
	if g == nil {
		std := time.NewTimer(d)
		return &Timer{C: std.C, std: std}
	}
	t := &Timer{c: make(chan Time, 1)}
	t.C = t.c
	t.timer = g.NewTimer(false, func() { tell(t.c) })
	t.timer.Channel = reflect.ValueOf(t.c).Pointer()
	t.timer.Start(g, d)
	return t
}

// tell sends the time to a channel that has room for it.
func tell(c chan<- Time) {
	select {
	case c <- time.Now():
	default:
	}
}

// AfterFunc is std's.
func AfterFunc(d Duration, f func()) *Timer {
	g := sched.Self()
	if g == nil {
		return &Timer{std: time.AfterFunc(d, f)}
	}
	t := &Timer{timer: g.NewTimer(true, f)}
	t.timer.Start(g, d)
	return t
}

// Stop is std's.
func (t *Timer) Stop() bool {
	if t.std != nil {
		return t.std.Stop()
	}
	if t.timer == nil {
		panic("time: Stop called on uninitialized Timer")
	}
	if g := sched.Self(); g != nil {
		g.Point("Timer.Stop", t.timer)
	}
	return t.stop()
}

// stop also takes back what was sent and not received.
func (t *Timer) stop() bool {
	select {
	case <-t.c:
		return true
	default:
		return t.timer.Stop()
	}
}

// Reset is std's.
func (t *Timer) Reset(d Duration) bool {
	if t.std != nil {
		return t.std.Reset(d)
	}
	if t.timer == nil {
		panic("time: Reset called on uninitialized Timer")
	}
	g := sched.Self()
	if g == nil {
		return false
	}
	g.Point("Timer.Reset", t.timer)
	was := t.stop()
	t.timer.Start(g, d)
	return was
}

// Ticker is std's.
type Ticker struct {
	C <-chan Time

	std   *time.Ticker
	timer *sched.Timer
	c     chan Time
}

// NewTicker is std's.
func NewTicker(d Duration) *Ticker {
	g := sched.Self()
	if g == nil || d <= 0 {
		std := time.NewTicker(d)
		return &Ticker{C: std.C, std: std}
	}
	t := &Ticker{c: make(chan Time, 1)}
	t.C = t.c
	t.timer = g.NewTimer(false, func() { tell(t.c) })
	t.timer.Period = d
	t.timer.Channel = reflect.ValueOf(t.c).Pointer()
	t.timer.Unread = func() bool { return len(t.c) > 0 }
	t.timer.Start(g, d)
	return t
}

// Stop is std's.
func (t *Ticker) Stop() {
	switch g := sched.Self(); {
	case t.std != nil:
		t.std.Stop()
	case t.timer != nil:
		if g != nil {
			g.Point("Ticker.Stop", t.timer)
		}
		t.drain()
		t.timer.Stop()
	}
}

func (t *Ticker) drain() {
	select {
	case <-t.c:
	default:
	}
}

// Reset is std's.
func (t *Ticker) Reset(d Duration) {
	if d <= 0 {
		panic("non-positive interval for Ticker.Reset")
	}
	if t.std != nil {
		t.std.Reset(d)
		return
	}
	if t.timer == nil {
		panic("time: Reset called on uninitialized Ticker")
	}
	if g := sched.Self(); g != nil {
		g.Point("Ticker.Reset", t.timer)
		t.drain()
		t.timer.Period = d
		t.timer.Start(g, d)
	}
}
