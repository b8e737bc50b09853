package debouncertest

import (
	"cmp"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
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
	// bounded says that there is a bound on the wait, onCall that only an event brings its
	// fire, fromLead that with both edges it counts from the leading fire of the burst
	// rather than from the first event that has not fired.
	bounded, onCall, fromLead bool

	waits       bool          // an event has not fired
	held        int           // how many have not
	value       int           // what will fire
	first, last time.Duration // the first event that has not fired, and the newest
	cut         time.Duration // the newest cancel or flush
	open        bool          // there is a burst
	burst, size int           // its number, and its events so far
	over        bool          // the debouncer has ended
}

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
func (x *exam) models(fromLead bool, f func(m model) bool) bool {
	p := &path{}
	for range manyPaths {
		if f(x.model(fromLead, p)) {
			return true
		}
		if !p.next() {
			return false
		}
	}
	return true
}

// model works out what must happen in the run on a path.
func (x *exam) model(fromLead bool, p *path) model {
	cfg := x.Schedule.Config
	bounded := cfg.Has("maxwait")
	m := &state{
		model: model{edge.Model{Certain: edge.Far}, map[int]bool{}}, path: p,
		cfg: cfg, traits: x.traits, edges: cfg.Edges,
		bounded: bounded, onCall: bounded && x.traits.MaxWait == MaxWaitOnCall, fromLead: fromLead,
		cut: -edge.Far,
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
	if m.bounded && !m.onCall && m.first+m.cfg.MaxWait < m.last+m.cfg.Wait {
		return m.first + m.cfg.MaxWait, edge.Bound
	}
	return m.last + m.cfg.Wait, edge.Trailing
}

// fire fires what waits.
func (m *state) fire(at time.Duration, kind edge.Kind) {
	m.Want = append(m.Want, edge.Fire{At: at, Value: m.value, Kind: kind, Burst: m.burst, Size: m.size})
	m.waits = false
	if m.bounded && m.traits.MaxWait != MaxWaitFromFirst && kind != edge.Trailing {
		m.Doubt(at + 1) // since implementations differ in what the next bound counts from
	}
}

// pass lets time pass up to an instant.
func (m *state) pass(to time.Duration) {
	if !m.waits {
		return
	}
	if at, kind := m.deadline(); at <= to {
		m.fire(at, kind)
	}
}

// do does one operation of the run.
func (m *state) do(d *conformance.Done) {
	if m.edges == NoEdges {
		m.pending[d.Began.Seq] = false
		return
	}
	now := d.Began.At
	at, _ := m.deadline()
	first, fires := false, false           // the operation goes first; it is an event that fires for all
	if m.waits && at == now && !d.Inside { // a callback that does it may be that of what waits
		ways := 2
		if m.bounded && d.Op == conformance.OpCall && m.traits.MaxWait == MaxWaitFromFire {
			ways = 3
		}
		way := m.path.either(ways)
		first, fires = way > 0, way > 1
	}
	if !first {
		m.pass(now)
	}
	switch d.Op {
	case conformance.OpCall:
		if m.call(d.N, now); fires && m.waits {
			m.fire(now, edge.Bound)
		}
	case conformance.OpPending:
		m.asked(d.Began.Seq)
	case conformance.OpCancel:
		m.cancel(now)
	case conformance.OpStop:
		m.stop(now)
	case conformance.OpClose:
		m.close(now)
	case conformance.OpFlush:
		waited := m.waits
		if waited {
			m.fire(now, edge.Flushed)
		}
		if waited || m.bounded { // a flush of nothing may end the timer of a bound, and no more
			m.cut = now
		}
	}
}

// call is an event.
func (m *state) call(v int, now time.Duration) {
	if m.isFull() {
		m.fire(now, edge.Filled)
	}
	due, kind := m.deadline()
	late := m.waits && due <= now // this event was taken first
	m.join(now)
	leads := m.edges&Leading != 0 && m.size == 1
	if leads {
		m.Want = append(m.Want, edge.Fire{At: now, Value: v, Kind: edge.Leading, Burst: m.burst, Size: m.size})
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
		m.first = now
	}
	if !m.waits || m.traits.Payload != FirstPayload {
		m.value = v
	}
	if m.hold() {
		m.fire(now, edge.Filled)
		return
	}
	if m.onCall && now >= m.first+m.cfg.MaxWait {
		if now == m.first+m.cfg.MaxWait && m.path.either(2) == 1 {
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

// join lets an event belong to the burst, or begin one.
func (m *state) join(now time.Duration) {
	quiet := !m.open || now > max(m.last, m.cut)+m.cfg.Wait
	waited := now >= m.last+m.cfg.Wait
	fresh := quiet || waited
	if m.open && m.edges != Trailing && !quiet && (waited || m.cut >= m.last) {
		fresh = fresh == (m.path.either(2) == 0)
		if m.bounded && m.cut >= m.last && m.traits.MaxWait == MaxWaitFromFire {
			m.Doubt(now) // since what is cut off may have taken the timer of the bound with it
		}
	}
	if fresh {
		m.burst, m.size = m.burst+1, 0
	}
	m.open, m.last = true, now
	m.size++
}

// asked notes the answer to a query that began at a point of the run.
func (m *state) asked(seq int) {
	switch {
	case m.edges == Leading && m.size > 1: // events for which nothing will fire
	case m.edges == LeadingAndTrailing && m.traits.BothSingle == BothTwice:
	default:
		m.pending[seq] = m.waits
	}
}

// cancel drops what waits.
func (m *state) cancel(now time.Duration) {
	m.waits, m.cut = false, now
	switch m.traits.AfterCancel {
	case CancelReusable:
		m.open = false
	case 0:
		m.Doubt(now + 1)
	}
	m.over = !m.traits.AfterCancel.usable()
}

// stop ends the debouncer.
func (m *state) stop(now time.Duration) {
	m.over = true
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
	switch {
	case !m.waits || m.traits.CloseFlush == CloseDrops:
	case m.traits.CloseFlush == CloseAtDeadline:
		m.pass(edge.Far)
	default:
		m.fire(now, edge.Flushed)
	}
}

// difference compares a run with the model, which does not know that callbacks take time.
func (x *exam) difference() *edge.Finding {
	cfg := x.Schedule.Config
	both := cfg.Edges == LeadingAndTrailing
	switch {
	case x.first != nil:
	case cfg.Busy > 0, cfg.Inside != "" && x.traits.BothSingle == BothTwice && both:
		x.first = &edge.Finding{}
	default:
		if x.first = x.compared(false); x.first.Violation != nil && cfg.Has("maxwait") && both &&
			x.compared(true).Violation == nil {
			x.first = &edge.Finding{}
		}
	}
	return x.first
}

// compared compares the run with the model on every path, and returns the first difference on
// the first of them unless one of them leads to the run.
func (x *exam) compared(fromLead bool) *edge.Finding {
	var first *edge.Finding
	payload := cmp.Or(x.traits.Payload, NoPayload)
	if x.models(fromLead, func(m model) bool {
		found := edge.Compare(x.Recording, m.Model, payload, x.terms())
		if first == nil {
			first = found
		}
		return found.Violation == nil
	}) {
		return &edge.Finding{}
	}
	return first
}

// terms are those of a debouncer.
func (x *exam) terms() edge.Terms {
	return edge.Terms{Rule: x.edgeRule, Because: x.edgeBecause}
}

// edgeRule is the rule that a difference at the i-th fire breaks.
func (x *exam) edgeRule(want []edge.Fire, i int, got *conformance.Fire) string {
	at := time.Duration(edge.Far) // the instant of the difference
	if i < len(want) {
		at = want[i].At
	}
	if got != nil {
		at = min(at, got.Began.At)
	}
	for _, d := range x.Done {
		switch {
		case d.Op == conformance.OpClose:
			return "DB-CLOSE"
		case d.Op == conformance.OpStop && d.Began.At <= at:
			return "DB-STOP"
		}
	}
	switch missing := edge.Missing(want, i, got); {
	case x.Schedule.Config.Has("k"):
		return "DB-FULL"
	case x.Schedule.Config.Edges == NoEdges:
		return "DB-NONE"
	case x.Schedule.Config.Has("maxwait") && missing:
		return missingInBound(&want[i], got)
	case x.Schedule.Config.Has("maxwait"):
		return "DB-MAXNE"
	case missing:
		return missingEdge(&want[i])
	}
	return x.unwanted(want, i, got.Began.At)
}

// missingInBound is the rule that says that w must fire, where there is a bound.
func missingInBound(w *edge.Fire, got *conformance.Fire) string {
	switch {
	case got != nil && got.Began.At == w.At:
		return "DB-MAXPAY"
	case w.Kind == edge.Bound, w.Kind == edge.Brought:
		return "DB-MAX"
	}
	return "DB-MAXTAIL"
}

// missingEdge is the rule that says that w must fire, where there is none.
func missingEdge(w *edge.Fire) string {
	switch {
	case w.Kind == edge.Leading && w.Burst == 1:
		return "DB-LEAD"
	case w.Kind == edge.Leading:
		return "DB-REARM"
	case w.Size == 1:
		return "DB-BOTH1"
	}
	return "DB-BOTHN"
}

// unwanted is the rule that the i-th fire breaks, which nothing wanted at that instant.
func (x *exam) unwanted(want []edge.Fire, i int, at time.Duration) string {
	for _, s := range x.Schedule.Steps {
		if s.Op == conformance.OpCall && s.At == at {
			return "DB-LEAD1" // at an event that is not the first of its burst
		}
	}
	if x.Schedule.Config.Edges == Leading {
		return "DB-LEADONLY"
	}
	if i > 0 && want[i-1].Kind == edge.Leading && want[i-1].Size == 1 && edge.Calls(x.Schedule, want[i-1].At, at) == 0 {
		return "DB-BOTH1"
	}
	return "DB-BOTHN"
}

// edgeBecause says why w must fire.
func (x *exam) edgeBecause(_ []edge.Fire, w *edge.Fire, _ time.Duration) string {
	if w == nil {
		return ""
	}
	cfg := x.Schedule.Config
	switch w.Kind {
	case edge.Leading:
		return text("call %d at %s is the first of its burst", w.Value, w.At)
	case edge.Bound:
		return text("the first event that has not fired came at %s, and the bound is %s", w.At-cfg.MaxWait, cfg.MaxWait)
	case edge.Brought:
		return text("more than the bound of %s has passed since the first event that has not fired, "+
			"so that call %d fires: MaxWaitOnCall is declared",
			cfg.MaxWait, w.Value)
	case edge.Trailing:
		return text("the newest event came at %s, and the wait is %s", w.At-cfg.Wait, cfg.Wait)
	case edge.Flushed:
		return text("flush at %s fires what is pending", w.At)
	case edge.Filled:
		return text("the burst was full: it may hold no more than %d", cfg.K)
	}
	return ""
}
