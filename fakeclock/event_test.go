package fakeclock_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock"
)

// withEvents returns a clock and the log of its events: kind, kind of timer,
// deadline since the start, and when it happened.
func withEvents(opts ...fakeclock.Option) (*fakeclock.Clock, *log) {
	happened := &log{}
	var clock *fakeclock.Clock
	hook := func(e fakeclock.Event) {
		begin := e.At.Add(-clock.Elapsed())
		happened.add(clock, fmt.Sprintf("%v %v %d", e.Kind, e.Timer.Kind, e.Timer.Deadline.Sub(begin)))
	}
	clock = fakeclock.New(append(opts, fakeclock.WithEvents(hook))...)
	return clock, happened
}

func TestWithEvents_everyKind(t *testing.T) {
	clock, happened := withEvents()
	timer := clock.NewTimer(5)
	clock.After(6)
	timer.Stop()
	timer.Stop()
	timer.Reset(7)
	happened.want(t, "Timer", "armed Timer 5@0s", "armed After 6@0s", "stopped Timer 5@0s", "reset Timer 7@0s")
	clock.Advance(7)
	happened.want(t, "Advance(7)", "fired After 6@6ns", "fired Timer 7@7ns")
	timer.Stop() // discards the value
	timer.Stop()
	happened.want(t, "Stop unread", "stopped Timer 7@7ns")
	timer.Reset(0)
	clock.NewTimer(-3)
	happened.want(t, "at once", "reset Timer 7@7ns", "fired Timer 7@7ns", "armed Timer 7@7ns", "fired Timer 7@7ns")

	ticker := clock.NewTicker(3)
	clock.Advance(9) // drops two ticks
	ticker.Stop()
	happened.want(t, "Ticker", "armed Ticker 10@7ns", "fired Ticker 10@10ns", "stopped Ticker 19@16ns")
	ticker.Reset(4)
	clock.Advance(4)
	<-ticker.Chan()
	clock.Advance(4)
	ticker.Reset(100)
	ticker.Stop()
	happened.want(t, "Ticker.Reset", "reset Ticker 20@16ns", "fired Ticker 20@20ns", "fired Ticker 24@24ns", "reset Ticker 124@24ns", "stopped Ticker 124@24ns")

	clock.AfterFunc(1, func() {
		happened.add(clock, "runs")
		clock.Sleep(2)
		happened.add(clock, "woke")
	})
	clock.Advance(5)
	happened.want(t, "AfterFunc", "armed AfterFunc 25@24ns", "fired AfterFunc 25@25ns", "runs@25ns", "armed Sleep 27@25ns", "fired Sleep 27@27ns", "woke@27ns")

	release := clock.Hold()
	clock.AfterFunc(1, func() { happened.add(clock, "held") })
	clock.Advance(2)
	release()
	happened.want(t, "Hold", "armed AfterFunc 30@29ns", "fired AfterFunc 30@30ns", "held@31ns")
}

func TestWithEvents_settled(t *testing.T) {
	var settled atomic.Int32
	clock, happened := withEvents(fakeclock.WithSettle(func() { settled.Add(1) }))
	clock.NewTimer(1)
	clock.Advance(1)
	happened.want(t, "Advance(1)", "armed Timer 1@0s", "fired Timer 1@1ns")
	if settled.Load() != 2 {
		t.Errorf("settled %d times, want 2", settled.Load())
	}
}

// The hook may use the clock; what that causes comes after.
func TestWithEvents_hookUsesClock(t *testing.T) {
	var clock *fakeclock.Clock
	happened := &log{}
	var timer clockwork.Timer
	clock = fakeclock.New(fakeclock.WithEvents(func(e fakeclock.Event) {
		happened.add(clock, e.Kind.String()+" "+e.Timer.Kind.String())
		if e.Kind == fakeclock.EventFired && e.Timer.Kind == fakeclock.KindAfterFunc {
			wantBool(t, "Stop() of a fired function", timer.Stop(), false)
			clock.NewTimer(1)
			happened.add(clock, "hook")
		}
	}))
	timer = clock.AfterFunc(3, func() { happened.add(clock, "runs") })
	clock.Advance(9)
	happened.want(t, "Advance(9)", "armed AfterFunc@0s", "fired AfterFunc@3ns", "hook@3ns", "armed Timer@3ns", "runs@3ns", "fired Timer@4ns")
}

// A value is sent before its event, so that Stop in the hook finds it; a
// function starts, and a sleeper wakes, after theirs.
func TestWithEvents_firedBeforeOrAfter(t *testing.T) {
	var clock *fakeclock.Clock
	var timer clockwork.Timer
	var began atomic.Int32
	fired := 0
	clock = fakeclock.New(fakeclock.WithEvents(func(e fakeclock.Event) {
		if e.Kind != fakeclock.EventFired {
			return
		}
		fired++
		if e.Timer.Kind == fakeclock.KindTimer {
			wantBool(t, "Stop() of an unread timer", timer.Stop(), true)
			return
		}
		for range 1000 {
			runtime.Gosched()
		}
		if got := began.Load(); got != int32(fired-1) {
			t.Errorf("%v: %d functions began, want %d", e, got, fired-1)
		}
	}))
	clock.AfterFunc(1, func() {
		began.Add(1)
		clock.Sleep(1)
		began.Add(1)
	})
	clock.AfterFunc(3, func() { began.Add(1) })
	clock.Advance(3)
	timer = clock.NewTimer(1)
	clock.Advance(1)
	wantReceived(t, "stopped in the hook", timer.Chan(), clock.Now(), -1)
	if fired != 4 {
		t.Errorf("%d timers fired, want 4", fired)
	}
}

func TestWithEvents_advanceInHook(t *testing.T) {
	var clock *fakeclock.Clock
	var got any
	clock = fakeclock.New(fakeclock.WithEvents(func(e fakeclock.Event) {
		got = panicOf(func() { clock.Advance(1) })
	}))
	want := "fakeclock: Advance called from the function of WithEvents; return first, and move the clock where the test does"
	clock.NewTimer(1)
	if got != want {
		t.Errorf("in NewTimer: panic text %q, want %q", got, want)
	}
	got = nil
	clock.Advance(1)
	if got != want {
		t.Errorf("in Advance: panic text %q, want %q", got, want)
	}
	wantElapsed(t, clock, 1)
}

func TestWithEvents_hookPanics(t *testing.T) {
	fail := true
	clock := fakeclock.New(fakeclock.WithEvents(func(fakeclock.Event) {
		if fail {
			panic("hook")
		}
	}))
	for what, call := range map[string]func(){
		"NewTimer":  func() { clock.NewTimer(5) },
		"AfterFunc": func() { clock.AfterFunc(0, func() {}) },
		"Sleep":     func() { clock.Sleep(5) },
		"Advance":   func() { clock.Advance(5) },
	} {
		fail = true
		if what == "Advance" {
			fail = false
			clock.NewTimer(5)
			fail = true
		}
		if got := panicOf(call); got != "hook" {
			t.Errorf("%s panicked with %v, want hook", what, got)
		}
		fail = false
		clock.Advance(5) // the clock works on
	}
}

// Events of many goroutines come one at a time and in order: each timer is
// armed before it fires, and at no time earlier than the event before.
func TestWithEvents_concurrent(t *testing.T) {
	var inHook, calls atomic.Int32
	var last time.Time // guarded by the serialization
	armed := 0
	clock := fakeclock.New(fakeclock.WithEvents(func(e fakeclock.Event) {
		if inHook.Add(1) != 1 {
			t.Error("two calls of the hook at once")
		}
		defer inHook.Add(-1)
		calls.Add(1)
		switch e.Kind {
		case fakeclock.EventArmed:
			armed++
		case fakeclock.EventFired, fakeclock.EventStopped:
			armed--
		}
		if armed < 0 {
			t.Errorf("%v: a timer ended before it was armed", e)
		}
		if e.At.Before(last) {
			t.Errorf("%v after %v", e, last)
		}
		last = e.At
	}))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for j := range 100 {
				switch (i + j) % 4 {
				case 0:
					clock.AfterFunc(time.Duration(j), func() { clock.NewTimer(0) })
				case 1:
					clock.After(time.Duration(j))
				case 2:
					clock.Advance(time.Duration(j))
				case 3:
					clock.NewTimer(10000000).Stop()
				}
			}
		}()
	}
	wg.Wait()
	clock.Advance(10000000)
}

func TestEvent_String(t *testing.T) {
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	e := fakeclock.Event{Kind: fakeclock.EventReset, At: at, Timer: fakeclock.Timer{Kind: fakeclock.KindAfterFunc, Deadline: at.Add(time.Second), Site: "p.F f.go:7"}}
	if got, want := e.String(), "2000-01-01 00:00:00 reset AfterFunc due 2000-01-01 00:00:01 (made in p.F f.go:7)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
	if got, want := fakeclock.EventKind(200).String(), "EventKind(200)"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}
