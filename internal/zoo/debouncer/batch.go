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

	mu   sync.Mutex
	gen  int
	held []int
	n    int // how many are held, which only the bound asks
}

func (d *batch) call(v int) {
	d.mu.Lock()
	var before []int
	if d.mutant == makesRoom && d.isFull() {
		before = d.take()
	}
	d.held = append(d.held, v)
	d.n++
	d.gen++
	if d.mutant != makesRoom && d.isFull() {
		all := d.take()
		d.mu.Unlock()
		d.fire(all)
		return
	}
	gen := d.gen
	d.clock.AfterFunc(d.wait, func() { d.expire(gen) })
	d.mu.Unlock()
	if before != nil {
		d.fire(before)
	}
}

// makesRoom is no mistake: a full batch waits for the next event, or for the pause.
const makesRoom = "a full batch makes room"

// isFull reports whether the batch holds as many events as it may.
func (d *batch) isFull() bool {
	switch d.mutant {
	case "a full batch waits for its pause":
		return false
	case "a batch holds one more than it may":
		return d.most > 0 && d.n > d.most
	}
	return d.most > 0 && d.n >= d.most
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
			return db.Funcs{Call: d.call, Cancel: d.cancel}
		},
		Traits: db.Traits{
			Edges: []db.Edges{db.Trailing}, Payload: db.AllPayloads, Tie: db.EitherTie, StaleFire: db.StaleForbidden,
			CancelBarrier: db.NoBarrier, AfterCancel: db.CancelReusable, ZeroWait: db.ZeroNextTick,
			Overlap: db.Parallel, Full: full,
		},
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
	{"a batch holds one more than it may", "DB-FULL"},
	{"what has fired at its pause fills the next batch", "DB-FULL"},
	{"what was cancelled fills the next batch", "DB-FULL"},
}
