package debouncertest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// state is a debouncer at a point of a run. Correct debouncers differ in what they do
// with an operation at the very instant of a deadline, and with an event soon after a cancel or
// flush within a burst: there the paths part, and a run is right if one of them leads to it.
type state struct {
	edge.Model
	progress
	x      *exam
	path   *path
	cfg    conformance.Config
	traits *Traits
	edges  Edges
	// plain says that nothing is configured, so that all is about the trailing edge.
	plain bool
	// vague says that it is open what follows the beginning of a callback.
	vague bool
	// bounded says that there is a bound on the wait, onCall that only an event brings its fire.
	bounded, onCall bool
	// fromLead says that with both edges the bound counts from the leading fire of the burst rather than from the first
	// event that has not fired, clamped that a bound shorter than the wait counts as the wait. Both are ways to read a
	// bound on which correct debouncers differ.
	fromLead, clamped bool
	callbacks

	waits       bool          // an event has not fired
	held        []int         // all that have not
	value       int           // what will fire
	first, last time.Duration // the first event that has not fired, and the newest
	since       time.Duration // the fire from which the next bound counts, edge.Far if it counts from the first event
	cut         time.Duration // the newest cancel or flush
	open        bool          // there is a burst
	led         bool          // nothing has fired since its leading fire
	burst, size int           // its number, and its events so far
	spent       bool          // the newest event has fired
	final       bool          // a cancel after which events may not count
	over        bool          // the debouncer has ended
	stopped     bool          // by a Stop, after which nothing else came
}

// model works out what must happen in the run on a path, until the two part.
func (x *exam) model(p *path) *state {
	cfg := x.Schedule.Config
	cfg.Wait = max(cfg.Wait, 0)
	bounded := cfg.Has("maxwait")
	m := &state{
		Model: edge.Model{Certain: edge.Far}, x: x, path: p,
		cfg: cfg, traits: x.traits, edges: cmp.Or(cfg.Edges, Trailing), plain: !x.configured(), vague: x.vague(),
		bounded: bounded, onCall: bounded && x.traits.MaxWait == MaxWaitOnCall,
		cut: -edge.Far, since: edge.Far,
	}
	m.fromLead = bounded && m.edges == LeadingAndTrailing && p.either(2) == 1
	if m.clamped = shortBound(cfg) && p.either(2) == 1; m.clamped {
		m.cfg.MaxWait = cfg.Wait
	}
	if x.traits.Overlap == Serial || x.traits.Overlap == SerialReceiver {
		m.busy = cfg.Busy
	}
	for i := range x.Done {
		if m.do(&x.Done[i]); m.wrong {
			return m
		}
	}
	m.pass(edge.Far)
	m.compare(edge.Far, 0)
	return m
}

// deadline returns when what waits is due, and why.
func (m *state) deadline() (time.Duration, edge.Kind) {
	if at := suite.Sum(m.first, m.cfg.MaxWait); m.bounded && !m.onCall && at < suite.Sum(m.last, m.cfg.Wait) {
		return max(at, m.last), edge.Bound // that of a leading fire may have passed
	}
	return suite.Sum(m.last, m.cfg.Wait), edge.Trailing
}

// fire fires what waits, or lets it stand in line behind a callback.
func (m *state) fire(at time.Duration, kind edge.Kind) {
	m.start(m.what(at, kind))
	m.waits, m.overdue, m.spent, m.led = false, false, true, false
	m.since = edge.Far
	switch {
	case !m.bounded || m.traits.MaxWait == MaxWaitFromFirst || kind == edge.Trailing:
	case kind != edge.Flushed || m.traits.MaxWait != MaxWaitFromFire:
		m.Doubt(at + 1) // since implementations differ in what the next bound counts from
	case m.path.either(2) == 1:
		m.since = at
	}
}

// what is the fire of what waits.
func (m *state) what(at time.Duration, kind edge.Kind) edge.Fire {
	return edge.Fire{At: at, Value: m.value, Kind: kind, Burst: m.burst, Size: m.size, First: m.first, Values: m.held}
}

// pass lets time pass up to an instant: deadlines come, and callbacks end.
func (m *state) pass(to time.Duration) {
	for {
		at, kind := m.deadline()
		switch due := m.waits && !m.overdue && at <= to; {
		case due && (!m.running || at <= m.free):
			m.expire(at, kind)
		case m.running && m.free <= to:
			m.finish()
		default:
			return
		}
	}
}

// do does one operation of the run.
func (m *state) do(d *conformance.Done) {
	now := m.when(d)
	m.pass(now - 1)
	if m.compare(now, 0); m.wrong || m.ended(d, now) {
		return
	}
	m.resume(d)
	met := m.meets(d, now)
	first, fires := false, false // the operation goes first; it is an event that fires for all
	if met {
		ways := 2
		if m.bounded && d.Op == verb.Call && m.traits.MaxWait == MaxWaitFromFire {
			ways = 3
		}
		way := m.path.either(ways)
		first, fires = way > 0, way > 1
	}
	switch {
	case !first:
		m.pass(now)
	case m.running && m.free == now:
		m.finish()
	}
	if m.compare(now, d.Began.Seq); m.wrong {
		return
	}
	if met && d.Racing {
		m.tie(d, first)
	}
	switch d.Op {
	case verb.Call:
		if m.call(d, now); fires && m.waits {
			m.fire(now, edge.Bound)
		}
	case verb.Pending:
		m.asked(d, now)
	case verb.Cancel:
		m.cancel(d, now)
	case verb.Stop:
		m.stop(d, now)
	case verb.Close:
		m.close(d, now)
	case verb.Flush:
		m.flush(d, now)
	}
}

// meets reports whether an operation meets the deadline of what waits. A callback that does it may be that of what
// waits. On the trailing edge alone a timer goes before who does not race with it.
func (m *state) meets(d *conformance.Done, now time.Duration) bool {
	at, _ := m.deadline()
	return m.waits && !m.overdue && at == now && !d.Inside && (d.Racing || !m.plain)
}

// ended reports whether an operation comes too late to do anything. Of one that overlaps with another it is open which
// of them takes effect first.
func (m *state) ended(d *conformance.Done, now time.Duration) bool {
	switch {
	case m.edges == NoEdges || m.over && m.stopped && m.plain && d.Op == verb.Pending:
		m.answered(d, false)
		return true
	case m.over:
		if m.stopped = false; d.Op == verb.Cancel {
			m.reported(d)
		}
		return true
	case m.final && d.Op == verb.Call:
		if m.traits.AfterCancel == 0 {
			m.Doubt(now)
		}
		return true
	case m.plain && m.x.overlaps(d):
		m.Doubt(d.Began.At)
	}
	return false
}

// call is an event.
func (m *state) call(d *conformance.Done, now time.Duration) {
	m.firesWithin(d)
	v := d.N
	if m.isFull() {
		m.fire(now, edge.Filled)
	}
	within := m.joinsOverdue()
	due, kind := m.deadline()
	late := m.waits && due <= now && !within // this event was taken first
	m.join(now, within)
	leads := m.edges&Leading != 0 && m.size == 1 && m.mayLead()
	if leads {
		m.start(edge.Fire{At: now, Value: v, Kind: edge.Leading, Burst: m.burst, Size: m.size, Values: []int{v}})
		if late {
			m.fire(now, kind)
		}
		m.first, m.led = now, true
	}
	if leads && m.edges == LeadingAndTrailing && m.traits.BothSingle == 0 {
		m.Doubt(now + 1)
	}
	if m.edges&Trailing == 0 || leads && m.traits.BothSingle != BothTwice {
		return
	}
	if !m.waits && !(m.fromLead && m.led) {
		m.first = min(now, m.since)
	}
	if !m.waits || m.traits.Payload != FirstPayload {
		m.value = v
	}
	if m.hold(v) {
		m.fire(now, edge.Filled)
		return
	}
	if m.onCall && now >= suite.Sum(m.first, m.cfg.MaxWait) {
		if now == suite.Sum(m.first, m.cfg.MaxWait) && m.path.either(2) == 1 {
			return
		}
		m.fire(now, edge.Brought)
	}
}

// hold adds an event to those that wait, and reports whether it fires them.
func (m *state) hold(v int) bool {
	if !m.waits {
		m.held = nil
	}
	m.waits, m.spent, m.held = true, false, append(slices.Clip(m.held), v)
	return m.isFull() && m.traits.Full == FullFires
}

// isFull reports whether the burst can hold no other event.
func (m *state) isFull() bool { return m.cfg.K > 0 && m.waits && len(m.held) == m.cfg.K }

// join lets an event belong to the burst, or begin one unless it is within what has not fired.
func (m *state) join(now time.Duration, within bool) {
	quiet := !m.open || now > suite.Sum(max(m.last, m.cut), m.cfg.Wait)
	waited := now >= suite.Sum(m.last, m.cfg.Wait)
	fresh := quiet || waited
	if m.open && m.edges != Trailing && !quiet && !within && (waited || m.cut >= m.last) {
		fresh = fresh == (m.path.either(2) == 0)
		if m.bounded && m.cut >= m.last && m.traits.MaxWait == MaxWaitFromFire {
			m.Doubt(now) // since what is cut off may have taken the timer of the bound with it
		}
	}
	if fresh && !within {
		m.burst, m.size, m.led = m.burst+1, 0, false
	}
	m.open, m.last = true, now
	m.size++
}

// asked judges the answer to a query.
func (m *state) asked(d *conformance.Done, now time.Duration) {
	switch within := m.running || now <= suite.Sum(m.last, m.cfg.Wait); {
	case m.edges == Leading && m.size > 1 && within: // events of this burst, for which nothing will fire
	case m.edges == LeadingAndTrailing && m.traits.BothSingle != BothOnce:
	case m.running && m.traits.Overlap == SerialReceiver: // it may not have taken the event yet
	case m.final && m.traits.AfterCancel == 0:
	case !m.waits && len(m.line) > 0: // decided, behind a callback
		if !d.OK {
			m.denied = d
		}
	default:
		m.answered(d, m.waits)
	}
}

// answered judges the answer to a query, unless that waited for a callback, and may have looked then.
func (m *state) answered(d *conformance.Done, want bool) {
	if d.Op != verb.Pending || d.Ended.Seq == 0 || d.Ended.At != d.Began.At {
		return
	}
	because := "no event was waiting to fire"
	if want {
		because = "an event had neither fired nor been discarded"
	}
	m.law("DB-PEND", d.OK == want, d.Began.At, because, "Pending()%s = %v at %s, want %v",
		suite.If(d.Inside, " in the callback"), d.OK, d.Began.At, want)
}

// cancel drops what waits.
func (m *state) cancel(d *conformance.Done, now time.Duration) {
	m.cancelBehind(d)
	m.reported(d)
	m.waits, m.overdue, m.spent, m.cut = false, false, false, now
	switch m.traits.AfterCancel {
	case CancelReusable:
		m.open = false
	case CancelKeepsBurst:
	default:
		m.final = true
	}
}

// flush fires what waits.
func (m *state) flush(d *conformance.Done, now time.Duration) {
	waited := m.waits
	// The panic of a callback may leave what waits for other keys to their timers, and who comes with a flush may put
	// off what that has not started yet.
	if unsure := d.Panic != "" || d.Racing && m.plain && m.x.meanwhile(d); unsure && m.path.either(2) == 1 {
		return
	}
	if waited && !m.flushedBehind() {
		m.fire(now, edge.Flushed)
		m.open = m.open && m.traits.AfterFlush != FlushEndsBurst
	}
	if waited && m.traits.AfterFlush != FlushKeepsBurst ||
		m.bounded { // a flush of nothing may end the timer of a bound, and no more
		m.cut = now
	}
}

// stop ends the debouncer.
func (m *state) stop(d *conformance.Done, now time.Duration) {
	m.over, m.stopped = true, true
	behind := m.running && (m.waits || len(m.line) > 0)
	switch how := m.traits.StopPending; {
	case how == StopDrops && d.Ended.Seq != 0 && d.Panic == "":
		m.dropped(d, now)
	case how != StopFlushes || behind:
		m.Doubt(now)
	case m.waits:
		m.fire(now, edge.Flushed)
	}
	m.waits = false
}

// dropped lets nothing start any more once Stop has returned, unless it is declared that what was due still may.
func (m *state) dropped(d *conformance.Done, now time.Duration) {
	cfg := m.x.Schedule.Config
	due := m.overdue || len(m.line) > 0 || m.Certain <= now
	switch lasts := d.Ended.At != now && (cfg.Busy > 0 || cfg.Inside != ""); {
	case due && m.traits.StopBarrier == NoBarrier:
		m.Doubt(now)
	case due || lasts: // it may have waited for what fired meanwhile
		m.adopt(d.Ended.Seq)
		m.line, m.overdue = nil, false
	}
}

// close ends the input.
func (m *state) close(d *conformance.Done, now time.Duration) {
	m.over = true
	if m.x.calledLate(d) || m.running && m.traits.Overlap == SerialReceiver {
		m.Doubt(now)
	}
	switch m.traits.CloseFlush {
	case CloseDrops:
		m.waits = false
		m.mayForget()
	case CloseAtDeadline:
	default:
		if m.waits {
			m.fire(now, edge.Flushed)
		}
	}
}
