package throttletest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Whoever reads the output of a stream calls emit, so that a reader has gone while that does not
// return. What is then under way stays where it is. Once the context is cancelled too, nobody may
// wait for the reader any more.

// gone is how long a reader stays away.
const gone = 2500 * time.Hour

// readerGone reports whether a schedule is one of a stream whose reader goes.
func readerGone(s conformance.Schedule) bool {
	return s.Config.Busy > 0 && suite.Steps(verb.Cancel)(suite.Job{Schedule: s})
}

// readers are the schedules in which the reader goes with the first item and the context is
// cancelled when another one is under way, or waits for its time, or none is.
func (c *contract) readers(s *suite.Suite, e Edges) []suite.Family {
	if c.explicit() || e == NoEdges || !s.Accepts(verb.Cancel) {
		return nil
	}
	steps := []conformance.Step{{Op: verb.Call}}
	if s.Accepts(verb.Fault) {
		steps = append(steps, conformance.Step{Op: verb.Fault})
	}
	cfg := base.With("edges", e.String()).With("busy", timeline.Duration(gone)).With("busyruns", "1")
	items := suite.Numbered(suite.Sequences(cfg, steps, []time.Duration{1, suite.Wait + 1}, 2))
	all := suite.Ending(items, verb.Cancel, []time.Duration{1, suite.Wait * 3 / 2})
	if s.Accepts(verb.Close) {
		closed := suite.Ending(items, verb.Close, []time.Duration{1})
		all = append(all, suite.Ending(closed, verb.Cancel, []time.Duration{1, suite.Wait * 3 / 2})...)
	}
	skip := edge.SlowAfterTrial(s, c.spec.Traits.Reentrancy, all)
	var behind []conformance.Schedule // an event, when one item is with the reader and another on its way, or due
	for _, s := range steps {
		behind = append(behind, suite.Plan(cfg, edge.At(verb.Call, 0), edge.At(s.Op, suite.Wait+1),
			edge.At(verb.Call, 2*(suite.Wait+1))))
	}
	behind = suite.NumberedCalls(suite.Ending(behind, verb.Cancel, []time.Duration{1}))
	return []suite.Family{
		{Name: "reader gone " + e.String(), Look: true, Schedules: all, Skip: skip},
		{Name: "behind a reader gone " + e.String(), Look: true, Schedules: behind, Skip: skip},
	}
}

// forsaken reports whether a cancel would leave a call of the spec's own behind, which waits to hand over an
// event on a channel of its own. Who takes nothing from there any more is right.
func forsaken(st *suite.Stage, s conformance.Step) (yes bool) {
	if s.Op != verb.Cancel {
		return false
	}
	st.Rec.Locked(func(rec *suite.Recording) {
		yes = slices.ContainsFunc(rec.Done, func(d conformance.Done) bool { return d.Ended.Seq == 0 })
	})
	return yes && st.SpecSends()
}

// leaveReader notes who waits for the reader at an instant. Later it comes back, so that all ends.
func leaveReader(st *suite.Stage, at time.Duration) {
	st.To(at)
	st.Settle()
	senders := st.Senders()
	st.Rec.Locked(func(rec *suite.Recording) { rec.Detail = senders })
}

// abandoned is TH-CTX where the reader has gone.
func (x *exam) abandoned() *suite.Violation {
	senders, _ := x.Detail.([]string)
	last := x.ended(verb.Cancel)
	if len(senders) == 0 || last == nil {
		return nil
	}
	return x.broken(last.At, edge.Text("the reader had gone, and the context was cancelled at %s", last.At),
		"a goroutine waits for good: %s", senders[0])
}
