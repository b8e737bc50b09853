package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
)

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
