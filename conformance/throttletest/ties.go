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
		out = append(out, suite.Plan(cfg, edge.At(verb.Call, 0), edge.At(verb.Call, 1), edge.Racing(op, suite.Wait)))
	}
	return suite.NumberedCalls(append(out, stopsSoon(s, e)...))
}

// stopsSoon stop an interval of months soon after it has begun, also one that has begun after a
// flush, and intervals of two keys.
func stopsSoon(s *suite.Suite, e Edges) []conformance.Schedule {
	cfg := suite.Configured("interval", timeline.Duration(edge.Months), "edges", e.String())
	out := numbered(cfg, calls, []time.Duration{1}, 2)
	if e&Trailing != 0 && s.Accepts(verb.Flush) {
		out = append(out, suite.MustParse(cfg.String()+" | call 1 @0 | call 2 @1ns | flush @2ns | call 3 @3ns"))
	}
	if s.Accepts(opKeys) {
		out = append(out, edge.Keyed(numbered(cfg, calls, []time.Duration{1}, 2))...)
	}
	return edge.StopsSoon(s, suite.NumberedCalls(out))
}

// intervalEnds let one or two calls race with the end of an interval that has an event to
// emit, and let another call follow.
func intervalEnds(cfg conformance.Config) []conformance.Schedule {
	call := func(at time.Duration) conformance.Step { return edge.At(verb.Call, at) }
	tie := edge.Racing(verb.Call, suite.Wait)
	out := []conformance.Schedule{suite.Plan(cfg, call(0), tie)}
	for _, gap := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1} {
		out = append(out, suite.Plan(cfg, call(0), call(gap), tie), suite.Plan(cfg, call(0), call(gap), tie, tie))
		for _, next := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1, suite.Wait + 1} {
			out = append(out, suite.Plan(cfg, call(0), call(gap), tie, call(suite.Wait+next)))
		}
	}
	return suite.NumberedCalls(out)
}

// resetAtEnd lets a reset, or a reset and an event, race with the end of an interval, and
// another event come before the end of the next.
func resetAtEnd(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, second := range []string{"100ms", "100ms~"} {
		head := cfg.String() + " | call 1 @0 | reset @100ms~ | call 2 @" + second
		out = append(out, suite.ParseAll(head+" | call 3 @100.000001ms", head+" | call 3 @150ms",
			head+" | call 3 @199.999999ms")...)
	}
	return out
}

// flushAtEnd lets a flush race with the end of an interval that has an event to emit, alone
// or with an event before or after it, and another event follow.
func flushAtEnd(cfg conformance.Config) []conformance.Schedule {
	flush, call := edge.Racing(verb.Flush, suite.Wait), edge.Racing(verb.Call, suite.Wait)
	next := edge.At(verb.Call, suite.Wait*3/2)
	var out []conformance.Schedule
	for _, gap := range []time.Duration{1, suite.Wait - 1} {
		head := []conformance.Step{edge.At(verb.Call, 0), edge.At(verb.Call, gap)}
		for _, tie := range [][]conformance.Step{{flush}, {flush, call}, {call, flush}} {
			steps := slices.Concat(head, tie)
			out = append(out, suite.Plan(cfg, steps...), suite.Plan(cfg, append(slices.Clone(steps), next)...))
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
	interval := x.Schedule.Config.Interval
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		if f.Began.At-before.Began.At < x.shortest() && (before.Began.Seq > reset || f.Began.Seq < reset) {
			rule := "TH-SPACE"
			if reset > 0 {
				rule = "TH-RESET"
			}
			because := edge.Text("the emission at %s opened an interval of %s", before.Began.At, interval)
			return &edge.Finding{Rule: rule, Violation: x.tooSoon(f, before, because)}
		}
		if x.traits.Payload == LastPayload && !inRow && order[f.Value] <= order[before.Value] {
			rule := "TH-PAY"
			if f.Value == before.Value {
				rule = "TH-NOSPON"
			}
			return &edge.Finding{Rule: rule, Violation: x.broken(f.Began.At,
				edge.Text("event %d had been emitted at %s", before.Value, before.Began.At),
				"emitted event %d at %s, want a newer one", f.Value, f.Began.At)}
		}
	}
	if last := x.lostLast(); last != nil && !inRow {
		return &edge.Finding{Rule: "TH-LAST", Violation: x.broken(last.Began.At, "nothing came after it",
			"call %d at %s was not emitted by %s", last.N, last.Began.At, x.End)}
	}
	return &edge.Finding{}
}

// together finds an event that is emitted twice at one instant, which is on both edges of no interval.
func (x *exam) together() *edge.Finding {
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		if x.traits.Payload == LastPayload && f.Value == before.Value && f.Began.At == before.Began.At {
			return &edge.Finding{Rule: "TH-SPACE", Violation: x.broken(f.Began.At,
				"both edges of an interval are the interval apart",
				"emitted event %d twice at %s", f.Value, f.Began.At)}
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
			f := edge.Compare(x.Recording, x.wanted(way{opens: opens, early: early}), NoPayload, x.terms())
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
	found.Headline = edge.Text("nothing was emitted at %s, in any order of the racing steps", found.At)
	if i := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool { return f.Began.At == found.At }); i >= 0 {
		found.Headline = edge.Text("%s at %s, want nothing then in any order",
			x.terms().Event(x.Fires[i].Value), found.At)
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
		if suite.Together(x.Schedule.Steps[i:]) > 1 {
			return true
		}
	}
	return false
}
