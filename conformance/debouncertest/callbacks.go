package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/internal/verb"
)

// callbacks are the callbacks of a [state] that take time and run one after the other. Correct
// debouncers differ in when they decide what falls due while one runs: at that instant, so that it
// stands in line and no later event belongs to it, or when a callback ends.
type callbacks struct {
	busy    time.Duration // how long each takes; 0 if none has to wait for another
	running bool
	free    time.Duration     // when the one that runs ends
	line    []edge.Fire       // what is decided and has to wait, the first to run first
	overdue bool              // what waits is due, and not decided
	flushes bool              // a flush looks at what waits when the callback ends
	denied  *conformance.Done // a query that was answered with no while something was in line
}

// modelled reports whether the model knows what must happen in the run.
func (x *exam) modelled() bool {
	cfg := x.Schedule.Config
	switch {
	case x.Refused != "", x.Stuck, x.Reentered() != nil: // for X-CALLS and X-REENT
		return false
	case cfg.Inside != "" && x.traits.BothSingle == BothTwice && cfg.Edges == LeadingAndTrailing:
		return false
	}
	return cfg.Busy == 0 || cfg.Wait > 0
}

// vague reports whether the model does not know what follows the beginning of a callback that takes time.
func (x *exam) vague() bool {
	cfg, how := x.Schedule.Config, x.traits.Overlap
	racing := func(s conformance.Step) bool { return s.Racing }
	switch {
	case cfg.Busy == 0 || how == Parallel:
		return false
	case how != Serial && (how != SerialReceiver || x.configured()), cfg.Inside != "", cfg.Has("k"),
		slices.ContainsFunc(x.Schedule.Steps, racing):
		return true
	}
	return cfg.Has("maxwait") && x.traits.MaxWait != MaxWaitFromFirst
}

// start starts a callback, or lets it stand in line.
func (m *state) start(f edge.Fire) {
	if m.running {
		m.line = append(m.line, f)
		return
	}
	if m.x.others != nil && m.traits.Overlap == Serial {
		m.standsBehind(&f)
	}
	if m.Want = append(m.Want, f); m.vague {
		m.Doubt(f.At + 1)
	}
	m.running, m.free = m.busy > 0, f.At+m.busy
}

// expire is the deadline of what waits.
func (m *state) expire(at time.Duration, kind edge.Kind) {
	if m.running && !m.decides() {
		m.overdue = true
		return
	}
	m.fire(at, kind)
}

// decides reports whether what is due is decided while a callback runs. If nothing can discard what is decided, that is
// so if it ever fires.
func (m *state) decides() bool {
	discards := func(d conformance.Done) bool { return d.Op != verb.Call }
	if m.plain && m.traits.bearsNewest() && !slices.ContainsFunc(m.x.Done, discards) {
		return m.x.firedBy(m.value, edge.Far)
	}
	return m.path.either(2) == 1
}

// finish ends the callback that runs and starts the next. What is overdue is decided now, or,
// where others stand in line, perhaps not before they have run.
func (m *state) finish() {
	if m.flushes && m.waits {
		m.fire(m.free, edge.Flushed)
	}
	m.flushes = false
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
	if m.decides() {
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
func (m *state) cancelBehind(d *conformance.Done) {
	if len(m.line) > 0 {
		waited := m.waits
		switch forgets := m.mayForget(); {
		case !forgets:
			m.barred(d, !waited, m.line[0].At)
		case m.denied != nil && d.Ended.At == d.Began.At:
			because := edge.Text("the cancel at %s discards what waits its turn", d.Began.At)
			m.law("DB-PEND", false, m.denied.Began.At, because, "Pending() = false at %s, want true", m.denied.Began.At)
		}
	}
	if m.running && m.traits.CancelBarrier == FinishBarrier {
		m.Doubt(m.free) // it may wait for the callback first
	}
}

// mayForget lets what stands in line be forgotten, or not.
func (m *state) mayForget() bool {
	forgets := len(m.line) > 0 && m.path.either(2) == 1
	if forgets {
		m.line = nil
	}
	return forgets
}

// flushedBehind reports whether a flush while a callback runs looks at what waits when that ends.
func (m *state) flushedBehind() bool {
	if m.running && !m.plain {
		m.Doubt(m.free)
	}
	m.flushes = m.running && m.plain && m.path.either(2) == 1
	return m.flushes
}

// when is the instant at which an operation counts: where a receiver runs the callback, that at which the callback ends
// during which it came.
func (m *state) when(d *conformance.Done) time.Duration {
	now := d.Began.At
	if m.flushes && now < m.free && d.Op != verb.Pending {
		m.Doubt(m.free) // who comes behind such a flush may put it off
	}
	if m.busy == 0 || m.traits.Overlap != SerialReceiver || d.Op == verb.Pending {
		return now
	}
	for _, f := range m.x.Fires {
		if f.Began.Seq > d.Began.Seq || f.Ended.Seq != 0 && f.Ended.Seq < d.Began.Seq {
			continue
		}
		if f.Ended.Seq == 0 || m.running && m.free > f.Ended.At || d.Op == verb.Stop {
			m.Doubt(now) // it is open at which end it is taken
		}
		now = max(now, f.Ended.At)
	}
	return now
}

// standsBehind puts the callback of a key off that has to wait for those of other keys: until it came, if one of them
// ended then. Nobody can tell what comes meanwhile.
func (m *state) standsBehind(f *edge.Fire) {
	i := len(m.Want)
	if i >= len(m.x.Fires) || !runs(f.At, m.x.others) {
		return
	}
	if at := m.x.Fires[i].Began.At; at > f.At && endsAt(at, m.x.others) {
		f.Behind, f.At = at-f.At, at
		m.Doubt(f.At + 1)
	}
}
