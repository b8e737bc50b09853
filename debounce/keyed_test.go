package debounce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Each key does what a debouncer of its own would, whatever the others do and
// however often it was let go of in between.
func TestKeyed_isOneDebouncerPerKey(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 3
	}
	for _, v := range variants(100) {
		for seed := range seeds {
			clock := fakeclock.New()
			start := clock.Now()
			rnd := rand.New(rand.NewPCG(2, seed))
			opts := append([]Option{WithClock(clock)}, v.options...)
			var got, want []string
			log := func(to *[]string) func(string, int) {
				return func(k string, v int) { *to = append(*to, fmt.Sprintf("%s %d@%d", k, v, clock.Since(start))) }
			}
			logWant := log(&want)
			keyed := NewKeyed(v.wait, log(&got), opts...)
			single := map[string]*Debouncer[int]{}
			keys := []string{"a", "b", "c"}
			if seed%2 == 1 { // so many that they inherit each other's entries
				for k := range 2 * rests {
					keys = append(keys, fmt.Sprint(k))
				}
			}
			for _, k := range keys {
				single[k] = New(v.wait, func(v int) { logWant(k, v) }, opts...)
			}
			for i := range 100 + 10*len(keys) {
				clock.Advance([]time.Duration{0, 1, 20, 50, 99, 100, 101, 300}[rnd.IntN(8)])
				k := keys[rnd.IntN(len(keys))]
				switch rnd.IntN(8) {
				case 0:
					got = append(got, fmt.Sprintf("cancel %v", keyed.Cancel(k)))
					want = append(want, fmt.Sprintf("cancel %v", single[k].Cancel()))
				case 1:
					got = append(got, fmt.Sprintf("flush %v", keyed.Flush(k)))
					want = append(want, fmt.Sprintf("flush %v", single[k].Flush()))
				default:
					if err := keyed.Call(k, i); err != nil {
						t.Fatal(err)
					}
					single[k].Call(i)
				}
				got = append(got, fmt.Sprintf("pending %v", keyed.Pending(k)))
				want = append(want, fmt.Sprintf("pending %v", single[k].Pending()))
			}
			clock.Advance(time.Hour)
			// Two keys that fire at one instant have no order.
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, seed %d: got\n%q\nwant\n%q", v.name, seed, got, want)
			}
			if n, armed := keyed.Len(), len(clock.Timers()); n != 0 || armed != 0 {
				t.Errorf("%s, seed %d: %d keys are held and %d timers armed after an hour of silence", v.name, seed, n, armed)
			}
		}
	}
}

// Whoever comes back finds nothing of the burst before, nor whoever inherits its entry,
// also when the clock has gone back behind its end.
func TestKeyed_restsAsNew(t *testing.T) {
	for name, key := range map[string]func(i int) int{
		"the same key": func(int) int { return 0 },
		"another key":  func(i int) int { return i },
	} {
		c := newHandClock()
		var fired []int
		d := NewKeyed(100*ms, func(_, v int) { fired = append(fired, v) }, WithClock(c), Leading())
		const bursts = 3 * rests
		for i := range bursts {
			_ = d.Call(key(i), i)
			c.to(100 * ms)
			if n := d.Len(); n != 0 {
				t.Fatalf("%s: after burst %d, %d keys are held, want 0", name, i, n)
			}
			c.now = c.now.Add(-150 * ms)
		}
		if len(fired) != bursts {
			t.Errorf("%s: %d of %d bursts fired", name, len(fired), bursts)
		}
		if got := len(d.known); got > rests {
			t.Errorf("%s: %d keys are remembered, want at most %d", name, got, rests)
		}
	}
}

// What is asked of a key that is not held is not answered by who inherited its entry.
func TestKeyed_askedOfThoseLetGo(t *testing.T) {
	c := fakeclock.New()
	d := NewKeyed(100, func(int, int) {}, WithClock(c), MaxKeys(2*rests))
	for k := range rests {
		_ = d.Call(k, 0)
		d.Cancel(k)
	}
	for k := range 2 * rests {
		if err := d.Call(rests+k, 0); err != nil {
			t.Fatalf("Call = %v with %d keys held", err, d.Len())
		}
	}
	if err := d.Call(0, 0); !errors.Is(err, ErrTooManyKeys) {
		t.Errorf("Call of a key at rest = %v with %d keys held, want ErrTooManyKeys", err, d.Len())
	}
	for k := range rests {
		if d.Cancel(k) || d.Flush(k) || d.Pending(k) {
			t.Errorf("something is pending of key %d", k)
		}
	}
	if n := d.Len(); n != 2*rests {
		t.Errorf("%d keys are held, want %d", n, 2*rests)
	}
}

// A call that comes when the one before has fired, and nobody knows yet that nothing is left
// of it, keeps its key.
func TestKeyed_calledBeforeItIsLetGo(t *testing.T) {
	for name, opt := range map[string]Option{"trailing": nil, "leading": Leading()} {
		c := fakeclock.New()
		var fired []int
		d := NewKeyed(100, func(_, v int) { fired = append(fired, v) }, WithClock(c), opt)
		_ = d.Call(1, 1)
		e := d.known[1]
		idle := e.idle
		e.idle = func() {
			e.idle = idle
			_ = d.Call(1, 2)
			idle()
		}
		if c.Advance(100); d.Len() != 1 {
			t.Errorf("%s: %d keys are held, want 1", name, d.Len())
		}
		if c.Advance(100); d.Len() != 0 || !slices.Equal(fired, []int{1, 2}) {
			t.Errorf("%s: fired %v, %d keys are held, want 1 and 2, and 0", name, fired, d.Len())
		}
	}
}

// Of those that are let go of at once no more than rests are remembered.
func TestKeyed_remembersFew(t *testing.T) {
	c := fakeclock.New()
	d := NewKeyed(100, func(int, int) {}, WithClock(c))
	for range 3 {
		for k := range 3 * rests {
			_ = d.Call(k, 1)
		}
		if c.Advance(100); len(d.known) != rests || d.Len() != 0 {
			t.Errorf("%d keys are remembered, %d held, want %d and 0", len(d.known), d.Len(), rests)
		}
	}
}

// Stop waits for callbacks also if that of another debouncer calls it.
func TestKeyed_stoppedByAnother(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		d := NewKeyed(100*ms, func(string, int) {
			time.Sleep(time.Second)
			j.log("ended")
		})
		other := NewKeyed(200*ms, func(string, int) {
			d.Stop()
			j.log("stopped")
		})
		_ = d.Call("a", 1)
		_ = other.Call("a", 1)
		synctestcompat.Sleep(time.Hour)
		j.check(t, "1.1s: ended", "1.1s: stopped")
	})
}

// Close lets go of keys of which nothing is pending. It used to leave them, with a timer, until
// their bursts were over.
func TestKeyed_CloseOfLeading(t *testing.T) {
	c := fakeclock.New()
	for _, opt := range []Option{Leading(), LeadingAndTrailing()} {
		d := NewKeyed(time.Hour, func(int, int) {}, opt, WithClock(c))
		_ = d.Call(1, 1)
		if err := d.Close(context.Background()); err != nil || d.Len() != 0 || len(c.Timers()) != 0 {
			t.Errorf("Close() = %v, %d keys are held and %d timers armed, want none", err, d.Len(), len(c.Timers()))
		}
	}
}

// A panic leaves nothing locked.
func TestKeyed_zeroPanics(t *testing.T) {
	var zero Keyed[int, int]
	func() {
		defer func() {
			if got, want := recover(), "debounce: Call: zero Keyed: use NewKeyed"; got != want {
				t.Errorf("panic %v, want %v", got, want)
			}
		}()
		_ = zero.Call(1, 1)
	}()
	if zero.Len() != 0 || zero.Pending(1) {
		t.Error("a zero Keyed holds something")
	}
}

// However goroutines and timers meet, a key gets its own values.
func TestKeyed_ownValues(t *testing.T) {
	const keys = 3 * rests
	var fired, wrong atomic.Int64
	d := NewKeyed(time.Microsecond, func(k, v int) {
		fired.Add(1)
		if v%keys != k {
			wrong.Add(1)
		}
	})
	calls := 10_000
	if testing.Short() {
		calls = 1000
	}
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rnd := rand.New(rand.NewPCG(5, g))
			for i := range calls {
				k := rnd.IntN(keys)
				_ = d.Call(k, i*keys+k)
				switch k = rnd.IntN(keys); i % 4 {
				case 0:
					d.Cancel(k)
				case 1:
					d.Flush(k)
				case 2:
					d.Pending(k)
				}
			}
		}()
	}
	wg.Wait()
	if err := d.Close(context.Background()); err != nil || d.Len() != 0 {
		t.Errorf("Close() = %v, %d keys are held", err, d.Len())
	}
	if fired.Load() == 0 || wrong.Load() > 0 {
		t.Errorf("%d of %d values were of another key", wrong.Load(), fired.Load())
	}
}

// A key is held only while it makes a difference.
func TestKeyed_letsGo(t *testing.T) {
	for name, tt := range map[string]struct {
		opt   Option
		until time.Duration
	}{
		"trailing": {nil, 100},
		"leading":  {Leading(), 100},
		"both":     {LeadingAndTrailing(), 100},
		"bound":    {MaxWait(30), 30},
	} {
		clock := fakeclock.New()
		d := NewKeyed(100, func(int, int) {}, WithClock(clock), tt.opt)
		for k := range 1000 {
			if err := d.Call(k, 0); err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(tt.until - 1)
		if got := d.Len(); got != 1000 {
			t.Errorf("%s: 1ns before the end of the bursts, %d keys are held, want 1000", name, got)
		}
		clock.Advance(1)
		if got := d.Len(); got != 0 {
			t.Errorf("%s: at the end of the bursts, %d keys are held, want 0", name, got)
		}
		_ = d.Call(1, 1)
		d.Cancel(1)
		if got := d.Len(); got != 0 {
			t.Errorf("%s: after Cancel %d keys are held, want 0", name, got)
		}
	}
}

func TestKeyed_MaxKeys(t *testing.T) {
	clock := fakeclock.New()
	var fired []string
	d := NewKeyed(100, func(k string, v int) { fired = append(fired, fmt.Sprint(k, v)) }, WithClock(clock), MaxKeys(2))
	for _, tt := range []struct {
		key  string
		want error
	}{{"a", nil}, {"b", nil}, {"c", ErrTooManyKeys}, {"a", nil}} {
		if err := d.Call(tt.key, 1); !errors.Is(err, tt.want) {
			t.Errorf("Call(%s) = %v, want %v", tt.key, err, tt.want)
		}
		clock.Advance(20)
	}
	clock.Advance(50)
	if err := d.Call("c", 2); err != nil { // b has fired
		t.Errorf("Call(c) = %v, want nil", err)
	}
	clock.Advance(time.Hour)
	if want := []string{"b1", "a1", "c2"}; !slices.Equal(fired, want) {
		t.Errorf("fired %v, want %v", fired, want)
	}
}

func TestKeyed_MaxKeys_one(t *testing.T) {
	d := NewKeyed(100, func(string, int) {}, WithClock(fakeclock.New()), MaxKeys(1))
	if err := d.Call("a", 1); err != nil {
		t.Errorf("Call(a) = %v, want nil", err)
	}
	if err := d.Call("b", 1); !errors.Is(err, ErrTooManyKeys) {
		t.Errorf("Call(b) = %v, want ErrTooManyKeys", err)
	}
}

func TestKeyed_Stop(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		d := NewKeyed(100*ms, func(k string, v int) {
			j.log("%s%d begins", k, v)
			time.Sleep(time.Second)
			j.log("%s%d ends", k, v)
		})
		_ = d.Call("a", 1)
		time.Sleep(50 * ms)
		_ = d.Call("b", 2)
		synctestcompat.Sleep(60 * ms)
		d.Stop()
		j.log("stopped, %d held", d.Len())
		if err := d.Call("c", 3); err != nil || d.Cancel("c") || d.Flush("b") || d.Pending("b") {
			t.Errorf("after Stop something is pending, or Call() = %v", err)
		}
		synctestcompat.Sleep(time.Hour)
		j.check(t, "100ms: a1 begins", "1.1s: a1 ends", "1.1s: stopped, 0 held")
	})
}

// Two callbacks that stop or close the Keyed do not wait for each other.
func TestKeyed_endedByCallbacks(t *testing.T) {
	for name, end := range map[string]func(*Keyed[string, int]){
		"Stop":  (*Keyed[string, int]).Stop,
		"Close": func(d *Keyed[string, int]) { _ = d.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctestcompat.Run(t, func(t *testing.T) {
				ran := make(chan string, 8)
				var d *Keyed[string, int]
				d = NewKeyed(100*ms, func(k string, _ int) {
					time.Sleep(time.Second)
					end(d)
					ran <- k
				})
				_ = d.Call("a", 1)
				_ = d.Call("b", 1)
				synctestcompat.Sleep(time.Hour)
				if len(ran) != 2 || d.Len() != 0 {
					t.Errorf("%d callbacks have returned, %d keys are held, want 2 and 0", len(ran), d.Len())
				}
			})
		})
	}
}

func TestKeyed_Close(t *testing.T) {
	clock := fakeclock.New()
	fired := map[string]int{}
	d := NewKeyed(100, func(k string, v int) { fired[k] += v }, WithClock(clock))
	_ = d.Call("a", 1)
	_ = d.Call("b", 2)
	if err := d.Close(context.Background()); err != nil || fired["a"] != 1 || fired["b"] != 2 || d.Len() != 0 {
		t.Errorf("Close() = %v, fired %v, %d held", err, fired, d.Len())
	}
}

// A key that is not equal to itself would be held for ever: it is refused, as
// limiters.Keyed refuses it.
func TestKeyed_NaN(t *testing.T) {
	clock := fakeclock.New()
	d := NewKeyed(100, func(float64, int) {}, WithClock(clock))
	func() {
		defer func() {
			want := "debounce: Keyed.Call: key NaN is not equal to itself, so it would be new each time: use another"
			if got := recover(); got != want {
				t.Errorf("panic %v, want %v", got, want)
			}
		}()
		_ = d.Call(math.NaN(), 1)
	}()
	clock.Advance(time.Hour)
	if d.Len() != 0 || d.Cancel(math.NaN()) || d.Flush(math.NaN()) || d.Pending(math.NaN()) {
		t.Errorf("%d keys are held, or something is pending", d.Len())
	}
}

// Close tries all keys, whatever became of the first; each key that is held has a timer.
func TestKeyed_CloseTriesAll(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		j := newJournal()
		d := NewKeyed(100*ms, func(k string, _ int) {
			j.log("%s", k)
			time.Sleep(time.Second)
		})
		_ = d.Call("a", 1)
		time.Sleep(1 * ms)
		_ = d.Call("b", 1)
		synctestcompat.Sleep(100 * ms)
		_ = d.Call("c", 1)
		_ = d.Call("d", 1)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := d.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Close() = %v while two callbacks run, want context.Canceled", err)
		}
		synctestcompat.Sleep(time.Hour)
		for i, line := range j.lines {
			_, j.lines[i], _ = strings.Cut(line, ": ") // of c and d either may be first
		}
		slices.Sort(j.lines)
		j.check(t, "a", "b", "c", "d")
	})

	clock := fakeclock.New()
	d := NewKeyed(100, func(int, int) {}, WithClock(clock))
	for k := range 3 {
		_ = d.Call(k, 1)
		_ = d.Call(k, 2)
	}
	if got := len(clock.Timers()); got != 3 {
		t.Errorf("%d timers are armed for three keys, want 3", got)
	}
	d.Stop()
	if got := len(clock.Timers()); got != 0 {
		t.Errorf("%d timers are armed after Stop, want 0", got)
	}
}

// Keys are closed in any order: the error of one is not lost for the success of another.
func TestKeyed_CloseKeepsTheError(t *testing.T) {
	synctestcompat.Run(t, func(t *testing.T) {
		for range 20 {
			d := NewKeyed(100*ms, func(k string, _ int) {
				if k == "runs" {
					time.Sleep(time.Second)
				}
			})
			_ = d.Call("runs", 1)
			synctestcompat.Sleep(100 * ms)
			_ = d.Call("waits", 1)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := d.Close(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Close() = %v while a callback runs, want context.Canceled", err)
			}
			synctestcompat.Sleep(time.Second)
		}
	})
}

// Len may be called while keys come and go.
func TestKeyed_LenBesideCalls(t *testing.T) {
	d := NewKeyed(time.Hour, func(int, int) {}, WithClock(fakeclock.New()))
	var calls sync.WaitGroup
	for k := range 4 {
		calls.Add(1)
		go func() {
			defer calls.Done()
			for range 100 {
				_ = d.Call(k, 1)
				d.Cancel(k)
			}
		}()
	}
	for range 100 {
		if n := d.Len(); n < 0 || n > 4 {
			t.Errorf("Len() = %d of four keys", n)
		}
	}
	calls.Wait()
}
