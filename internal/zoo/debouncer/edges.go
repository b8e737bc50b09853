package debouncer

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	db "github.com/escapement-go/escapement/conformance/debouncertest"
)

// anyEdge is a debouncer with every edge and a bound on the wait, correct unless
// mutant names one of its mistakes.
type anyEdge struct {
	clock  clockwork.Clock
	cfg    db.Config
	fire   func(int)
	mutant string
	onCall bool // no timer brings the fire of the bound

	mu           sync.Mutex
	timer        clockwork.Timer
	armed        armed
	gen          int
	inBurst      bool
	size         int
	pending      bool
	value        int
	first, last  time.Time
	led          time.Time
	bursts       int
	everBounded  bool
	boundedSince time.Time
	stopped      bool
	wedged       bool          // only of the mutant that needs it
	newest       *atomic.Int64 // of all instances, for the mutant that needs it
}

func (d *anyEdge) is(mutant string) bool { return d.mutant == mutant }

func (d *anyEdge) call(v int) {
	if d.cfg.Edges == db.NoEdges && !d.is("the bound needs no edge") {
		if d.is("a wait of zero needs no edge") && d.cfg.Wait == 0 {
			d.fire(v)
		}
		return
	}
	d.mu.Lock()
	if d.stopped && !(d.is("an event after stop leads") && d.cfg.Edges&db.Leading != 0) {
		d.mu.Unlock()
		return
	}
	fires := d.event(v, d.clock.Now())
	d.mu.Unlock()
	if fires {
		d.lead(v)
	}
}

// lead runs the callback on the goroutine of the event.
func (d *anyEdge) lead(v int) {
	returned := false
	defer func() {
		if d.is("a panic on the leading edge wedges it") && !returned {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.wedged = true
		}
	}()
	d.fire(v)
	returned = true
}

// event takes an event, and reports whether it fires at once.
func (d *anyEdge) event(v int, now time.Time) (fires bool) {
	fresh := d.begins(now)
	if fresh && d.wedged {
		return false
	}
	if fresh && d.is("checks the burst without the lock") {
		d.mu.Unlock()
		for range 100 {
			runtime.Gosched() // lets others in
		}
		d.mu.Lock()
	}
	leads := d.join(now, fresh)
	if leads && d.is("leads a wait late") {
		d.clock.AfterFunc(d.cfg.Wait, func() { d.fire(v) })
		leads = false
	}
	if d.is("never trails what it has led") && d.cfg.Edges == db.LeadingAndTrailing {
		return leads
	}
	if d.is("a fire of the bound makes the next event lead") && d.everBounded && fresh && d.cfg.MaxWait > 0 {
		return true
	}
	brings := d.onCall && !d.is("no event brings the fire") || d.is("the bound waits for an event")
	if brings && d.pending && d.cfg.MaxWait > 0 && now.Sub(d.first) >= d.cfg.MaxWait {
		d.pending, d.everBounded = false, true
		return true
	}
	if leads && !d.is("fires both edges for one event") ||
		d.cfg.Edges == db.Leading && !d.is("a leading debouncer trails too") {
		return leads
	}
	d.wait(v, now)
	return leads
}

// begins reports whether an event begins a burst.
func (d *anyEdge) begins(now time.Time) bool {
	since := d.last
	if d.is("the burst counts from its leading fire") {
		since = d.led
	}
	once := d.is("leads only once") || d.is("a wait of zero leads only once") && d.cfg.Wait == 0
	switch {
	case once && d.bursts > 0:
		return false
	case d.is("leads each time with a wait of a nanosecond") && d.cfg.Wait == 1:
		return true
	case d.is("nothing leads after a fire of the bound") && d.everBounded:
		return false
	case d.is("an event at the zero time is none") && since.IsZero():
		return true
	case d.is("silence is 32 bits of milliseconds") && d.bursts > 0 && now.Sub(since) >= d.cfg.Wait:
		return uint32(now.Sub(since).Milliseconds()) >= uint32(d.cfg.Wait.Milliseconds())
	}
	return !d.inBurst || now.Sub(since) >= d.cfg.Wait
}

// join lets an event belong to the burst, or begin one, and reports whether it leads.
func (d *anyEdge) join(now time.Time, fresh bool) (leads bool) {
	if fresh {
		d.bursts++
		d.size = 0
		d.led = now
	}
	d.inBurst, d.last = true, now
	d.size++
	leader := 1
	if d.is("leads with the second event") {
		leader = 2
	}
	return d.cfg.Edges&db.Leading != 0 && d.size == leader
}

// wait lets an event wait for the trailing edge.
func (d *anyEdge) wait(v int, now time.Time) {
	if !d.pending && !(d.everBounded && d.is("a fire of the bound does not clear it")) {
		d.first = now
	}
	keeps := d.is("trails with the first payload") || d.is("the bound fires the first payload") && d.cfg.MaxWait > 0
	if !d.pending || !keeps {
		d.value = v
	}
	if d.is("drops what follows a fire of the bound") && d.everBounded && d.cfg.MaxWait > 0 {
		return
	}
	d.pending = true
	if d.is("instances share a payload") {
		d.newest.Store(int64(v))
	}
	d.arm(now)
}

// sameBurst is a mistake: a new burst is taken for the one that was cancelled.
const sameBurst = "a new burst within a bound is taken for the cancelled one"

// disarm makes sameBurst show only where a timer has expired already.
func (d *anyEdge) disarm() {
	if d.timer != nil && d.is(sameBurst) {
		d.timer.Stop()
	}
}

// bound is when the bound on the wait has passed, if a timer is to look at it.
func (d *anyEdge) bound(now time.Time) (at time.Time, ok bool) {
	most, from := d.cfg.MaxWait, d.first
	timed := !d.onCall || d.is("a timer brings the fire")
	ignored := d.is("the bound is ignored") || d.is("the bound waits for an event") ||
		d.is("a bound shorter than the wait is none") && most < d.cfg.Wait
	if most <= 0 || !timed || ignored {
		return at, false
	}
	if d.boundedSince.IsZero() {
		d.boundedSince = now
	}
	switch {
	case d.is("the bound counts from the newest event"):
		from = now
	case d.is("the bound counts from the first event of all"):
		from = d.boundedSince
	case d.is("the bound is 32 bits of microseconds"):
		most = time.Duration(int32(most/time.Microsecond))*time.Microsecond + most%time.Microsecond
	case d.is("nobody stops the timer of the bound") && d.first.Equal(now):
		d.clock.AfterFunc(most, func() {})
	case d.is("the bound is a duration since the first event of all"):
		return d.boundedSince.Add(from.Sub(d.boundedSince) + most), true
	}
	return from.Add(most), true
}

// arm arms a timer for the nearer of the two deadlines.
func (d *anyEdge) arm(now time.Time) {
	d.disarm()
	if !d.is(sameBurst) || !d.first.Equal(now) {
		d.gen++
	}
	gen := d.gen
	at := now.Add(d.cfg.Wait)
	if d.cfg.Edges == db.NoEdges {
		at = now.Add(time.Hour)
	}
	bounded := false
	if d.is("both deadlines fire") && d.cfg.MaxWait == d.cfg.Wait && d.first.Equal(now) {
		v := d.value
		d.clock.AfterFunc(d.cfg.MaxWait, func() { d.fire(v) })
	}
	if bound, ok := d.bound(now); ok && bound.Before(at) {
		at, bounded = bound, true
	}
	d.timer = d.clock.AfterFunc(at.Sub(now), func() {
		d.mu.Lock()
		if gen != d.gen && d.is("an old timer ends a newer burst") {
			d.inBurst = false
		}
		if gen != d.gen && d.is("a timer that comes too late takes the newer event") && d.cfg.MaxWait > 0 {
			d.pending = d.pending && !d.last.Equal(d.clock.Now())
		}
		if gen != d.gen || !d.pending {
			d.mu.Unlock()
			return
		}
		if bounded && d.is("a fire of the bound ends the burst") {
			d.inBurst = false
		}
		d.pending = false
		d.everBounded = d.everBounded || bounded
		v := d.value
		if d.is("instances share a payload") {
			v = int(d.newest.Load())
		}
		if d.is("with both edges the trailing one fires under the lock") && d.cfg.Edges == db.LeadingAndTrailing {
			defer d.mu.Unlock()
			d.fire(v)
			return
		}
		d.mu.Unlock()
		d.fire(v)
	})
	d.armed.add(d.timer)
}

func (d *anyEdge) cancel() (cancelled bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	cancelled, d.pending = d.pending, false
	d.disarm()
	if !d.is("cancel leaves the burst open") {
		d.inBurst = false
	}
	return cancelled
}

func (d *anyEdge) flush() {
	d.mu.Lock()
	both := d.cfg.Edges == db.LeadingAndTrailing
	if d.inBurst && !d.pending && (d.is("flush fires again what has led") && d.cfg.Edges == db.Leading ||
		d.is("flush looks whether there is a burst") && both) {
		d.mu.Unlock()
		d.fire(d.value)
		return
	}
	if !d.pending {
		d.inBurst = d.inBurst && !d.is("a flush of nothing ends the burst")
		d.mu.Unlock()
		return
	}
	d.pending = d.is("a flush of what is due leaves it pending") && d.isDue() && both
	d.inBurst = d.inBurst && !d.is("a flush that fires ends the burst")
	d.disarm()
	v := d.value
	d.mu.Unlock()
	d.fire(v)
}

// isDue reports whether the wait is over.
func (d *anyEdge) isDue() bool { return d.clock.Since(d.last) >= d.cfg.Wait }

func (d *anyEdge) isPending() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.is("a query begins the bound anew") && d.pending {
		d.first = d.clock.Now()
	}
	return d.pending || d.is("what has led is pending") && d.inBurst && d.cfg.Edges == db.LeadingAndTrailing ||
		d.is("what did not lead is pending for good") && d.size > 1 && d.cfg.Edges == db.Leading
}

func (d *anyEdge) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if !d.is("the bound fires after stop") || d.cfg.MaxWait == 0 {
		d.pending = false
		d.armed.stop()
	}
}

// end is the end of the input: it fires what is pending.
func (d *anyEdge) end() {
	d.mu.Lock()
	fires := d.pending || d.is("close fires again what has led") && d.inBurst && d.cfg.Edges == db.LeadingAndTrailing
	fires = fires && !(d.is("the end drops what is due") && d.isDue() && d.cfg.Edges == db.LeadingAndTrailing)
	d.pending, d.stopped = false, true
	v := d.value
	d.mu.Unlock()
	if fires {
		d.fire(v)
	}
}

// edgesSpec describes it.
func edgesSpec(mutant string, source db.TimeSource) db.Spec {
	newest := new(atomic.Int64)
	spec := made(source, plain(func(tr *db.Traits) {
		tr.Edges = []db.Edges{db.Trailing, db.Leading, db.LeadingAndTrailing, db.NoEdges}
		tr.BothSingle, tr.MaxWait, tr.AfterFlush = db.BothOnce, db.MaxWaitFromFirst, db.FlushKeepsBurst
		tr.CloseFlush, tr.PanicPolicy = db.CloseFires, db.PanicPropagates
	}), func(clock clockwork.Clock, cfg db.Config, fire func(int)) db.Funcs {
		d := &anyEdge{clock: clock, cfg: cfg, fire: fire, mutant: mutant, newest: newest}
		return d.funcs()
	})
	spec.Name = "zoo debouncer of every edge"
	return spec
}

func (d *anyEdge) funcs() db.Funcs {
	return db.Funcs{Call: d.call, Cancel: func() { d.cancel() }, Flush: d.flush, Pending: d.isPending,
		Stop: d.stop, Close: d.end}
}

// onlyTrailing is anyEdge with the trailing edge alone.
func onlyTrailing(clock clockwork.Clock, wait time.Duration, fire func(int)) *anyEdge {
	return &anyEdge{clock: clock, cfg: db.Config{Wait: wait, Edges: db.Trailing}, fire: fire}
}

// edgeSpec is anyEdge as a debouncer that has one kind of edges only.
func edgeSpec(only db.Edges) db.Spec {
	spec := edgesSpec("", db.Injected)
	spec.Name = "zoo debouncer of one edge, " + only.String()
	spec.Traits = db.Traits{Edges: []db.Edges{only}, Payload: db.LastPayload, CancelBarrier: db.NoBarrier,
		AfterCancel: db.CancelReusable, BothSingle: db.BothOnce, StopPending: db.StopDrops}
	if only == db.LeadingAndTrailing {
		spec.Traits.AfterFlush = db.FlushKeepsBurst
	}
	return spec
}

// onCallSpec is anyEdge where only an event brings the fire of the bound.
func onCallSpec(mutant string, source db.TimeSource) db.Spec {
	spec := edgesSpec("", source)
	spec.Name, spec.Traits.MaxWait = "zoo debouncer with a bound on call", db.MaxWaitOnCall
	spec.New = func(env db.Env, cfg db.Config, fire func(int)) db.Funcs {
		d := &anyEdge{clock: env.Clock, cfg: cfg, fire: fire, mutant: mutant, onCall: true}
		return d.funcs()
	}
	return spec
}

// onCallMutants are its mistakes.
var onCallMutants = []mistake{
	{"no event brings the fire", "DB-MAX"},
	{"a timer brings the fire", "DB-MAXNE"},
	{"drops what follows a fire of the bound", "DB-MAXTAIL"},
	{"a fire of the bound does not clear it", "DB-MAXNE"},
}

// edgeMutants are mistakes of anyEdge, each with the rule that must catch it.
var edgeMutants = []mistake{
	{"leads with the second event", "DB-LEAD"},
	{"the burst counts from its leading fire", "DB-LEAD1"},
	{"leads only once", "DB-REARM"},
	{"silence is 32 bits of milliseconds", "DB-REARM"},
	{"a leading debouncer trails too", "DB-LEADONLY"},
	{"fires both edges for one event", "DB-BOTH1"},
	{"trails with the first payload", "DB-BOTHN"},
	{"the bound is ignored", "DB-MAX"},
	{"the bound counts from the newest event", "DB-MAX"},
	{"a bound shorter than the wait is none", "DB-MAX"},
	{"a query begins the bound anew", "DB-MAX"},
	{"the bound counts from the first event of all", "DB-MAXNE"},
	{"drops what follows a fire of the bound", "DB-MAXTAIL"},
	{"the bound fires the first payload", "DB-MAXPAY"},
	{"the bound needs no edge", "DB-NONE"},
	{"a wait of zero needs no edge", "DB-NONE"},
	{"leads a wait late", "DB-LEAD"},
	{"never trails what it has led", "DB-BOTHN"},
	{"cancel leaves the burst open", "DB-REARM"},
	{"flush fires again what has led", "DB-FLUSH0"},
	{"flush looks whether there is a burst", "DB-FLUSH0"},
	{"a flush that fires ends the burst", "DB-FLUSH"},
	{"the bound waits for an event", "DB-MAX"},
	{"a fire of the bound makes the next event lead", "DB-MAXNE"},
	{"both deadlines fire", "DB-MAXNE"},
	{"checks the burst without the lock", "X-CONC"},
	{"an event after stop leads", "DB-STOP"},
	{"the bound fires after stop", "DB-STOP"},
	{"what has led is pending", "DB-PEND"},
	{"what did not lead is pending for good", "DB-PEND"},
	{"close fires again what has led", "DB-CLOSE"},
	{"an event at the zero time is none", "DB-LEAD1"},
	{"a wait of zero leads only once", "DB-REARM"},
	{"leads each time with a wait of a nanosecond", "DB-LEAD1"},
	{"an old timer ends a newer burst", "DB-LEAD1"},
	{"a fire of the bound ends the burst", "DB-MAXNE"},
	{"a panic on the leading edge wedges it", "X-PANIC"},
	{sameBurst, "DB-MAXNE"},
	{"a timer that comes too late takes the newer event", "DB-MAXTAIL"},
	{"a flush of what is due leaves it pending", "DB-FLUSH"},
	{"a flush of nothing ends the burst", "DB-LEAD1"},
	{"the bound is 32 bits of microseconds", "DB-MAXNE"},
	{"the bound is a duration since the first event of all", "DB-MAXNE"},
	{"nobody stops the timer of the bound", "X-LEAK"},
	{"with both edges the trailing one fires under the lock", "X-REENT"},
	{"instances share a payload", "X-ISO"},
	{"the end drops what is due", "DB-CLOSE"},
}
