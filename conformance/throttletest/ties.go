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

// rows reports whether several steps of one instant race.
func (x *exam) rows() bool {
	for i := range x.Schedule.Steps {
		if suite.Together(x.Schedule.Steps[i:]) > 1 {
			return true
		}
	}
	return false
}
