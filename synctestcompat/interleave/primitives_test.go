//lint:file-ignore SA2001 a lock that protects nothing is one point more to explore

package interleave

import (
	"strings"
	"testing"
	stdtime "time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/context"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/point"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/sync/atomic"
	"github.com/escapement-go/escapement/synctestcompat/interleave/shim/time"
)

// explored explores what is written with the shim packages by hand, as the command would rewrite it.
func explored(t *testing.T, f func(*T), opts ...Option) Result {
	t.Helper()
	synctestcompat.Require(t)
	e := newExplorer(t, f, opts)
	defer e.close()
	return e.explore()
}

// together runs functions side by side and waits for them.
func together(fs ...func()) {
	var wg sync.WaitGroup
	for _, f := range fs {
		wg.Go(f)
	}
	wg.Wait()
}

// bodies are programs for each primitive. A wrong one fails in some order, with a text that has fails in it; a
// right one, with fails empty, in none.
var bodies = []struct {
	name  string
	fails string
	f     func(*T)
}{
	{"Mutex", "", func(t *T) {
		var mu sync.Mutex
		n := 0
		add := func() { mu.Lock(); n++; mu.Unlock() }
		together(add, add, add)
		if n != 3 {
			t.Errorf("n is %d", n)
		}
	}},
	{"Mutex given up between check and take", "level is -1", func(t *T) {
		var mu sync.Mutex
		level := 1
		take := func() {
			mu.Lock()
			defer mu.Unlock()
			if level < 1 {
				return
			}
			mu.Unlock()
			mu.Lock()
			level--
		}
		together(take, take)
		if level < 0 {
			t.Errorf("level is %d", level)
		}
	}},
	{"count that is read before the lock", "2 granted", func(t *T) {
		var mu sync.Mutex
		count, granted := 0, 0
		allow := func() {
			n := count
			mu.Lock()
			defer mu.Unlock()
			if n < 1 {
				count, granted = n+1, granted+1
			}
		}
		together(allow, allow)
		if granted > 1 {
			t.Errorf("%d granted", granted)
		}
	}},
	{"generation that is read behind the lock", "ran after cancel", func(t *T) {
		var mu sync.Mutex
		gen, ran, cancelled := 0, false, false
		together(func() {
			mu.Lock()
			mine := gen
			mu.Unlock()
			if mine == gen { // not under the lock that guards it
				mu.Lock()
				if cancelled {
					ran = true
				}
				mu.Unlock()
			}
		}, func() {
			mu.Lock()
			gen++
			cancelled = true
			mu.Unlock()
		})
		if ran {
			t.Error("ran after cancel")
		}
	}},
	{"Mutex, two in two orders", "deadlock", func(t *T) {
		var a, b sync.Mutex
		both := func(a, b *sync.Mutex) { a.Lock(); b.Lock(); b.Unlock(); a.Unlock() }
		together(func() { both(&a, &b) }, func() { both(&b, &a) })
	}},
	{"TryLock", "busy", func(t *T) {
		var mu sync.Mutex
		together(func() { mu.Lock(); mu.Unlock() }, func() {
			if !mu.TryLock() {
				t.Error("busy")
				return
			}
			mu.Unlock()
		})
	}},
	{"unlock of an unlocked Mutex", "unlock of unlocked mutex", func(t *T) { new(sync.Mutex).Unlock() }},
	{"RWMutex", "", func(t *T) {
		var rw sync.RWMutex
		readers, met := 0, make(chan bool, 1)
		read := func() {
			rw.RLock()
			defer rw.RUnlock()
			if readers++; readers == 2 {
				point.To(met).Send(true)
			}
			point.Recv(met) // a reader that waits for the other is right
			point.To(met).Send(true)
		}
		together(read, read)
	}},
	{"RWMutex, read twice beside a writer", "deadlock", func(t *T) {
		var rw sync.RWMutex
		together(func() { rw.RLock(); rw.RLock(); rw.RUnlock(); rw.RUnlock() }, func() { rw.Lock(); rw.Unlock() })
	}},
	{"RWMutex, written under the lock of readers", "lost", func(t *T) {
		var rw sync.RWMutex
		n := 0
		add := func() {
			rw.RLock()
			seen := n
			rw.RUnlock()
			rw.Lock()
			n = seen + 1
			rw.Unlock()
		}
		together(add, add)
		if n != 2 {
			t.Error("lost")
		}
	}},
	{"Once", "", func(t *T) {
		var once sync.Once
		n := 0
		do := func() {
			once.Do(func() { n++ })
			if n != 1 {
				t.Errorf("Do returned with n = %d", n)
			}
		}
		together(do, do)
	}},
	{"once by hand", "twice", func(t *T) {
		var done atomic.Bool
		n := 0
		do := func() {
			if !done.Load() {
				done.Store(true)
				n++
			}
		}
		together(do, do)
		if n > 1 {
			t.Error("twice")
		}
	}},
	{"Cond", "", func(t *T) {
		var mu sync.Mutex
		c, ready := sync.NewCond(&mu), false
		together(func() {
			mu.Lock()
			for !ready {
				c.Wait()
			}
			mu.Unlock()
		}, func() { mu.Lock(); ready = true; mu.Unlock(); c.Signal() })
	}},
	{"Cond, waited for without a look", "deadlock", func(t *T) {
		var mu sync.Mutex
		c := sync.NewCond(&mu)
		together(func() { mu.Lock(); c.Wait(); mu.Unlock() }, func() { c.Signal() })
	}},
	{"Cond, one signal for two", "deadlock", func(t *T) {
		var mu sync.Mutex
		c, ready := sync.NewCond(&mu), false
		wait := func() {
			mu.Lock()
			for !ready {
				c.Wait()
			}
			mu.Unlock()
		}
		together(wait, wait, func() { mu.Lock(); ready = true; mu.Unlock(); c.Signal() })
	}},
	{"Cond, a broadcast between the look and the wait", "deadlock", func(t *T) {
		var mu sync.Mutex
		var ready atomic.Bool
		c := sync.NewCond(&mu)
		together(func() {
			mu.Lock()
			for !ready.Load() {
				c.Wait()
			}
			mu.Unlock()
		}, func() { ready.Store(true); c.Broadcast() })
	}},
	{"WaitGroup, added in the goroutine", "not all", func(t *T) {
		var wg sync.WaitGroup
		var n atomic.Int64
		point.Go(func() { wg.Add(1); n.Add(1); wg.Done() })
		wg.Wait()
		if n.Load() != 1 {
			t.Error("not all")
		}
	}},
	{"WaitGroup, done too often", "negative WaitGroup counter", func(t *T) { new(sync.WaitGroup).Done() }},
	{"atomics, load and store", "lost", func(t *T) {
		var n atomic.Int64
		add := func() { n.Store(n.Load() + 1) }
		together(add, add)
		if n.Load() != 2 {
			t.Error("lost")
		}
	}},
	{"atomics, two adds between load and store", "n is 1", func(t *T) {
		var n atomic.Int64
		add := func() { n.Add(1) }
		together(func() { n.Store(n.Load() + 1) }, add, add)
		if n.Load() == 1 {
			t.Error("n is 1")
		}
	}},
	{"atomics, compare and swap", "", func(t *T) {
		var n int64
		add := func() {
			for old := atomic.LoadInt64(&n); !atomic.CompareAndSwapInt64(&n, old, old+1); old = atomic.LoadInt64(&n) {
			}
		}
		together(add, add)
		if atomic.LoadInt64(&n) != 2 {
			t.Error("lost")
		}
	}},
	{"spin", "", func(t *T) {
		var ready atomic.Bool
		together(func() {
			for !ready.Load() {
			}
		}, func() { ready.Store(true) })
	}},
	{"spin and give way", "", func(t *T) {
		var ready atomic.Bool
		spin := func() {
			for !ready.Load() {
				point.Gosched()
			}
		}
		together(spin, spin, func() { ready.Store(true) })
	}},
	{"spin until it is time", "", func(t *T) {
		began := stdtime.Now()
		var n atomic.Int64
		point.Go(func() { time.Sleep(time.Second) })
		for stdtime.Since(began) < time.Second {
			n.Add(1)
		}
	}},
	{"Pool, put twice", "shared", func(t *T) {
		pool := sync.Pool{New: func() any { return new(int) }}
		p := pool.Get().(*int)
		pool.Put(p)
		pool.Put(p)
		together(func() {
			p := pool.Get().(*int)
			*p++
			if *p != 1 {
				t.Error("shared")
			}
		}, func() { *pool.Get().(*int)++ })
	}},
	{"Map, load and store", "twice", func(t *T) {
		var m sync.Map
		var n atomic.Int64
		get := func() {
			if _, ok := m.Load("k"); !ok {
				n.Add(1)
				m.Store("k", true)
			}
		}
		together(get, get)
		if n.Load() > 1 {
			t.Error("twice")
		}
	}},
	{"Map, LoadOrStore", "", func(t *T) {
		var m sync.Map
		var n atomic.Int64
		get := func() {
			if _, ok := m.LoadOrStore("k", true); !ok {
				n.Add(1)
			}
		}
		together(get, get)
		if n.Load() != 1 {
			t.Error("not once")
		}
	}},
	{"channel, closed twice", "close of closed channel", func(t *T) {
		c := make(chan int)
		stop := func() {
			select {
			case <-c:
			default:
				point.Close(c)
			}
		}
		together(func() { point.Gosched(); stop() }, func() { point.Gosched(); point.Close(c) })
	}},
	{"channel, sent to nobody", "left when", func(t *T) {
		c := make(chan int)
		point.Go(func() { point.To(c).Send(1) })
	}},
	{"select, the second case", "took b", func(t *T) {
		a, b := make(chan int, 1), make(chan int, 1)
		a <- 1
		b <- 1
		ra, rb := point.From(a), point.From(b)
		if point.Select(false, ra, rb) == 1 && rb.Value() == 1 {
			t.Error("took b")
		}
	}},
	{"select, the default", "lost", func(t *T) {
		c, got := make(chan int), false
		point.Go(func() { point.Select(true, point.To(c).Case(1)) })
		timeout := point.From(time.After(time.Second))
		if point.Select(false, point.From(c), timeout) == 0 {
			got = true
		}
		if !got {
			t.Error("lost")
		}
	}},
	{"timers of one instant", "second first", func(t *T) {
		var order []int
		time.AfterFunc(time.Second, func() { order = append(order, 1) })
		time.AfterFunc(time.Second, func() { order = append(order, 2) })
		time.Sleep(2 * time.Second)
		if order[0] == 2 {
			t.Error("second first")
		}
	}},
	{"timer that has expired when it is stopped", "ran after Stop", func(t *T) {
		var mu sync.Mutex
		stopped, ran := false, false
		timer := time.AfterFunc(time.Second, func() {
			mu.Lock()
			defer mu.Unlock()
			ran = ran || stopped
		})
		time.Sleep(time.Second)
		mu.Lock()
		timer.Stop()
		stopped = true
		mu.Unlock()
		time.Sleep(time.Second)
		if ran {
			t.Error("ran after Stop")
		}
	}},
	{"clock read before the lock", "goes back", func(t *T) {
		var mu sync.Mutex
		var last stdtime.Time
		note := func() {
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			if now.Before(last) {
				t.Error("goes back")
			}
			last = now
		}
		together(note, func() { time.Sleep(time.Second); note() })
	}},
	{"context, tie of timeout and timer", "context first", func(t *T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		timer := point.From(time.After(time.Second))
		if point.Select(false, point.From(ctx.Done()), timer) == 0 {
			t.Error("context first")
		}
	}},
	{"context, tie the other way", "timer first", func(t *T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		timer := point.From(time.After(time.Second))
		if point.Select(false, point.From(ctx.Done()), timer) == 1 {
			t.Error("timer first")
		}
	}},
	{"context, AfterFunc", "after stop", func(t *T) {
		ctx, cancel := context.WithCancel(context.Background())
		var stopped atomic.Bool
		stop := context.AfterFunc(ctx, func() {
			if stopped.Load() {
				t.Error("after stop")
			}
		})
		together(cancel, func() { stop(); stopped.Store(true) })
	}},
	{"panic in a goroutine", "g1 panics: oops", func(t *T) { together(func() { panic("oops") }) }},
}

func TestPrimitives(t *testing.T) {
	for _, b := range bodies {
		for _, opts := range [][]Option{nil, {Unreduced()}} {
			name := b.name
			if opts != nil {
				name += ", unreduced"
			}
			t.Run(name, func(t *testing.T) {
				r := explored(t, b.f, opts...)
				t.Log(r.Summary())
				switch {
				case b.fails == "" && r.Failure != "":
					t.Errorf("a right program fails:\n%s", r.Failure)
				case b.fails != "" && !strings.Contains(r.Failure, b.fails):
					t.Errorf("got %q, want %q in it; %s", r.Failure, b.fails, r.Summary())
				}
			})
		}
	}
}
