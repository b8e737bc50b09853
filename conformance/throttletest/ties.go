package throttletest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// atEnd lets an operation meet the end of an interval that has an event to emit.
func (c *contract) atEnd(s *suite.Suite, cfg conformance.Config, e Edges) []conformance.Schedule {
	if c.explicit() || s.Accepts(verb.Fault) {
		return nil
	}
	ops := s.Supported(verb.Call, verb.Stop)
	if e == Leading {
		ops = s.Supported(verb.Call, verb.Reset, verb.Stop)
	}
	var out []conformance.Schedule
	for _, op := range ops {
		out = append(out, suite.Plan(cfg, conformance.Step{Op: verb.Call},
			conformance.Step{Op: verb.Call, At: 1}, conformance.Step{Op: op, At: suite.Wait, Racing: true}))
	}
	return suite.NumberedCalls(append(out, stopsSoon(s, e)...))
}

// stopsSoon stop an interval of months soon after it has begun, also one that has begun after a
// flush, and intervals of two keys.
func stopsSoon(s *suite.Suite, e Edges) []conformance.Schedule {
	cfg := suite.Configured("interval", timeline.Duration(edge.Months), "edges", e.String())
	out := numbered(cfg, calls, []time.Duration{1}, 2)
	if e&Trailing != 0 && s.Accepts(verb.Flush) {
		const call = verb.Call
		out = append(out, suite.Plan(cfg, conformance.Step{Op: call}, conformance.Step{Op: call, At: 1},
			conformance.Step{Op: verb.Flush, At: 2}, conformance.Step{Op: call, At: 3}))
	}
	if s.Accepts(opKeys) {
		out = append(out, edge.Keyed(numbered(cfg, calls, []time.Duration{1}, 2))...)
	}
	return edge.StopsSoon(s, suite.NumberedCalls(out))
}

// intervalEnds let one or two calls race with the end of an interval that has an event to
// emit, and let another call follow.
func intervalEnds(cfg conformance.Config) []conformance.Schedule {
	call := func(n int, at time.Duration) conformance.Step {
		return conformance.Step{Op: verb.Call, N: n, At: at}
	}
	racing := func(n int) conformance.Step {
		return conformance.Step{Op: verb.Call, N: n, At: suite.Wait, Racing: true}
	}
	var out []conformance.Schedule
	for _, gap := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1} {
		out = append(out, suite.Plan(cfg, call(1, 0), call(2, gap), racing(3)),
			suite.Plan(cfg, call(1, 0), call(2, gap), racing(3), racing(4)))
		for _, next := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1, suite.Wait + 1} {
			out = append(out, suite.Plan(cfg, call(1, 0), call(2, gap), racing(3), call(4, suite.Wait+next)))
		}
	}
	return append(out, suite.Plan(cfg, call(1, 0), racing(2)))
}

// stopAtEnd lets a stop race with the end of an interval.
func stopAtEnd(cfg conformance.Config) (out []conformance.Schedule) {
	for _, gap := range []time.Duration{1, suite.Wait / 2} {
		out = append(out, suite.Plan(cfg, conformance.Step{Op: verb.Call, N: 1},
			conformance.Step{Op: verb.Call, N: 2, At: gap},
			conformance.Step{Op: verb.Stop, At: suite.Wait, Racing: true}))
	}
	return out
}

// resetAtEnd lets a reset, or a reset and an event, race with the end of an interval, and
// another event come before the end of the next.
func resetAtEnd(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, next := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1} {
		for _, racing := range []bool{false, true} {
			out = append(out, suite.Plan(cfg,
				conformance.Step{Op: verb.Call, N: 1},
				conformance.Step{Op: verb.Reset, At: suite.Wait, Racing: true},
				conformance.Step{Op: verb.Call, N: 2, At: suite.Wait, Racing: racing},
				conformance.Step{Op: verb.Call, N: 3, At: suite.Wait + next}))
		}
	}
	return out
}

// flushAtEnd lets a flush race with the end of an interval that has an event to emit, alone
// or with an event before or after it, and another event follow.
func flushAtEnd(cfg conformance.Config) []conformance.Schedule {
	call := func(at time.Duration, racing bool) conformance.Step {
		return conformance.Step{Op: verb.Call, At: at, Racing: racing}
	}
	flush := conformance.Step{Op: verb.Flush, At: suite.Wait, Racing: true}
	var out []conformance.Schedule
	for _, gap := range []time.Duration{1, suite.Wait - 1} {
		head := []conformance.Step{call(0, false), call(gap, false)}
		for _, tie := range [][]conformance.Step{
			{flush}, {flush, call(suite.Wait, true)}, {call(suite.Wait, true), flush},
		} {
			steps := slices.Concat(head, tie)
			next := call(suite.Wait+suite.Wait/2, false)
			out = append(out, suite.Plan(cfg, steps...),
				suite.Plan(cfg, slices.Concat(steps, []conformance.Step{next})...))
		}
	}
	return suite.NumberedCalls(out)
}

// certain judges what must hold in whatever order an event or a reset and the end of an
// interval come: emissions are the interval apart, none comes twice or after a newer one,
// and the last event is emitted on the trailing edge.
func (x *exam) certain() *edge.Finding {
	switch {
	case x.unfinished() || x.has(verb.Flush):
		return &edge.Finding{}
	case x.twice():
		return x.together()
	}
	order, reset := x.order()
	inRow := x.rows() // each call of a row may have a goroutine of its own, so that they come in any order
	say := func(rule string, at time.Duration, because, headline string, args ...any) *edge.Finding {
		v := suite.Broken(at, because, headline, args...)
		v.Lanes = []suite.Lane{x.Got()}
		return &edge.Finding{Rule: rule, Violation: v}
	}
	interval := x.Schedule.Config.Interval
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		at := timeline.Duration(f.Began.At)
		if f.Began.At-before.Began.At < x.shortest() && (before.Began.Seq > reset || f.Began.Seq < reset) {
			rule := "TH-SPACE"
			if reset > 0 {
				rule = "TH-RESET"
			}
			opened := timeline.Duration(before.Began.At)
			return say(rule, f.Began.At,
				"the emission at "+opened+" opened an interval of "+timeline.Duration(interval),
				"emitted at %s, want %s at the earliest", at, timeline.Duration(suite.Sum(before.Began.At, interval)))
		}
		if x.traits.Payload == LastPayload && !inRow && order[f.Value] <= order[before.Value] {
			rule := "TH-PAY"
			if f.Value == before.Value {
				rule = "TH-NOSPON"
			}
			because := fmt.Sprintf("event %d had been emitted at %s", before.Value, timeline.Duration(before.Began.At))
			return say(rule, f.Began.At, because, "emitted event %d at %s, want a newer one", f.Value, at)
		}
	}
	if last := x.lostLast(); last != nil && !inRow {
		return say("TH-LAST", last.Began.At, "nothing came after it", "call %d at %s was not emitted by %s",
			last.N, timeline.Duration(last.Began.At), timeline.Duration(x.End))
	}
	return &edge.Finding{}
}

// together finds an event that is emitted twice at one instant, which is on both edges of no interval.
func (x *exam) together() *edge.Finding {
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		if x.traits.Payload == LastPayload && f.Value == before.Value && f.Began.At == before.Began.At {
			v := suite.Broken(f.Began.At, "both edges of an interval are the interval apart",
				"emitted event %d twice at %s", f.Value, timeline.Duration(f.Began.At))
			v.Lanes = []suite.Lane{x.Got()}
			return &edge.Finding{Rule: "TH-SPACE", Violation: v}
		}
	}
	return &edge.Finding{}
}

// atTie compares the instants of a run with those of both orders in which the end of an
// interval and what races with it can come. What is emitted then is for certain to judge.
func (x *exam) atTie() *edge.Finding {
	if x.edges&Trailing == 0 || x.unfinished() || x.twice() {
		return &edge.Finding{}
	}
	var found *edge.Finding
	for _, early := range []bool{false, true} {
		for _, opens := range []bool{true, false} {
			f := edge.Compare(x.Recording, x.wanted(opens, early), NoPayload, x.terms())
			switch {
			case f.Violation == nil:
				return f
			case found == nil:
				found = f
			}
			if x.edges != Trailing {
				break
			}
		}
	}
	at := timeline.Duration(found.At)
	found.Headline = "nothing was emitted at " + at + ", in any order of the racing steps"
	if i := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool { return f.Began.At == found.At }); i >= 0 {
		found.Headline = x.terms().Event(x.Fires[i].Value) + " at " + at + ", want nothing then in any order"
	}
	return found
}

// order returns the places in the trace at which each event and the reset began.
func (x *exam) order() (events map[int]int, reset int) {
	events = map[int]int{}
	for _, d := range x.Done {
		switch d.Op {
		case verb.Call:
			events[d.N] = d.Began.Seq
		case verb.Reset:
			reset = d.Began.Seq
		}
	}
	return events, reset
}

// rows reports whether several steps of one instant race.
func (x *exam) rows() bool {
	for i := range x.Schedule.Steps {
		if row(x.Schedule.Steps[i:]) > 1 {
			return true
		}
	}
	return false
}
