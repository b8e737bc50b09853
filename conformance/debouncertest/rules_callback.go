package debouncertest

import (
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// overlapRule is that of callbacks that take time.
func overlapRule() rule {
	return rule{
		Rule:     extended("DB-OVERLAP", "Callbacks that are declared serial MUST NOT overlap."),
		Declared: []string{"Overlap"},
		Unless: func(_ *suite.Suite, tr *Traits) string {
			return suite.If(tr.Overlap == Parallel, "declared: Parallel")
		},
		About: func(j suite.Job) bool { return j.Schedule.Config.Busy > 0 },
		Sees:  func(x *exam) bool { return x.ofAnyEdge() || x.mayWait() && !edge.HasKeys(x.Schedule) },
		Check: (*exam).overlap,
	}
}

// allRule is that of callbacks that get all events.
func allRule() rule {
	return rule{
		Rule: extended("DB-ALL", "A callback declared to get all events MUST get each pending one, once and "+
			"in order."),
		Declared: []string{"Payload"},
		Unless: func(_ *suite.Suite, tr *Traits) string {
			return suite.If(tr.Payload != AllPayloads, "no Payload: AllPayloads is declared")
		},
		Sees: (*exam).ofAnyEdge,
	}
}

func (x *exam) overlap() *suite.Violation {
	if x.Schedule.Config.Wait <= 0 {
		return nil
	}
	for i := range x.Fires {
		for j := range x.Fires {
			a, b := &x.Fires[i], &x.Fires[j]
			if a.Began.Seq < b.Began.Seq && (a.Ended.Seq == 0 || b.Began.Seq < a.Ended.Seq) {
				return x.told(b.Began.At, edge.Text("the callback that started at %s was still running", a.Began.At),
					"a callback started at %s while another ran", b.Began.At)
			}
		}
	}
	return nil
}
