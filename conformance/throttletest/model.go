package throttletest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// far is later than any instant of a schedule.
const far = math.MaxInt64

// way is one of several ways in which correct throttles work.
type way struct {
	// opens says, with the trailing edge alone, that an event that follows an emission waits for the end of the
	// interval that the emission has opened, and does not open one itself.
	opens bool
	early bool // racing steps come before the end of an interval, and not after it
	ends  bool // a drop ends the interval, too
}

// ways are those that a schedule does not tell apart before it is run.
func (x *exam) ways() []way {
	out := []way{{opens: true}}
	also := func(other func(w *way)) {
		for _, w := range slices.Clone(out) {
			other(&w)
			out = append(out, w)
		}
	}
	if x.edges == Trailing {
		also(func(w *way) { w.opens = false })
	}
	if x.has(verb.Drop) {
		also(func(w *way) { w.ends = true })
	}
	if x.Schedule.RacingSteps() > 0 {
		also(func(w *way) { w.early = true })
	}
	return out
}

// model says what must be emitted in a schedule, and up to which instant that is certain.
func (x *exam) model(w way) edge.Model {
	cfg := x.Schedule.Config
	m := &model{Model: edge.Model{Certain: far}, x: x, interval: cfg.Interval, way: w}
	switch {
	case x.edges == NoEdges:
		for _, s := range x.Schedule.Steps {
			if s.Op == verb.Fault {
				m.want(s.At, s.N, edge.Fault, 0)
			}
		}
		return m.Model
	case cfg.K > 1:
		return x.windows()
	}
	for _, s := range x.Schedule.Steps {
		if m.step(s) {
			return m.Model
		}
	}
	m.pass(far)
	return m.Model
}

// model is a throttle that lets one event pass in an interval.
type model struct {
	edge.Model
	x        *exam
	interval time.Duration
	way
	running bool          // an interval is
	until   time.Duration // its end
	pending bool          // an event waits for it
	value   int           // that event's
	size    int           // how many events the interval has seen
	flushed bool          // whether that ended the interval, or began another, is a choice
}

// want adds an emission.
func (m *model) want(at time.Duration, value int, kind edge.Kind, size int) {
	m.Want = append(m.Want, edge.Fire{At: at, Value: value, Kind: kind, Size: size})
}

// pass ends the intervals that end by an instant.
func (m *model) pass(to time.Duration) {
	for m.running && m.until <= to {
		if !m.pending {
			m.running = m.until == to && m.x.traits.Boundary != BoundaryPasses
			return
		}
		m.want(m.until, m.value, edge.Trailing, m.size)
		m.pending, m.size = false, 0
		m.until = suite.Sum(m.until, m.interval)
		m.running = m.opens
	}
}

// step does one step, and reports whether nothing that comes later counts.
func (m *model) step(s conformance.Step) (over bool) {
	traits := m.x.traits
	if m.running && m.x.edges == Leading && m.interval > 0 && traits.around(s.At, m.until) {
		m.Doubt(s.At)
	}
	m.pass(s.At - 1)
	if m.interval == 0 && s.Op != verb.Fault {
		m.zero(s)
		return false
	}
	if m.running && s.At == m.until && !m.pending && m.x.edges != Leading {
		m.Doubt(s.At) // a timer may have closed the interval, or nothing
	}
	if !m.early || !s.Racing {
		m.pass(s.At)
	}
	switch s.Op {
	case verb.Reset:
		m.running = false
	case verb.Flush:
		m.flush(s)
	case verb.Drop:
		m.pending, m.size, m.running = false, 0, m.running && !m.ends
	case verb.Fault:
		m.want(s.At, s.N, edge.Fault, 0)
	case verb.Cancel:
		return true
	case verb.Close:
		m.close(s)
		m.cancelled()
		return true
	case verb.Call:
		m.call(s)
	}
	return false
}

// flush emits what is pending. What that does to the interval is certain only where it is declared
// and nothing races with it, and what a flush of nothing does never is.
func (m *model) flush(s conformance.Step) {
	after := m.x.traits.AfterFlush
	if m.flushed = m.flushed || !m.pending || after == 0 || m.x.Schedule.RacingSteps() > 0; !m.pending {
		return
	}
	m.want(s.At, m.value, edge.Flushed, m.size)
	m.pending, m.size = false, 0
	switch after {
	case FlushOpensInterval:
		m.running, m.until = m.opens, suite.Sum(s.At, m.interval)
	case FlushEndsInterval:
		m.running = false
	}
}

// zero is a step where the interval is 0: every event passes.
func (m *model) zero(s conformance.Step) {
	if last := len(m.Want) - 1; last >= 0 && m.Want[last].At == s.At && m.x.traits.zeroHolds() {
		m.Doubt(s.At)
	}
	if s.Op == verb.Call {
		m.want(s.At, s.N, edge.Zero, 0)
	}
	if m.x.twice() {
		m.Doubt(0)
	}
}

// close is the end of the input.
func (m *model) close(s conformance.Step) {
	switch {
	case !m.pending:
	case m.x.traits.CloseFlush == CloseFires:
		m.want(s.At, m.value, edge.Trailing, m.size)
	case m.x.traits.CloseFlush == CloseAtDeadline:
		m.want(m.until, m.value, edge.Trailing, m.size)
	}
}

// cancelled drops what the end of the input has left to a time after the cancel of the context.
func (m *model) cancelled() {
	for _, s := range m.x.Schedule.Steps {
		if s.Op == verb.Cancel {
			if slices.ContainsFunc(m.Want, func(w edge.Fire) bool { return w.At == s.At }) {
				m.Doubt(s.At)
			}
			m.Want = slices.DeleteFunc(m.Want, func(w edge.Fire) bool { return w.At > s.At })
		}
	}
}

// call is an event.
func (m *model) call(s conformance.Step) {
	if m.flushed || m.led(s) {
		m.Doubt(s.At)
	}
	switch {
	case !m.running && m.x.edges&Leading != 0:
		m.want(s.At, s.N, edge.Leading, 1)
		m.running, m.until, m.size = true, suite.Sum(s.At, m.interval), 1
		if m.x.twice() {
			m.pending, m.value = true, s.N
		}
	case !m.running:
		m.running, m.until, m.pending, m.value, m.size = true, suite.Sum(s.At, m.interval), true, s.N, 1
	case m.x.edges&Trailing != 0:
		if !m.pending || m.x.traits.Payload != FirstPayload {
			m.value = s.N
		}
		m.pending = true
		m.size++
	}
}

// led reports whether an event comes after one that, racing with the end of an interval of the
// trailing edge alone, may have been emitted instead of what waited, as on the leading edge:
// nobody can tell whether the next one is, too.
func (m *model) led(s conformance.Step) bool {
	return m.early && m.x.edges == Trailing && slices.ContainsFunc(m.x.Schedule.Steps, func(o conformance.Step) bool {
		return o.Racing && o.Op == verb.Call && o.At < s.At
	})
}

// windows returns what a throttle emits that lets several events pass in an interval.
func (x *exam) windows() edge.Model {
	cfg, traits := x.Schedule.Config, x.traits
	m := edge.Model{Certain: far}
	var passed []time.Duration // in the interval that is running, oldest first
	again := math.MinInt       // the number of events since a reset, of which the first must pass
	for _, s := range x.Schedule.Steps {
		switch s.Op {
		case verb.Reset:
			passed, again = nil, 1
			continue
		case verb.Stop:
			return m
		}
		if again++; again == 3 {
			m.Doubt(s.At)
		}
		over := func(t time.Duration) bool {
			if traits.around(s.At, suite.Sum(t, cfg.Interval)) {
				m.Doubt(s.At)
			}
			return s.At-t > cfg.Interval || s.At-t == cfg.Interval && traits.Boundary == BoundaryPasses
		}
		switch {
		case traits.Windows == WindowsSliding:
			passed = slices.DeleteFunc(passed, over)
		case len(passed) > 0 && over(passed[0]):
			passed = nil
		}
		if len(passed) < cfg.K {
			passed = append(passed, s.At)
			m.Want = append(m.Want, edge.Fire{At: s.At, Value: s.N, Kind: edge.Leading})
		}
	}
	return m
}

// because says why w, or nothing, must be emitted at that instant.
func (x *exam) because(_ string, want []edge.Fire, w *edge.Fire, at time.Duration) string {
	cfg := x.Schedule.Config
	switch {
	case x.edges == NoEdges && w == nil:
		return "no edge is configured"
	case cfg.Interval == 0:
		return "the interval is 0"
	case w != nil && w.Kind == edge.Fault:
		return edge.Text("item %d at %s is an error", w.Value, w.At)
	case cfg.K > 1:
		return edge.Text("%d events may pass in %s", cfg.K, cfg.Interval)
	case w != nil && w.Kind == edge.Flushed:
		return edge.Text("call %d was pending", w.Value)
	case w != nil && w.Kind == edge.Leading:
		return edge.Text("call %d at %s finds no interval running", w.Value, w.At)
	case w != nil:
		return edge.Text("the interval of %s ends at %s with an event to emit", cfg.Interval, w.At)
	}
	for _, f := range slices.Backward(want) {
		if f.At <= at {
			return edge.Text("the emission at %s opened an interval of %s", f.At, cfg.Interval)
		}
	}
	return ""
}

// breaks returns the rule that a difference at the i-th emission breaks.
func (x *exam) breaks(want []edge.Fire, i int, got *conformance.Fire) string {
	cfg := x.Schedule.Config
	missing := edge.Missing(want, i, got)
	fault := missing && want[i].Kind == edge.Fault
	reset := x.resetBy(differs(want, i, got))
	switch {
	case x.edges == NoEdges && !fault:
		return "TH-NONE"
	case x.has(verb.Cancel):
		return "TH-CTX"
	case x.has(verb.Close):
		return "TH-CLOSE"
	case x.has(verb.Flush):
		return "TH-FLUSH"
	case x.has(verb.Drop):
		return "TH-CANCEL"
	case fault && x.has(verb.Fault):
		return "TH-ERR"
	case x.has(verb.Fault):
		return "TH-ERRNEUT"
	case cfg.K > 1 && reset:
		return "TH-RESET"
	case cfg.K > 1 && missing:
		return "TH-MAXIMAL"
	case cfg.K > 1:
		return "TH-RATE"
	case cfg.Interval == 0:
		return "TH-ZERO"
	case missing:
		return x.lacks(want[i], i, got)
	case i == 0:
		return "TH-TRAILONLY" // an emission before the first that there should be
	}
	return x.exceeds(want[i-1], got)
}

// differs returns when the i-th emission is another than what is wanted.
func differs(want []edge.Fire, i int, got *conformance.Fire) time.Duration {
	at := time.Duration(far)
	if i < len(want) {
		at = want[i].At
	}
	if got != nil {
		at = min(at, got.Began.At)
	}
	return at
}

// resetBy reports whether a reset has come by an instant.
func (x *exam) resetBy(at time.Duration) bool {
	return slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
		return s.Op == verb.Reset && s.At <= at
	})
}

// lacks returns the rule that is broken if w, the i-th emission, did not come, but got, or
// nothing if got is nil.
func (x *exam) lacks(w edge.Fire, i int, got *conformance.Fire) string {
	other := got != nil && got.Began.At == w.At // with another payload
	switch {
	case other && w.Kind == edge.Leading:
		return "TH-LEADNEXT"
	case other:
		return "TH-PAY"
	case w.Kind == edge.Leading && i == 0:
		return "TH-FIRST"
	case w.Kind == edge.Leading && x.resetBy(w.At):
		return "TH-RESET"
	case w.Kind == edge.Leading:
		return "TH-LEADNEXT"
	case w.Size <= 1 && x.twice():
		return "TH-SINGLE"
	case got != nil && edge.Calls(x.Schedule, w.At-x.Schedule.Config.Interval, w.At) > 1:
		return "TH-NOTDEB"
	}
	return "TH-LAST"
}

// exceeds returns the rule that an unwanted emission breaks, which came after last, a
// wanted one.
func (x *exam) exceeds(last edge.Fire, got *conformance.Fire) string {
	interval := x.Schedule.Config.Interval
	at, gap := got.Began.At, got.Began.At-last.At
	comes := func(s conformance.Step) bool { return s.Op == verb.Call && s.At == at }
	atCall := slices.ContainsFunc(x.Schedule.Steps, comes)
	since := edge.Calls(x.Schedule, last.At, at)
	its := slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool { return comes(s) && s.N == got.Value })
	switch {
	case its && gap == 0 && last.Kind == edge.Trailing && interval > 0:
		return "TH-TRAILOPENS"
	case x.edges == Trailing && atCall && gap > interval:
		return "TH-TRAILONLY"
	case edge.Calls(x.Schedule, last.At-1, at) == 0 || since == 0 && last.Kind == edge.Trailing:
		return "TH-NOSPON"
	case last.Kind == edge.Leading && x.edges == LeadingAndTrailing && since == 0:
		return "TH-SINGLE"
	case gap < interval && last.Kind == edge.Trailing:
		return "TH-TRAILOPENS"
	case gap < interval && x.resetBy(at):
		return "TH-RESET"
	case gap < interval:
		return "TH-SPACE"
	case x.edges == Leading && !atCall:
		return "TH-DROP"
	case x.edges == Leading:
		return "TH-LEADNEXT" // at the very end of an interval, against what is declared
	}
	return "TH-NOSPON"
}
