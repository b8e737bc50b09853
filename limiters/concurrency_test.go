package limiters

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/synctestcompat"
)

// queue is a Concurrency in a bubble, and what became of its requests.
type queue struct {
	*Concurrency
	t *testing.T

	mu       sync.Mutex
	answered []string
}

// request asks for n slots on a goroutine of its own.
func (q *queue) request(ctx context.Context, name string, n int) {
	go func() {
		err := q.Acquire(ctx, n)
		q.mu.Lock()
		defer q.mu.Unlock()
		q.answered = append(q.answered, name+" "+map[error]string{
			nil: "runs", ErrBacklogFull: "full", ErrTimeout: "timeout", ErrOverLimit: "over",
			context.Canceled: "canceled", context.DeadlineExceeded: "deadline",
		}[err])
	}()
	synctestcompat.Wait()
}

// expect compares what was answered since the last time with want.
func (q *queue) expect(want ...string) {
	q.t.Helper()
	synctestcompat.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	if got, want := strings.Join(q.answered, ", "), strings.Join(want, ", "); got != want {
		q.t.Errorf("answered %q, want %q", got, want)
	}
	q.answered = nil
}

// empty checks that nothing is in use and nobody waits.
func (q *queue) empty() {
	q.t.Helper()
	if used, waiting := q.InUse(), q.Waiting(); used != 0 || waiting != 0 {
		q.t.Errorf("in the end %d in use and %d waiting, want none", used, waiting)
	}
}

func inQueue(t *testing.T, c *Concurrency, f func(q *queue)) {
	t.Helper()
	synctestcompat.Run(t, func(t *testing.T) { f(&queue{Concurrency: c, t: t}) })
}

var forever = context.Background()

func TestConcurrency_firstComeFirstServed(t *testing.T) {
	inQueue(t, NewConcurrency(3, Backlog(3)), func(q *queue) {
		q.request(forever, "a", 2)
		q.request(forever, "b", 2) // too heavy for what is left
		q.request(forever, "c", 1) // would fit, but b is first
		q.request(forever, "d", 3)
		q.request(forever, "e", 1)
		q.expect("a runs", "e full")
		if q.TryAcquire(1) {
			t.Error("TryAcquire(1) = true before those who wait")
		}
		q.Release(2)
		synctestcompat.Wait()
		q.mu.Lock()
		if n := len(q.answered); n != 2 { // b and c, on goroutines of their own
			t.Errorf("%v answered, want b and c", q.answered)
		}
		q.answered = nil
		q.mu.Unlock()
		q.Release(2)
		q.expect()
		q.Release(1)
		q.expect("d runs")
		q.Release(3)
		q.empty()
	})
}

// Those behind a request that gives up are looked at again.
func TestConcurrency_headLeaves(t *testing.T) {
	for _, leave := range []string{"canceled", "timeout", "over"} {
		t.Run(leave, func(t *testing.T) {
			clock := fakeclock.New()
			inQueue(t, NewConcurrency(3, Timeout(time.Second), WithClock(clock)), func(q *queue) {
				ctx, cancel := context.WithCancel(forever)
				q.request(forever, "a", 1)
				q.request(ctx, "b", 3)
				clock.Advance(time.Second - 1)
				q.request(forever, "c", 1)
				q.expect("a runs")
				switch leave {
				case "canceled":
					cancel()
				case "timeout":
					clock.Advance(1)
				case "over":
					q.Resize(2)
				}
				synctestcompat.Wait()
				q.mu.Lock()
				if got := fmt.Sprint(q.answered); got != "[b "+leave+" c runs]" && got != "[c runs b "+leave+"]" {
					t.Errorf("answered %v, want b %s and c runs", got, leave)
				}
				q.mu.Unlock()
				q.Release(q.InUse())
				cancel()
				q.empty()
			})
		})
	}
}

func TestConcurrency_timeout(t *testing.T) {
	clock := fakeclock.New()
	inQueue(t, NewConcurrency(1, Timeout(time.Second), WithClock(clock)), func(q *queue) {
		q.request(forever, "a", 1)
		q.request(forever, "b", 1)
		clock.Advance(time.Millisecond)
		q.request(forever, "c", 1)
		q.expect("a runs")
		clock.Advance(time.Second - time.Millisecond - 1)
		q.expect()
		clock.Advance(1)
		q.expect("b timeout")
		q.Release(1)
		q.expect("c runs")
		q.Release(1)
		if clock.Advance(time.Hour); len(clock.Timers()) > 0 {
			t.Error("a timer is left armed")
		}
		q.empty()
	})
}

// On package time one timer does for all who wait, each for as long as the others.
func TestConcurrency_timeoutsOfMany(t *testing.T) {
	inQueue(t, NewConcurrency(1, Timeout(10)), func(q *queue) {
		q.request(forever, "a", 1)
		q.expect("a runs")
		for range 2 { // the second time with another timer
			ctx, cancel := context.WithCancel(forever)
			q.request(forever, "b", 1)
			time.Sleep(3 * time.Nanosecond)
			q.request(ctx, "c", 1)
			time.Sleep(3 * time.Nanosecond)
			q.request(forever, "d", 1)
			time.Sleep(3 * time.Nanosecond)
			q.request(forever, "e", 1)
			q.expect()
			time.Sleep(time.Nanosecond)
			q.expect("b timeout")
			cancel()
			q.expect("c canceled")
			time.Sleep(5 * time.Nanosecond)
			q.expect()
			time.Sleep(time.Nanosecond)
			q.expect("d timeout")
			time.Sleep(2 * time.Nanosecond)
			q.expect()
			q.Release(1)
			q.expect("e runs")
			if q.Concurrency.timer != nil {
				t.Error("a timer is left armed")
			}
			time.Sleep(20 * time.Nanosecond)
			q.expect()
		}
		q.Release(1)
		q.empty()
	})
}

// With a timeout of 0 nobody waits, and a free slot is given all the same.
func TestConcurrency_timeoutOfZero(t *testing.T) {
	c := NewConcurrency(1, Timeout(0))
	for _, want := range []error{nil, ErrTimeout, ErrTimeout} {
		if err := c.Acquire(forever, 1); err != want {
			t.Errorf("Acquire = %v, want %v", err, want)
		}
	}
}

// A context that is done gets nothing, whatever is free and however often one asks.
func TestConcurrency_contextDoneBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(forever)
	cancel()
	c := NewConcurrency(1)
	for range 1000 {
		if err := c.Acquire(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Fatalf("Acquire = %v, want context.Canceled", err)
		}
	}
	if used := c.InUse(); used != 0 {
		t.Errorf("InUse() = %d, want 0", used)
	}
}

func TestConcurrency_resize(t *testing.T) {
	inQueue(t, NewConcurrency(1), func(q *queue) {
		for _, name := range []string{"a", "b", "c", "d"} {
			q.request(forever, name, 1)
		}
		q.expect("a runs")
		q.Resize(3)
		synctestcompat.Wait()
		if used, waiting := q.InUse(), q.Waiting(); used != 3 || waiting != 1 {
			t.Errorf("after Resize(3) %d in use and %d waiting, want 3 and 1", used, waiting)
		}
		q.Resize(2)
		q.Release(1)
		if used, waiting := q.InUse(), q.Waiting(); used != 2 || waiting != 1 {
			t.Errorf("after Resize(2) and Release %d in use and %d waiting, want 2 and 1", used, waiting)
		}
		q.Release(1)
		synctestcompat.Wait()
		if used, waiting := q.InUse(), q.Waiting(); used != 2 || waiting != 0 {
			t.Errorf("then %d in use and %d waiting, want 2 and 0", used, waiting)
		}
		q.Release(2)
		q.empty()
	})
}

// Whatever way f ends, its slot is given back once.
func TestConcurrency_doReleases(t *testing.T) {
	c := NewConcurrency(1, Backlog(0))
	fault := errors.New("fault")
	ends := map[string]func() error{
		"return": func() error { return nil },
		"error":  func() error { return fault },
		"panic":  func() error { panic("ouch") },
		"goexit": func() error { runtime.Goexit(); return nil },
	}
	for name, f := range ends {
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() {
				if r := recover(); (r != nil) != (name == "panic") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			err := c.Do(forever, func() error {
				if c.TryAcquire(1) {
					t.Errorf("%s: a second slot of one", name)
				}
				return f()
			})
			if (name == "error") != (err == fault) {
				t.Errorf("%s: Do = %v", name, err)
			}
		}()
		wg.Wait()
		if used := c.InUse(); used != 0 {
			t.Errorf("%s: InUse() = %d afterwards, want 0", name, used)
		}
	}
}

// A Release too many says so and leaves everything as it was.
func TestConcurrency_overRelease(t *testing.T) {
	c := NewConcurrency(2)
	c.TryAcquire(1)
	for _, n := range []int{2, 3, math.MaxInt} {
		mustPanic(t, "is more than the 1 in use", func() { c.Release(n) })
	}
	if used := c.InUse(); used != 1 {
		t.Errorf("InUse() = %d, want 1", used)
	}
	if !c.TryAcquire(1) || c.TryAcquire(1) {
		t.Error("the limit is no longer 2")
	}
}

func TestConcurrency_arguments(t *testing.T) {
	mustPanic(t, "limit 0 must be >= 1", func() { NewConcurrency(0) })
	mustPanic(t, "Concurrency.Resize: limit -1", func() { NewConcurrency(1).Resize(-1) })
	mustPanic(t, "Backlog: n -1", func() { Backlog(-1) })
	mustPanic(t, "Timeout: d -1ns", func() { Timeout(-1) })
	mustPanic(t, "Acquire: n -1", func() { _ = NewConcurrency(1).Acquire(forever, -1) })
	mustPanic(t, "TryAcquire: n -1", func() { NewConcurrency(1).TryAcquire(-1) })
	mustPanic(t, "Release: n -1", func() { NewConcurrency(1).Release(-1) })

	c := NewConcurrency(math.MaxInt, nil, WithClock(nil))
	if !c.TryAcquire(math.MaxInt32) || c.InUse() != math.MaxInt32 {
		t.Errorf("InUse() = %d, want %d", c.InUse(), math.MaxInt32)
	}
	if c.Release(math.MaxInt32); c.InUse() != 0 {
		t.Errorf("InUse() = %d, want 0", c.InUse())
	}
	c = NewConcurrency(1)
	c.TryAcquire(1)
	if !c.TryAcquire(0) || c.Acquire(forever, 0) != nil || c.Acquire(forever, 2) != ErrOverLimit {
		t.Error("0 slots must be there and 2 of 1 must not")
	}
	if c := new(Concurrency); c.TryAcquire(1) || c.Acquire(forever, 1) != ErrOverLimit || c.Acquire(forever, 0) != nil {
		t.Error("the zero Concurrency must have no slots")
	}
}

// mustPanic checks that f panics with a text that contains want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := fmt.Sprint(recover()); !strings.Contains(r, want) || !strings.HasPrefix(r, "limiters: ") {
			t.Errorf("panicked with %q, want %q in it", r, want)
		}
	}()
	f()
}

// Everything at once, on real processors: what runs never weighs more than the
// highest limit there was, and in the end nothing is lost.
func TestConcurrency_hammer(t *testing.T) {
	const goroutines, rounds, most = 8, 2000, 5
	c := NewConcurrency(3, Backlog(6))
	var running, over atomic.Int64
	run := func(n int) {
		if running.Add(int64(n)) > most {
			over.Add(1)
		}
		runtime.Gosched()
		running.Add(-int64(n))
		c.Release(n)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			draw := rand.New(rand.NewPCG(uint64(g), 1))
			for i := range rounds {
				n := 1 + draw.IntN(3)
				switch draw.IntN(8) {
				case 0:
					if c.TryAcquire(n) {
						run(n)
					}
				case 1: // gives up while it waits
					ctx, cancel := context.WithCancel(forever)
					go cancel()
					if c.Acquire(ctx, n) == nil {
						run(n)
					}
				case 2:
					if g == 0 && i%10 == 0 {
						c.Resize(3 + draw.IntN(most-2))
					}
				default:
					if err := c.Acquire(forever, n); err == nil {
						run(n)
					} else if err != ErrBacklogFull {
						t.Errorf("Acquire = %v", err)
					}
				}
			}
		}()
	}
	wg.Wait()
	if over.Load() > 0 || c.InUse() != 0 || c.Waiting() != 0 {
		t.Errorf("%d times over the limit; in the end %d in use and %d waiting", over.Load(), c.InUse(), c.Waiting())
	}
}

func TestConcurrency_allocatesNothing(t *testing.T) {
	c := NewConcurrency(1)
	if n := testing.AllocsPerRun(100, func() {
		if c.Acquire(forever, 1) == nil {
			c.Release(1)
		}
	}); n != 0 {
		t.Errorf("%v allocations per request, want 0", n)
	}
}
