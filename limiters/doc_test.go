package limiters

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// noClock is a clock that nobody may ask, for its methods are nil.
type noClock struct{ clockwork.Clock }

// nowClock can only be read: it has no timers.
type nowClock struct {
	clockwork.Clock
	now  time.Time
	read func() // may be nil
}

func (c *nowClock) Now() time.Time {
	if c.read != nil {
		c.read()
	}
	return c.now
}
func (c *nowClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Methods that take an instant read no clock.
func TestPackageComment_instantsReadNoClock(t *testing.T) {
	clock := WithClock(noClock{})
	for name, make := range deciders {
		l := make(clock)
		for _, n := range []int{-1, 0, 1, 2, 1, 4} {
			l.AllowAt(t0, n)
		}
		if w, ok := l.(window); ok {
			w.AllowN(t0, 1)
			if got := w.RemainingAt(t0); got != 0 {
				t.Errorf("%s: RemainingAt = %d, want 0", name, got)
			}
		}
	}
	l := NewTokenBucket(1, 1, clock)
	l.AllowN(t0, 1)
	l.TokensAt(t0)
	r := l.ReserveN(t0, 1)
	r.DelayFrom(t0)
	l.SetLimitAt(t0, 2)
	l.SetBurstAt(t0, 2)
	r.CancelAt(t0)
	NewThrottle(1, WithClock(noClock{})).AllowAt(t0)
}

// What has no timer works on a clock that has none.
func TestPackageComment_noTimers(t *testing.T) {
	c := &nowClock{now: t0}
	ctx := context.Background()
	for name, make := range deciders {
		keyed := NewKeyed(2, func(string) decider { return make(WithClock(c)) }, decider.Fresh)
		for _, l := range []Taker{make(WithClock(c)), keyed} {
			for range 5 {
				if _, err := l.Take(ctx, "a", 1); err != nil {
					t.Errorf("%s: Take = %v", name, err)
				}
				c.now = c.now.Add(time.Millisecond)
			}
		}
	}
	l := NewTokenBucket(1, 5, WithClock(c))
	if err := l.WaitN(ctx, 5); err != nil { // without waiting
		t.Errorf("WaitN = %v", err)
	}
	l.Reserve().Cancel()
	h := NewThrottle(time.Second, WithClock(c))
	s := Sometimes{Interval: time.Second, Clock: c}
	q := NewConcurrency(2, Timeout(time.Second), Backlog(0), WithClock(c))
	b := NewLeakyBucket(time.Second, 0, func(int) {}, WithClock(c))
	f := NewThrottleFunc(time.Second, func(int) {}, Leading, WithClock(c))
	for range 3 {
		h.Allow()
		s.Do(func() {})
		_ = q.Do(ctx, func() error { return nil })
		_ = q.Acquire(ctx, 1)
		_, _ = b.Put(1) // refused, when it may not leave at once
		f.Call(1)
	}
}

// There is a timer while somebody waits, and then none.
func TestPackageComment_timersWhileWaiting(t *testing.T) {
	for name, wait := range map[string]func(c *fakeclock.Clock, ctx context.Context) error{
		"TokenBucket": func(c *fakeclock.Clock, ctx context.Context) error {
			l := NewTokenBucket(1, 1, WithClock(c))
			l.Allow()
			return l.Wait(ctx)
		},
		"Concurrency": func(c *fakeclock.Clock, ctx context.Context) error {
			q := NewConcurrency(1, Timeout(time.Hour), WithClock(c))
			q.TryAcquire(1)
			return q.Acquire(ctx, 1)
		},
		"LeakyBucket": func(c *fakeclock.Clock, ctx context.Context) error {
			b := NewLeakyBucket[int](time.Hour, 1, nil, WithClock(c))
			_ = b.Wait(ctx)
			return b.Wait(ctx)
		},
	} {
		c := fakeclock.NewTest(t)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- wait(c, ctx) }()
		c.BlockUntil(1)
		if cancel(); <-ended == nil {
			t.Errorf("%s: the wait ended without an error", name)
		}
		if got := c.Timers(); len(got) != 0 {
			t.Errorf("%s: armed after the wait: %v", name, got)
		}
	}
}

// The clock is read when it is a method's turn, which is with the lock held.
func TestPackageComment_clockIsReadInTurn(t *testing.T) {
	c := &nowClock{now: t0}
	l := NewTokenBucket(1, 5, WithClock(c))
	reads := 0
	c.read = func() {
		reads++
		if l.mu.TryLock() {
			l.mu.Unlock()
			t.Error("the clock is read without the lock")
		}
	}
	for i, f := range []func(){
		func() { l.Allow() },
		func() { _, _ = l.Take(context.Background(), "", 1) },
		func() { l.Tokens() },
		func() { l.Reserve() },
		func() { l.SetLimit(2) },
		func() { l.SetBurst(3) },
		func() { l.Fresh() },
	} {
		before := reads
		if f(); reads == before && i != 6 { // Fresh knows by now that the bucket was changed
			t.Errorf("call %d does not read the clock", i)
		}
	}
}

// What is done without a lock is done while somebody else has it.
func TestPackageComment_noLock(t *testing.T) {
	h := NewThrottle(time.Hour)
	h.AllowAt(t0)
	h.mu.Lock()
	if h.AllowAt(t0.Add(1)) {
		t.Error("Throttle: an event in the window passes")
	}
	h.mu.Unlock()

	q := NewConcurrency(2)
	q.mu.Lock()
	if err := q.Acquire(context.Background(), 1); err != nil || !q.TryAcquire(1) || q.TryAcquire(1) {
		t.Errorf("Concurrency: of 2 slots not 2 are given: %v", err)
	}
	q.Release(2)
	q.mu.Unlock()

	g := NewGCRA(time.Hour, 1)
	g.AllowAt(t0, 1)
	ep, tat := g.epoch.Load(), g.epoch.Load().tat.Load()
	for _, n := range []int{1, 0, -1, 2} {
		g.AllowAt(t0, n)
	}
	if g.epoch.Load() != ep || ep.tat.Load() != tat {
		t.Error("GCRA: a denial writes")
	}
}

// What the comments say of memory.
func TestPackageComment_memory(t *testing.T) {
	if narrow {
		t.Skip("the sizes are those of 64 bits")
	}
	if got, want := unsafe.Sizeof(SlidingCounter{})-unsafe.Sizeof(FixedWindow{}), 2*unsafe.Sizeof(0); got != want {
		t.Errorf("a SlidingCounter has %d bytes more than a FixedWindow, want %d", got, want)
	}
	if got := unsafe.Sizeof(logEntry{}); got != 32 {
		t.Errorf("an event of a SlidingLog takes %d bytes, want 32", got)
	}
	const limit = 1000
	w := NewSlidingLog(limit, time.Second)
	for i := range limit {
		w.AllowN(t0.Add(time.Duration(i/2)), 1) // two at each instant
		if events := i/2 + 1; w.n != events || len(w.log) > max(4, 2*events) || len(w.log) > limit {
			t.Fatalf("%d instants: %d entries in use and room for %d", events, w.n, len(w.log))
		}
	}
	room := len(w.log)
	at := t0.Add(time.Hour)
	if got := testing.AllocsPerRun(10, func() {
		for range limit {
			at = at.Add(2 * time.Millisecond) // 500 of them in a window
			w.AllowN(at, 1)
		}
	}); got != 0 || len(w.log) != room {
		t.Errorf("a log that has been longer allocates %v times, and has room for %d, want 0 and %d", got, len(w.log), room)
	}
}

// An instant before the newest that was granted counts as that one: for a FixedWindow as in
// its window, which is the same.
func TestWindows_earlierInstants(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	for _, kind := range windowKinds {
		for h := range 500 {
			w, twin := kind.make(4, 100), kind.make(4, 100)
			at, newest := t0, time.Time{}
			for i := range 40 {
				at = at.Add(time.Duration(rnd.IntN(120) - 50))
				then, n := at, 1+rnd.IntN(3)
				if then.Before(newest) {
					then = newest
				}
				got, want := w.AllowN(at, n), twin.AllowN(then, n)
				if got != want || w.RemainingAt(at) != twin.RemainingAt(then) {
					t.Fatalf("%s, history %d, step %d: AllowN(%v, %d) = %v, want %v as at %v", kind.name, h, i, at.Sub(t0), n, got, want, then.Sub(t0))
				}
				if got {
					newest = then
				}
			}
		}
	}
}

// A SlidingCounter grants at most limit in a window of the grid, and fewer than twice that in
// any period as long as a window; if events come evenly it is one more than limit at most.
func TestSlidingCounter_bounds(t *testing.T) {
	const window = 60
	// most returns how many are granted at most in a window of the grid, and in any, of as many
	// events as the limit every gap, from first on.
	most := func(limit, first, gap, n int) (grid, anywhere int) {
		w := NewSlidingCounter(limit, window)
		var granted []int
		for at := first; at < 6*window; at += gap {
			for range n {
				if w.AllowN(time.Time{}.Add(time.Duration(at)), 1) {
					granted = append(granted, at)
				}
			}
		}
		for i, at := range granted {
			g, a := 0, 0
			for _, other := range granted[i:] {
				if other/window == at/window {
					g++
				}
				if other < at+window {
					a++
				}
			}
			grid, anywhere = max(grid, g), max(anywhere, a)
		}
		return grid, anywhere
	}
	for limit := 1; limit <= 12; limit++ {
		for first := range window {
			if grid, anywhere := most(limit, first, 1, limit); grid > limit || anywhere >= 2*limit {
				t.Errorf("limit %d, bursts from %d on: %d in a window and %d anywhere", limit, first, grid, anywhere)
			}
			if _, anywhere := most(limit, first%5, 1+first, 1); anywhere > limit+1 {
				t.Errorf("limit %d, one event every %d: %d in a window, want one more than the limit at most", limit, 1+first, anywhere)
			}
		}
	}
}

// At an instant before the newest a GCRA may deny what a TokenBucket grants, and however the
// clock goes it grants no more than the envelope.
func TestGCRA_earlierInstants(t *testing.T) {
	g, l := NewGCRA(100*ms, 3), NewTokenBucket(10, 3)
	later := t0.Add(time.Hour)
	if !g.AllowAt(later, 1).Allowed || !l.AllowN(later, 1) || g.AllowAt(t0, 1).Allowed || !l.AllowN(t0, 1) {
		t.Error("an hour back, with 2 of 3 left: want it denied by a GCRA and granted by a TokenBucket")
	}
	rnd := rand.New(rand.NewPCG(2, 3))
	for h := range 300 {
		g := NewGCRA(10, 3)
		at, first, newest, granted := t0, time.Time{}, time.Time{}, 0
		for range 60 {
			at = at.Add(time.Duration(rnd.IntN(60) - 28))
			if !g.AllowAt(at, 1).Allowed {
				continue
			}
			if granted++; granted == 1 {
				first, newest = at, at
			}
			if at.After(newest) {
				newest = at
			}
			if most := 3 + int(newest.Sub(first)/10); granted > most {
				t.Fatalf("history %d: %d granted in %v, want at most %d", h, granted, newest.Sub(first), most)
			}
		}
	}
}

// The ends of what the comments allow.
func TestPackageComment_ranges(t *testing.T) {
	if got := Limit(0x1p-34).interval(); got.cost == 0 {
		t.Error("one event in 544 years has no interval")
	}
	slowest := math.Nextafter(0x1p-34, 0)
	if l := NewTokenBucket(Limit(slowest), 1); l.AllowAt(t0, 1).ResetAfter != InfDuration {
		t.Error("a rate below one event in 544 years does not count as 0")
	}
	if got := math.Floor((1 << 34) / (365.2425 * 24 * 3600)); got != 544 {
		t.Errorf("2^34 s are %v years, want 544", got)
	}
	if c := NewConcurrency(maxInt); !narrow && int64(c.Limit()) != 1<<61 {
		t.Errorf("Limit() = %d, want 1<<61", c.Limit())
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := NewConcurrency(1).Acquire(over, 2); err != context.Canceled {
		t.Errorf("Acquire of too many with a context that is done = %v, want context.Canceled", err)
	}
	var k Keyed[string, *GCRA]
	if err := k.Do("a", func(*GCRA) { t.Error("the zero Keyed has a limiter") }); err != ErrTooManyKeys || k.Len() != 0 {
		t.Errorf("zero Keyed: Do = %v, Len %d", err, k.Len())
	}
	var d Decision
	if d.Allowed {
		t.Error("the zero Decision is no denial")
	}
}

// With a debt n == 0 neither waits nor takes, and a negative n changes nothing.
func TestPackageComment_noEventsInDebt(t *testing.T) {
	l := NewTokenBucket(1, 10, WithClock(&nowClock{now: t0}))
	l.AllowN(t0, 10)
	reserve(t, l, 0, 5, 5*time.Second)
	if !l.AllowN(t0, 0) || l.WaitN(context.Background(), 0) != nil {
		t.Error("AllowN(0) or WaitN(0) is denied")
	}
	reserve(t, l, 0, 0, 0)
	if l.AllowN(t0, -5) || l.ReserveN(t0, -5).OK() || l.WaitN(context.Background(), -5) == nil {
		t.Error("AllowN(-5), ReserveN(-5) or WaitN(-5) is granted")
	}
	tokens(t, l, 0, -5)
}

// What had fallen due when the function panics is not lost, and Leading drops what comes
// while it runs.
func TestThrottleFunc_whileRunning(t *testing.T) {
	caught := func(f func()) {
		defer func() {
			if got := recover(); got != "one" {
				t.Errorf("recovered %v, want what the function panicked with", got)
			}
		}()
		f()
	}
	for _, tt := range []struct {
		interval time.Duration
		edges    Edges
		during   func(h *ThrottleFunc[int], c *fakeclock.Clock) // while it runs for 1
		panics   bool
		want     []emission
	}{
		{100, Trailing | Leading, func(h *ThrottleFunc[int], c *fakeclock.Clock) { c.Advance(150); h.Call(2); h.Call(3) }, true,
			[]emission{{0, 1}, {151, 3}, {1150, 9}}},
		{100, Leading, func(h *ThrottleFunc[int], c *fakeclock.Clock) { c.Advance(150); h.Call(2) }, false, []emission{{0, 1}, {1150, 9}}},
		{0, Leading, func(h *ThrottleFunc[int], _ *fakeclock.Clock) { h.Call(2) }, true, []emission{{0, 1}, {1000, 2}, {1000, 9}}},
		{100, Trailing | Leading, func(h *ThrottleFunc[int], _ *fakeclock.Clock) {
			if h.Call(2); !h.Flush() {
				t.Error("Flush from the function = false with an event that waits")
			}
			h.Call(3)
		}, false, []emission{{0, 1}, {0, 3}, {1000, 9}}},
	} {
		c := fakeclock.New()
		var got []emission
		var h *ThrottleFunc[int]
		h = NewThrottleFunc(tt.interval, func(v int) {
			got = append(got, emission{c.Elapsed(), v})
			if v == 1 {
				if tt.during(h, c); tt.panics {
					panic("one")
				}
			}
		}, tt.edges, WithClock(c))
		if tt.panics {
			caught(func() { h.Call(1) })
		} else {
			h.Call(1)
		}
		c.Advance(1000)
		if h.Call(9); !slices.Equal(got, tt.want) {
			t.Errorf("interval %d, edges %d: ran %v, want %v", tt.interval, tt.edges, got, tt.want)
		}
		if tt.edges == Leading && len(c.Timers()) != 0 {
			t.Error("Leading has a timer")
		}
		h.Stop()
	}
}

// Streams that share a Throttle share its windows.
func TestThrottleStream_shared(t *testing.T) {
	h := NewThrottle(100, WithClock(fakeclock.New()))
	in := [2]chan Item[int]{make(chan Item[int]), make(chan Item[int])}
	var out [2]<-chan Item[int]
	for i := range in {
		out[i] = ThrottleStream(context.Background(), h, in[i])
		if cap(out[i]) != 0 {
			t.Errorf("cap(out) = %d, want 0", cap(out[i]))
		}
	}
	in[0] <- Item[int]{Value: 1}
	if got := <-out[0]; got.Value != 1 {
		t.Errorf("received %v, want 1", got)
	}
	in[1] <- Item[int]{Value: 2} // in the window of the first
	close(in[1])
	if got, ok := <-out[1]; ok {
		t.Errorf("received %v, want it denied", got)
	}
	close(in[0])
	<-out[0]
}

// A clock that goes back delays what waits in a LeakyBucket by interval at most.
func TestLeakyBucket_wallGoesBack(t *testing.T) {
	for _, back := range []time.Duration{1, 50, 100, time.Hour} {
		c := fakeclock.NewTest(t)
		var ran []time.Duration
		b := NewLeakyBucket(100, 2, func(int) { ran = append(ran, c.Elapsed()) }, WithClock(c))
		_, _ = b.Put(1)
		_, _ = b.Put(2)
		c.Advance(60)
		c.SetWall(c.Now().Add(-back))
		c.Advance(1000)
		if len(ran) != 2 || ran[1] < 100 || ran[1] > 200 {
			t.Errorf("set back by %d while one waits: left at %d, want the second from 100 to 200", back, ran)
		}
	}
}

// The zero Option changes nothing, wherever options are taken.
func TestOptions_nil(t *testing.T) {
	var none Option
	if !NewThrottle(1, nil, none).Allow() || !NewTokenBucket(1, 1, none).Allow() || !NewKeyedGCRA[int](1, 1, 1, none).Allow(1) ||
		!NewConcurrency(1, nil, none).TryAcquire(1) || !NewGCRA(1, 1, none).Allow() {
		t.Error("a nil option changes something")
	}
	ran := 0
	if NewThrottleFunc(1, func(int) { ran++ }, nil, none).Call(1); ran != 1 {
		t.Error("a nil option changes something")
	}
}
