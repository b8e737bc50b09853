package throttletest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits *Traits
	edges  Edges // that the throttle was made with
	found  *edge.Finding
}

// Exam puts a trace in the terms of a throttle.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	x := &exam{Recording: rec, traits: tr, edges: rec.Schedule.Config.Edges}
	if x.edges == 0 {
		x.edges = edge.Preferred(tr.Edges, conformance.Leading)
	}
	return x
}

// difference compares the run with the model, once. Where an event or a reset races with
// the end of an interval, only what is certain in any order is judged.
func (x *exam) difference() *edge.Finding {
	switch {
	case x.found != nil:
	case x.Schedule.RacingSteps() > 0:
		x.found = x.certain()
	default:
		x.found = x.compare(true)
		if x.found.Violation != nil && x.edges == Trailing && x.compare(false).Violation == nil {
			x.found = &edge.Finding{}
		}
	}
	return x.found
}

func (x *exam) compare(opens bool) *edge.Finding {
	return edge.Compare(x.Recording, x.model(opens), x.traits.Payload, edge.Terms{Rule: x.breaks, Because: x.because})
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
