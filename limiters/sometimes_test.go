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

func TestSometimes(t *testing.T) {
	for _, tt := range []struct {
		s    *Sometimes
		want string // calls that run, one call every 10ns
	}{
		{&Sometimes{}, "[0]"},
		{&Sometimes{First: -1, Every: -1, Interval: -1}, "[0]"},
		{&Sometimes{First: 3}, "[0 1 2]"},
		{&Sometimes{Every: 1}, "[0 1 2 3 4 5 6 7 8 9]"},
		{&Sometimes{Every: 4}, "[0 4 8]"},
		{&Sometimes{First: 3, Every: 4}, "[0 1 2 4 8]"},
		{&Sometimes{Interval: 30}, "[0 3 6 9]"},
		{&Sometimes{Interval: 31}, "[0 4 8]"},
		{&Sometimes{First: 2, Interval: 30}, "[0 1 4 7]"},
		{&Sometimes{Every: 4, Interval: 30}, "[0 3 4 7 8]"},
	} {
		c := fakeclock.New(fakeclock.WithStart(time.Time{}))
		tt.s.Clock = c
		var got []int
		for i := range 10 {
			tt.s.Do(func() { got = append(got, i) })
			c.Advance(10)
		}
		if fmt.Sprint(got) != tt.want {
			t.Errorf("First %d Every %d Interval %d: ran %v, want %v", tt.s.First, tt.s.Every, tt.s.Interval, got, tt.want)
		}
	}
}

// The calls that run are those of the definition, with functions that take time.
func TestSometimes_model(t *testing.T) {
	n := prove.Long(3000, 100_000)
	rng := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		c := fakeclock.New()
		s := Sometimes{First: rng.IntN(4), Every: rng.IntN(5), Interval: time.Duration(rng.IntN(20)), Clock: c}
		var ends []time.Duration
		for call := range 20 {
			c.Advance(time.Duration(rng.IntN(15)))
			want := call < s.First || s.Every > 0 && call%s.Every == 0 || len(ends) == 0 ||
				s.Interval > 0 && c.Elapsed()-ends[len(ends)-1] >= s.Interval
			ran := false
			s.Do(func() { ran = true; c.Advance(time.Duration(rng.IntN(10))) })
			if ran != want {
				t.Fatalf("schedule %d: call %d ran = %v, want %v", i, call, ran, want)
			}
			if ran {
				ends = append(ends, c.Elapsed())
			}
		}
	}
}

// The function may call Do, and may panic, which counts as a run.
func TestSometimes_noLock(t *testing.T) {
	s := Sometimes{First: 2, Interval: time.Hour}
	n := 0
	s.Do(func() { s.Do(func() { n++; s.Do(func() { n++ }) }); n++ })
	if n != 2 {
		t.Errorf("n = %d, want 2", n)
	}
	s = Sometimes{Interval: time.Hour}
	func() {
		defer func() { recover() }()
		s.Do(func() { panic("oops") })
	}()
	s.Do(func() { t.Error("ran within Interval of a panic") })
}

// Goroutines that call at once lose and repeat no number.
func TestSometimes_concurrent(t *testing.T) {
	for _, tt := range []struct {
		s    *Sometimes
		want int64 // of 800 calls
	}{
		{&Sometimes{}, 1},
		{&Sometimes{First: 5}, 5},
		{&Sometimes{Every: 7}, 115},
		{&Sometimes{First: 3, Every: 100}, 10},
		{&Sometimes{Interval: time.Hour}, 1},
		{&Sometimes{First: 5, Interval: time.Hour}, 5},
		{&Sometimes{Every: 7, Interval: time.Hour}, 115},
	} {
		s := Sometimes{First: tt.s.First, Every: tt.s.Every, Interval: tt.s.Interval}
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 100 {
					s.Do(func() { n.Add(1) })
				}
			}()
		}
		wg.Wait()
		if n.Load() != tt.want {
			t.Errorf("First %d Every %d Interval %d: %d runs, want %d", s.First, s.Every, s.Interval, n.Load(), tt.want)
		}
	}
}

// Runs for the sake of Interval neither overlap nor come too soon.
func TestSometimes_intervalOfMany(t *testing.T) {
	c := new(tickingClock)
	s := Sometimes{Interval: 10, Clock: c}
	var running, n atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 2000 {
				s.Do(func() {
					if running.Add(1) > 1 {
						t.Error("two runs at once")
					}
					n.Add(1)
					running.Add(-1)
				})
			}
		}()
	}
	wg.Wait()
	if most := c.reads.Load()/10 + 1; n.Load() > most || n.Load() < 2 {
		t.Errorf("%d runs in %dns, want 2 to %d", n.Load(), c.reads.Load(), most)
	}
}
