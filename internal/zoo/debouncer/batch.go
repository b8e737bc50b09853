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
	fire   func([]int)
	mutant string

	mu   sync.Mutex
	gen  int
	held []int
}

func (d *batch) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = append(d.held, v)
	d.gen++
	gen := d.gen
	d.clock.AfterFunc(d.wait, func() { d.expire(gen) })
}

func (d *batch) expire(gen int) {
	d.mu.Lock()
	if gen != d.gen && d.mutant != "a timer outlives its batch" || len(d.held) == 0 {
		d.mu.Unlock()
		return
	}
	all := d.held
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
	if d.mutant != "a batch keeps what was cancelled" {
		d.held = nil
	}
}

func batchSpec(mutant string, source db.TimeSource) db.Spec {
	return db.Spec{
		Name: "zoo batch",
		Time: source,
		NewBatch: func(env db.Env, cfg db.Config, fire func([]int)) db.Funcs {
			d := &batch{clock: env.Clock, wait: cfg.Wait, fire: fire, mutant: mutant}
			return db.Funcs{Call: d.call, Cancel: d.cancel}
		},
		Traits: db.Traits{
			Edges: []db.Edges{db.Trailing}, Payload: db.AllPayloads, Tie: db.EitherTie, StaleFire: db.StaleForbidden,
			CancelBarrier: db.NoBarrier, AfterCancel: db.CancelReusable, ZeroWait: db.ZeroNextTick,
			Overlap: db.Parallel,
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
}
