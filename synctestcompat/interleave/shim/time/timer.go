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
	timer, c := teller(g)
	timer.Start(g, d)
	return &Timer{C: c, timer: timer, c: c}
}

// teller returns a timer that sends the time to a channel, if that has room for it.
func teller(g *sched.G) (*sched.Timer, chan Time) {
	c := make(chan Time, 1)
	timer := g.NewTimer(false, func() {
		select {
		case c <- time.Now():
		default:
		}
	})
	timer.Channel = reflect.ValueOf(c).Pointer()
	return timer, c
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
	return stop(t.timer, t.c)
}

// stop also takes back what was sent and not received.
func stop(timer *sched.Timer, c <-chan Time) bool {
	select {
	case <-c:
		timer.Stop() // of a ticker
		return true
	default:
		return timer.Stop()
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
	was := stop(t.timer, t.c)
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
	timer, c := teller(g)
	timer.Period = d
	timer.Unread = func() bool { return len(c) > 0 }
	timer.Start(g, d)
	return &Ticker{C: c, timer: timer, c: c}
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
		stop(t.timer, t.c)
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
		stop(t.timer, t.c)
		t.timer.Period = d
		t.timer.Start(g, d)
	}
}
