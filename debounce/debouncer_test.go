package debounce

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

// recorder notes when which value fired.
type recorder struct {
	c     *handClock
	start time.Time
	fires []string
	do    func(int) // what the callback does; may be nil
}

func (r *recorder) f(v int) {
	r.fires = append(r.fires, fmt.Sprintf("%d@%v", v, r.c.now.Sub(r.start)))
	if r.do != nil {
		r.do(v)
	}
}

func (r *recorder) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(r.fires, want) {
		t.Errorf("fires = %v, want %v", r.fires, want)
	}
}

func newHand(wait time.Duration) (*Debouncer[int], *handClock, *recorder) {
	c := newHandClock()
	r := &recorder{c: c, start: c.now}
	return New(wait, r.f, WithClock(c)), c, r
}

func (c *handClock) to(d time.Duration) {
	c.advance(d)
	c.release()
}

func TestNew_panics(t *testing.T) {
	for _, tt := range []struct {
		wait time.Duration
		f    func(int)
		want string
	}{
		{-time.Second, func(int) {}, "debounce: New: wait -1s must be >= 0: use 0 to fire with each call"},
		{math.MinInt64, func(int) {}, "debounce: New: wait -2562047h47m16.854775808s must be >= 0: use 0 to fire with each call"},
		{time.Second, nil, "debounce: New: f must not be nil"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, tt.want) {
					t.Errorf("New(%v, f) panicked with %q, want %q", tt.wait, got, tt.want)
				}
			}()
			New(tt.wait, tt.f)
		})
	}
}

func TestDebouncer_zeroValue(t *testing.T) {
	var d Debouncer[int]
	if d.Cancel() || d.Flush() || d.Pending() {
		t.Error("a zero Debouncer has something pending")
	}
	d.Stop()
	defer func() {
		if got, want := recover(), "debounce: Call: zero Debouncer: use New"; got != want {
			t.Errorf("Call on a zero Debouncer panicked with %v, want %q", got, want)
		}
		d.Stop() // The lock is free.
	}()
	d.Call(1)
}

// A call during a burst moves the deadline, and nothing else.
func TestDebouncer_armsLazily(t *testing.T) {
	d, c, r := newHand(100 * ms)
	for v := range 101 { // the last one at 100ms
		d.Call(v)
		if v < 100 {
			c.to(1 * ms)
		}
	}
	if c.armed != 2 {
		t.Errorf("101 calls in 100ms armed the timer %d times, want 2", c.armed)
	}
	c.to(time.Hour)
	r.check(t, "100@200ms")
	if c.next() != nil {
		t.Errorf("idle with a timer armed")
	}
}

// The timer's function starts, and only then gets the lock after what follows
// it at the same instant.
func TestDebouncer_lateTimer(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*Debouncer[int])
		want []string
	}{
		{"nothing", func(*Debouncer[int]) {}, []string{"1@100ms"}},
		{"call", func(d *Debouncer[int]) { d.Call(2) }, []string{"2@200ms"}},
		{"cancel", func(d *Debouncer[int]) { d.Cancel() }, nil},
		{"cancel and call", func(d *Debouncer[int]) { d.Cancel(); d.Call(2) }, []string{"2@200ms"}},
		{"flush", func(d *Debouncer[int]) { d.Flush() }, []string{"1@100ms"}},
		{"flush and call", func(d *Debouncer[int]) { d.Flush(); d.Call(2) }, []string{"1@100ms", "2@200ms"}},
		{"stop", func(d *Debouncer[int]) { d.Stop(); d.Call(2) }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, c, r := newHand(100 * ms)
			d.Call(1)
			c.advance(100 * ms)
			tt.do(d)
			c.release()
			c.to(time.Hour)
			r.check(t, tt.want...)
		})
	}
}

func TestDebouncer_callback(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*Debouncer[int], *handClock) // what f(1) does
		want []string
	}{
		{"calls", func(d *Debouncer[int], _ *handClock) { d.Call(2) }, []string{"1@100ms", "2@200ms"}},
		{"calls and takes long", func(d *Debouncer[int], c *handClock) { d.Call(2); c.to(250 * ms) }, []string{"1@100ms", "2@350ms"}},
		{"calls late", func(d *Debouncer[int], c *handClock) { c.to(250 * ms); d.Call(2); c.to(40 * ms) }, []string{"1@100ms", "2@450ms"}},
		{"calls and cancels", func(d *Debouncer[int], _ *handClock) { d.Call(2); d.Cancel() }, []string{"1@100ms"}},
		{"calls and flushes", func(d *Debouncer[int], _ *handClock) { d.Call(2); d.Flush() }, []string{"1@100ms", "2@100ms"}},
		{"calls, flushes, calls", func(d *Debouncer[int], _ *handClock) { d.Call(2); d.Flush(); d.Call(3) }, []string{"1@100ms", "2@100ms", "3@200ms"}},
		{"calls and stops", func(d *Debouncer[int], _ *handClock) { d.Call(2); d.Stop(); d.Call(3) }, []string{"1@100ms"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, c, r := newHand(100 * ms)
			r.do = func(v int) {
				if v == 1 {
					tt.do(d, c)
				}
			}
			d.Call(1)
			c.to(100 * ms)
			c.to(time.Hour)
			r.check(t, tt.want...)
		})
	}
}

// The timer's function gets the lock while Flush is running the callback.
func TestDebouncer_lateTimerDuringFlush(t *testing.T) {
	d, c, r := newHand(100 * ms)
	r.do = func(v int) {
		c.release()
		if v == 1 {
			d.Call(2)
			c.to(150 * ms)
			r.fires = append(r.fires, "f(1) ends")
		}
	}
	d.Call(1)
	c.advance(100 * ms)
	d.Flush()
	c.to(time.Hour)
	r.check(t, "1@100ms", "f(1) ends", "2@250ms")
}

func TestDebouncer_disarms(t *testing.T) {
	d, c, _ := newHand(100 * ms)
	for name, end := range map[string]func(){
		"Cancel": func() { d.Cancel() },
		"Flush":  func() { d.Flush() },
		"firing": func() { c.to(100 * ms) },
	} {
		d.Call(1)
		if end(); c.next() != nil {
			t.Errorf("a timer is armed after %s", name)
		}
	}
	d.Call(1)
	if d.Stop(); c.next() != nil {
		t.Error("a timer is armed after Stop")
	}
}

// A panic reaches the caller of Flush; what the callback left behind is not lost.
func TestDebouncer_panic(t *testing.T) {
	d, c, r := newHand(100 * ms)
	r.do = func(v int) {
		if v == 1 {
			d.Call(2)
			d.Flush()
			d.Call(3)
			panic("from f")
		}
	}
	d.Call(1)
	func() {
		defer func() {
			if got := recover(); got != "from f" {
				t.Errorf("Flush panicked with %v, want %q", got, "from f")
			}
		}()
		d.Flush()
	}()
	c.to(0)
	r.check(t, "1@0s", "2@0s")
	c.to(100 * ms)
	r.check(t, "1@0s", "2@0s", "3@100ms")
	d.Call(4)
	c.to(100 * ms)
	r.check(t, "1@0s", "2@0s", "3@100ms", "4@200ms")
	d.Stop()
}

// A call after the panic does not hold up what was due before.
func TestDebouncer_callAfterPanic(t *testing.T) {
	d, c, r := newHand(100 * ms)
	r.do = func(v int) {
		if v == 1 {
			d.Call(2)
			d.Flush()
			panic("from f")
		}
	}
	d.Call(1)
	func() {
		defer func() { recover() }()
		d.Flush()
	}()
	d.Call(3)
	c.to(0)
	r.check(t, "1@0s", "2@0s")
	c.to(100 * ms)
	r.check(t, "1@0s", "2@0s", "3@100ms")
}

func TestDebouncer_waitZero(t *testing.T) {
	d, c, r := newHand(0)
	r.do = func(v int) {
		if v < 3 {
			d.Call(v + 1) // runs after f(v), not in it
			r.fires = append(r.fires, fmt.Sprintf("/%d pending %v", v, d.Pending()))
		}
	}
	d.Call(1)
	r.check(t, "1@0s", "/1 pending true", "2@0s", "/2 pending true", "3@0s")
	if c.armed != 0 {
		t.Errorf("the timer was armed %d times, want 0", c.armed)
	}
	if d.Cancel() || d.Flush() || d.Pending() {
		t.Error("something is pending after Call")
	}
}

// The longest wait there is must not overflow into the shortest.
func TestDebouncer_longestWait(t *testing.T) {
	d, c, r := newHand(math.MaxInt64)
	d.Call(1)
	c.to(time.Hour)
	d.Call(2)
	c.to(math.MaxInt64 - 1)
	r.check(t)
	if !d.Pending() {
		t.Error("the call is lost")
	}
}

// A clock that goes back may delay a firing, by wait at most, but never make it
// early or lose it.
func TestDebouncer_clockGoesBack(t *testing.T) {
	d, c, r := newHand(100 * ms)
	step := func(by time.Duration) {
		c.now, r.start = c.now.Add(by), r.start.Add(by)
		for _, tm := range c.timers {
			if !tm.at.IsZero() {
				tm.at = tm.at.Add(by)
			}
		}
	}
	d.Call(1)
	c.to(50 * ms)
	step(-time.Hour)
	c.to(100 * ms)
	c.to(100 * ms)
	r.check(t, "1@200ms")

	d.Call(2) // at 250ms
	step(-time.Hour)
	c.to(50 * ms)
	d.Call(3)
	c.to(100 * ms)
	r.check(t, "1@200ms", "3@400ms")
}

func TestDebouncer_CallDoesNotAllocate(t *testing.T) {
	for name, opts := range map[string][]Option{"package time": nil, "clock": {WithClock(newHandClock())}} {
		d := New(time.Hour, func(int) {}, opts...)
		d.Call(0)
		if got := testing.AllocsPerRun(100, func() { d.Call(1) }); got != 0 {
			t.Errorf("%s: Call during a burst allocates %v times, want 0", name, got)
		}
		d.Stop()
	}
}
