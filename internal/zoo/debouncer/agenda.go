package debouncer

import (
	"container/heap"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// agendas are designs in which something other than one timer remembers the deadlines: a
// heap for all keys, a chain of contexts.
func agendas() []zoo.Design {
	return []zoo.Design{
		{Name: "one goroutine sleeps until the first deadline of a heap of keys", Spec: agendaSpec("")},
		{Name: "each event cancels the context of the one before it", Spec: made(db.PackageTime,
			plain(func(tr *db.Traits) {
				tr.StaleFire, tr.ZeroWait, tr.Reentrancy = db.StaleAllowed, db.ZeroRefused, db.ReentrancyForbidden
			}),
			func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
				mustWait(cfg.Wait)
				d := &contexts{clock: clock, wait: cfg.Wait, fire: fire, blind: true}
				return db.Funcs{Call: d.call, Cancel: d.drop, Stop: d.stop}
			})},
	}
}

// mustWait refuses to make a debouncer that does not wait.
func mustWait(wait time.Duration) {
	if wait <= 0 {
		panic("wait must be > 0")
	}
}

// diesOfPanic is a mistake of an agenda.
const diesOfPanic = "a panic is recovered, and ends the goroutine"

func agendaSpec(mutant string) db.Spec {
	return made(db.Injected, plain(func(tr *db.Traits) {
		tr.Tie, tr.ZeroWait, tr.Overlap = db.ResetFirst, db.ZeroRefused, db.Serial
		tr.PanicPolicy, tr.ClockBack = db.PanicRecovered, db.BackStands
	}), func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
		a := newAgenda(clock, cfg.Wait, fire, mutant)
		return db.Funcs{
			Call: func(v int) { a.call(0, v) }, CallKey: a.call,
			Cancel: a.cancel, CancelKey: a.drop, FlushKey: a.flush, Pending: a.pending, Stop: a.stop,
		}
	})
}

// agenda debounces many keys with one goroutine.
type agenda struct {
	clock clockwork.Clock
	wait  time.Duration
	fire  func(v int)
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
}

func newAgenda(clock clockwork.Clock, wait time.Duration, fire func(v int), mutant string) *agenda {
	mustWait(wait)
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
		heap.Init(&a.due) // later than before: the goroutine finds out when it wakes
		return
	}
	d := &due{at: at, key: key, v: v}
	a.of[key] = d
	heap.Push(&a.due, d)
	if a.due[0] == d {
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
	a.fire(d.v)
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
		a.due = slices.DeleteFunc(a.due, func(other *due) bool { return other == d })
		heap.Init(&a.due)
		delete(a.of, key)
	}
}

func (a *agenda) flush(key int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := a.of[key]; d != nil {
		d.at = a.clock.Now()
		heap.Init(&a.due)
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
func (d dues) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *dues) Push(x any)        { *d = append(*d, x.(*due)) }

func (d *dues) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}
