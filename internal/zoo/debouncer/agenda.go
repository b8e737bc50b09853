package debouncer

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// agendas are designs in which something other than one timer remembers the deadlines: a
// heap for all keys, the closures of timers that are never stopped, a chain of contexts.
func agendas() []zoo.Design {
	type traits = debouncertest.Traits
	return []zoo.Design{
		{Name: "one goroutine sleeps until the first deadline of a heap of keys", Spec: debouncertest.Spec{
			Name: "agenda", Time: debouncertest.Injected,
			New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				a := newAgenda(env.Clock, cfg.Wait, func(_, v int) { fire(v) })
				return debouncertest.Funcs{
					Call: func(v int) { a.call(0, v) }, CallKey: a.call,
					Cancel: a.cancel, CancelKey: a.drop, FlushKey: a.flush, Pending: a.pending, Stop: a.stop,
				}
			},
			Traits: traits{
				Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
				Tie: debouncertest.ResetFirst, StaleFire: debouncertest.StaleForbidden,
				CancelBarrier: debouncertest.NoBarrier, AfterCancel: debouncertest.CancelReusable,
				StopPending: debouncertest.StopDrops, ZeroWait: debouncertest.ZeroRefused,
				Overlap: debouncertest.Serial, PanicPolicy: debouncertest.PanicRecovered,
				ClockBack: debouncertest.BackStands,
			},
		}},
		{Name: "each event has a timer, of which the newest counts", Spec: debouncertest.Spec{
			Name: "numbered", Time: debouncertest.PackageTime,
			New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				n := &numbered{wait: cfg.Wait, fire: fire}
				return debouncertest.Funcs{Call: n.call, Cancel: n.cancel}
			},
			Traits: traits{
				Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
				Tie: debouncertest.ResetFirst, StaleFire: debouncertest.StaleForbidden,
				CancelBarrier: debouncertest.NoBarrier, AfterCancel: debouncertest.CancelReusable,
				ZeroWait: debouncertest.ZeroSync, Overlap: debouncertest.Parallel,
			},
		}},
		{Name: "each event cancels the context of the one before it", Spec: debouncertest.Spec{
			Name: "superseded", Time: debouncertest.PackageTime,
			New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				if cfg.Wait <= 0 {
					panic("wait must be > 0")
				}
				s := &superseded{wait: cfg.Wait, fire: fire, undo: func() {}}
				return debouncertest.Funcs{Call: s.call, Cancel: s.cancel, Stop: s.stop}
			},
			Traits: traits{
				Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
				Tie: debouncertest.EitherTie, StaleFire: debouncertest.StaleAllowed,
				CancelBarrier: debouncertest.NoBarrier, AfterCancel: debouncertest.CancelReusable,
				StopPending: debouncertest.StopDrops, ZeroWait: debouncertest.ZeroRefused,
				Overlap: debouncertest.Parallel, Reentrancy: debouncertest.ReentrancyForbidden,
			},
		}},
	}
}

// agenda debounces many keys with one goroutine.
type agenda struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(key, v int)
	wake  chan struct{} // the first deadline is another, or it is over

	mu      sync.Mutex
	due     dues
	of      map[int]*due
	stopped bool
}

type due struct {
	at     time.Time
	key, v int
	place  int
}

func newAgenda(clock clockwork.Clock, wait time.Duration, fire func(key, v int)) *agenda {
	if wait <= 0 {
		panic("wait must be > 0")
	}
	a := &agenda{clock: clock, wait: wait, fire: fire, wake: make(chan struct{}, 1), of: map[int]*due{}}
	go a.run()
	return a
}

func (a *agenda) call(key, v int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return
	}
	at := a.clock.Now().Add(a.wait)
	if d := a.of[key]; d != nil {
		d.at, d.v = at, v
		heap.Fix(&a.due, d.place) // later than before: the goroutine finds out when it wakes
		return
	}
	d := &due{at: at, key: key, v: v}
	a.of[key] = d
	heap.Push(&a.due, d)
	if d.place == 0 {
		a.signal()
	}
}

func (a *agenda) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *agenda) run() {
	for {
		a.mu.Lock()
		for !a.stopped && len(a.due) > 0 && !a.clock.Now().Before(a.due[0].at) {
			d := heap.Pop(&a.due).(*due)
			delete(a.of, d.key)
			a.mu.Unlock()
			a.guarded(d)
			a.mu.Lock()
		}
		if a.stopped {
			a.mu.Unlock()
			return
		}
		var next <-chan time.Time
		var timer clockwork.Timer
		if len(a.due) > 0 {
			timer = a.clock.NewTimer(a.due[0].at.Sub(a.clock.Now()))
			next = timer.Chan()
		}
		a.mu.Unlock()
		select {
		case <-next:
		case <-a.wake:
		}
		if timer != nil {
			timer.Stop()
		}
	}
}

func (a *agenda) guarded(d *due) {
	defer func() { _ = recover() }()
	a.fire(d.key, d.v)
}

func (a *agenda) cancel() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = nil
	clear(a.of)
}

func (a *agenda) drop(key int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.of[key]; d != nil {
		heap.Remove(&a.due, d.place)
		delete(a.of, key)
	}
}

func (a *agenda) flush(key int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.of[key]; d != nil {
		d.at = a.clock.Now()
		heap.Fix(&a.due, d.place)
		a.signal()
	}
}

func (a *agenda) pending() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.due) > 0
}

func (a *agenda) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped, a.due = true, nil
	clear(a.of)
	a.signal()
}

// dues is a heap by instant.
type dues []*due

func (d dues) Len() int           { return len(d) }
func (d dues) Less(i, j int) bool { return d[i].at.Before(d[j].at) }

func (d dues) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

func (d *dues) Push(x any) {
	one := x.(*due)
	one.place = len(*d)
	*d = append(*d, one)
}

func (d *dues) Pop() any {
	all := *d
	last := all[len(all)-1]
	*d = all[:len(all)-1]
	return last
}

// numbered takes no lock and stops no timer.
type numbered struct {
	wait   time.Duration
	fire   func(int)
	newest atomic.Int64
}

func (n *numbered) call(v int) {
	if n.wait <= 0 {
		n.fire(v)
		return
	}
	mine := n.newest.Add(1)
	time.AfterFunc(n.wait, func() {
		if n.newest.CompareAndSwap(mine, mine+1) {
			n.fire(v)
		}
	})
}

func (n *numbered) cancel() { n.newest.Add(1) }

// superseded has a goroutine for each event that may still fire.
type superseded struct {
	wait    time.Duration
	fire    func(int)
	running sync.WaitGroup

	mu      sync.Mutex
	undo    context.CancelFunc
	stopped bool
}

func (s *superseded) call(v int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return
	}
	s.undo()
	ctx, undo := context.WithCancel(context.Background())
	s.undo = undo
	timer := time.NewTimer(s.wait)
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer undo()
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
			s.fire(v)
		}
	}()
}

func (s *superseded) cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.undo()
}

// stop waits until no callback runs, so that none may call it.
func (s *superseded) stop() {
	s.mu.Lock()
	s.stopped = true
	s.undo()
	s.mu.Unlock()
	s.running.Wait()
}
