package limiters

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
)

// window is what the limiters by windows have in common.
type window interface {
	Allow() bool
	AllowN(t time.Time, n int) bool
	Remaining() int
	RemainingAt(t time.Time) int
	Limit() int
	Window() time.Duration
	Fresh() bool
}

var windowKinds = []struct {
	name string
	make func(limit int, window time.Duration, opts ...Option) window
	want func(past []windowEvent, t time.Duration, limit int, window time.Duration) *big.Rat
}{
	{"FixedWindow", func(n int, w time.Duration, o ...Option) window { return NewFixedWindow(n, w, o...) }, roomInWindow},
	{"SlidingLog", func(n int, w time.Duration, o ...Option) window { return NewSlidingLog(n, w, o...) }, roomInLog},
	{"SlidingCounter", func(n int, w time.Duration, o ...Option) window { return NewSlidingCounter(n, w, o...) }, roomInCounter},
}

type windowEvent struct {
	at time.Duration // from the zero time
	n  int
}

// roomInWindow, roomInLog and roomInCounter are the definitions: how many more
// events there is room for at t, after those that were granted.
func roomInWindow(past []windowEvent, t time.Duration, limit int, window time.Duration) *big.Rat {
	room := limit
	for _, e := range past {
		if e.at/window == t/window {
			room -= e.n
		}
	}
	return big.NewRat(int64(room), 1)
}

func roomInLog(past []windowEvent, t time.Duration, limit int, window time.Duration) *big.Rat {
	room := limit
	for _, e := range past {
		if t-e.at < window {
			room -= e.n
		}
	}
	return big.NewRat(int64(room), 1)
}

func roomInCounter(past []windowEvent, t time.Duration, limit int, window time.Duration) *big.Rat {
	room := big.NewRat(int64(limit), 1)
	for _, e := range past {
		switch t/window - e.at/window {
		case 0:
			room.Sub(room, big.NewRat(int64(e.n), 1))
		case 1:
			fade := big.NewRat(int64(window-t%window), int64(window))
			room.Sub(room, fade.Mul(fade, big.NewRat(int64(e.n), 1)))
		}
	}
	return room
}

// Each decides as its definition does, on random histories that meet the edges.
func TestWindows_areTheirDefinitions(t *testing.T) {
	histories := prove.Long(3000, 100_000)
	for _, kind := range windowKinds {
		t.Run(kind.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			for h := range histories {
				limit := 1 + rnd.IntN(5)
				window := []time.Duration{1, 2, 7, 10, time.Second, 333333333}[rnd.IntN(6)]
				w := kind.make(limit, window)
				var past []windowEvent
				at := time.Duration(rnd.Int64N(int64(100 * window)))
				log := fmt.Sprintf("history %d: limit %d, window %d:", h, limit, window)
				for range 40 {
					switch rnd.IntN(8) {
					case 0:
						at += window
					case 1:
						at += window - at%window // the edge
					case 2:
						at += max(0, window-1)
					case 3:
						at += window + 1
					case 4:
						at += time.Duration(rnd.Int64N(int64(window) + 1))
					case 5:
						at += 3 * window
					}
					n := 1 + rnd.IntN(limit+1)
					now := time.Time{}.Add(at)
					room := kind.want(past, at, limit, window)
					log += fmt.Sprintf(" %d@%d", n, at)
					if whole := new(big.Int).Div(room.Num(), room.Denom()); w.RemainingAt(now) != int(whole.Int64()) {
						t.Fatalf("%s: RemainingAt = %d, want %s", log, w.RemainingAt(now), room)
					}
					want := big.NewRat(int64(n), 1).Cmp(room) <= 0
					if got := w.AllowN(now, n); got != want {
						t.Fatalf("%s: AllowN = %v, room for %s", log, got, room)
					}
					if want {
						past = append(past, windowEvent{at, n})
					}
				}
			}
		})
	}
}

func TestWindows_guarantees(t *testing.T) {
	type ev struct {
		at time.Duration
		n  int
		ok bool
	}
	const s = time.Second
	for i, evs := range [][]ev{
		{{s - 1, 4, true}, {s, 4, true}, {s, 1, false}, {2*s - 1, 1, false}, {2 * s, 1, true}}, // twice the limit at once
		{{s - 1, 4, true}, {s, 1, false}, {2*s - 2, 1, false}, {2*s - 1, 4, true}, {2*s - 1, 1, false}},
		{{s - 1, 4, true}, {s, 1, false}, {s + s/4, 1, true}, {s + s/4, 1, false}, {2*s - 1, 2, true}, {2 * s, 2, false}, {2*s + 1, 1, true}},
	} {
		for _, start := range epochs {
			start = start.Truncate(s)
			w := windowKinds[i].make(4, s)
			for j, e := range evs {
				if got := w.AllowN(start.Add(e.at), e.n); got != e.ok {
					t.Errorf("%s at %v, step %d: AllowN(%v, %d) = %v, want %v", windowKinds[i].name, start, j, e.at, e.n, got, e.ok)
				}
			}
		}
	}
}

func TestWindows_oddNumbers(t *testing.T) {
	for _, kind := range windowKinds {
		for _, limit := range []int{0, 1, math.MaxInt} {
			for _, length := range []time.Duration{1, time.Second, math.MaxInt64} {
				w := kind.make(limit, length)
				now := t0
				for _, n := range []int{0, -1, math.MinInt} {
					if got := w.AllowN(now, n); got != (n == 0) {
						t.Errorf("%s limit %d: AllowN(%d) = %v", kind.name, limit, n, got)
					}
				}
				if got := w.RemainingAt(now); got != limit {
					t.Errorf("%s limit %d: RemainingAt = %d", kind.name, limit, got)
				}
				if limit == 0 {
					if w.AllowN(now, 1) || w.AllowN(now, math.MaxInt) {
						t.Errorf("%s limit 0 granted", kind.name)
					}
					continue
				}
				if !w.AllowN(now, 1) || w.AllowN(now, math.MaxInt) || w.RemainingAt(now) != limit-1 {
					t.Errorf("%s limit %d, window %v: after 1 there remain %d, or MaxInt was granted", kind.name, limit, length, w.RemainingAt(now))
				}
				if limit > 1 && (!w.AllowN(now, limit-1) || w.AllowN(now, 1)) {
					t.Errorf("%s limit %d, window %v: the rest was denied, or more was granted", kind.name, limit, length)
				}
			}
		}
	}
}

func TestWindows_zeroValue(t *testing.T) {
	for _, w := range []window{&FixedWindow{}, &SlidingLog{}, &SlidingCounter{}} {
		if w.Allow() || w.AllowN(t0, 1) || !w.AllowN(t0, 0) || w.Remaining() != 0 || w.Limit() != 0 || w.Window() != 0 {
			t.Errorf("%T: the zero value does not deny everything", w)
		}
	}
}

// A clock that goes back grants nothing that was not left, and what it grants counts.
func TestWindows_clockGoesBack(t *testing.T) {
	for _, kind := range windowKinds {
		w := kind.make(3, time.Second)
		now := t0.Add(time.Hour)
		granted := 0
		for i := range 50 {
			if w.AllowN(now.Add(-time.Duration(i)*time.Minute), 1) {
				granted++
			}
			if w.AllowN(now, 1) {
				granted++
			}
		}
		if granted != 3 {
			t.Errorf("%s: %d granted, want 3", kind.name, granted)
		}
		if !w.AllowN(now.Add(2*time.Second), 3) {
			t.Errorf("%s: denied after two windows", kind.name)
		}
	}
}

func TestWindows_clock(t *testing.T) {
	for _, kind := range windowKinds {
		clock := fakeclock.New()
		w := kind.make(2, time.Second, WithClock(clock), nil)
		if !w.Fresh() || !w.Allow() || w.Fresh() || w.Remaining() != 1 || !w.Allow() || w.Allow() {
			t.Errorf("%s: not two of three", kind.name)
		}
		clock.Advance(2 * time.Second)
		if !w.Fresh() || w.Remaining() != 2 || !w.Allow() {
			t.Errorf("%s: not fresh after two windows", kind.name)
		}
	}
}

func TestWindows_concurrent(t *testing.T) {
	for _, kind := range windowKinds {
		w := kind.make(100, time.Second, WithClock(fakeclock.New()))
		var n atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range 50 {
					if w.Allow() {
						n.Add(1)
					}
					w.Remaining()
				}
			}()
		}
		wg.Wait()
		if n.Load() != 100 {
			t.Errorf("%s: %d granted, want 100", kind.name, n.Load())
		}
	}
}

func TestWindows_panics(t *testing.T) {
	wantPanic(t, "limiters: NewFixedWindow: limit -1 must be >= 0: use 0 to deny everything", func() { NewFixedWindow(-1, 1) })
	wantPanic(t, "limiters: NewSlidingLog: window 0s must be > 0: use a TokenBucket of rate Inf to grant everything", func() { NewSlidingLog(1, 0) })
	wantPanic(t, "limiters: NewSlidingCounter: window -1ns must be > 0: use a TokenBucket of rate Inf to grant everything", func() { NewSlidingCounter(1, -1) })
}

// wantPanic checks what f panics with.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); got != want {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	f()
}

// A request that is denied drops what has left the window, and an instant before it counts as its own.
func TestSlidingLog_deniedThenBack(t *testing.T) {
	clock := fakeclock.New()
	start := clock.Now()
	log := NewSlidingLog(1, time.Second, WithClock(clock))
	for i, ask := range []struct {
		at   time.Duration
		n    int
		want bool
	}{
		{0, 1, true}, {time.Second, 2, false}, {time.Second / 2, 1, true}, {3 * time.Second / 2, 1, false},
		{2 * time.Second, 1, true},
	} {
		if got := log.AllowN(start.Add(ask.at), ask.n); got != ask.want {
			t.Errorf("step %d: AllowN(%v, %d) = %v, want %v", i, ask.at, ask.n, got, ask.want)
		}
	}
	log.AllowN(start.Add(3*time.Second), 2)
	if log.Fresh() {
		t.Error("Fresh() = true while the clock shows an earlier instant than the newest that was asked about")
	}
}
