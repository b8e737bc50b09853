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

// progress is how far a path explains a run.
type progress struct {
	checked int            // so many fires are as they must be
	wrong   bool           // the next one is not
	wrongAt time.Duration  // the instant of that
	payload bool           // it is only the payload that is wrong
	marks   []edge.Finding // laws that the run breaks on this path, other than by what fires
}

// compare compares what fired before an instant, or a point of the run, with what must have.
func (m *state) compare(to time.Duration, seq int) {
	payload, fires := cmp.Or(m.traits.Payload, NoPayload), m.x.Fires
	for ; !m.wrong; m.checked++ {
		var w *edge.Fire
		var g *conformance.Fire
		at := min(m.Certain, to)
		if i := m.checked; i < len(m.Want) {
			w = &m.Want[i]
			at = min(at, w.At)
		}
		if i := m.checked; i < len(fires) {
			g = &fires[i]
			at = min(at, g.Began.At)
		}
		same := w != nil && g != nil && w.At == g.Began.At
		if same && w.Value != g.Value {
			m.swap(g)
		}
		switch {
		case at >= to && (g == nil || g.Began.Seq >= seq), at >= m.Certain, g == nil && at > m.x.End:
			return
		case !same || w.Value != g.Value && payload != NoPayload && w.Kind != edge.Brought:
			m.wrong, m.wrongAt, m.payload = true, at, same
			return
		case payload == AllPayloads && w.Values != nil:
			m.gets(g, w.Values)
		}
	}
}

// swap puts what has fired before what was decided at its instant before it: where callbacks run beside each other, who
// starts first of those that race is chance.
func (m *state) swap(g *conformance.Fire) {
	if m.traits.Overlap == Serial || m.traits.Overlap == SerialReceiver || !m.x.races(g.Began.At) {
		return
	}
	for i := m.checked + 1; i < len(m.Want) && m.Want[i].At == g.Began.At; i++ {
		if m.Want[i].Value == g.Value {
			m.Want[m.checked], m.Want[i] = m.Want[i], m.Want[m.checked]
			return
		}
	}
}

// forget drops laws that are not broken for certain.
func (m *state) forget() {
	m.marks = slices.DeleteFunc(m.marks, func(f edge.Finding) bool { return f.At >= m.Certain })
}

// adopt takes what had fired at a point of the run for what must have, and ends the doubt.
func (m *state) adopt(seq int) {
	m.forget()
	m.Certain, m.Want = edge.Far, m.Want[:m.checked]
	for ; m.checked < len(m.x.Fires) && m.x.Fires[m.checked].Began.Seq < seq; m.checked++ {
		m.Want = append(m.Want, edge.Fire{At: m.x.Fires[m.checked].Began.At, Value: m.x.Fires[m.checked].Value})
	}
}

// resume ends the doubt at a call before which nothing has happened for so long that every debouncer is at rest.
func (m *state) resume(d *conformance.Done) {
	now, rest := d.Began.At, suite.Sum(m.cfg.Wait, m.cfg.MaxWait)
	recent := func(began, ended conformance.Mark) bool {
		return began.Seq < d.Began.Seq && (ended.Seq == 0 || suite.Sum(ended.At, rest) >= now)
	}
	if m.Certain > now || m.final || d.Op != verb.Call ||
		slices.ContainsFunc(m.x.Done, func(o conformance.Done) bool { return recent(o.Began, o.Ended) }) ||
		slices.ContainsFunc(m.x.Fires, func(f conformance.Fire) bool { return recent(f.Began, f.Ended) }) {
		return
	}
	m.adopt(d.Began.Seq)
	m.callbacks, m.waits, m.open, m.since = callbacks{busy: m.busy}, false, false, edge.Far
}

// nearer reports whether the path explains more of the run than another one: all that fired, or for longer, where the
// wrong instant is nearer than the wrong payload.
func (m *state) nearer(other *state) bool {
	switch {
	case m.wrong != other.wrong:
		return !m.wrong
	case !m.wrong:
		return len(m.marks) < len(other.marks)
	case m.wrongAt != other.wrongAt:
		return m.wrongAt > other.wrongAt
	case m.payload != other.payload:
		return other.payload
	}
	return len(m.marks) < len(other.marks)
}

// differences are what a run breaks on the path that explains most of it: nothing, if one of them leads to all of it.
func (x *exam) differences() []edge.Finding {
	if !x.compares && x.modelled() {
		x.found = x.compared()
	}
	x.compares = true
	return x.found
}

// compared follows the model through the run on every path.
func (x *exam) compared() []edge.Finding {
	var nearest *state
	p := &path{}
	for range manyPaths {
		m := x.model(p)
		if m.forget(); !m.wrong && len(m.marks) == 0 {
			return x.waitedInVain()
		}
		if plain := !m.fromLead && !m.clamped; plain && (nearest == nil || m.nearer(nearest)) {
			nearest = m
		}
		if p.next() {
			continue
		}
		if nearest.wrong {
			return x.explained(nearest)
		}
		return nearest.marks
	}
	return x.waitedInVain()
}

// broken is the first law that a run breaks by what it does, if there is one.
func (x *exam) broken() *suite.Violation {
	for _, f := range x.differences() {
		return f.Violation
	}
	return nil
}

// breaks finds runs that break a rule by what they do.
func breaks(rule string) func(*exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		for _, f := range x.differences() {
			if f.Rule == rule {
				return f.Violation
			}
		}
		return nil
	}
}
