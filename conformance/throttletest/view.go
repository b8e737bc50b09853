package throttletest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits *Traits
	edges  Edges // that the throttle was made with
	// payload says how emissions are told apart: until it is declared, not at all on the
	// trailing edge, and by events on the leading edge if anything shows them there.
	payload Payload
	found   *edge.Finding
}

// Exam puts a trace in the terms of a throttle.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	x := &exam{Recording: rec, traits: tr, edges: rec.Schedule.Config.Edges}
	if x.edges == 0 {
		x.edges = edge.Preferred(tr.Edges, conformance.Leading)
	}
	x.payload = tr.Payload
	if tr.Payload == 0 && (c.nameless || tr.has(Trailing, LeadingAndTrailing)) {
		x.payload = NoPayload
	}
	return x
}

// around reports whether nobody can tell at an instant whether an interval that ends at end is
// over.
func (tr *Traits) around(at, end time.Duration) bool {
	switch tr.Boundary {
	case BoundaryPasses, BoundaryWaits:
		return false
	case BoundaryRounded:
		return at >= end-1 && at <= end+1
	}
	return at == end
}

// zeroHolds reports whether an interval of 0, which ends at the instant at which it begins, may hold what comes
// then: where that is declared of every interval, or nothing is. Where either may be, nothing holds it.
func (tr *Traits) zeroHolds() bool { return tr.Boundary == BoundaryWaits || tr.Boundary == 0 }

// shortest is the least time between two emissions.
func (x *exam) shortest() time.Duration {
	if x.traits.Boundary == BoundaryRounded {
		return x.Schedule.Config.Interval - 1
	}
	return x.Schedule.Config.Interval
}

// difference compares the run with the model, once. Where a step races with the end of an interval, both orders are
// the model's, and of what is emitted only the instants: the rest has bounds.
func (x *exam) difference() *edge.Finding {
	if x.found != nil {
		return x.found
	}
	if x.found = (&edge.Finding{}); x.unfinished() {
		return x.found
	}
	payload, races := x.payload, x.Schedule.RacingSteps() > 0
	if races {
		if payload = NoPayload; !x.has(verb.Flush) {
			x.found = x.bounded()
		}
		if x.found.Violation != nil || x.edges&Trailing == 0 || x.twice() {
			return x.found
		}
	}
	for i, w := range x.ways() {
		found := edge.Compare(x.Recording, x.wanted(w), payload, x.terms())
		if i == 0 || found.Violation == nil {
			x.found = found
		}
		if found.Violation == nil {
			return found
		}
	}
	if races {
		x.found.Headline = x.inNoOrder(x.found.At)
	}
	return x.found
}

// inNoOrder says what is wrong at an instant whatever the order of the steps that race.
func (x *exam) inNoOrder(at time.Duration) string {
	if i := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool { return f.Began.At == at }); i >= 0 {
		return edge.Text("%s at %s, want nothing then in any order", x.terms().Event(x.Fires[i].Value), at)
	}
	return edge.Text("nothing was emitted at %s, in any order of the racing steps", at)
}

// wanted is the model, in doubt from where a callback did something, which is not a step of the
// schedule, and from the end of the run, which time may have cut short.
func (x *exam) wanted(w way) edge.Model {
	m := x.model(w)
	if x.End > 0 {
		m.Doubt(suite.Sum(x.End, 1))
	}
	for _, d := range x.Done {
		if d.Inside {
			m.Doubt(d.Began.At)
		}
	}
	return m
}

func (x *exam) terms() edge.Terms {
	return edge.Terms{
		Rule: x.breaks, Because: x.because, Fired: "emitted", Of: suite.If(x.payload != NoPayload, "event"),
	}
}

// broken makes a violation with what was emitted on its timeline.
func (x *exam) broken(at time.Duration, because, headline string, args ...any) *suite.Violation {
	return edge.Broken(x.Recording, at, because, headline, args...)
}

// has reports whether the schedule has the operation.
func (x *exam) has(op conformance.Op) bool {
	return slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool { return s.Op == op })
}

// twice reports whether a single event is emitted on both edges.
func (x *exam) twice() bool { return x.traits.BothSingle == BothTwice && x.edges == LeadingAndTrailing }

// unfinished reports whether there is nothing to judge, because the constructor refused or
// the run got stuck.
func (x *exam) unfinished() bool { return x.Refused != "" || x.Stuck }
