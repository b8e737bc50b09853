package debouncer

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// batch collects the events of a burst, correct unless mutant names its mistake.
type batch struct {
	clock  clockwork.Clock
	wait   time.Duration
	most   int // events of a batch; 0 is any number
	fire   func([]int)
	mutant string

	mu    sync.Mutex
	gen   int
	turn  sync.Mutex // of full batches, only of the mutant that needs it
	timer clockwork.Timer
	held  []int
	n     int  // how many are held, which only the bound asks
	ended bool // there is no input any more
}

func (d *batch) call(v int) {
	d.mu.Lock()
	if d.ended {
		d.mu.Unlock()
		panic("send on closed channel")
	}
	var before []int
	if d.mutant == makesRoom && d.isFull() {
		before = d.take()
	}
	d.held = append(d.held, v)
	d.n++
	d.gen++
	if d.mutant != makesRoom && d.isFull() {
		d.full()
		return
	}
	gen := d.gen
	d.timer = d.clock.AfterFunc(d.wait, func() { d.expire(gen) })
	d.mu.Unlock()
	if before != nil {
		d.fire(before)
	}
}

// full fires a full batch. It is called with the lock, and returns without.
func (d *batch) full() {
	switch d.mutant {
	case "a full batch is cut off when its callback has returned":
		all := d.held
		d.mu.Unlock()
		d.fire(all)
		d.mu.Lock()
		d.held, d.n = d.held[len(all):], 0
		d.mu.Unlock()
	case "a panic in a full batch keeps a lock":
		all := d.take()
		d.mu.Unlock()
		d.turn.Lock()
		d.fire(all)
		d.turn.Unlock()
	case "a full batch fires under the lock":
		defer d.mu.Unlock()
		d.fire(d.take())
	default:
		all := d.take()
		d.mu.Unlock()
		d.fire(all)
	}
}

// makesRoom is no mistake: a full batch waits for the next event, or for the pause.
const makesRoom = "a full batch makes room"

// isFull reports whether the batch holds as many events as it may.
func (d *batch) isFull() bool {
	return d.most > 0 && d.n >= d.most && d.mutant != "a full batch waits for its pause"
}

// take empties the batch.
func (d *batch) take() []int {
	all := d.held
	d.held, d.n = nil, 0
	return all
}

func (d *batch) expire(gen int) {
	d.mu.Lock()
	if gen != d.gen && d.mutant != "a timer outlives its batch" || len(d.held) == 0 {
		d.mu.Unlock()
		return
	}
	all := d.held
	if d.mutant != "what has fired at its pause fills the next batch" {
		d.n = 0
	}
	switch d.mutant {
	case "a batch has the newest event only":
		all = all[len(all)-1:]
		fallthrough
	default:
		d.held = nil
	case "a batch keeps what it has fired":
	case "the next batch overwrites one that is handed out":
		d.held = all[:0]
	}
	d.mu.Unlock()
	d.fire(all)
}

func (d *batch) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gen++
	if d.mutant != "what was cancelled fills the next batch" {
		d.n = 0
	}
	if d.mutant != "a batch keeps what was cancelled" {
		d.held = nil
	}
}

// end is the end of the input: it fires what is held.
func (d *batch) end() {
	d.mu.Lock()
	d.gen++
	expired := d.timer != nil && !d.timer.Stop()
	if d.ended = true; d.mutant == "the end leaves to the timer what is due" && expired {
		d.mu.Unlock()
		return
	}
	all := d.take()
	if d.mutant == "the end drops a batch with room for one" && d.most > 0 && len(all) == d.most-1 {
		all = nil
	}
	if d.mutant != "the end fires under the lock" {
		d.mu.Unlock()
	} else {
		defer d.mu.Unlock()
	}
	if len(all) > 0 {
		d.fire(all)
	}
}

func batchSpec(mutant string, source db.TimeSource) db.Spec {
	name, full := "zoo batch", db.FullFires
	if mutant == makesRoom {
		name, full = "zoo batch that makes room", db.FullMakesRoom
	}
	return db.Spec{
		Name: name,
		Time: source,
		NewBatch: func(env db.Env, cfg db.Config, fire func([]int)) db.Funcs {
			d := &batch{clock: env.Clock, wait: cfg.Wait, most: cfg.Full, fire: fire, mutant: mutant}
			return db.Funcs{Call: d.call, Cancel: d.cancel, Close: d.end}
		},
		Traits: plain(func(tr *db.Traits) {
			tr.Payload, tr.Full, tr.StopPending = db.AllPayloads, full, 0
			tr.CloseFlush, tr.PanicPolicy = db.CloseFires, db.PanicPropagates
		}),
	}
}

// batchMutants are mistakes of batch.
var batchMutants = []mistake{
	{"a batch has the newest event only", "DB-ALL"},
	{"a batch keeps what it has fired", "DB-ALL"},
	{"a batch keeps what was cancelled", "DB-ALL"},
	{"a timer outlives its batch", "DB-QUIET"},
	{"the next batch overwrites one that is handed out", "DB-ALL"},
	{"a full batch waits for its pause", "DB-FULL"},
	{"what has fired at its pause fills the next batch", "DB-FULL"},
	{"what was cancelled fills the next batch", "DB-FULL"},
	{"a full batch fires under the lock", "X-REENT"},
	{"a full batch is cut off when its callback has returned", "X-REENT"},
	{"a panic in a full batch keeps a lock", "X-PANIC"},
	{"the end fires under the lock", "X-REENT"},
	{"the end leaves to the timer what is due", "DB-CLOSE"},
	{"the end drops a batch with room for one", "DB-CLOSE"},
}
