package limiters

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
)

type emission struct {
	at time.Duration
	v  int
}

// emissions are those of events at (in order), by the definition: each follows
// from the one before it, and events at the instant of one come after it. The
// value of an event is its number.
func emissions(edges Edges, d time.Duration, at []time.Duration) []emission {
	var out []emission
	last := -d // nothing before the first event is less than d before it
	for i := 0; i < len(at); {
		t := at[i]
		if edges == Leading {
			if t-last >= d {
				out, last = append(out, emission{t, i}), t
			}
			i++
			continue
		}
		var end time.Duration
		switch {
		case edges == Sample:
			end = at[0] + ((t-at[0])/d+1)*d
		case t-last < d:
			end = last + d
		case edges == Trailing:
			end = t + d
		default: // leading
			out, last = append(out, emission{t, i}), t
			i++
			continue
		}
		for i < len(at) && at[i] < end {
			i++
		}
		out, last = append(out, emission{end, i - 1}), end
	}
	return out
}

var allEdges = []Edges{Leading, Trailing, Leading | Trailing, Sample}

func TestThrottleFunc_model(t *testing.T) {
	n := prove.Long(2000, 100_000)
	for _, edges := range allEdges {
		rng := rand.New(rand.NewPCG(5, uint64(edges)))
		for s := range n {
			d := time.Duration(1 + rng.IntN(20))
			c := fakeclock.New()
			var got []emission
			h := NewThrottleFunc(d, func(v int) { got = append(got, emission{c.Elapsed(), v}) }, edges, WithClock(c))
			var at []time.Duration
			for i := range 15 {
				c.Advance([]time.Duration{0, 1, d - 1, d, d + 1, time.Duration(rng.IntN(50))}[rng.IntN(6)])
				at = append(at, c.Elapsed())
				h.Call(i)
			}
			c.Advance(5 * d)
			if want := emissions(edges, d, at); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("schedule %d, edges %d, d=%d, events at %d:\ngot  %d\nwant %d", s, edges, d, at, got, want)
			}
			if left := c.Timers(); len(left) > 0 {
				t.Fatalf("schedule %d: armed: %v", s, left)
			}
		}
	}
}

func TestThrottleFunc_cancelFlushStop(t *testing.T) {
	c := fakeclock.NewTest(t)
	var got []emission
	h := NewThrottleFunc(100, func(v int) { got = append(got, emission{c.Elapsed(), v}) }, WithClock(c))
	check := func(want ...emission) {
		t.Helper()
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("at %d: got %d, want %d", c.Elapsed(), got, want)
		}
		got = nil
	}
	if h.Flush() || h.Cancel() {
		t.Error("nothing waits: Flush or Cancel = true, want false")
	}
	h.Call(1)
	h.Call(2)
	if !h.Cancel() {
		t.Error("Cancel = false, want true")
	}
	c.Advance(100)
	check(emission{0, 1})
	h.Call(3)
	h.Call(4)
	c.Advance(50)
	if !h.Flush() {
		t.Error("Flush = false, want true")
	}
	h.Call(5) // in the window of the flush: to 250
	c.Advance(99)
	check(emission{100, 3}, emission{150, 4})
	c.Advance(1)
	check(emission{250, 5})
	h.Call(6)
	h.Stop()
	h.Call(7)
	h.Stop()
	if h.Flush() {
		t.Error("Flush after Stop = true, want false")
	}
	c.Advance(1000)
	check()
}

// What falls due while the function runs follows it, opens a window then, and is
// the newest; the function may call every method.
func TestThrottleFunc_slowAndReentrant(t *testing.T) {
	c := fakeclock.New()
	var got []emission
	var h *ThrottleFunc[int]
	h = NewThrottleFunc(100, func(v int) {
		got = append(got, emission{c.Elapsed(), v})
		switch v {
		case 1:
			h.Call(2)
			c.Advance(250)
			h.Call(3)
		case 9:
			h.Call(10)
			h.Stop()
		}
	}, WithClock(c))
	h.Call(1)
	h.Call(4)
	c.Advance(99)
	h.Call(5)
	c.Advance(1)
	c.Advance(100)
	h.Call(9)
	c.Advance(1000)
	want := []emission{{0, 1}, {250, 3}, {350, 5}, {450, 9}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %d, want %d", got, want)
	}
}

func TestThrottleFunc_intervalZero(t *testing.T) {
	for _, edges := range allEdges {
		var got []int
		var h *ThrottleFunc[int]
		h = NewThrottleFunc(0, func(v int) {
			got = append(got, v)
			if v < 3 {
				h.Call(v + 1)
			}
		}, edges, WithClock(fakeclock.New()))
		h.Call(0)
		h.Call(7)
		if want := "[0 1 2 3 7]"; fmt.Sprint(got) != want {
			t.Errorf("edges %d: got %v, want %v", edges, got, want)
		}
	}
}

func TestThrottleFunc_panickingFunction(t *testing.T) {
	c := fakeclock.New()
	var got []int
	h := NewThrottleFunc(100, func(v int) {
		got = append(got, v)
		if v == 1 {
			panic("one")
		}
	}, WithClock(c))
	func() {
		defer func() {
			if r := recover(); r != "one" {
				t.Errorf("recovered %v, want one", r)
			}
		}()
		h.Call(1)
	}()
	h.Call(2)
	c.Advance(100)
	h.Stop()
	if fmt.Sprint(got) != "[1 2]" {
		t.Errorf("got %v, want [1 2]", got)
	}
}

func TestThrottleFunc_panics(t *testing.T) {
	f := func(int) {}
	for _, tt := range []struct {
		want string
		f    func()
	}{
		{"limiters: NewThrottleFunc: interval -1s must be >= 0: use 0 to run every event", func() { NewThrottleFunc(-time.Second, f) }},
		{"limiters: NewThrottleFunc: f must not be nil: pass the function to run", func() { NewThrottleFunc[int](1, nil) }},
		{"limiters: NewThrottleFunc: edges 5: use Leading, Trailing, Leading|Trailing or Sample", func() { NewThrottleFunc(1, f, Sample|Leading) }},
		{"limiters: NewThrottleFunc: edges 0: use Leading, Trailing, Leading|Trailing or Sample", func() { NewThrottleFunc(1, f, Edges(0)) }},
		{"limiters: ThrottleFunc.Call: no function to run: use NewThrottleFunc", func() { new(ThrottleFunc[int]).Call(1) }},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != tt.want {
					t.Errorf("panic %q, want %q", got, tt.want)
				}
			}()
			tt.f()
		}()
	}
}

// Runs never overlap, and after Stop there are none.
// With Leading alone, goroutines that open one window after another run no more than there
// are windows.
func TestThrottleFunc_leadingOfMany(t *testing.T) {
	const interval, calls = 3, 2000
	c := new(tickingClock)
	n := 0 // one run at a time
	h := NewThrottleFunc(interval, func(int) { n++ }, Leading, WithClock(c))
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range calls {
				h.Call(i)
			}
		}()
	}
	wg.Wait()
	h.Stop()
	if most := int(c.reads.Load()/interval + 1); n > most || n < 2 {
		t.Errorf("%d runs in %dns, want 2 to %d", n, c.reads.Load(), most)
	}
}

func TestThrottleFunc_concurrent(t *testing.T) {
	for _, interval := range []time.Duration{0, time.Microsecond} {
		for _, edges := range allEdges {
			var in, runs atomic.Int64
			h := NewThrottleFunc(interval, func(int) {
				if in.Add(1) != 1 {
					t.Error("two runs at a time")
				}
				runs.Add(1)
				in.Add(-1)
			}, edges)
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for k := range 300 {
						h.Call(k)
						if i == 0 && k%50 == 0 {
							h.Flush()
							h.Cancel()
						}
					}
				}()
			}
			wg.Wait()
			h.Stop()
			n := runs.Load()
			if in.Load() != 0 {
				t.Error("running after Stop")
			}
			h.Call(1)
			if runs.Load() != n {
				t.Error("ran after Stop")
			}
		}
	}
}

// A clock that goes back while an event waits delays its run by the interval at most.
// The timer used to be armed again and again, until the clock was where it had been.
func TestThrottleFunc_clockGoesBackWhileOneWaits(t *testing.T) {
	for _, back := range []time.Duration{1, 50 * time.Millisecond, time.Hour} {
		clock := fakeclock.New()
		var ran []time.Duration
		h := NewThrottleFunc(100*time.Millisecond, func(int) { ran = append(ran, clock.Elapsed()) }, Trailing, WithClock(clock))
		h.Call(1)
		clock.Advance(10 * time.Millisecond)
		clock.SetWall(clock.Now().Add(-back))
		clock.Advance(10 * time.Second)
		if len(ran) != 1 || ran[0] > 200*time.Millisecond {
			t.Errorf("set back by %v: ran at %v, want once, by 200ms", back, ran)
		}
		h.Stop()
	}
}
