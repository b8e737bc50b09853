package debounce

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
)

// A leading debouncer goes by the time of the calls alone.
func TestLeading_armsNothing(t *testing.T) {
	c := newHandClock()
	r := &recorder{c: c, start: c.now}
	d := New(100*ms, r.f, WithClock(c), Leading())
	d.Call(1)
	c.to(99 * ms)
	d.Call(2)
	c.to(99 * ms)
	d.Call(3)
	c.to(100 * ms)
	d.Call(4)
	r.check(t, "1@0s", "4@298ms")
	if d.Pending() || d.Flush() || c.armed != 0 {
		t.Errorf("pending %v, timers armed %d, want false and 0", d.Pending(), c.armed)
	}
	if got := testing.AllocsPerRun(100, func() { d.Call(5) }); got != 0 {
		t.Errorf("Call in a burst allocates %v times, want 0", got)
	}
	if got := testing.AllocsPerRun(100, func() { c.to(time.Hour); d.f = func(int) {}; d.Call(5) }); got != 0 {
		t.Errorf("Call that fires allocates %v times, want 0", got)
	}
}

// A clock that goes back silences a leading debouncer for wait at most.
func TestLeading_clockGoesBack(t *testing.T) {
	c := newHandClock()
	r := &recorder{c: c, start: c.now}
	d := New(100*ms, r.f, WithClock(c), Leading())
	d.Call(1)
	c.now = c.now.Add(-time.Hour)
	d.Call(2)
	c.now = c.now.Add(100 * ms)
	d.Call(3)
	r.check(t, "1@0s", "3@-59m59.9s")
}

// However long the calls go on, the timer is armed once for each fire.
func TestMaxWait_armsLazily(t *testing.T) {
	c := newHandClock()
	r := &recorder{c: c, start: c.now}
	d := New(100*ms, r.f, WithClock(c), MaxWait(250*ms))
	for v := range 51 {
		d.Call(v)
		c.to(10 * ms)
	}
	r.check(t, "24@250ms", "49@500ms") // 25 comes at the tie, after the timer
	if c.armed > 8 {
		t.Errorf("armed %d times for 51 calls, want no more than once a wait", c.armed)
	}
	c.to(time.Hour)
	r.check(t, "24@250ms", "49@500ms", "50@600ms")
}

func TestOptions_panic(t *testing.T) {
	for want, f := range map[string]func(){
		"debounce: MaxWait: 0s must be > 0; leave the option out for no bound":     func() { MaxWait(0) },
		"debounce: MaxSize: 0 must be > 0; leave the option out for no bound":      func() { MaxSize(0) },
		"debounce: MaxDelay: 0s must be > 0; leave the option out for no bound":    func() { MaxDelay(0) },
		"debounce: MaxKeys: -1 must be > 0; leave the option out for no bound":     func() { MaxKeys(-1) },
		"debounce: NewBatch: f must not be nil: pass the function to run":          func() { NewBatch[int](1, nil) },
		"debounce: NewKeyed: f must not be nil: pass the function to run":          func() { NewKeyed[int, int](1, nil) },
		"debounce: NewKeyed: wait -1ns must be >= 0: use 0 to fire with each call": func() { NewKeyed(-1, func(int, int) {}) },
		"debounce: Stream: wait -1ns must be >= 0: use 0 to fire with each call":   func() { Stream[int](t.Context(), nil, -1, nil) },
		"debounce: Call: zero Keyed: use NewKeyed":                                 func() { _ = new(Keyed[int, int]).Call(1, 1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

// What fires while the callback runs is run after it, on its goroutine.
func TestLeading_whileRunning(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		d := New(100*ms, func(v int) {
			j.log("f(%d) begins", v)
			time.Sleep(150 * ms)
			j.log("f(%d) ends", v)
		}, LeadingAndTrailing())
		go d.Call(1)
		synctestcompat.Sleep(20 * ms)
		d.Call(2) // due at 120ms
		synctestcompat.Sleep(105 * ms)
		j.log("pending %v", d.Pending())
		synctestcompat.Sleep(time.Hour)
		d.Stop()
		j.check(t, "0s: f(1) begins", "125ms: pending true", "150ms: f(1) ends", "150ms: f(2) begins", "300ms: f(2) ends")
	})
}
