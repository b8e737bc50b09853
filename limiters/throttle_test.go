package limiters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/jonboulle/clockwork"
)

var epochs = []time.Time{{}, time.Unix(0, 0), t0, time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)}

func TestThrottle(t *testing.T) {
	type ev struct {
		at time.Duration
		ok bool
	}
	for _, tt := range []struct {
		name     string
		interval time.Duration
		k        int
		evs      []ev
	}{
		{"boundary", 100, 1, []ev{{0, true}, {0, false}, {99, false}, {100, true}, {199, false}, {200, true}}},
		{"drops do not extend", 100, 1, []ev{{0, true}, {50, false}, {99, false}, {149, true}, {248, false}, {249, true}}},
		{"first is late", 100, 1, []ev{{1 << 50, true}, {1 << 50, false}}},
		{"interval 0", 0, 1, []ev{{0, true}, {0, true}, {-5, true}, {7, true}}},
		{"1ns", 1, 1, []ev{{0, true}, {0, false}, {1, true}, {1, false}}},
		{"k=3", 100, 3, []ev{{0, true}, {10, true}, {99, true}, {99, false}, {100, true}, {100, true}, {100, true}, {199, false}, {250, true}, {349, true}, {350, true}}},
		{"not on a grid", 100, 2, []ev{{30, true}, {110, true}, {129, false}, {130, true}}},
		{"back a little", 100, 1, []ev{{1000, true}, {950, false}, {1049, false}, {1050, true}}},
		{"back in small steps", 100, 1, []ev{{1000, true}, {950, false}, {900, false}, {999, false}, {1000, true}}},
		{"back by 1ns less", 100, 1, []ev{{1000, true}, {901, false}, {1000, false}, {1001, true}}},
		{"back by interval", 100, 1, []ev{{1000, true}, {900, true}, {999, false}, {1000, true}}},
		{"back, k=2", 100, 2, []ev{{1000, true}, {950, true}, {1049, false}, {1050, true}}},
		{"back, k=2, full", 100, 2, []ev{{1000, true}, {1000, true}, {950, false}, {1049, false}, {1050, true}}},
		{"longest", math.MaxInt64, 1, []ev{{0, true}, {1 << 62, false}, {math.MaxInt64 - 1, false}, {math.MaxInt64, true}}},
		{"far ahead and back", 100, 1, []ev{{0, true}, {math.MaxInt64, true}, {math.MaxInt64, false}, {0, true}, {math.MinInt64, true}, {math.MinInt64 + 99, false}, {math.MinInt64 + 100, true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, start := range epochs {
				h := NewThrottle(tt.interval, PerWindow(tt.k))
				for i, e := range tt.evs {
					if got := h.AllowAt(start.Add(e.at)); got != e.ok {
						t.Errorf("step %d: AllowAt(%v + %d) = %v, want %v", i, start, e.at, got, e.ok)
					}
				}
			}
		})
	}
}

func TestThrottle_zeroValue(t *testing.T) {
	var h Throttle
	for range 3 {
		if !h.Allow() || !h.AllowAt(time.Time{}) {
			t.Error("Allow = false, want true")
		}
	}
	h.Reset()
}

func TestThrottle_panics(t *testing.T) {
	for _, tt := range []struct {
		want string
		f    func()
	}{
		{"limiters: NewThrottle: interval -1ns must be >= 0: use 0 to let everything pass", func() { NewThrottle(-1) }},
		{"limiters: PerWindow: k 0 must be >= 1: to let nothing pass, do not ask", func() { PerWindow(0) }},
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

func TestThrottle_reset(t *testing.T) {
	c := fakeclock.New()
	h := NewThrottle(100*ms, WithClock(c), nil)
	for i, want := range []bool{true, false} {
		if got := h.Allow(); got != want {
			t.Errorf("#%d: Allow = %v, want %v", i, got, want)
		}
	}
	c.Advance(30 * ms)
	h.Reset()
	for _, tt := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, false}, {100*ms - 1, false}, {1, true}} {
		c.Advance(tt.after)
		if got := h.Allow(); got != tt.want {
			t.Errorf("at %v: Allow = %v, want %v", c.Elapsed(), got, tt.want)
		}
	}
}

// passed tells which events pass, by the definition: a window opens with the
// first event that is d or more after the start of the one before, and has room
// for k.
func passed(at []time.Duration, d time.Duration, k int) []bool {
	out := make([]bool, len(at))
	first := -1 // of the window
	for i := range at {
		n := 0
		for j := first; j >= 0 && j < i; j++ {
			if out[j] {
				n++
			}
		}
		if first < 0 || at[i]-at[first] >= d {
			first, n = i, 0
		}
		out[i] = n < k
	}
	return out
}

// The events that pass are those of the specification, at any schedule, through
// the clock and without, and no window of any length has more than its bound.
func TestThrottle_model(t *testing.T) {
	n := prove.Long(3000, 100_000)
	rng := rand.New(rand.NewPCG(1, 2))
	for s := range n {
		d := time.Duration(rng.IntN(20))
		k := 1 + rng.IntN(3)
		start := epochs[rng.IntN(len(epochs))]
		c := fakeclock.New(fakeclock.WithStart(start))
		byClock, byInstant := NewThrottle(d, PerWindow(k), WithClock(c)), NewThrottle(d, PerWindow(k))
		var at []time.Duration
		var got []bool
		for range 20 {
			switch rng.IntN(4) {
			case 0:
				c.Advance(d)
			case 1:
				c.Advance(max(d-1, 0))
			case 2:
				c.Advance(time.Duration(rng.IntN(25)))
			}
			at = append(at, c.Elapsed())
			ok := byClock.Allow()
			if other := byInstant.AllowAt(c.Now()); other != ok {
				t.Fatalf("schedule %d, d=%d k=%d: Allow = %v, AllowAt = %v at %v", s, d, k, ok, other, at)
			}
			got = append(got, ok)
		}
		want := passed(at, d, k)
		if d == 0 {
			for i := range want {
				want[i] = true
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("schedule %d, d=%d k=%d at %v:\ngot  %v\nwant %v", s, d, k, at, got, want)
		}
		for i := range at {
			for j, m := i, 0; j < len(at) && d > 0; j++ {
				if got[j] {
					m++
				}
				bound := k*(int((at[j]-at[i])/d)+1) + k - 1
				if m > bound {
					t.Fatalf("schedule %d: %d passed in %v, want at most %d", s, m, at[j]-at[i], bound)
				}
			}
		}
	}
}

// However the clock is set, an event passes within interval of the first.
func TestThrottle_clockBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		h := NewThrottle(50, PerWindow(1+rng.IntN(2)))
		at := t0
		for range 20 {
			at = at.Add(time.Duration(rng.IntN(300)))
			h.AllowAt(at)
		}
		at = at.Add(-time.Duration(rng.IntN(1000)))
		ok := h.AllowAt(at)
		for e := time.Duration(1); e <= 50; e++ {
			ok = h.AllowAt(at.Add(e)) || ok
		}
		if !ok {
			t.Fatal("nothing passed for an interval")
		}
	}
}

// Whatever the instants, also those centuries apart and before the window, what passes is
// what the documentation says.
func TestThrottle_anyInstants(t *testing.T) {
	const year = 365 * 24 * time.Hour
	rng := rand.New(rand.NewPCG(5, 6))
	for s := range prove.Long(2000, 100_000) {
		d := []time.Duration{1, 50, year, 100 * year, math.MaxInt64}[rng.IntN(5)]
		k := 1 + rng.IntN(3)
		h := NewThrottle(d, PerWindow(k))
		at := []time.Time{{}, t0, time.Now()}[rng.IntN(3)]
		var start time.Time
		count, open := 0, false
		for i := range 20 {
			switch rng.IntN(10) {
			case 0:
				h.Reset()
				open = false
			case 1:
				at = at.Add(time.Duration(rng.Int64()))
			case 2:
				at = at.Add(-time.Duration(rng.Int64()))
			case 3:
				at = at.Add(d)
			case 4:
				at = at.Add(-d)
			default:
				at = at.Add(time.Duration(rng.Int64N(60) - 20))
			}
			gap := at.Sub(start)
			if !open || gap >= d || gap <= -d {
				start, count, open = at, 0, true
			} else if gap < 0 {
				start = at
			}
			want := count < k
			if want {
				count++
			}
			if got := h.AllowAt(at); got != want {
				t.Fatalf("schedule %d, d=%v k=%d: event %d at %v = %v, want %v", s, d, k, i, at, got, want)
			}
		}
	}
}

// tickingClock is a nanosecond later each time it is read.
type tickingClock struct {
	clockwork.Clock
	reads atomic.Int64
}

func (c *tickingClock) Now() time.Time                  { return t0.Add(time.Duration(c.reads.Add(1))) }
func (c *tickingClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Goroutines that open one window after another pass no more than there are windows.
func TestThrottle_windowsOfMany(t *testing.T) {
	const interval, calls = 3, 2000
	for _, k := range []int{1, 2} {
		c := new(tickingClock)
		h := NewThrottle(interval, PerWindow(k), WithClock(c))
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range calls {
					if h.Allow() {
						n.Add(1)
					}
				}
			}()
		}
		wg.Wait()
		if most := int64(k) * (c.reads.Load()/interval + 1); n.Load() > most || n.Load() == 0 {
			t.Errorf("k=%d: %d passed in %dns, want 1 to %d", k, n.Load(), c.reads.Load(), most)
		}
	}
}

func TestThrottle_oneOf(t *testing.T) {
	for _, k := range []int{1, 3} {
		c := fakeclock.New()
		h := NewThrottle(ms, PerWindow(k), WithClock(c))
		for range 200 {
			var n atomic.Int64
			var wg sync.WaitGroup
			for range 8 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					if h.Allow() {
						n.Add(1)
					}
				}()
			}
			wg.Wait()
			if n.Load() != int64(k) {
				t.Fatalf("%d of 8 passed, want %d", n.Load(), k)
			}
			c.Advance(ms)
		}
	}
}

// On the real clock goroutines that compete pass no more than the bound.
func TestThrottle_realClock(t *testing.T) {
	h := NewThrottle(time.Hour)
	var n atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 1000 {
				if h.Allow() {
					n.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	if n.Load() != 1 {
		t.Errorf("%d passed, want 1", n.Load())
	}
}

func TestThrottle_allocs(t *testing.T) {
	h, at := NewThrottle(10), t0
	if n := testing.AllocsPerRun(100, func() { at = at.Add(3); h.AllowAt(at); h.Allow() }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
