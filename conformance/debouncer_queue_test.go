package conformance_test

import (
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/synctestcompat"
)

// queued is a debouncer that hands what is due to a goroutine of its own, which runs one
// callback after the other and ends when there is none. No method waits for it.
type queued struct {
	clock       clockwork.Clock
	cfg         conformance.DebounceConfig
	fire        func([]int)
	twice       bool // a single event fires on both edges
	stopFlushes bool
	keepsBurst  bool // cancel leaves the burst open

	mu      sync.Mutex
	queue   [][]int
	working bool
	pending []int
	gen     int
	open    bool
	stopped bool
	first   time.Time // of what is pending
	last    time.Time
}

func (d *queued) put(values []int) {
	if len(values) == 0 {
		return
	}
	d.queue = append(d.queue, values)
	if !d.working {
		d.working = true
		go d.work()
	}
}

func (d *queued) work() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) > 0 {
		values := d.queue[0]
		d.queue = d.queue[1:]
		d.mu.Unlock()
		d.fire(values)
		d.mu.Lock()
	}
	d.working = false
}

func (d *queued) call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	now := d.clock.Now()
	leads := d.cfg.Edges&conformance.Leading != 0 && (!d.open || d.cfg.Wait == 0 || now.Sub(d.last) > d.cfg.Wait)
	d.open, d.last = true, now
	if leads {
		d.put([]int{v})
	}
	if d.cfg.Edges&conformance.Trailing == 0 || leads && !d.twice {
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
	d.clock.AfterFunc(rest, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if gen == d.gen {
			d.settle(true)
		}
	})
}

// settle puts what is pending into the queue, or drops it.
func (d *queued) settle(fires bool) {
	if fires {
		d.put(d.pending)
	}
	d.pending = nil
	d.gen++
}

func (d *queued) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(false)
	d.open = d.open && d.keepsBurst
}

func (d *queued) flush() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settle(true)
}

func (d *queued) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending) > 0
}

func (d *queued) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.stopped = true
	d.settle(d.stopFlushes)
	if !d.stopFlushes {
		d.queue = nil
	}
}

func (d *queued) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.settle(true)
}

// queuedSpecs are its variants.
func queuedSpecs() []conformance.DebouncerSpec {
	variant := func(name string, payload conformance.Payload, change func(d *queued, traits *conformance.DebounceTraits)) conformance.DebouncerSpec {
		spec := conformance.DebouncerSpec{
			Name: name,
			Time: conformance.Injected,
			Traits: conformance.DebounceTraits{
				Edges:   []conformance.Edges{conformance.Trailing, conformance.Leading, conformance.LeadingAndTrailing},
				Payload: payload, Tie: conformance.ResetFirst, StaleFire: conformance.StaleForbidden, CancelBarrier: conformance.NoBarrier,
				AfterCancel: conformance.CancelReusable, StopPending: conformance.StopDrops, ZeroWait: conformance.ZeroNextTick,
				Overlap: conformance.Serial, BothSingle: conformance.BothOnce, MaxWait: conformance.MaxWaitFromFirst, CloseFlush: conformance.CloseFires,
			},
		}
		build := func(env conformance.Env, cfg conformance.DebounceConfig, fire func([]int)) conformance.DebouncerFuncs {
			if cfg.Wait < 0 {
				panic("negative wait")
			}
			d, ignored := &queued{clock: env.Clock, cfg: cfg, fire: fire}, spec.Traits
			change(d, &ignored)
			return conformance.DebouncerFuncs{Call: d.call, Cancel: d.cancel, Flush: d.flush, Pending: d.isPending, Stop: d.stop, Close: d.end}
		}
		change(&queued{}, &spec.Traits)
		switch payload {
		case conformance.AllPayloads:
			spec.NewBatch = build
		default:
			spec.New = func(env conformance.Env, cfg conformance.DebounceConfig, fire func(int)) conformance.DebouncerFuncs {
				return build(env, cfg, func(all []int) {
					switch payload {
					case conformance.FirstPayload:
						fire(all[0])
					case conformance.NoPayload:
						fire(0)
					default:
						fire(all[len(all)-1])
					}
				})
			}
		}
		return spec
	}
	plain := func(*queued, *conformance.DebounceTraits) {}
	return []conformance.DebouncerSpec{
		variant("newest", conformance.LastPayload, plain),
		variant("first", conformance.FirstPayload, plain),
		variant("none", conformance.NoPayload, plain),
		variant("all", conformance.AllPayloads, plain),
		variant("twice", conformance.LastPayload, func(d *queued, traits *conformance.DebounceTraits) {
			d.twice, traits.BothSingle = true, conformance.BothTwice
		}),
		variant("stop flushes", conformance.LastPayload, func(d *queued, traits *conformance.DebounceTraits) {
			d.stopFlushes, traits.StopPending = true, conformance.StopFlushes
		}),
		variant("cancel keeps the burst", conformance.LastPayload, func(d *queued, traits *conformance.DebounceTraits) {
			d.keepsBurst, traits.AfterCancel = true, conformance.CancelKeepsBurst
		}),
	}
}

// Callbacks may wait in a queue, whatever they get, and no method need wait for them.
func TestDesigns_queued(t *testing.T) {
	synctestcompat.Require(t)
	for i, spec := range queuedSpecs() {
		t.Run(spec.Name, func(t *testing.T) {
			if i > 0 { // what else it can declare
				prove.Require(t, prove.Suite)
			}
			conformance.RunDebouncer(t, spec)
			j := conformance.JudgeDebouncer(t, spec)
			for _, text := range []string{ // longer than what is explored
				"wait=100ms busy=250ms | call 1 @0 | call 2 @100.007ms | call 3 @200.014ms | stop @300.021ms",
				"wait=100ms busy=250ms | call 1 @0 | call 2 @100.007ms | call 3 @200.014ms | cancel @200.014ms",
				"wait=100ms edges=both | call 1 @0 | call 2 @0 | flush @0",
			} {
				s, err := conformance.ParseSchedule(text)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range j.Run(s) {
					t.Error(v.Text)
				}
			}
		})
	}
}
