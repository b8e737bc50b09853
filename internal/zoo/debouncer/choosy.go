package debouncer

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
	db "github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/internal/goroutine"
	"github.com/escapement-go/escapement/internal/zoo"
)

// choosy is a debouncer under one lock. Callbacks run without it: what is to
// run is collected in runs, for whoever lets go of the lock.
type choosy struct {
	traits db.Traits
	ways   ways
	clock  clockwork.Clock
	cfg    db.Config
	fire   func([]int)

	mu      sync.Mutex
	idle    *sync.Cond
	runs    []func()
	queue   [][]int  // decided, before a callback that runs ends; if serial
	inbox   []func() // what a receiver finds when its callback has ended
	running bool     // if serial
	worker  uint64   // the goroutine that runs callbacks, if serial
	flying  int      // decided callbacks that have not ended
	ended   bool     // by Stop, Close or a final Cancel
	stopped bool     // nothing starts any more
	over    bool     // by Stop, for keys that are new

	pending []int // events that have not fired
	batch   *choosyBatch
	expired bool // what is pending is due, behind a callback
	due     time.Time
	from    time.Time // what the bound counts from
	open    bool      // a burst, for the leading edge
	last    time.Time // the newest event
	bounded bool      // from is a fire of this burst
	timer   clockwork.Timer
	ties    int
	turn    sync.Mutex // of callbacks with no wait

	keys map[int]*choosy
}

// Operations that no step names.
const (
	reports conformance.Op = "cancel reports"
	keys    conformance.Op = "call with key"
)

// choosyBatch is what a timer fires for. It is dead when nobody wants it any more.
type choosyBatch struct {
	dead bool
}

// ways are what no trait is about.
type ways struct {
	timersApart, callsApart bool // the callback gets a goroutine of its own
	queues                  bool // what is due behind a callback is decided then
	tooLate                 bool // a timer that has expired is not taken back
	keepsQueue              bool // Cancel leaves what is decided
	dropsAll                bool // a Cancel that waits for a callback drops what has come meanwhile
	leadsLate               bool // an event at the very end of a burst does not lead
	leadsAlone              bool // no event leads while a callback runs
	flushEnds               bool // a flush ends the burst
	fromLead                bool // the bound counts from the leading fire
	inboxFirst              bool
	refusesNegative         bool
	mutant                  string
}

func (d *choosy) is(mutant string) bool { return d.ways.mutant == mutant }

func newChoosy(tr db.Traits, ways ways, clock clockwork.Clock, cfg db.Config, fire func([]int)) *choosy {
	if cfg.Wait <= 0 && tr.ZeroWait == db.ZeroRefused || cfg.Wait < 0 && ways.refusesNegative {
		panic("choosy: it cannot be made so")
	}
	d := &choosy{traits: tr, ways: ways, clock: clock, cfg: cfg, fire: fire, keys: map[int]*choosy{}}
	d.idle = sync.NewCond(&d.mu)
	return d
}

// do runs f under the lock, and then what it has started.
func (d *choosy) do(f func()) {
	d.mu.Lock()
	f()
	runs := d.runs
	d.runs = nil
	d.mu.Unlock()
	zoo.InTurn(runs)
}

func (d *choosy) serial() bool { return d.traits.Overlap != db.Parallel }

// start starts a callback for values.
func (d *choosy) start(values []int, apart bool) {
	if len(values) == 0 {
		return
	}
	d.flying++
	run := func() { d.callback(values) }
	if d.serial() {
		d.queue = append(d.queue, values)
		if d.running {
			return
		}
		d.running, run = true, d.work
	}
	if apart {
		go run()
	} else {
		d.runs = append(d.runs, run)
	}
}

func (d *choosy) callback(values []int) {
	defer func() {
		if d.traits.PanicPolicy == db.PanicRecovered {
			_ = recover()
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.flying--
		d.idle.Broadcast()
	}()
	if d.barred() {
		return
	}
	d.fire(values)
}

// barred reports whether Stop has forbidden what was decided before it.
func (d *choosy) barred() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopped
}

// work runs what is in the queue, one after the other.
func (d *choosy) work() {
	defer func() { // whatever the callback does
		d.mu.Lock()
		d.worker = 0
		d.next()
		d.running = len(d.queue) > 0
		again := d.running
		d.mu.Unlock()
		if again {
			d.work()
		}
	}()
	d.mu.Lock()
	if len(d.queue) == 0 {
		d.mu.Unlock()
		return
	}
	values := d.queue[0]
	d.queue = d.queue[1:]
	d.worker = goroutine.ID()
	d.mu.Unlock()
	d.callback(values)
}

// next does what has had to wait for a callback.
func (d *choosy) next() {
	settle := func() {
		if len(d.queue) == 0 && d.expired {
			d.settle(true)
		}
	}
	if !d.ways.inboxFirst {
		settle()
	}
	for len(d.inbox) > 0 && len(d.queue) == 0 {
		d.receive()()
	}
	settle()
}

// receive takes what came first while the callback ran.
func (d *choosy) receive() func() {
	f := d.inbox[0]
	d.inbox = d.inbox[1:]
	return f
}

// settle fires what is pending, or drops it.
func (d *choosy) settle(apart bool) {
	values := d.drop()
	d.counts(values)
	d.start(values, apart && d.ways.timersApart)
}

// counts lets the bound count from a fire, if it is to.
func (d *choosy) counts(values []int) {
	switch {
	case len(values) == 0:
	case d.is("a bound that counts from the first event outlives its fire"):
		d.bounded = true
	default:
		d.bounded, d.from = d.traits.MaxWait == db.MaxWaitFromFire, d.clock.Now()
	}
}

// drop takes what is pending.
func (d *choosy) drop() []int {
	values := d.pending
	d.pending, d.expired = nil, false
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.batch != nil {
		d.batch.dead, d.batch = true, nil
	}
	return values
}

func (d *choosy) call(v int) {
	d.do(func() {
		switch {
		case d.ended:
		case d.cfg.Wait <= 0:
			d.at0(v)
		case d.traits.Overlap == db.SerialReceiver && d.running:
			d.inbox = append(d.inbox, func() { d.event(v) })
		default:
			d.event(v)
		}
	})
}

// at0 fires for an event at once.
func (d *choosy) at0(v int) {
	n := 1
	switch {
	case d.cfg.Edges == db.NoEdges:
		return
	case d.cfg.Edges == db.LeadingAndTrailing && d.traits.BothSingle == db.BothTwice:
		n = 2
	}
	for range n {
		if d.traits.ZeroWait == db.ZeroNextTick {
			d.start([]int{v}, true)
			continue
		}
		d.flying++
		d.runs = append(d.runs, func() {
			if d.serial() {
				d.turn.Lock()
				defer d.turn.Unlock()
			}
			d.callback([]int{v})
		})
	}
}

// event takes an event.
func (d *choosy) event(v int) {
	now := d.clock.Now()
	edges := d.cfg.Edges
	if edges == db.NoEdges {
		return
	}
	quiet := now.Sub(d.last)
	back := now.Before(d.last)
	if len(d.pending) > 0 && (d.expired || !now.Before(d.due)) {
		d.ties++
		tie := d.traits.Tie
		if tie == db.EitherTie {
			tie = []db.Tie{db.FireFirst, db.ResetFirst}[d.ties%2]
		}
		switch {
		case tie == db.FireFirst, edges == db.LeadingAndTrailing && quiet > d.cfg.Wait:
			d.settle(false)
			d.open = d.open && quiet < d.cfg.Wait
		default:
			d.expired = false
		}
	} else if len(d.pending) == 0 && (quiet > d.cfg.Wait || quiet == d.cfg.Wait && !d.ways.leadsLate || back) {
		d.open = false
	}
	leads := edges&db.Leading != 0 && !d.open && !(d.ways.leadsAlone && d.running)
	if !d.open {
		d.bounded = false
	}
	d.open, d.last = true, now
	if leads {
		d.start([]int{v}, d.ways.callsApart)
		if d.traits.MaxWait == db.MaxWaitFromFire || d.ways.fromLead {
			d.from, d.bounded = now, true
		}
	}
	if edges&db.Trailing == 0 || leads && d.traits.BothSingle != db.BothTwice {
		return
	}
	if d.traits.Full == db.FullMakesRoom && d.isFull() {
		d.settle(false)
	}
	rest := d.bound(now)
	d.pending = append(d.pending, v)
	if rest <= 0 || d.traits.Full == db.FullFires && d.isFull() {
		d.settle(false)
		return
	}
	d.arm(now, rest)
}

// isFull reports whether the burst holds as many events as it may.
func (d *choosy) isFull() bool { return d.cfg.Full > 0 && len(d.pending) == d.cfg.Full }

// bound is when the next fire is due.
func (d *choosy) bound(now time.Time) time.Duration {
	rest := d.cfg.Wait
	if d.cfg.MaxWait <= 0 {
		return rest
	}
	most := max(d.cfg.MaxWait, d.cfg.Wait)
	if len(d.pending) == 0 && !d.bounded {
		d.from = now
	}
	left := most - now.Sub(d.from)
	if d.traits.MaxWait == db.MaxWaitOnCall {
		if left > 0 {
			return rest
		}
		return 0
	}
	return min(rest, left)
}

// arm lets the timer expire.
func (d *choosy) arm(now time.Time, in time.Duration) {
	if d.timer != nil && !d.timer.Stop() && d.ways.tooLate && d.batch != nil {
		d.pending = d.pending[len(d.pending)-1:] // the others are the timer's
		d.batch = nil
	}
	if d.batch != nil {
		d.batch.dead = true
	}
	b, values, bounded := &choosyBatch{}, d.pending, now.Add(in).Before(d.last.Add(d.cfg.Wait))
	d.batch, d.due = b, now.Add(in)
	d.timer = d.clock.AfterFunc(in, func() {
		d.do(func() {
			switch now := d.clock.Now(); {
			case b.dead:
			case d.batch != b:
				d.start(values, d.ways.timersApart)
			case d.running && !bounded && d.is("a pause that ends while a callback runs begins anew"):
				d.arm(now, d.cfg.Wait)
			case d.running && bounded && d.is("a bound that passes while a callback runs is none"):
				d.bounded, d.from = true, now
				d.arm(now, d.last.Add(d.cfg.Wait).Sub(now))
			case d.running && !d.ways.queues:
				d.expired = true
			default:
				d.settle(true)
			}
		})
	})
}

func (d *choosy) cancel() (dropped bool) {
	d.do(func() {
		dropped = len(d.pending)+len(d.inbox) > 0
		late := d.ways.tooLate && d.traits.CancelBarrier == db.NoBarrier && !d.expired
		if d.timer != nil && d.batch != nil && late && !d.timer.Stop() {
			d.batch, dropped = nil, false // it is too late
		}
		d.dropAll()
		d.open = d.open && d.traits.AfterCancel == db.CancelKeepsBurst
		d.ended = d.ended || d.traits.AfterCancel == db.CancelFinal
		for d.traits.CancelBarrier == db.FinishBarrier && d.flying > 0 && d.worker != goroutine.ID() {
			d.idle.Wait()
			if d.ways.dropsAll {
				d.dropAll()
			}
		}
	})
	return dropped
}

// dropAll takes what is pending, and what is decided if that is not kept.
func (d *choosy) dropAll() {
	d.drop()
	d.inbox = nil
	if !d.ways.keepsQueue || d.traits.CancelBarrier == db.FinishBarrier {
		d.flying -= len(d.queue)
		d.queue = nil
	}
}

func (d *choosy) flush() {
	d.do(func() {
		if d.traits.Overlap == db.SerialReceiver && d.running {
			if !d.is("a flush that comes while its receiver runs the callback is none") {
				d.inbox = append(d.inbox, d.flushed)
			}
			return
		}
		d.flushed()
	})
}

func (d *choosy) flushed() {
	values := d.drop()
	d.open = d.open && !(d.ways.flushEnds && len(values) > 0)
	d.counts(values)
	d.start(values, d.ways.callsApart)
}

func (d *choosy) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending)+len(d.inbox) > 0
}

// end ends it, and fires what is pending if flushes says so.
func (d *choosy) end(flushes bool) {
	for len(d.inbox) > 0 {
		if f := d.receive(); flushes {
			f()
		}
	}
	d.ended = true
	if values := d.drop(); flushes {
		d.start(values, d.ways.callsApart)
	}
}

func (d *choosy) stop() {
	d.do(func() {
		d.end(d.traits.StopPending == db.StopFlushes && !d.ended)
		if d.traits.StopPending == db.StopDrops && d.traits.StopBarrier != db.NoBarrier {
			d.stopped = true
			d.flying -= len(d.queue)
			d.queue = nil
		}
		d.over = true
	})
	d.each((*choosy).stop)
}

func (d *choosy) close() {
	if d.traits.CloseFlush != db.CloseAtDeadline { // nothing comes any more
		d.do(func() { d.end(d.traits.CloseFlush == db.CloseFires) })
	}
	d.each((*choosy).close)
}

// each does something with the debouncer of each key.
func (d *choosy) each(do func(own *choosy)) {
	d.mu.Lock()
	all := slices.Collect(maps.Values(d.keys))
	d.mu.Unlock()
	for _, own := range all {
		do(own)
	}
}

// of is the debouncer of a key.
func (d *choosy) of(key int) *choosy {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.keys[key] == nil {
		d.keys[key] = newChoosy(d.traits, d.ways, d.clock, d.cfg, d.fire)
		d.keys[key].ended = d.over
	}
	return d.keys[key]
}
