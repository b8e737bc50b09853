package conformance

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
)

// choosyDebouncer is a debouncer under one lock. Callbacks run without it: what is to
// run is collected in runs, for whoever lets go of the lock.
type choosyDebouncer struct {
	traits DebounceTraits
	ways   debouncerWays
	clock  clockwork.Clock
	cfg    DebounceConfig
	fire   func([]int)

	mu      sync.Mutex
	idle    *sync.Cond
	runs    []func()
	queue   [][]int  // decided, before a callback that runs ends; if serial
	inbox   []func() // what a receiver finds when its callback has ended
	running bool     // if serial
	flying  int      // decided callbacks that have not ended
	ended   bool     // by Stop, Close or a final Cancel
	stopped bool     // nothing starts any more

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

	keys map[int]*choosyDebouncer
}

// choosyBatch is what a timer fires for. It is dead when nobody wants it any more.
type choosyBatch struct {
	dead bool
}

// debouncerWays are what no trait is about.
type debouncerWays struct {
	timersApart, callsApart bool // the callback gets a goroutine of its own
	queues                  bool // what is due behind a callback is decided then
	tooLate                 bool // a timer that has expired is not taken back
	keepsQueue              bool // Cancel leaves what is decided
	leadsLate               bool // an event at the very end of a burst does not lead
	flushEnds               bool // a flush ends the burst
	fromLead                bool // the bound counts from the leading fire
	inboxFirst              bool
	refusesNegative         bool
}

func newChoosyDebouncer(tr DebounceTraits, ways debouncerWays, clock clockwork.Clock, cfg DebounceConfig, fire func([]int)) *choosyDebouncer {
	if cfg.Wait <= 0 && tr.ZeroWait == ZeroRefused || cfg.Wait < 0 && ways.refusesNegative {
		panic("choosyDebouncer: it cannot be made so")
	}
	d := &choosyDebouncer{traits: tr, ways: ways, clock: clock, cfg: cfg, fire: fire, keys: map[int]*choosyDebouncer{}}
	d.idle = sync.NewCond(&d.mu)
	return d
}

// do runs f under the lock, and then what it has started.
func (d *choosyDebouncer) do(f func()) {
	d.mu.Lock()
	f()
	runs := d.runs
	d.runs = nil
	d.mu.Unlock()
	inTurn(runs)
}

func (d *choosyDebouncer) serial() bool { return d.traits.Overlap != Parallel }

// start starts a callback for values.
func (d *choosyDebouncer) start(values []int, apart bool) {
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

func (d *choosyDebouncer) callback(values []int) {
	defer func() {
		if d.traits.PanicPolicy == PanicRecovered {
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
func (d *choosyDebouncer) barred() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stopped
}

// work runs what is in the queue, one after the other.
func (d *choosyDebouncer) work() {
	defer func() { // whatever the callback does
		d.mu.Lock()
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
	d.mu.Unlock()
	d.callback(values)
}

// next does what has had to wait for a callback.
func (d *choosyDebouncer) next() {
	settle := func() {
		if len(d.queue) == 0 && d.expired {
			d.settle(true)
		}
	}
	if !d.ways.inboxFirst {
		settle()
	}
	for len(d.inbox) > 0 && len(d.queue) == 0 {
		f := d.inbox[0]
		d.inbox = d.inbox[1:]
		f()
	}
	settle()
}

// settle fires what is pending, or drops it.
func (d *choosyDebouncer) settle(apart bool) {
	values := d.drop()
	d.counts(values)
	d.start(values, apart && d.ways.timersApart)
}

// counts lets the bound count from a fire, if it is to.
func (d *choosyDebouncer) counts(values []int) {
	if len(values) > 0 {
		d.bounded, d.from = d.traits.MaxWait == MaxWaitFromFire, d.clock.Now()
	}
}

// drop takes what is pending.
func (d *choosyDebouncer) drop() []int {
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

func (d *choosyDebouncer) call(v int) {
	d.do(func() {
		switch {
		case d.ended:
		case d.cfg.Wait <= 0:
			d.at0(v)
		case d.traits.Overlap == SerialReceiver && d.running:
			d.inbox = append(d.inbox, func() { d.event(v) })
		default:
			d.event(v)
		}
	})
}

// at0 fires for an event at once.
func (d *choosyDebouncer) at0(v int) {
	n := 1
	switch {
	case d.cfg.Edges == NoEdges:
		return
	case d.cfg.Edges == LeadingAndTrailing && d.traits.BothSingle == BothTwice:
		n = 2
	}
	for range n {
		if d.traits.ZeroWait == ZeroNextTick {
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
func (d *choosyDebouncer) event(v int) {
	now := d.clock.Now()
	edges := d.cfg.Edges
	if edges == NoEdges {
		return
	}
	quiet := now.Sub(d.last)
	back := now.Before(d.last)
	if len(d.pending) > 0 && (d.expired || !now.Before(d.due)) {
		d.ties++
		tie := d.traits.Tie
		if tie == EitherTie {
			tie = []Tie{FireFirst, ResetFirst}[d.ties%2]
		}
		switch {
		case tie == FireFirst, edges == LeadingAndTrailing && quiet > d.cfg.Wait:
			d.settle(false)
			d.open = d.open && quiet < d.cfg.Wait
		default:
			d.expired = false
		}
	} else if len(d.pending) == 0 && (quiet > d.cfg.Wait || quiet == d.cfg.Wait && !d.ways.leadsLate || back) {
		d.open = false
	}
	leads := edges&Leading != 0 && !d.open
	if !d.open {
		d.bounded = false
	}
	d.open, d.last = true, now
	if leads {
		d.start([]int{v}, d.ways.callsApart)
		if d.traits.MaxWait == MaxWaitFromFire || d.ways.fromLead {
			d.from, d.bounded = now, true
		}
	}
	if edges&Trailing == 0 || leads && d.traits.BothSingle != BothTwice {
		return
	}
	rest := d.bound(now)
	if d.pending = append(d.pending, v); rest <= 0 {
		d.settle(false)
		return
	}
	d.arm(now, rest)
}

// bound is when the next fire is due.
func (d *choosyDebouncer) bound(now time.Time) time.Duration {
	rest := d.cfg.Wait
	if d.cfg.MaxWait <= 0 {
		return rest
	}
	most := max(d.cfg.MaxWait, d.cfg.Wait)
	if len(d.pending) == 0 && !d.bounded {
		d.from = now
	}
	left := most - now.Sub(d.from)
	if d.traits.MaxWait == MaxWaitOnCall {
		if left > 0 {
			return rest
		}
		return 0
	}
	return min(rest, left)
}

// arm lets the timer expire.
func (d *choosyDebouncer) arm(now time.Time, in time.Duration) {
	if d.timer != nil && !d.timer.Stop() && d.ways.tooLate && d.batch != nil {
		d.pending = d.pending[len(d.pending)-1:] // the others are the timer's
		d.batch = nil
	}
	if d.batch != nil {
		d.batch.dead = true
	}
	b, values := &choosyBatch{}, d.pending
	d.batch, d.due = b, now.Add(in)
	d.timer = d.clock.AfterFunc(in, func() {
		d.do(func() {
			switch {
			case b.dead:
			case d.batch != b:
				d.start(values, d.ways.timersApart)
			case d.running && !d.ways.queues:
				d.expired = true
			default:
				d.settle(true)
			}
		})
	})
}

func (d *choosyDebouncer) cancel() (dropped bool) {
	d.do(func() {
		dropped = len(d.pending)+len(d.inbox) > 0
		if d.timer != nil && d.batch != nil && d.ways.tooLate && d.traits.CancelBarrier == NoBarrier && !d.expired && !d.timer.Stop() {
			d.batch, dropped = nil, false // it is too late
		}
		d.drop()
		d.inbox = nil
		if !d.ways.keepsQueue || d.traits.CancelBarrier == FinishBarrier {
			d.flying -= len(d.queue)
			d.queue = nil
		}
		d.open = d.open && d.traits.AfterCancel == CancelKeepsBurst
		d.ended = d.ended || d.traits.AfterCancel == CancelFinal
		for d.traits.CancelBarrier == FinishBarrier && d.flying > 0 {
			d.idle.Wait()
		}
	})
	return dropped
}

func (d *choosyDebouncer) flush() {
	d.do(func() {
		if d.traits.Overlap == SerialReceiver && d.running {
			d.inbox = append(d.inbox, d.flushed)
			return
		}
		d.flushed()
	})
}

func (d *choosyDebouncer) flushed() {
	d.open = d.open && !d.ways.flushEnds
	values := d.drop()
	d.counts(values)
	d.start(values, d.ways.callsApart)
}

func (d *choosyDebouncer) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.pending)+len(d.inbox) > 0
}

// end ends it, and fires what is pending if flushes says so.
func (d *choosyDebouncer) end(flushes bool) {
	for len(d.inbox) > 0 {
		f := d.inbox[0]
		d.inbox = d.inbox[1:]
		if flushes {
			f()
		}
	}
	d.ended = true
	if values := d.drop(); flushes {
		d.start(values, d.ways.callsApart)
	}
}

func (d *choosyDebouncer) stop() {
	var all []*choosyDebouncer
	d.do(func() {
		for _, k := range d.keys {
			all = append(all, k)
		}
		d.end(d.traits.StopPending == StopFlushes && !d.ended)
		if d.traits.StopPending == StopDrops && d.traits.StopBarrier != NoBarrier {
			d.stopped = true
			d.flying -= len(d.queue)
			d.queue = nil
		}
	})
	for _, k := range all {
		k.stop()
	}
}

func (d *choosyDebouncer) close() {
	var all []*choosyDebouncer
	d.do(func() {
		for _, k := range d.keys {
			all = append(all, k)
		}
		if d.traits.CloseFlush == CloseAtDeadline {
			return // nothing comes any more
		}
		d.end(d.traits.CloseFlush == CloseFires)
	})
	for _, k := range all {
		k.close()
	}
}

func (d *choosyDebouncer) callKey(key, v int) {
	d.mu.Lock()
	if d.keys[key] == nil {
		d.keys[key] = newChoosyDebouncer(d.traits, d.ways, d.clock, d.cfg, d.fire)
	}
	own := d.keys[key]
	d.mu.Unlock()
	own.call(v)
}

// choosyDebouncerSpec has the operations that has names.
func choosyDebouncerSpec(source TimeSource, tr DebounceTraits, ways debouncerWays, has map[Op]bool) DebouncerSpec {
	spec := DebouncerSpec{Name: "a choosy debouncer", Time: source, Traits: tr}
	build := func(env Env, cfg DebounceConfig, fire func([]int)) DebouncerFuncs {
		d := newChoosyDebouncer(tr, ways, env.Clock, cfg, fire)
		f := DebouncerFuncs{Call: d.call}
		switch {
		case !has[OpCancel]:
		case has[opReports] || tr.CancelBarrier == CommitBarrier:
			f.CancelReports = d.cancel
		default:
			f.Cancel = func() { d.cancel() }
		}
		if has[OpFlush] {
			f.Flush = d.flush
		}
		if has[OpPending] {
			f.Pending = d.isPending
		}
		if has[OpStop] {
			f.Stop = d.stop
		}
		if has[OpClose] {
			f.Close = d.close
		}
		if has[opKeys] {
			f.CallKey = d.callKey
		}
		return f
	}
	if tr.Payload == AllPayloads {
		spec.NewBatch = build
		return spec
	}
	spec.New = func(env Env, cfg DebounceConfig, fire func(int)) DebouncerFuncs {
		return build(env, cfg, func(all []int) {
			switch tr.Payload {
			case FirstPayload:
				fire(all[0])
			case NoPayload:
				fire(0)
			default:
				fire(all[len(all)-1])
			}
		})
	}
	return spec
}

// chosenDebouncers are debouncers with choices drawn from a seed, which is always the same.
// Each choice is made by some.
func chosenDebouncers(n int) []DebouncerSpec {
	rnd := rand.New(rand.NewPCG(2, 1))
	var out []DebouncerSpec
	for i := range n {
		pick := func(of int) int { return 1 + (i+rnd.IntN(of))%of }
		coin := func() bool { return rnd.IntN(2) == 0 }
		tr := DebounceTraits{
			Payload: Payload(pick(4)), Tie: Tie(pick(3)), StaleFire: StaleFire(pick(2)), CancelBarrier: CancelBarrier(pick(3)), AfterCancel: AfterCancel(pick(3)),
			StopPending: StopPending(pick(2)), ZeroWait: ZeroWait(pick(3)), Overlap: Overlap(pick(3)), BothSingle: BothSingle(pick(2)),
			MaxWait: MaxWait(pick(4) - 1), Reentrancy: Reentrancy(pick(3) - 1), StopBarrier: CancelBarrier(pick(2) - 1), CloseFlush: CloseFlush(pick(3)),
			ClockBack: ClockBack(pick(2) - 1), PanicPolicy: PanicPolicy(pick(3) - 1),
		}
		for _, e := range []Edges{Trailing, Leading, LeadingAndTrailing, NoEdges} {
			if coin() {
				tr.Edges = append(tr.Edges, e)
			}
		}
		if len(tr.Edges) == 0 || len(tr.Edges) == 1 && tr.Edges[0] == NoEdges {
			tr.Edges = append(tr.Edges, []Edges{Trailing, Leading, LeadingAndTrailing}[i%3])
		}
		has := map[Op]bool{}
		for _, op := range []Op{OpCancel, OpFlush, OpPending, OpStop, OpClose, opKeys, opReports} {
			has[op] = coin()
		}
		stale := tr.StaleFire == StaleAllowed
		ways := debouncerWays{
			timersApart: coin() && stale, callsApart: coin(), queues: coin() && stale && tr.Overlap == Serial, tooLate: coin() && stale && tr.Overlap == Parallel && tr.Tie != ResetFirst,
			keepsQueue: coin(), leadsLate: coin(), flushEnds: coin(), fromLead: coin(), inboxFirst: coin(), refusesNegative: coin(),
		}
		if tr.Overlap == SerialReceiver {
			ways.timersApart, ways.callsApart = true, true // it is the receiver that runs them
			tr.StaleFire = StaleAllowed
			if tr.ZeroWait == ZeroSync {
				tr.ZeroWait = ZeroNextTick
			}
		}
		if tr.CancelBarrier == FinishBarrier && has[OpCancel] || tr.ZeroWait == ZeroSync && tr.Overlap == Serial {
			tr.Reentrancy = ReentrancyForbidden
		}
		spec := choosyDebouncerSpec([]TimeSource{Injected, PackageTime}[i%2], tr, ways, has)
		spec.Name = fmt.Sprintf("%s %d", spec.Name, i)
		out = append(out, spec)
	}
	return out
}

// Whatever a correct debouncer chooses, and declares, it passes.
func TestChoices_debouncers(t *testing.T) {
	tryAll(t, chosenDebouncers(choices()), RunDebouncer, func(s DebouncerSpec) (string, TimeSource, any) { return s.Name, s.Time, s.Traits })
}
