package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// model is what a debouncer with edges or a bound must do in a run: what fires, and the
// answer to each query, by the point at which the query began.
type model struct {
	edge.Model
	pending map[int]bool
}

// state is such a debouncer at a point of a run. Correct debouncers differ in what they do
// with an operation at the very instant of a deadline, and with an event soon after a cancel or
// flush within a burst: there the paths part, and a run is right if one of them leads to it.
type state struct {
	model
	path   *path
	cfg    conformance.Config
	traits *Traits
	edges  Edges
	// bounded says that there is a bound on the wait, onCall that only an event brings its fire.
	bounded, onCall bool
	reading
	callbacks

	waits       bool          // an event has not fired
	held        int           // how many have not
	value       int           // what will fire
	first, last time.Duration // the first event that has not fired, and the newest
	since       time.Duration // the fire from which the next bound counts, edge.Far if it counts from the first event
	cut         time.Duration // the newest cancel or flush
	open        bool          // there is a burst
	burst, size int           // its number, and its events so far
	over        bool          // the debouncer has ended
}

// reading is a way to read a bound on which correct debouncers differ.
type reading struct {
	// fromLead says that with both edges the bound counts from the leading fire of the burst
	// rather than from the first event that has not fired.
	fromLead bool
	// clamped says that a bound shorter than the wait counts as the wait.
	clamped bool
}

// readings are the ways to read what is configured, the plain one first.
func readings(cfg conformance.Config) []reading {
	out := []reading{{}}
	if cfg.Has("maxwait") && cfg.Edges == LeadingAndTrailing {
		out = append(out, reading{fromLead: true})
	}
	if shortBound(cfg) {
		for _, r := range slices.Clone(out) {
			r.clamped = true
			out = append(out, r)
		}
	}
	return out
}

// shortBound reports whether a bound is shorter than the wait: a constructor may refuse it.
func shortBound(cfg conformance.Config) bool { return cfg.Has("maxwait") && cfg.MaxWait < cfg.Wait }

// path says which way was taken wherever correct debouncers differ.
type path struct {
	taken, of []int // the way, and how many there are
	at        int   // where the model is
}

// either takes one of several ways, counted from 0.
func (p *path) either(ways int) int {
	if p.at == len(p.taken) {
		p.taken, p.of = append(p.taken, 0), append(p.of, ways)
	}
	p.at++
	return p.taken[p.at-1]
}

// next takes another path, and reports whether there is one that was not taken yet.
func (p *path) next() bool {
	p.taken, p.of, p.at = p.taken[:p.at], p.of[:p.at], 0
	for n := len(p.taken) - 1; n >= 0; n-- {
		if p.taken[n]++; p.taken[n] < p.of[n] {
			return true
		}
		p.taken, p.of = p.taken[:n], p.of[:n]
	}
	return false
}

// manyPaths are more than are followed: nothing is certain then.
const manyPaths = 256

// models calls f with what must happen in the run, for each path, until f returns true. It
// reports whether f did so or there are too many paths.
func (x *exam) models(r reading, f func(m model) bool) bool {
	p := &path{}
	for range manyPaths {
		if f(x.model(r, p)) {
			return true
		}
		if !p.next() {
			return false
		}
	}
	return true
}

// model works out what must happen in the run on a path.
func (x *exam) model(r reading, p *path) model {
	cfg := x.Schedule.Config
	if r.clamped {
		cfg.MaxWait = cfg.Wait
	}
	bounded := cfg.Has("maxwait")
	m := &state{
		model: model{edge.Model{Certain: edge.Far}, map[int]bool{}}, path: p,
		cfg: cfg, traits: x.traits, edges: cfg.Edges,
		bounded: bounded, onCall: bounded && x.traits.MaxWait == MaxWaitOnCall, reading: r,
		cut: -edge.Far, since: edge.Far,
	}
	if x.traits.Overlap == Serial {
		m.busy = cfg.Busy
	}
	if m.edges == 0 {
		m.edges = Trailing
	}
	for i := range x.Done {
		if m.do(&x.Done[i]); m.over {
			return m.model
		}
	}
	m.pass(edge.Far)
	return m.model
}

// deadline returns when what waits is due, and why.
func (m *state) deadline() (time.Duration, edge.Kind) {
	if m.bounded && !m.onCall && suite.Sum(m.first, m.cfg.MaxWait) < suite.Sum(m.last, m.cfg.Wait) {
		return suite.Sum(m.first, m.cfg.MaxWait), edge.Bound
	}
	return suite.Sum(m.last, m.cfg.Wait), edge.Trailing
}

// fire fires what waits, or lets it stand in line behind a callback.
func (m *state) fire(at time.Duration, kind edge.Kind) {
	m.start(edge.Fire{At: at, Value: m.value, Kind: kind, Burst: m.burst, Size: m.size})
	m.waits, m.overdue = false, false
	m.since = edge.Far
	switch {
	case !m.bounded || m.traits.MaxWait == MaxWaitFromFirst || kind == edge.Trailing:
	case kind != edge.Flushed || m.traits.MaxWait != MaxWaitFromFire:
		m.Doubt(at + 1) // since implementations differ in what the next bound counts from
	case m.path.either(2) == 1:
		m.since = at
	}
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
	if m.edges == NoEdges {
		m.pending[d.Began.Seq] = false
		return
	}
	now := d.Began.At
	m.pass(now - 1)
	at, _ := m.deadline()
	first, fires := false, false // the operation goes first; it is an event that fires for all
	// A callback that does it may be that of what waits.
	if m.waits && !m.overdue && at == now && !d.Inside {
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
	switch d.Op {
	case verb.Call:
		if m.call(d.N, now); fires && m.waits {
			m.fire(now, edge.Bound)
		}
	case verb.Pending:
		m.asked(d.Began.Seq, now)
	case verb.Cancel:
		m.cancel(now)
	case verb.Stop:
		m.stop(now)
	case verb.Close:
		m.close(now)
	case verb.Flush:
		m.flush(now)
	}
}

// call is an event.
func (m *state) call(v int, now time.Duration) {
	if m.isFull() {
		m.fire(now, edge.Filled)
	}
	within := m.joinsOverdue()
	due, kind := m.deadline()
	late := m.waits && due <= now && !within // this event was taken first
	m.join(now, within)
	leads := m.edges&Leading != 0 && m.size == 1 && m.mayLead()
	if leads {
		m.start(edge.Fire{At: now, Value: v, Kind: edge.Leading, Burst: m.burst, Size: m.size})
		if late {
			m.fire(now, kind)
		}
		m.first = now
	}
	if leads && m.edges == LeadingAndTrailing && m.traits.BothSingle == 0 {
		m.Doubt(now + 1)
	}
	if m.edges&Trailing == 0 || leads && m.traits.BothSingle != BothTwice {
		return
	}
	if !m.waits && !(m.fromLead && m.edges&Leading != 0 && m.size == 2) {
		m.first = min(now, m.since)
	}
	if !m.waits || m.traits.Payload != FirstPayload {
		m.value = v
	}
	if m.hold() {
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
func (m *state) hold() bool {
	if !m.waits {
		m.held = 0
	}
	m.waits = true
	m.held++
	return m.isFull() && m.traits.Full == FullFires
}

// isFull reports whether the burst can hold no other event.
func (m *state) isFull() bool { return m.cfg.K > 0 && m.waits && m.held == m.cfg.K }

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
		m.burst, m.size = m.burst+1, 0
	}
	m.open, m.last = true, now
	m.size++
}

// asked notes the answer to a query that began at a point of the run.
func (m *state) asked(seq int, now time.Duration) {
	switch within := m.running || now <= suite.Sum(m.last, m.cfg.Wait); {
	case m.edges == Leading && m.size > 1 && within: // events of this burst, for which nothing will fire
	case m.edges == LeadingAndTrailing && m.traits.BothSingle != BothOnce:
	case !m.waits && len(m.line) > 0: // decided, behind a callback
	default:
		m.pending[seq] = m.waits
	}
}

// cancel drops what waits.
func (m *state) cancel(now time.Duration) {
	m.waits, m.overdue, m.cut = false, false, now
	m.cancelBehind()
	switch m.traits.AfterCancel {
	case CancelReusable:
		m.open = false
	case 0:
		m.Doubt(now + 1)
	}
	m.over = !m.traits.AfterCancel.usable()
}

// flush fires what waits.
func (m *state) flush(now time.Duration) {
	waited := m.waits
	if waited {
		m.flushedBehind()
		m.fire(now, edge.Flushed)
		m.open = m.open && m.traits.AfterFlush != FlushEndsBurst
	}
	if waited && m.traits.AfterFlush != FlushKeepsBurst ||
		m.bounded { // a flush of nothing may end the timer of a bound, and no more
		m.cut = now
	}
}

// stop ends the debouncer.
func (m *state) stop(now time.Duration) {
	m.over = true
	m.endBehind(now)
	switch {
	case m.traits.StopPending == StopFlushes && m.waits:
		m.fire(now, edge.Flushed)
	case m.traits.StopPending == 0:
		m.Doubt(now)
	}
}

// close ends the input.
func (m *state) close(now time.Duration) {
	m.over = true
	m.endBehind(now)
	switch {
	case !m.waits || m.traits.CloseFlush == CloseDrops:
	case m.traits.CloseFlush == CloseAtDeadline:
		m.pass(edge.Far)
	default:
		m.fire(now, edge.Flushed)
	}
}

// callbacks are the callbacks of a [state] that take time and run one after the other. Correct
// debouncers differ in when they decide what falls due while one runs: at that instant, so that it
// stands in line and no later event belongs to it, or when a callback ends.
type callbacks struct {
	busy    time.Duration // how long each takes; 0 if none has to wait for another
	running bool
	free    time.Duration // when the one that runs ends
	line    []edge.Fire   // what is decided and has to wait, the first to run first
	overdue bool          // what waits is due, and not decided
}

// modelled reports whether the model knows what must happen in the run.
func (x *exam) modelled() bool {
	cfg := x.Schedule.Config
	racing := func(s conformance.Step) bool { return s.Racing }
	switch {
	case cfg.Inside != "" && x.traits.BothSingle == BothTwice && cfg.Edges == LeadingAndTrailing:
		return false
	case cfg.Busy == 0 || x.traits.Overlap == Parallel:
		return true
	case x.traits.Overlap != Serial, cfg.Inside != "", cfg.Has("k"), slices.ContainsFunc(x.Schedule.Steps, racing):
		return false
	}
	return !cfg.Has("maxwait") || x.traits.MaxWait == MaxWaitFromFirst
}

// start starts a callback, or lets it stand in line.
func (m *state) start(f edge.Fire) {
	if m.running {
		m.line = append(m.line, f)
		return
	}
	m.Want = append(m.Want, f)
	m.running, m.free = m.busy > 0, f.At+m.busy
}

// expire is the deadline of what waits.
func (m *state) expire(at time.Duration, kind edge.Kind) {
	if m.running && m.path.either(2) == 0 {
		m.overdue = true
		return
	}
	m.fire(at, kind)
}

// finish ends the callback that runs and starts the next. What is overdue is decided now, or,
// where others stand in line, perhaps not before they have run.
func (m *state) finish() {
	if m.overdue && (len(m.line) == 0 || m.path.either(2) == 0) {
		due, kind := m.deadline()
		m.fire(due, kind) // the last in line
	}
	m.running = false
	if len(m.line) > 0 {
		next := m.line[0]
		m.line = m.line[1:]
		next.At, next.Behind = m.free, m.free-next.At
		m.start(next)
	}
}

// joinsOverdue reports whether an event joins what is overdue and so puts it off. Otherwise that
// is decided before the event.
func (m *state) joinsOverdue() bool {
	if !m.overdue {
		return false
	}
	if m.path.either(2) == 1 {
		due, kind := m.deadline()
		m.fire(due, kind)
		return false
	}
	m.overdue = false
	return true
}

// mayLead reports whether the first event of a burst leads. While a callback runs it need not: the
// burst of that one may last as long.
func (m *state) mayLead() bool { return !m.running || m.path.either(2) == 0 }

// cancelBehind is a cancel while a callback runs: it may forget what stands in line.
func (m *state) cancelBehind() {
	if len(m.line) > 0 && m.path.either(2) == 1 {
		m.line = nil
	}
	if m.running && m.traits.CancelBarrier == FinishBarrier {
		m.Doubt(m.free) // it may wait for the callback first
	}
}

// flushedBehind is a flush while a callback runs: it may look at what is pending when that ends.
func (m *state) flushedBehind() {
	if m.running {
		m.Doubt(m.free)
	}
}

// endBehind is the end of the debouncer while a callback runs: what has to wait for that is the
// matter of the rules about the end.
func (m *state) endBehind(now time.Duration) {
	if m.running && (m.waits || len(m.line) > 0) {
		m.Doubt(now)
	}
}
