package debouncer

import (
	"container/heap"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// agendas are designs in which something other than one timer remembers the deadlines: a
// heap for all keys, a chain of contexts.
func agendas() []zoo.Design {
	type traits = debouncertest.Traits
	return []zoo.Design{
		{Name: "one goroutine sleeps until the first deadline of a heap of keys", Spec: agendaSpec("")},
		{Name: "each event cancels the context of the one before it", Spec: debouncertest.Spec{
			Name: "superseded", Time: debouncertest.PackageTime,
			New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
				if cfg.Wait <= 0 {
					panic("wait must be > 0")
				}
				d := &contexts{clock: env.Clock, wait: cfg.Wait, fire: fire, blind: true}
				return debouncertest.Funcs{Call: d.call, Cancel: d.drop, Stop: d.stop}
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

// diesOfPanic is a mistake of an agenda.
const diesOfPanic = "a panic is recovered, and ends the goroutine"

func agendaSpec(mutant string) debouncertest.Spec {
	return debouncertest.Spec{
		Name: "agenda", Time: debouncertest.Injected,
		New: func(env debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
			a := newAgenda(env.Clock, cfg.Wait, func(_, v int) { fire(v) }, mutant)
			return debouncertest.Funcs{
				Call: func(v int) { a.call(0, v) }, CallKey: a.call,
				Cancel: a.cancel, CancelKey: a.drop, FlushKey: a.flush, Pending: a.pending, Stop: a.stop,
			}
		},
		Traits: debouncertest.Traits{
			Edges: []debouncertest.Edges{debouncertest.Trailing}, Payload: debouncertest.LastPayload,
			Tie: debouncertest.ResetFirst, StaleFire: debouncertest.StaleForbidden,
			CancelBarrier: debouncertest.NoBarrier, AfterCancel: debouncertest.CancelReusable,
			StopPending: debouncertest.StopDrops, ZeroWait: debouncertest.ZeroRefused,
			Overlap: debouncertest.Serial, PanicPolicy: debouncertest.PanicRecovered,
			ClockBack: debouncertest.BackStands,
		},
	}
}

// agenda debounces many keys with one goroutine.
type agenda struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(key, v int)
	wake  chan struct{} // the first deadline is another, or it is over

	mutant string

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

func newAgenda(clock clockwork.Clock, wait time.Duration, fire func(key, v int), mutant string) *agenda {
	if wait <= 0 {
		panic("wait must be > 0")
	}
	a := &agenda{
		clock: clock, wait: wait, fire: fire, wake: make(chan struct{}, 1), mutant: mutant, of: map[int]*due{},
	}
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
			if !a.guarded(d) && a.mutant == diesOfPanic {
				return
			}
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

func (a *agenda) guarded(d *due) (returned bool) {
	defer func() { _ = recover() }()
	a.fire(d.key, d.v)
	return true
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
