package throttletest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// What the schedules are made of.
var (
	calls     = []conformance.Step{{Op: conformance.OpCall}}
	andResets = []conformance.Step{{Op: conformance.OpCall}, {Op: conformance.OpReset}}
	base      = suite.Configured("interval", "100ms")
	grid      = []time.Duration{0, 1, suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1, 5 * suite.Wait / 2}
)

// numbered lists every schedule of the steps, with numbered calls.
func numbered(
	cfg conformance.Config, steps []conformance.Step, gaps []time.Duration, depth int,
) []conformance.Schedule {
	return suite.NumberedCalls(suite.Sequences(cfg, steps, gaps, depth))
}

// Families are the schedules, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	kinds := c.kinds()
	if o := (observer{s, c.Traits(), c}); o.traits.Payload == 0 {
		c.nameless = o.payload() == int(NoPayload)
	}
	out := []suite.Family{{
		Name:      suite.Leaks,
		Look:      true,
		Schedules: append(numbered(base, calls, []time.Duration{1, suite.Wait}, 3), c.atEnd(s, base, c.built())...),
	}}
	for _, e := range kinds {
		out = append(out, c.intervals(s, e)...)
	}
	if s.Accepts(conformance.OpReset) && slices.Contains(kinds, Leading) {
		out = append(out, suite.Family{Name: "reset", Schedules: numbered(base.With("edges", "leading"), andResets,
			[]time.Duration{1, suite.Wait / 2, suite.Wait - 1, suite.Wait + 1}, 4)})
	}
	out = append(out, c.severalInInterval(s, kinds)...)
	for _, e := range kinds {
		out = append(out, c.ends(s, e)...)
		out = append(out, c.callbacks(s, e)...)
	}
	out = append(out, c.keyed(s, kinds)...)
	return append(out, c.setBack(s, kinds, c.Traits())...)
}

// intervals are calls alone, of one kind of edge.
func (c *contract) intervals(s *suite.Suite, e Edges) []suite.Family {
	cfg := base.With("edges", e.String())
	var out []suite.Family
	if e != c.built() {
		out = append(out, suite.Family{Name: suite.Leaks + " " + e.String(), Look: true,
			Schedules: append(numbered(cfg, calls, []time.Duration{1, suite.Wait}, 2), c.atEnd(s, cfg, e)...)})
	}
	for _, interval := range []string{"333.333333ms", "2500h"} {
		cfg := suite.Configured("interval", interval, "edges", e.String())
		out = append(out, suite.Family{Name: "odd interval " + e.String(),
			Schedules: numbered(cfg, calls, []time.Duration{1, cfg.Interval - 1, cfg.Interval, cfg.Interval + 1}, 4)})
	}
	out = append(out,
		suite.Family{Name: "edges " + e.String(), Schedules: numbered(cfg, calls, grid, 5)},
		suite.Family{Name: "sustained " + e.String(), Schedules: sustained(cfg)},
		suite.Family{Name: "long silence " + e.String(),
			Schedules: numbered(cfg, calls, append([]time.Duration{1}, suite.Idles...), 3)})
	if e != NoEdges {
		zero := suite.Configured("interval", "0", "edges", e.String())
		out = append(out, suite.Family{Name: "zero " + e.String(), Skip: cmp.Or(s.Unsettled(), s.Livelocks()),
			Schedules: numbered(zero, calls, []time.Duration{0, 1, suite.Wait}, 3)})
	}
	if s.Time != conformance.PackageTime {
		for _, epoch := range suite.Epochs {
			far := numbered(cfg.With("epoch", epoch), calls, grid, 3)
			out = append(out, suite.Family{Name: "epoch " + epoch, Schedules: far})
		}
	}
	return out
}

// atEnd lets an operation meet the end of an interval that has an event to emit.
func (c *contract) atEnd(s *suite.Suite, cfg conformance.Config, e Edges) []conformance.Schedule {
	if c.explicit() || s.Accepts(conformance.OpFault) {
		return nil
	}
	ops := s.Supported(conformance.OpCall, conformance.OpStop)
	if e == Leading {
		ops = s.Supported(conformance.OpCall, conformance.OpReset, conformance.OpStop)
	}
	var out []conformance.Schedule
	for _, op := range ops {
		out = append(out, suite.Plan(cfg, conformance.Step{Op: conformance.OpCall},
			conformance.Step{Op: conformance.OpCall, At: 1}, conformance.Step{Op: op, At: suite.Wait, Racing: true}))
	}
	return suite.NumberedCalls(out)
}

// sustained are events that go on coming, faster and slower than the interval.
func sustained(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, gap := range []time.Duration{
		suite.Wait / 10, suite.Wait * 3 / 10, suite.Wait * 7 / 10, suite.Wait * 13 / 10,
	} {
		s := suite.Plan(cfg)
		for i := range 40 {
			s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpCall, N: i + 1, At: time.Duration(i) * gap})
		}
		out = append(out, s)
	}
	return out
}

// severalInInterval are the schedules of throttles that let several events pass.
func (c *contract) severalInInterval(s *suite.Suite, kinds []Edges) []suite.Family {
	if c.spec.Traits.Windows == 0 || !slices.Contains(kinds, Leading) {
		return nil
	}
	var out []suite.Family
	for _, k := range []string{"2", "3"} {
		cfg := base.With("edges", "leading").With("k", k)
		gaps := []time.Duration{0, 1, suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1}
		several := slices.Concat(numbered(cfg, calls, gaps, 4), sustained(cfg))
		out = append(out, suite.Family{Name: "k " + k, Schedules: several})
		if s.Accepts(conformance.OpReset) {
			out = append(out, suite.Family{Name: "k " + k + " reset",
				Schedules: numbered(cfg, andResets, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, 5)})
		}
		if s.Accepts(conformance.OpStop) {
			out = append(out, suite.Family{Name: "k " + k + " stop", Schedules: suite.Ending(
				numbered(cfg, calls, []time.Duration{1, suite.Wait + 1}, 3), conformance.OpStop, endings)})
		}
	}
	return out
}

// endings are how long after the last call something ends.
var endings = []time.Duration{0, suite.Wait / 2, suite.Wait + 1}

// ends are the schedules in which an interval, a throttle, an input or a context ends, and
// those with error items, of one kind of edge.
func (c *contract) ends(s *suite.Suite, e Edges) []suite.Family {
	cfg := base.With("edges", e.String())
	var out []suite.Family
	flushes := s.Accepts(conformance.OpFlush) && e&Trailing != 0
	if s.Accepts(conformance.OpStop) {
		stops := suite.Ending(numbered(cfg, calls, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, 3),
			conformance.OpStop, endings)
		if flushes {
			stops = append(stops, suite.Plan(cfg, conformance.Step{Op: conformance.OpCall, N: 1},
				conformance.Step{Op: conformance.OpCall, N: 2, At: 1}, conformance.Step{Op: conformance.OpStop, At: 2},
				conformance.Step{Op: conformance.OpFlush, At: 3}))
		}
		out = append(out, suite.Family{Name: "stop " + e.String(), Look: true, Schedules: stops})
	}
	if flushes {
		ending := suite.Ending(numbered(cfg, calls, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, 3),
			conformance.OpFlush, endings)
		out = append(out, suite.Family{Name: "flush " + e.String(), Schedules: append(ending, afterFlush(cfg)...)})
	}
	switch {
	case c.explicit() || s.Accepts(conformance.OpFault):
	case e&Trailing != 0:
		out = append(out, suite.Family{Name: "racing " + e.String(), Schedules: intervalEnds(cfg)})
	case e == Leading && s.Accepts(conformance.OpReset):
		out = append(out, suite.Family{Name: "racing reset", Schedules: resetAtEnd(cfg)})
	}
	if s.Accepts(conformance.OpFault) {
		out = append(out, suite.Family{Name: "errors " + e.String(), Schedules: suite.Numbered(suite.Sequences(cfg,
			[]conformance.Step{{Op: conformance.OpCall}, {Op: conformance.OpFault}},
			[]time.Duration{0, 1, suite.Wait / 2, suite.Wait + 1}, 3))})
	}
	for _, end := range s.Supported(conformance.OpCancel, conformance.OpClose) {
		out = append(out, suite.Family{Name: string(end) + " " + e.String(), Look: true, Schedules: suite.Ending(
			numbered(cfg, calls, []time.Duration{1, suite.Wait + 1}, 2), end, endings)})
	}
	return out
}

// afterFlush lets one or two events follow a flush, which had something to emit or had not.
func afterFlush(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	head := []conformance.Step{{Op: conformance.OpCall}, {Op: conformance.OpCall, At: 1}}
	for n := 1; n <= len(head); n++ {
		for _, gap := range []time.Duration{1, suite.Wait / 2, suite.Wait + 1} {
			at := suite.Wait/2 + gap
			after := append(slices.Clone(head[:n]), conformance.Step{Op: conformance.OpFlush, At: suite.Wait / 2},
				conformance.Step{Op: conformance.OpCall, At: at})
			for _, last := range []time.Duration{1, suite.Wait - 1, suite.Wait + 1} {
				then := conformance.Step{Op: conformance.OpCall, At: at + last}
				out = append(out, suite.Plan(cfg, append(slices.Clone(after), then)...))
			}
			out = append(out, suite.Plan(cfg, after...))
		}
	}
	return suite.NumberedCalls(out)
}

// callbacks are the schedules whose callbacks do something, of one kind of edge.
func (c *contract) callbacks(s *suite.Suite, e Edges) []suite.Family {
	cfg := base.With("edges", e.String())
	var out []suite.Family
	if e&Trailing != 0 {
		first, zero := conformance.Step{Op: conformance.OpCall, N: 1}, conformance.Step{Op: conformance.OpCall, At: 1}
		out = append(out, suite.Family{
			Name:      "zero payload " + e.String(),
			Schedules: []conformance.Schedule{suite.Plan(cfg, first, zero)},
		})
	}
	if c.explicit() || e == NoEdges || s.Accepts(conformance.OpFault) {
		return out // there are no callbacks
	}
	forbidden := edge.NoReentry(s, c.spec.Traits.Reentrancy)
	for _, op := range s.Supported(conformance.OpCall, conformance.OpReset, conformance.OpStop) {
		if op == conformance.OpReset && e != Leading || forbidden != "" {
			continue
		}
		out = append(out, suite.Family{Name: "inside " + string(op) + " " + e.String(),
			Schedules: numbered(cfg.With("inside", string(op)), calls, []time.Duration{1, suite.Wait + 1}, 2)})
	}
	for _, busy := range []time.Duration{suite.Wait * 3 / 10, suite.Wait * 5 / 2} {
		text := timeline.Duration(busy)
		gaps := []time.Duration{1, suite.Wait / 2, suite.Wait + 10, busy + 1}
		out = append(out, suite.Family{
			Name:      "busy " + text + " " + e.String(),
			Skip:      cmp.Or(edge.Slow(s, c.Traits().Reentrancy), forbidden),
			Schedules: numbered(cfg.With("busy", text), calls, gaps, 3),
		})
	}
	return out
}

// intervalEnds let one or two calls race with the end of an interval that has an event to
// emit, and let another call follow.
func intervalEnds(cfg conformance.Config) []conformance.Schedule {
	call := func(n int, at time.Duration) conformance.Step {
		return conformance.Step{Op: conformance.OpCall, N: n, At: at}
	}
	racing := func(n int) conformance.Step {
		return conformance.Step{Op: conformance.OpCall, N: n, At: suite.Wait, Racing: true}
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

// resetAtEnd lets a reset, or a reset and an event, race with the end of an interval, and
// another event come before the end of the next.
func resetAtEnd(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, next := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1} {
		for _, racing := range []bool{false, true} {
			out = append(out, suite.Plan(cfg,
				conformance.Step{Op: conformance.OpCall, N: 1},
				conformance.Step{Op: conformance.OpReset, At: suite.Wait, Racing: true},
				conformance.Step{Op: conformance.OpCall, N: 2, At: suite.Wait, Racing: racing},
				conformance.Step{Op: conformance.OpCall, N: 3, At: suite.Wait + next}))
		}
	}
	return out
}

// setBack are the schedules in which the wall clock is set back.
func (c *contract) setBack(s *suite.Suite, kinds []Edges, traits *Traits) []suite.Family {
	if s.Time == conformance.PackageTime || traits.ClockBack == 0 {
		return nil
	}
	var out []suite.Family
	for _, e := range kinds {
		cfg := base.With("edges", e.String())
		if e != NoEdges {
			out = append(out, suite.Family{Name: "back " + e.String(), Schedules: afterSetBack(cfg)})
		}
		if e == Leading && traits.Windows != 0 && traits.ClockBack == BackBounded {
			out = append(out, suite.Family{Name: "back k", Schedules: afterSetBack(cfg.With("k", "2"))})
		}
	}
	return out
}

// afterSetBack sets the clock back after a call, by less and by more than an interval, and
// lets one call or a steady flow of calls follow.
func afterSetBack(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, by := range []time.Duration{-1, -suite.Wait / 2, -suite.Wait, -time.Hour} {
		for _, at := range []time.Duration{1, suite.Wait / 2, suite.Wait - 1} {
			head := []conformance.Step{{Op: conformance.OpCall, N: 1}, {Op: conformance.OpWall, D: by, At: at}}
			one := append(slices.Clone(head), conformance.Step{Op: conformance.OpCall, N: 2, At: at + 1})
			flow := slices.Clone(head)
			for i := range 30 {
				flow = append(flow, conformance.Step{
					Op: conformance.OpCall,
					N:  i + 2,
					At: at + time.Duration(i)*suite.Wait/10,
				})
			}
			out = append(out, suite.Plan(cfg, one...), suite.Plan(cfg, flow...))
		}
	}
	return out
}
