package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
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
		Sees:  (*exam).ofAnyEdge,
		Check: (*exam).all,
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

// all compares what each callback got with the events since the callback before it.
func (x *exam) all() *suite.Violation {
	edges := x.Schedule.Config.Edges
	if x.Refused != "" || x.Stuck || x.Schedule.Config.Wait <= 0 ||
		edges == LeadingAndTrailing && x.traits.BothSingle != BothOnce {
		return nil
	}
	var pending []int
	ops := x.Done
	dead := false
	take := func(to int) { // the operations that began before the point to
		for len(ops) > 0 && ops[0].Began.Seq < to {
			switch d := ops[0]; {
			case dead:
			case d.Op == verb.Call:
				pending = append(pending, d.N)
			case d.Op == verb.Stop, d.Op == verb.Cancel:
				pending = nil
				dead = d.Op == verb.Stop || x.traits.AfterCancel == CancelFinal
			}
			ops = ops[1:]
		}
	}
	for _, f := range x.Fires {
		if x.traits.Overlap == SerialReceiver && endsAt(f.Began.At, x.Fires) {
			return nil // it is open at which end a receiver has taken what came meanwhile
		}
		take(f.Began.Seq)
		n := slices.Index(pending, f.Value)
		if n < 0 {
			if len(f.Values) == 0 {
				return x.told(f.Began.At, "", "fired at %s with no event", f.Began.At)
			}
			continue // DB-SUBSEQ's, or decided before a racing cancel
		}
		want := pending[:n+1]
		pending = pending[n+1:]
		if edges == Leading {
			want = want[n:] // the events before it in its burst are lost
		}
		if was, _ := x.Detail.(changed); slices.Equal(was[f.Began.Seq], want) {
			return x.told(f.Began.At, "a batch belongs to its callback until that returns",
				"fired at %s with %v, which had become %v when the callback returned", f.Began.At, want, f.Values)
		}
		if !slices.Equal(f.Values, want) {
			return x.told(f.Began.At, "these events had neither fired nor been discarded",
				"fired at %s with %v, want %v", f.Began.At, f.Values, want)
		}
	}
	return nil
}
