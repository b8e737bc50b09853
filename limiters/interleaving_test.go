package limiters

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// What another goroutine does between two steps of this one, the clock does here, when it is
// read: calls[i] before read i, counted from now on.
func (c *nowClock) script(calls ...func()) {
	c.read = func() {
		if len(calls) > 0 {
			f := calls[0]
			calls = calls[1:]
			f()
		}
	}
}

func (c *nowClock) to(e time.Duration) { c.now = t0.Add(e) }

// On the clock, as at given instants, the window counts from an event that is before it.
func TestThrottle_clockGoesBack(t *testing.T) {
	for _, tt := range []struct {
		back time.Duration
		want bool
	}{{1, false}, {500, false}, {9999, false}, {10_000, true}, {time.Hour, true}} {
		for k := 1; k <= 2; k++ {
			c := &nowClock{now: t0}
			h := NewThrottle(10_000, PerWindow(k), WithClock(c))
			for range k {
				h.Allow()
			}
			c.to(-tt.back)
			for i := range k {
				if got := h.Allow(); got != tt.want {
					t.Errorf("k=%d, back by %v: event %d = %v, want %v", k, tt.back, i, got, tt.want)
				}
			}
			if c.to(10_000 - tt.back - 1); h.Allow() {
				t.Errorf("k=%d, back by %v: one passed 1ns before the end of the window", k, tt.back)
			}
			if c.to(10_000 - tt.back); !h.Allow() {
				t.Errorf("k=%d, back by %v: none passed at the end of the window", k, tt.back)
			}
		}
	}
}

// An instant of package time that is a moment before the window was read before another's;
// one that is more than that, or may be of another clock, means that this one went back.
func TestThrottle_aMomentBefore(t *testing.T) {
	for _, tt := range []struct {
		ahead time.Duration // of the window
		given bool          // one of its instants, perhaps
		start time.Duration // of the window, after one that is denied
	}{{1, false, 1}, {500, false, 500}, {moment - 1, false, moment - 1}, {moment, false, 0}, {2000, false, 0}, {500, true, 0}} {
		synctestcompat.Run(t, func(t *testing.T) {
			h := NewThrottle(10_000)
			h.Allow()
			if tt.given {
				h.AllowAt(time.Now())
			}
			h.epoch.Load().full.Store(int64(tt.ahead))
			if h.Allow() {
				t.Errorf("%+v: passed before the window", tt)
			}
			time.Sleep(tt.start + 10_000 - 1)
			if h.Allow() {
				t.Errorf("%+v: passed before the window's end", tt)
			}
			time.Sleep(time.Nanosecond)
			if !h.Allow() {
				t.Errorf("%+v: denied at the window's end", tt)
			}
		})
	}
}

// A window that others open while this one reads the clock is the one that counts.
func TestThrottle_openedMeanwhile(t *testing.T) {
	c := &nowClock{now: t0}
	h := NewThrottle(100, WithClock(c))
	h.Allow()
	c.to(-30)                    // so that it takes the lock
	c.script(func() {}, func() { // with the lock
		c.to(100)
		if !h.AllowAt(c.now) {
			t.Error("AllowAt at the end of the window = false, want true")
		}
	})
	if h.Allow() {
		t.Error("two passed at one instant")
	}
	if h.AllowAt(t0.Add(199)) || !h.AllowAt(t0.Add(200)) {
		t.Error("the window is not that of the event that passed")
	}

	h = NewThrottle(100, PerWindow(2), WithClock(c))
	c.to(0)
	h.Allow()
	c.to(10)
	c.script(h.Reset)
	var got []bool
	for _, e := range []time.Duration{10, 105, 109, 110} {
		c.to(e)
		got = append(got, h.Allow())
	}
	if want := []bool{true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("after a Reset while it read the clock: %v, want %v", got, want)
	}
}

// A call before the end of the newest run, on a clock that went back or that was read before
// it, does not run for the sake of Interval; and counts.
func TestSometimes_beforeTheEnd(t *testing.T) {
	c := &nowClock{now: t0}
	ran := 0
	run := func() { ran++ }
	expect := func(want int, when string) {
		t.Helper()
		if ran != want {
			t.Errorf("%s: %d runs, want %d", when, ran, want)
		}
	}
	s := Sometimes{Interval: 100, Clock: c}
	s.Do(run)
	for _, e := range []time.Duration{-10, -200, 99} {
		c.to(e)
		s.Do(run)
		expect(1, "the clock goes back")
	}
	c.to(100)
	s.Do(run)
	expect(2, "an interval later")

	for _, tt := range []struct {
		e, later time.Duration // reads of the clock, before and after a run ends at 150
		want     int
	}{{110, 249, 2}, {110, 250, 3}, {149, 249, 2}, {149, 250, 3}, {150, 250, 2}, {151, 250, 2}} {
		s, ran = Sometimes{Interval: 100, Clock: c}, 0
		c.script()
		c.to(0)
		s.Do(run)
		c.script(func() {
			c.to(150)
			s.Do(run)
			c.script(func() {}, func() { c.to(tt.later) })
			c.read()
			c.to(tt.e)
		})
		s.Do(run)
		expect(tt.want, "a run ends meanwhile")
	}

	// Each call has a number, also one that another has overtaken.
	s, ran = Sometimes{Every: 4, Interval: 100, Clock: c}, 0
	c.script()
	c.to(0)
	s.Do(run) // 0
	c.to(10)
	c.script(func() { s.Do(run) }) // 1
	s.Do(run)                      // 2
	s.Do(run)                      // 3
	expect(1, "within the interval")
	s.Do(run) // 4
	expect(2, "call 4")
	c.to(5) // before the end, so that the next one takes the lock
	c.script(func() {}, func() {
		c.to(10)
		s.Do(run) // 5
	})
	s.Do(run) // 6
	s.Do(run) // 7
	expect(2, "calls 5 to 7")
	s.Do(run) // 8
	expect(3, "call 8")
}

// collide makes two goroutines act at once, many times and a little sooner or later each time.
func collide(t *testing.T, prepare func(), first, second func(), check func()) {
	rounds := 20_000
	if testing.Short() {
		rounds = 5000
	}
	var round atomic.Int64
	done := make(chan struct{})
	go func() {
		for i := range int64(rounds) {
			for n := 1; round.Load() <= i; n++ {
				if n%1000 == 0 {
					runtime.Gosched()
				}
			}
			second()
			done <- struct{}{}
		}
	}()
	for i := range rounds {
		prepare()
		round.Add(1)
		for range i % 200 {
			round.Load()
		}
		first()
		<-done
		if check(); t.Failed() {
			for i++; i < rounds; i++ { // the other one ends, too
				prepare()
				round.Add(1)
				first()
				<-done
			}
			return
		}
	}
}

// Of two goroutines that find the same state one changes it first.
func TestLockless_collisions(t *testing.T) {
	var passed atomic.Int64
	note := func(ok bool) {
		if ok {
			passed.Add(1)
		}
	}
	one := func(t *testing.T) func() {
		return func() {
			if n := passed.Swap(0); n != 1 {
				t.Errorf("%d passed at once, want 1", n)
			}
		}
	}
	t.Run("Throttle", func(t *testing.T) {
		h, at := NewThrottle(100), t0
		allow := func() { note(h.AllowAt(at)) }
		collide(t, func() { at = at.Add(100) }, allow, allow, one(t))
	})
	t.Run("GCRA", func(t *testing.T) {
		g, at := NewGCRA(100, 1), t0
		allow := func() { note(g.AllowAt(at, 1).Allowed) }
		collide(t, func() { at = at.Add(100) }, allow, allow, one(t))
	})
	t.Run("KeyedGCRA", func(t *testing.T) {
		g, at := NewKeyedGCRA[string](1, 100, 1), t0
		allow := func() { d, _ := g.AllowAt("a", at, 1); note(d.Allowed) }
		collide(t, func() { at = at.Add(100) }, allow, allow, one(t))
	})
	t.Run("KeyedGCRA, a new key", func(t *testing.T) {
		g, at, key := NewKeyedGCRA[int](1, 100, 1), t0, 0
		allow := func() { d, _ := g.AllowAt(key, at, 1); note(d.Allowed) }
		collide(t, func() { at, key = at.Add(100), key+1 }, allow, allow, func() {
			if one(t)(); g.Len() != 1 {
				t.Errorf("%d keys, room for 1", g.Len())
			}
		})
	})
	t.Run("KeyedGCRA, the last room", func(t *testing.T) {
		g, key := NewKeyedGCRA[int](2*shardKeys, time.Hour, 1), 0
		in := func(shard, key int) bool { s, _ := g.place(key); return s == &g.shards[shard] }
		var keys [2]int
		allow := func(i int) func() {
			return func() { d, _ := g.AllowAt(keys[i], t0, 1); note(d.Allowed) }
		}
		collide(t, func() {
			g.held.Store(g.room - 1)
			for i := range keys {
				for key++; !in(i, key); key++ {
				}
				keys[i] = key
			}
		}, allow(0), allow(1), one(t))
	})
	t.Run("TokenBucket", func(t *testing.T) {
		var l *TokenBucket
		allow := func() { note(l.Allow()) }
		collide(t, func() {
			l = NewTokenBucket(Every(time.Hour), 1)
			l.Allow()
			l.lockless.began = l.at.Add(-2 * time.Hour) // since then the token is there again
			l.lockless.word.Store(1)
		}, allow, allow, one(t))
	})
	t.Run("Concurrency, both take", func(t *testing.T) {
		c := NewConcurrency(1)
		take := func() { note(c.TryAcquire(1)) }
		collide(t, func() {}, take, take, func() { one(t)(); c.Release(1) })
	})
	t.Run("Concurrency, both give back", func(t *testing.T) {
		c := NewConcurrency(2)
		give := func() { c.Release(1) }
		collide(t, func() { _ = c.Acquire(forever, 2) }, give, give, func() {
			if n := c.InUse(); n != 0 {
				t.Errorf("%d in use, want 0", n)
			}
		})
	})
	t.Run("Concurrency, one gives back what the other waits for", func(t *testing.T) {
		c := NewConcurrency(1)
		collide(t, func() { _ = c.Acquire(forever, 1) }, func() {
			c.Release(1)
			if c.TryAcquire(1) {
				c.Release(1)
			}
		}, func() { _ = c.Acquire(forever, 1) }, func() {
			if n := c.InUse(); n != 1 {
				t.Errorf("%d in use, want 1", n)
			}
			c.Release(1)
		})
	})
}

// Who gives slots back finds the lock, and nobody waiting any more.
func TestConcurrency_givesBackWithTheLock(t *testing.T) {
	c := NewConcurrency(4)
	for range 200 {
		_ = c.Acquire(forever, 3)
		c.mu.Lock()
		c.state.Or(queued)
		var wg sync.WaitGroup
		for range 3 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				c.Release(1)
			}()
		}
		runtime.Gosched()
		c.state.And(^queued)
		c.mu.Unlock()
		for range 1000 {
			if c.TryAcquire(1) {
				c.Release(1)
			}
		}
		if wg.Wait(); c.InUse() != 0 {
			t.Fatalf("%d in use, want 0", c.InUse())
		}
	}
}

// Those who come a nanosecond later wait a nanosecond longer; and who times out does not stand
// in the way any more.
func TestConcurrency_timeoutsOnPackageTime(t *testing.T) {
	inQueue(t, NewConcurrency(2, Timeout(10)), func(q *queue) {
		q.request(forever, "a", 2)
		q.request(forever, "b", 1)
		time.Sleep(time.Nanosecond)
		q.request(forever, "c", 1)
		time.Sleep(9 * time.Nanosecond)
		q.expect("a runs", "b timeout")
		time.Sleep(time.Nanosecond)
		q.expect("c timeout")
		q.Release(1)
		q.request(forever, "d", 2)
		time.Sleep(5 * time.Nanosecond)
		go func() {
			if q.Acquire(forever, 1) == nil { // with that the order of the answers is not known
				time.Sleep(time.Nanosecond)
				q.Release(2)
			}
		}()
		time.Sleep(5 * time.Nanosecond)
		q.expect("d timeout")
		synctestcompat.Sleep(1)
		q.empty()
	})
}

// With a clock nothing waits for package time, and without a timeout for no time at all.
func TestConcurrency_waitsOnItsClock(t *testing.T) {
	for _, opts := range [][]ConcurrencyOption{nil, {Timeout(10)}} {
		clock := fakeclock.New()
		inQueue(t, NewConcurrency(1, append(opts, WithClock(clock))...), func(q *queue) {
			q.request(forever, "a", 1)
			q.request(forever, "b", 1)
			synctestcompat.Sleep(time.Hour)
			q.expect("a runs")
			clock.Advance(9)
			q.Release(1)
			q.expect("b runs")
			q.Release(1)
			q.empty()
		})
	}
}

// After a Resize more can be in use than the limit: that many can be released, and no more.
func TestConcurrency_overReleaseAfterResize(t *testing.T) {
	c := NewConcurrency(4)
	_ = c.Acquire(forever, 4)
	c.Resize(2)
	if !c.TryAcquire(0) || c.Acquire(forever, 0) != nil || c.TryAcquire(1) {
		t.Error("no slots are not given, or one is, with more in use than there are")
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Release(5) of 4 did not panic")
			}
		}()
		c.Release(5)
	}()
	if c.Release(4); c.InUse() != 0 {
		t.Errorf("%d in use, want 0", c.InUse())
	}
}
