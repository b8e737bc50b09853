package debouncertest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// edges are the schedules of the leading edge and of the bound. No gap is exactly the
// wait, where leading debouncers that compare timestamps differ.
func (e *explorer) edges() []suite.Family {
	few := onlyCalls
	for _, op := range e.ops {
		if op == verb.Cancel && e.traits.AfterCancel != CancelFinal || op == verb.Flush {
			few = append(slices.Clone(few), op)
		}
	}
	var out []suite.Family
	for _, ed := range e.traits.Edges {
		if ed != Trailing {
			out = append(out, e.edge(ed, few)...)
		}
	}
	if slices.Contains(e.traits.Edges, Trailing) && e.traits.Full != 0 {
		out = append(out, e.full(few)...)
	}
	if e.traits.MaxWait == 0 {
		return out
	}
	if slices.Contains(e.traits.Edges, NoEdges) {
		cfg := suite.Configured("wait", "100ms", "maxwait", "250ms", "edges", NoEdges.String())
		out = append(out, enumerated("edges none bound", cfg, 4, onlyCalls, 1, wait-1, wait+1))
	}
	for _, ed := range []Edges{Trailing, LeadingAndTrailing} {
		if slices.Contains(e.traits.Edges, ed) {
			out = slices.Concat(out, e.bound(ed, "250ms", few), e.bound(ed, "100ms", few), shortBounds(ed),
				e.longBounds(ed))
		}
	}
	return out
}

// edge are the schedules of one kind of edges that is not the trailing one alone.
func (e *explorer) edge(ed Edges, few []conformance.Op) []suite.Family {
	cfg, name := suite.Configured("wait", "100ms", "edges", ed.String()), "edges "+ed.String()
	out := []suite.Family{
		enumerated(name, cfg, 5, onlyCalls, 0, 1, wait/2, wait-1, wait+1, 3*wait),
		enumerated(name+" cut", cfg, 4, few, 1, wait/2, wait+1, 3*wait),
		enumerated(name+" long silence", cfg, 3, onlyCalls, append([]time.Duration{1}, suite.Idles...)...),
	}
	zero := skipped(e.Unsettled(), enumerated(name+" zero wait",
		suite.Configured("wait", "0", "edges", ed.String()), 3, onlyCalls, 1, wait))
	if ed == NoEdges {
		return append(out, zero)
	}
	out = append(out, suite.Family{Name: name + " silence first", Schedules: silenceFirst(cfg)})
	out = append(out, suite.Family{Name: name + " racing", Schedules: races(e.racing(few), cfg)})
	out = append(out, e.configured(name, cfg, few)...)
	if e.traits.BothSingle != BothTwice {
		out = append(out, zero)
	}
	short := func(wait string) conformance.Config { return suite.Configured("wait", wait, "edges", ed.String()) }
	out = append(out, enumerated(name+" wait 1ns", short("1ns"), 3, onlyCalls, 0, 2),
		enumerated(name+" wait 2ns", short("2ns"), 3, onlyCalls, 1, 3))
	return append(out, e.slowEdge(name, cfg, few)...)
}

// slowEdge are schedules of an edge whose callbacks take time.
func (e *explorer) slowEdge(name string, cfg conformance.Config, few []conformance.Op) []suite.Family {
	var out []suite.Family
	for _, busy := range []time.Duration{wait * 3 / 10, wait * 5 / 2} {
		cfg, name := cfg.With("busy", timeline.Duration(busy)), name+" busy "+timeline.Duration(busy)
		out = append(out, skipped(e.slow(), enumerated(name, cfg, 3, onlyCalls,
			1, wait/2, wait+1, wait+20*time.Millisecond, busy+1, 5*wait)))
		if busy > wait {
			ops := append(slices.Clone(few), e.Supported(verb.Pending)...)
			out = append(out, skipped(e.slow(), enumerated(name+" cut", cfg, 3, ops, 1, wait*7/10, wait+1)))
		}
	}
	return out
}

// bound are the schedules of a bound on the wait.
func (e *explorer) bound(ed Edges, bound string, few []conformance.Op) []suite.Family {
	cfg, name := on(ed, suite.Configured("wait", "100ms", "maxwait", bound), "bound "+bound)
	depth := 6
	if ed != Trailing {
		depth = 5
	}
	out := []suite.Family{
		enumerated(name, cfg, depth, onlyCalls, 0, 1, wait*6/10, wait-1, wait+1),
		enumerated(name+" cut", cfg, 4, few, 1, wait*7/10, wait-1, wait+1),
	}
	if cfg.MaxWait == wait {
		return out
	}
	// So long that the bound passes while a callback runs, which a burst outlasts.
	out = append(out, skipped(e.slow(),
		enumerated(name+" busy 350ms", cfg.With("busy", "350ms"), 5, onlyCalls, wait*9/10, wait+1, 4*wait)))
	out = append(out, suite.Family{Name: name + " racing",
		Schedules: append(races(e.racing(few), cfg), boundRaces(e.racing(few), cfg)...)})
	out = append(out, e.configured(name, cfg, few)...)
	if ed == Trailing && e.Accepts(verb.Cancel) && e.traits.AfterCancel == CancelReusable {
		out = append(out, suite.Family{Name: name + " renewed", Schedules: suite.ParseAll(
			cfg.String() + " | call 1 @0 | call 2 @90ms | call 3 @180ms | cancel @250ms~ | call 4 @250ms~")})
	}
	return out
}

// shortBounds are schedules of a bound that is shorter than the wait.
func shortBounds(ed Edges) []suite.Family {
	var out []suite.Family
	for _, bound := range []string{"1ns", "60ms"} {
		cfg, name := on(ed, suite.Configured("wait", "100ms", "maxwait", bound), "bound "+bound)
		out = append(out, enumerated(name, cfg, 3, onlyCalls, 1, 2, wait/2, wait-1, wait+1))
	}
	return out
}

// full are the schedules of bursts that hold a bounded number of events.
func (e *explorer) full(few []conformance.Op) []suite.Family {
	cfg := func(k string) conformance.Config { return suite.Configured("wait", "100ms", "k", k) }
	out := []suite.Family{
		enumerated("full 1", cfg("1"), 3, onlyCalls, 0, 1, wait+1),
		enumerated("full 2", cfg("2"), 5, onlyCalls, 0, 1, wait-1, wait+1),
		enumerated("full 3", cfg("3"), 6, onlyCalls, 1, wait-1, wait+1),
		enumerated("full 2 cut", cfg("2"), 4, few, 1, wait-1, wait+1),
		enumerated("full 3 cut", cfg("3"), 5, few, 1, wait+1),
		{Name: "full leaks", Look: true, Schedules: e.leaks(cfg("2"), []time.Duration{1})},
	}
	if e.traits.Full == FullFires { // who makes room may take an event before or after the callback
		out = append(out, e.fullInside(cfg("2"))...)
	}
	if e.Accepts(verb.Stop) {
		out = append(out, suite.Family{Name: "full stop", Schedules: e.stops(cfg("2"))})
	}
	if e.Accepts(verb.Close) && e.traits.CloseFlush != 0 {
		out = append(out, suite.Family{Name: "full close", Schedules: suite.Ending(
			suite.Enumerate(cfg("3"), onlyCalls, []time.Duration{1, wait + 1}, 3), verb.Close,
			[]time.Duration{0, wait / 2})})
	}
	if e.Accepts(verb.Pending) {
		asking := append(slices.Clone(few), verb.Pending)
		out = append(out, enumerated("full queries", cfg("2"), 4, asking, 1, wait+1))
	}
	if e.traits.MaxWait != 0 {
		both := suite.Configured("wait", "100ms", "maxwait", "250ms", "k", "3")
		out = append(out, enumerated("full 3 bound 250ms", both, 5, onlyCalls, 1, wait*6/10, wait-1))
	}
	return out
}

// fullInside are full bursts whose callbacks call the debouncer.
func (e *explorer) fullInside(cfg conformance.Config) []suite.Family {
	forbidden := edge.NoReentry(e.Suite, e.traits.Reentrancy)
	var out []suite.Family
	for _, op := range e.inside() {
		inside := cfg.With("inside", string(op))
		out = append(out, skipped(forbidden, enumerated("full 2 inside "+string(op), inside, 3, onlyCalls, 1, wait+1)))
	}
	return out
}

// longBounds are schedules of a bound of months, of the longest one that there is, which some take for none, and
// those in which Stop comes long before it.
func (e *explorer) longBounds(ed Edges) []suite.Family {
	cfg, name := on(ed, suite.Configured("wait", "2500h", "maxwait", "6000h"), "long bound")
	longest := timeline.Duration(math.MaxInt64)
	none := cfg.Without("wait").With("wait", "100ms").Without("maxwait").With("maxwait", longest)
	out := []suite.Family{enumerated(name, cfg, 4, onlyCalls, 1, 2000*time.Hour),
		enumerated(name, none, 3, onlyCalls, wait-1, wait+1)}
	if e.Accepts(verb.Stop) {
		leaks := e.leaks(cfg.Without("wait").With("wait", "100ms"), []time.Duration{1})
		if e.Time == conformance.Injected && edge.NoReentry(e.Suite, e.traits.Reentrancy) == "" {
			leaks = append(leaks, suite.ParseAll(cfg.With("inside", string(verb.Stop)).String()+
				" | call 1 @0 | call 2 @2000h | call 3 @4000h | idle 2000h")...) // when the bound has fired
		}
		out = append(out, suite.Family{Name: name + " leaks", Look: true, Schedules: leaks})
	}
	return out
}

// racing are the operations that race with deadlines.
func (e *explorer) racing(few []conformance.Op) []conformance.Op {
	return append(slices.Clone(few), e.Supported(verb.Stop)...)
}

// boundRaces let a step meet the bound of a burst, with at most one step after it.
func boundRaces(ops []conformance.Op, cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	head := keepsComing(cfg.MaxWait)
	for _, op := range ops {
		met := append(slices.Clone(head), edge.Racing(op, cfg.MaxWait))
		out = append(out, suite.Plan(cfg, met...))
		if op == verb.Stop || op == verb.Close {
			continue
		}
		for _, gap := range []time.Duration{1, wait / 2, wait + 1} {
			out = append(out, suite.Plan(cfg, append(slices.Clone(met), edge.At(verb.Call, cfg.MaxWait+gap))...))
		}
	}
	return suite.NumberedCalls(out)
}

// configured are the schedules for any configuration with an edge or a bound.
func (e *explorer) configured(name string, cfg conformance.Config, few []conformance.Op) []suite.Family {
	out := []suite.Family{
		{Name: name + " leaks", Look: true, Schedules: e.leaks(cfg, []time.Duration{1})},
		{Name: name + " worn", Schedules: longRuns(cfg, few)},
	}
	if e.Accepts(verb.Stop) {
		out = append(out, suite.Family{Name: name + " stop", Schedules: e.stops(cfg)})
	}
	if e.Accepts(verb.Pending) {
		asking := append(slices.Clone(few), verb.Pending)
		out = append(out, enumerated(name+" queries", cfg, 4, asking, wait*7/10, wait+1))
		out = append(out, suite.Family{Name: name + " asked in between", Schedules: askedBetween(cfg)})
	}
	if e.Accepts(verb.Close) && e.traits.CloseFlush != 0 {
		out = append(out, suite.Family{Name: name + " close",
			Schedules: suite.Ending(suite.Enumerate(cfg, few, []time.Duration{1, wait + 1}, 3), verb.Close,
				[]time.Duration{0, wait / 2, wait + 1})})
		racing := racingEnds(cfg)
		if cfg.MaxWait > wait {
			racing = append(racing, boundRaces([]conformance.Op{verb.Close}, cfg)...)
		}
		out = append(out, suite.Family{Name: name + " close racing", Schedules: racing})
	}
	if e.Accepts(opKeys) {
		out = append(out, suite.Family{Name: suite.Keys, Schedules: e.keys(cfg)})
	}
	for _, epoch := range e.Epochs() {
		out = append(out, enumerated(name+" epoch "+epoch, cfg.With("epoch", epoch), 3, few, 1, wait-1, wait+1))
	}
	if edge.NoReentry(e.Suite, e.traits.Reentrancy) != "" {
		return out
	}
	for _, op := range e.inside() {
		cfg := cfg.With("inside", string(op))
		out = append(out, enumerated(name+" inside "+string(op), cfg, 4, onlyCalls, 1, wait*7/10, 2*wait))
		if cfg.Edges == LeadingAndTrailing {
			out = append(out, suite.Family{Name: name + " then inside " + string(op),
				Schedules: edge.InsideTrailing(e.Suite, cfg)})
		}
	}
	return out
}

// stops are schedules with a stop and, after it, any other operation that the debouncer
// has.
func (e *explorer) stops(cfg conformance.Config) []conformance.Schedule {
	ops := []conformance.Op{verb.Call, verb.Stop}
	out := suite.Enumerate(cfg, ops, []time.Duration{1, wait + 1}, 3)
	for calls := 1; calls <= 2; calls++ {
		var head []conformance.Step
		for i := range calls {
			head = append(head, edge.At(verb.Call, time.Duration(i)))
		}
		for _, op := range e.Supported(verb.Cancel, verb.Flush, verb.Pending) {
			after := append(slices.Clone(head), edge.At(verb.Stop, wait/2), edge.At(op, wait/2+1))
			out = append(out, suite.Plan(cfg, after...),
				suite.Plan(cfg, append(slices.Clone(after), edge.At(verb.Call, 3*wait))...))
		}
	}
	return suite.NumberedCalls(out)
}

// longRuns are long schedules: bursts of many events, and many bursts.
func longRuns(cfg conformance.Config, few []conformance.Op) []conformance.Schedule {
	var out []conformance.Schedule
	for _, gap := range []time.Duration{wait * 3 / 10, wait * 7 / 10, wait + 1} {
		s := suite.Plan(cfg)
		for i := range time.Duration(40) {
			s.Steps = append(s.Steps, edge.At(verb.Call, i*gap))
		}
		out = append(out, s)
	}
	for _, op := range few {
		s, at := suite.Plan(cfg), time.Duration(0)
		for i := range 40 {
			for range 1 + i%3 {
				s.Steps = append(s.Steps, edge.At(verb.Call, at))
				at += wait * 3 / 10
			}
			if op != verb.Call && i%2 == 0 {
				s.Steps = append(s.Steps, edge.At(op, at))
			}
			at += wait + 7
		}
		out = append(out, s)
	}
	rested := append(keepsComing(max(cfg.MaxWait, wait)+wait), edge.At(verb.Call, 100*wait))
	return suite.NumberedCalls(append(out, suite.Plan(cfg, rested...)))
}

// keepsComing are the events of a burst that goes on until an instant.
func keepsComing(until time.Duration) []conformance.Step {
	var out []conformance.Step
	for at := time.Duration(0); at < until; at += wait * 9 / 10 {
		out = append(out, edge.At(verb.Call, at))
	}
	return out
}

// askedBetween ask once in a burst that outlasts the bound, or some waits.
func askedBetween(cfg conformance.Config) []conformance.Schedule {
	burst := suite.Plan(cfg, keepsComing(max(cfg.MaxWait, 2*wait))...)
	var out []conformance.Schedule
	for i := 1; i < len(burst.Steps); i++ {
		out = append(out, suite.Between(burst, i, conformance.Step{Op: verb.Pending}))
	}
	return suite.NumberedCalls(out)
}
