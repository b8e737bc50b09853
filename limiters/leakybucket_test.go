package limiters

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// leaving is an item that left, and when.
type leaving struct {
	v  int
	at time.Duration
}

// watchedBucket is a bucket whose items are noted as they leave.
func watchedBucket(interval time.Duration, size int) (*fakeclock.Clock, *LeakyBucket[int], *[]leaving) {
	clock := fakeclock.New()
	var mu sync.Mutex
	out := &[]leaving{}
	return clock, NewLeakyBucket(interval, size, func(v int) {
		mu.Lock()
		defer mu.Unlock()
		*out = append(*out, leaving{v, clock.Elapsed()})
	}, WithClock(clock)), out
}

func TestLeakyBucket(t *testing.T) {
	clock, b, out := watchedBucket(100*ms, 2)
	for v, want := range []error{nil, nil, nil, ErrQueueFull, ErrQueueFull} {
		if _, err := b.Put(v); !errors.Is(err, want) {
			t.Errorf("Put(%d) = %v, want %v", v, err, want)
		}
	}
	if b.Len() != 2 {
		t.Errorf("Len = %d, want 2", b.Len())
	}
	clock.Advance(100 * ms)
	if _, err := b.Put(5); err != nil {
		t.Errorf("Put = %v when a place was free", err)
	}
	clock.Advance(time.Hour)
	_, _ = b.Put(6)
	_, _ = b.Put(7)
	clock.Advance(time.Hour)
	want := []leaving{{0, 0}, {1, 100 * ms}, {2, 200 * ms}, {5, 300 * ms}, {6, 100*ms + time.Hour}, {7, 200*ms + time.Hour}}
	if !slices.Equal(*out, want) {
		t.Errorf("left %v, want %v", *out, want)
	}
	if _, ok := clock.Next(); ok {
		t.Error("a timer is armed while nothing waits")
	}
}

// The instants, on random histories, are those of the definition: an item leaves at
// its arrival or interval after the one before it, whichever is later, and those
// that were refused or cancelled count for nothing.
func TestLeakyBucket_isItsDefinition(t *testing.T) {
	histories := prove.Long(1000, 100_000)
	rnd := rand.New(rand.NewPCG(5, 6))
	for h := range histories {
		interval := []time.Duration{0, 1, 3, 100, 333333333}[rnd.IntN(5)]
		size := rnd.IntN(4)
		clock, b, out := watchedBucket(interval, size)
		type waiting struct {
			v      int
			ticket Ticket
			at     time.Duration
		}
		var queue []waiting
		var want []leaving
		left := -interval // when the newest item left
		at := time.Duration(0)
		log := fmt.Sprintf("history %d: interval %d, size %d:", h, interval, size)
		pass := func(to time.Duration) {
			for len(queue) > 0 && max(queue[0].at, left+interval) <= to {
				left = max(queue[0].at, left+interval)
				want = append(want, leaving{queue[0].v, left})
				queue = queue[1:]
			}
		}
		for v := range 60 {
			gap := []time.Duration{0, 0, 1, interval / 2, max(0, interval-1), interval, 5 * interval}[rnd.IntN(7)]
			clock.Advance(gap)
			at += gap
			pass(at)
			if rnd.IntN(4) == 0 && len(queue) > 0 {
				i := rnd.IntN(len(queue))
				log += fmt.Sprintf(" cancel %d@%d", queue[i].v, at)
				if !b.Cancel(queue[i].ticket) || b.Cancel(queue[i].ticket) {
					t.Fatalf("%s: Cancel of what waits was false, or true twice", log)
				}
				queue = slices.Delete(queue, i, i+1)
				continue
			}
			log += fmt.Sprintf(" %d@%d", v, at)
			ticket, err := b.Put(v)
			full := len(queue) >= size && (len(queue) > 0 || at < left+interval)
			if full != (err != nil) {
				t.Fatalf("%s: Put = %v, %d wait", log, err, len(queue))
			}
			if err == nil {
				queue = append(queue, waiting{v, ticket, at})
				pass(at)
			}
			if b.Len() != len(queue) {
				t.Fatalf("%s: Len = %d, want %d", log, b.Len(), len(queue))
			}
		}
		clock.Advance(100*interval + 1)
		pass(1 << 62)
		if !slices.Equal(*out, want) {
			t.Fatalf("%s: left\n%v, want\n%v", log, *out, want)
		}
	}
}

func TestLeakyBucket_noDrift(t *testing.T) {
	const interval, n = time.Second / 3, 20_000
	clock, b, out := watchedBucket(interval, n)
	for v := range n {
		_, _ = b.Put(v)
	}
	clock.Advance(n * interval)
	if len(*out) != n || (*out)[n-1] != (leaving{n - 1, (n - 1) * interval}) {
		t.Errorf("%d left, the last %v, want %d at %v", len(*out), (*out)[len(*out)-1], n, (n-1)*interval)
	}
}

// While f runs what falls due waits for it, and what it does is heeded.
func TestLeakyBucket_insideTheFunction(t *testing.T) {
	clock := fakeclock.New()
	var out []leaving
	var b *LeakyBucket[int]
	var last Ticket
	b = NewLeakyBucket(100*ms, 3, func(v int) {
		out = append(out, leaving{v, clock.Elapsed()})
		switch v {
		case 0:
			_, _ = b.Put(10)
			last, _ = b.Put(11)
			_ = b.Len()
		case 10:
			clock.Sleep(250 * ms)
		case 12:
			if !b.Cancel(last) {
				t.Error("Cancel from f = false, want true")
			}
			if err := b.Close(context.Background()); err != nil {
				t.Errorf("Close from f = %v", err)
			}
		case 13:
			b.Stop()
		}
	}, WithClock(clock))
	_, _ = b.Put(0)
	clock.Advance(150 * ms)
	_, _ = b.Put(12)
	last, _ = b.Put(14)
	clock.Advance(time.Second)
	want := []leaving{{0, 0}, {10, 100 * ms}, {11, 350 * ms}, {12, 450 * ms}}
	if !slices.Equal(out, want) {
		t.Errorf("left %v, want %v", out, want)
	}
	if _, err := b.Put(15); !errors.Is(err, ErrClosed) {
		t.Errorf("Put after Close = %v, want ErrClosed", err)
	}
}

func TestLeakyBucket_panic(t *testing.T) {
	clock, _, _ := watchedBucket(0, 0)
	var out []leaving
	b := NewLeakyBucket(100*ms, 3, func(v int) {
		out = append(out, leaving{v, clock.Elapsed()})
		if v == 0 {
			panic("item")
		}
	}, WithClock(clock))
	func() {
		defer func() {
			if r := recover(); r != "item" {
				t.Errorf("Put panicked with %v, want what f did", r)
			}
		}()
		_, _ = b.Put(0)
	}()
	_, _ = b.Put(1)
	clock.Advance(time.Second)
	_, _ = b.Put(2)
	if want := []leaving{{0, 0}, {1, 100 * ms}, {2, time.Second}}; !slices.Equal(out, want) {
		t.Errorf("left %v, want %v", out, want)
	}
	b.Stop()
}

func TestLeakyBucket_panics(t *testing.T) {
	wantPanic(t, "limiters: NewLeakyBucket: interval -1ns must be >= 0: use 0 to let everything pass", func() { NewLeakyBucket(-1, 1, func(int) {}) })
	wantPanic(t, "limiters: NewLeakyBucket: size -1 must be >= 0: use 0 to let nothing wait", func() { NewLeakyBucket(1, -1, func(int) {}) })
	wantPanic(t, "limiters: LeakyBucket.Put: no function to leave to: give one to NewLeakyBucket, or use Wait",
		func() { _, _ = new(LeakyBucket[int]).Put(1) })
}

func TestLeakyBucket_clockGoesBack(t *testing.T) {
	clock, b, out := watchedBucket(100*ms, 3)
	_, _ = b.Put(0)
	clock.SetWall(clock.Now().Add(-time.Hour))
	_, _ = b.Put(1)
	clock.Advance(100 * ms)
	if want := []leaving{{0, 0}, {1, 100 * ms}}; !slices.Equal(*out, want) {
		t.Errorf("left %v, want %v", *out, want)
	}
}

func TestLeakyBucket_stop(t *testing.T) {
	clock, b, out := watchedBucket(100*ms, 3)
	_, _ = b.Put(0)
	_, _ = b.Put(1)
	b.Stop()
	b.Stop()
	if _, ok := clock.Next(); ok {
		t.Error("a timer is armed after Stop")
	}
	clock.Advance(time.Hour)
	if _, err := b.Put(2); !errors.Is(err, ErrClosed) {
		t.Errorf("Put = %v, want ErrClosed", err)
	}
	if err := b.Wait(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("Wait = %v, want ErrClosed", err)
	}
	if want := []leaving{{0, 0}}; !slices.Equal(*out, want) {
		t.Errorf("left %v, want %v", *out, want)
	}
}

func TestLeakyBucket_closeDropsIfTold(t *testing.T) {
	clock, b, out := watchedBucket(100*ms, 3)
	_, _ = b.Put(0)
	_, _ = b.Put(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := b.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Close = %v, want context.Canceled", err)
	}
	clock.Advance(time.Hour)
	if want := []leaving{{0, 0}}; !slices.Equal(*out, want) || b.Len() != 0 {
		t.Errorf("left %v, want %v; Len = %d", *out, want, b.Len())
	}
	if err := b.Close(ctx); err != nil {
		t.Errorf("Close of an empty bucket = %v", err)
	}
}

// Close drains at the pace of the bucket, on package time.
func TestLeakyBucket_closeDrains(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		start := time.Now()
		var out []leaving
		b := NewLeakyBucket(time.Second, 3, func(v int) { out = append(out, leaving{v, time.Since(start)}) })
		for v := range 4 {
			_, _ = b.Put(v)
		}
		if err := b.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
		if want := []leaving{{0, 0}, {1, time.Second}, {2, 2 * time.Second}, {3, 3 * time.Second}}; !slices.Equal(out, want) {
			t.Errorf("left %v, want %v", out, want)
		}

		b = NewLeakyBucket(time.Second, 3, func(v int) { out = append(out, leaving{v, time.Since(start)}) })
		for v := range 4 {
			_, _ = b.Put(v)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		out = nil
		if err := b.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 4500*time.Millisecond {
			t.Errorf("Close = %v at %v", err, time.Since(start))
		}
		time.Sleep(time.Hour)
		if want := []leaving{{1, 4 * time.Second}}; !slices.Equal(out, want) {
			t.Errorf("left %v, want %v", out, want)
		}
	})
}

// Waiters are served in order with the items; those who give up delay nobody.
func TestLeakyBucket_wait(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var out []leaving
		note := func(v int) {
			mu.Lock()
			defer mu.Unlock()
			out = append(out, leaving{v, time.Since(start)})
		}
		b := NewLeakyBucket(time.Second, 4, note)
		wait := func(ctx context.Context, v int, want error) {
			go func() {
				if err := b.Wait(ctx); !errors.Is(err, want) {
					t.Errorf("Wait %d = %v, want %v", v, err, want)
				} else if err == nil {
					note(v)
				}
			}()
			synctestcompat.Wait()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
		defer cancel()
		bg := context.Background()
		wait(bg, 0, nil)
		wait(bg, 1, nil)
		wait(ctx, 2, context.DeadlineExceeded)
		_, _ = b.Put(3)
		wait(bg, 4, nil)
		wait(bg, 5, ErrQueueFull)
		time.Sleep(time.Minute)
		synctestcompat.Wait()
		wait(ctx, 6, context.DeadlineExceeded)
		wait(bg, 7, nil)
		wait(bg, 8, ErrClosed)
		b.Stop()
		synctestcompat.Wait()
		want := []leaving{{0, 0}, {1, time.Second}, {3, 2 * time.Second}, {4, 3 * time.Second}, {7, time.Minute}}
		if !slices.Equal(out, want) {
			t.Errorf("left %v, want %v", out, want)
		}
	})
}

func TestLeakyBucket_zeroValue(t *testing.T) {
	var b LeakyBucket[int]
	for range 3 {
		if err := b.Wait(context.Background()); err != nil {
			t.Errorf("Wait = %v", err)
		}
	}
	b.Stop()
}

// Everything at once: what was accepted and not cancelled leaves once, in order and
// interval apart.
func TestLeakyBucket_concurrent(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var out []leaving
		b := NewLeakyBucket(time.Millisecond, 20, func(v int) {
			mu.Lock()
			defer mu.Unlock()
			out = append(out, leaving{v, time.Since(start)})
		})
		accepted := map[int]bool{}
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range 50 {
					v := g*1000 + i
					ticket, err := b.Put(v)
					cancelled := err == nil && i%3 == 0 && b.Cancel(ticket)
					if err == nil && !cancelled {
						mu.Lock()
						accepted[v] = true
						mu.Unlock()
					}
					time.Sleep(time.Duration(i%5) * time.Millisecond)
				}
			}()
		}
		wg.Wait()
		if err := b.Close(context.Background()); err != nil {
			t.Errorf("Close = %v", err)
		}
		if len(out) != len(accepted) || len(out) < 50 {
			t.Errorf("%d left, %d were accepted", len(out), len(accepted))
		}
		for i, l := range out {
			if !accepted[l.v] {
				t.Errorf("%d left that was refused, cancelled or had left", l.v)
			}
			delete(accepted, l.v)
			if i > 0 && l.at-out[i-1].at < time.Millisecond {
				t.Errorf("%v and %v left less than 1ms apart", out[i-1], l)
			}
		}
	})
}
