package debouncer

import (
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/goroutine"
)

// queue is a debouncer that hands what is due to a goroutine of its own, which runs one
// callback after the other and ends when there is none. No method waits for it, save Cancel and Stop where they are
// to wait for the callback that runs.
type queue struct {
	clock       clockwork.Clock
	cfg         db.Config
	fire        func([]int)
	twice       bool // a single event fires on both edges
	stopFlushes bool
	keepsBurst  bool // cancel leaves the burst open
	waits       bool // cancel and stop, unless a callback calls them, return when that which runs has ended
	dropsAll    bool // and drop what has come meanwhile

	mu      sync.Mutex
	queue   [][]int
	working bool
	ended   chan struct{} // closed when the callback that runs has ended
	worker  uint64        // the goroutine that runs it
	pending []int
	gen     int
	open    bool
	stopped bool
	armed   armed
	first   time.Time // of what is pending
	last    time.Time
}

func (d *queue) put(values []int) {
	if len(values) == 0 {
		return
	}
	d.queue = append(d.queue, values)
	if !d.working {
		d.working = true
		go d.work()
	}
}

func (d *queue) work() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 {
		values := d.queue[0]
		d.queue = d.queue[1:]
		ended := make(chan struct{})
		d.ended, d.worker = ended, goroutine.ID()
		d.mu.Unlock()
		d.fire(values)
		d.mu.Lock()
		close(ended)
		d.ended = nil
	}
	d.working = false
}

func (d *queue) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	now := d.clock.Now()
	leads := d.cfg.Edges&db.Leading != 0 && (!d.open || d.cfg.Wait == 0 || now.Sub(d.last) > d.cfg.Wait)
	d.open, d.last = true, now
	if leads {
		d.put([]int{v})
	}
	if d.cfg.Edges&db.Trailing == 0 || leads && !d.twice {
		return
	}
	if len(d.pending) == 0 {
		d.first = now
	}
	d.pending = append(d.pending, v)
	rest := d.cfg.Wait
	if d.cfg.MaxWait > 0 {
		rest = min(rest, d.first.Add(d.cfg.MaxWait).Sub(now))
	}
	d.gen++
	gen := d.gen
	d.armed.add(d.clock.AfterFunc(rest, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen {
			d.settle(true)
		}
	}))
}

// settle puts what is pending into the queue, or drops it.
func (d *queue) settle(fires bool) {
	if fires {
		d.put(d.pending)
	}
	d.pending = nil
	d.gen++
}

func (d *queue) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(false)
	d.open = d.open && d.keepsBurst
	d.wait()
}

// wait drops what has not begun and waits for the callback that runs, if that is what cancel and stop do. mu is held.
func (d *queue) wait() {
	if !d.waits {
		return
	}
	d.queue = nil
	if ended := d.ended; ended != nil && d.worker != goroutine.ID() {
		d.mu.Unlock()
		<-ended
		d.mu.Lock()
		if d.dropsAll {
			d.settle(false)
			d.queue = nil
		}
	}
}

func (d *queue) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(true)
}

func (d *queue) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending) > 0
}

func (d *queue) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	d.armed.stop()
	d.settle(d.stopFlushes)
	if !d.stopFlushes {
		d.queue = nil
	}
	d.wait()
}

func (d *queue) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.settle(true)
}

// Queued are its variants.
func Queued() []db.Spec {
	variant := func(name string, payload db.Payload, change func(d *queue, traits *db.Traits)) db.Spec {
		spec := db.Spec{
			Name: "a queue: " + name,
			Time: db.Injected,
			Traits: db.Traits{
				Edges:   []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing},
				Payload: payload, Tie: db.ResetFirst, StaleFire: db.StaleForbidden, CancelBarrier: db.NoBarrier,
				AfterCancel: db.CancelReusable, StopPending: db.StopDrops, ZeroWait: db.ZeroNextTick,
				Overlap: db.Serial, BothSingle: db.BothOnce, MaxWait: db.MaxWaitFromFirst, CloseFlush: db.CloseFires,
				AfterFlush: db.FlushKeepsBurst,
			},
		}
		build := func(env db.Env, cfg db.Config, fire func([]int)) db.Funcs {
			if cfg.Wait < 0 {
				panic("negative wait")
			}
			d, ignored := &queue{clock: env.Clock, cfg: cfg, fire: fire}, spec.Traits
			change(d, &ignored)
			return db.Funcs{Call: d.call, Cancel: d.cancel, Flush: d.flush, Pending: d.isPending,
				Stop: d.stop, Close: d.end}
		}
		change(&queue{}, &spec.Traits)
		switch payload {
		case db.AllPayloads:
			spec.NewBatch = build
		default:
			spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
				return build(env, cfg, func(all []int) {
					switch payload {
					case db.FirstPayload:
						fire(all[0])
					case db.NoPayload:
						fire(0)
					default:
						fire(all[len(all)-1])
					}
				})
			}
		}
		return spec
	}
	plain := func(*queue, *db.Traits) {}
	return []db.Spec{
		variant("newest", db.LastPayload, plain),
		variant("first", db.FirstPayload, plain),
		variant("none", db.NoPayload, plain),
		variant("all", db.AllPayloads, plain),
		variant("twice", db.LastPayload, func(d *queue, traits *db.Traits) {
			d.twice, traits.BothSingle = true, db.BothTwice
		}),
		variant("stop flushes", db.LastPayload, func(d *queue, traits *db.Traits) {
			d.stopFlushes, traits.StopPending = true, db.StopFlushes
		}),
		variant("cancel keeps the burst", db.LastPayload, func(d *queue, traits *db.Traits) {
			d.keepsBurst, traits.AfterCancel = true, db.CancelKeepsBurst
		}),
		variant("cancel waits for the callback", db.LastPayload, func(d *queue, traits *db.Traits) {
			d.waits, traits.CancelBarrier = true, db.FinishBarrier
		}),
		variant("cancel waits for the callback and drops all until then", db.LastPayload,
			func(d *queue, traits *db.Traits) {
				d.waits, d.dropsAll, traits.CancelBarrier = true, true, db.FinishBarrier
			}),
	}
}
