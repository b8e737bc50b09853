package throttletest

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// What the schedules are made of.
var (
	calls     = []conformance.Step{{Op: verb.Call}}
	andResets = []conformance.Step{{Op: verb.Call}, {Op: verb.Reset}}
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
	if o := (observer{s, &c.spec.Traits, c}); o.traits.Payload == 0 {
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
	if s.Accepts(verb.Reset) && slices.Contains(kinds, Leading) {
		out = append(out, suite.Family{Name: "reset", Schedules: numbered(base.With("edges", "leading"), andResets,
			[]time.Duration{1, suite.Wait / 2, suite.Wait - 1, suite.Wait + 1}, 4)})
		out = append(out, c.epochResets()...)
	}
	out = append(out, c.severalInInterval(s, kinds)...)
	for _, e := range kinds {
		out = append(out, c.ends(s, e)...)
		out = append(out, c.callbacks(s, e)...)
		out = append(out, c.readers(s, e)...)
	}
	out = append(out, c.keyed(s, kinds)...)
	out = append(out, c.setBack(s, kinds, &c.spec.Traits)...)
	return append(out, edge.StopsInside(s, "interval", kinds, c.spec.Traits.Reentrancy)...)
}

// intervals are calls alone, of one kind of edge.
func (c *contract) intervals(s *suite.Suite, e Edges) []suite.Family {
	cfg := base.With("edges", e.String())
	var out []suite.Family
	if e != c.built() {
		out = append(out, suite.Family{Name: suite.Leaks + " " + e.String(), Look: true,
			Schedules: append(numbered(cfg, calls, []time.Duration{1, suite.Wait}, 2), c.atEnd(s, cfg, e)...)})
	}
	for _, interval := range []string{"1ns", "333.333333ms", "2500h"} {
		cfg := suite.Configured("interval", interval, "edges", e.String())
		gaps := []time.Duration{1, cfg.Interval - 1, cfg.Interval, cfg.Interval + 1}
		odd := suite.Family{Name: "odd interval " + e.String(), Schedules: numbered(cfg, calls, gaps, 4)}
		if cfg.Interval > suite.Wait { // what is too soon by little, measured by so long an interval
			soon := []time.Duration{cfg.Interval - 2, cfg.Interval - cfg.Interval/1000}
			odd.Schedules = append(odd.Schedules, numbered(cfg, calls, soon, 2)...)
		}
		out = append(out, odd)
	}
	// What waits for the end of a second interval, or of the first on package time, would be left behind.
	if s.Accepts(verb.Stop) || e == Leading && s.Time != conformance.PackageTime {
		cfg := suite.Configured("interval", timeline.Duration(suite.MostHours), "edges", e.String())
		gaps := []time.Duration{1, suite.Century}
		out = append(out, suite.Family{Name: "centuries " + e.String(), Schedules: numbered(cfg, calls, gaps, 2)})
	}
	out = append(out,
		suite.Family{Name: "edges " + e.String(), Schedules: numbered(cfg, calls, grid, 5)},
		suite.Family{Name: "sustained " + e.String(), Schedules: sustained(cfg)},
		suite.Family{Name: "long silence " + e.String(),
			Schedules: append(numbered(cfg, calls, append([]time.Duration{1}, suite.Idles...), 3), c.ages(cfg)...)})
	if e != NoEdges {
		zero := suite.Configured("interval", "0", "edges", e.String())
		skip := cmp.Or(s.Unsettled(), s.Livelocks())
		out = append(out, suite.Family{Name: "zero " + e.String(), Skip: skip,
			Schedules: numbered(zero, calls, []time.Duration{0, 1, suite.Wait}, 3)})
		rows := !c.explicit() && !s.Accepts(verb.Fault)
		if e == Leading && c.spec.Traits.Anchor != AnchorEnd && rows {
			row := zero.String() + " | call 1 @0~ | call 2 @0~" // between which no timer gets its turn
			out = append(out, suite.Family{Name: "zero in a row", Skip: skip,
				Schedules: suite.ParseAll(row, row+" | call 3 @0~")})
		}
	}
	for _, epoch := range s.Epochs() {
		cfg := cfg.With("epoch", epoch)
		there := append(numbered(cfg, calls, grid, 3), c.ages(cfg)...)
		out = append(out, suite.Family{Name: "epoch " + epoch, Schedules: there})
	}
	return out
}

// ages are events after a silence that takes half of a duration's bits, or nearly all of them,
// and more around the ends of the intervals that begin then; also the first ones, which come after one
// that is short as well. Package time ends before.
func (c *contract) ages(cfg conformance.Config) []conformance.Schedule {
	silences := []time.Duration{suite.Wait / 2, 1<<62 - 1, 1 << 62}
	if c.spec.Time != conformance.PackageTime {
		silences = append(silences, math.MaxInt64-10*suite.Wait)
	}
	var out []conformance.Schedule
	for _, silence := range silences {
		for _, after := range [][]time.Duration{{0, 1}, {0, suite.Wait - 1, suite.Wait, 2*suite.Wait + 1}} {
			s := suite.Plan(cfg, conformance.Step{Op: verb.Call})
			for _, gap := range after {
				s.Steps = append(s.Steps, conformance.Step{Op: verb.Call, At: silence + gap})
			}
			if out = append(out, suite.Plan(cfg, slices.Clone(s.Steps[1:])...)); silence > suite.Wait {
				out = append(out, s)
			}
		}
	}
	return suite.NumberedCalls(out)
}

// epochResets bring events soon after a reset, where clocks may start that implementations take
// for no instant.
func (c *contract) epochResets() []suite.Family {
	if c.spec.Time == conformance.PackageTime {
		return nil
	}
	f := suite.Family{Name: "epoch resets"}
	for _, epoch := range suite.Epochs {
		head := base.With("edges", "leading").With("epoch", epoch).String() + " | call 1 @0"
		f.Schedules = append(f.Schedules, suite.ParseAll(head+" | reset @1ns | call 2 @2ns | call 3 @3ns",
			head+" | reset @50ms | call 2 @50.000001ms | call 3 @50.000002ms")...)
	}
	return []suite.Family{f}
}

// crowded are more events than may pass, in each of so many intervals that a counter of a byte has
// begun anew.
func crowded(cfg conformance.Config) conformance.Schedule {
	s := suite.Plan(cfg)
	for i := range 260 / cfg.K {
		for range cfg.K + 1 {
			at := time.Duration(i) * (suite.Wait + 10)
			s.Steps = append(s.Steps, conformance.Step{Op: verb.Call, N: len(s.Steps) + 1, At: at})
		}
	}
	return s
}

// sustained are events that go on coming, faster and slower than the interval.
func sustained(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, tenths := range []time.Duration{1, 3, 7, 13} {
		s := suite.Plan(cfg)
		for i := range time.Duration(40) {
			s.Steps = append(s.Steps, edge.At(verb.Call, i*tenths*suite.Wait/10))
		}
		out = append(out, s)
	}
	return suite.NumberedCalls(out)
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
		several := append(slices.Concat(numbered(cfg, calls, gaps, 4), sustained(cfg), c.ages(cfg)), crowded(cfg))
		out = append(out, suite.Family{Name: "k " + k, Schedules: several})
		if s.Accepts(verb.Reset) {
			out = append(out, suite.Family{Name: "k " + k + " reset",
				Schedules: numbered(cfg, andResets, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, 5)})
		}
		if s.Accepts(verb.Stop) {
			out = append(out, suite.Family{Name: "k " + k + " stop", Schedules: suite.Ending(
				numbered(cfg, calls, []time.Duration{1, suite.Wait + 1}, 3), verb.Stop, endings)})
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
	flushes := s.Accepts(verb.Flush) && e&Trailing != 0
	if s.Accepts(verb.Stop) {
		stops := suite.Ending(numbered(cfg, calls, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, 3),
			verb.Stop, endings)
		if flushes {
			stops = append(stops, suite.MustParse(cfg.String()+" | call 1 @0 | call 2 @1ns | stop @2ns | flush @3ns"))
		}
		out = append(out, suite.Family{Name: "stop " + e.String(), Look: true, Schedules: stops})
	}
	if flushes {
		ending := suite.Ending(numbered(cfg, calls, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, 3),
			verb.Flush, endings)
		out = append(out, suite.Family{Name: "flush " + e.String(), Schedules: append(ending, afterFlush(cfg)...)})
	}
	if s.Accepts(verb.Drop) && e&Trailing != 0 {
		steps := []conformance.Step{{Op: verb.Call}, {Op: verb.Drop}}
		all := numbered(cfg, steps, []time.Duration{suite.Wait / 5, suite.Wait / 2, suite.Wait + 1}, 4)
		out = append(out, suite.Family{Name: "drop " + e.String(), Schedules: suite.Having(all, verb.Drop)})
	}
	switch {
	case c.explicit() || s.Accepts(verb.Fault):
	case e&Trailing != 0:
		racing := intervalEnds(cfg)
		if flushes {
			racing = append(racing, flushAtEnd(cfg)...)
		}
		if s.Accepts(verb.Stop) {
			head := cfg.String() + " | call 1 @0 | call 2 "
			out = append(out, suite.Family{Name: "racing stop " + e.String(),
				Schedules: suite.ParseAll(head+"@1ns | stop @100ms~", head+"@50ms | stop @100ms~")})
		}
		out = append(out, suite.Family{Name: "racing " + e.String(), Schedules: racing})
	case e == Leading && s.Accepts(verb.Reset):
		out = append(out, suite.Family{Name: "racing reset", Schedules: resetAtEnd(cfg)})
	}
	if s.Accepts(verb.Fault) {
		steps := []conformance.Step{{Op: verb.Call}, {Op: verb.Fault}}
		all := suite.Sequences(cfg, steps, []time.Duration{0, 1, suite.Wait / 2, suite.Wait + 1}, 3)
		all = append(all, suite.Sequences(cfg, steps, []time.Duration{suite.Wait / 5, suite.Wait + 1}, 4)...)
		out = append(out, suite.Family{Name: "errors " + e.String(), Schedules: suite.Numbered(all)})
	}
	if s.Accepts(verb.Fault) && s.Accepts(verb.Close) {
		out = append(out, suite.Family{Name: "errors, close " + e.String(),
			Schedules: suite.Ending(withErrors(cfg), verb.Close, endings)})
	}
	for _, end := range s.Supported(verb.Cancel, verb.Close) {
		out = append(out, suite.Family{Name: string(end) + " " + e.String(), Look: true, Schedules: suite.Ending(
			numbered(cfg, calls, []time.Duration{1, suite.Wait + 1}, 2), end, endings)})
	}
	return out
}

// withErrors are two events, with an error after each or both.
func withErrors(cfg conformance.Config) []conformance.Schedule {
	const call, fault = verb.Call, verb.Fault
	var out []conformance.Schedule
	for _, ops := range [][]conformance.Op{{call, call, fault}, {call, fault, call}, {call, fault}} {
		s := suite.Plan(cfg)
		for i, op := range ops {
			s.Steps = append(s.Steps, edge.At(op, time.Duration(i)))
		}
		out = append(out, s)
	}
	return suite.Numbered(out)
}

// afterFlush lets one or two events follow a flush, which had something to emit or had not.
func afterFlush(cfg conformance.Config) []conformance.Schedule {
	flush := edge.At(verb.Flush, suite.Wait/2)
	head := []conformance.Step{edge.At(verb.Call, 0), edge.At(verb.Call, 1)}
	out := suite.ParseAll( // a flush of nothing, unless on the trailing edge alone
		cfg.String()+" | flush @0 | call 1 @1ns", cfg.String()+" | call 1 @0 | flush @50ms | call 2 @100.00001ms")
	for n := 1; n <= len(head); n++ {
		for _, gap := range []time.Duration{1, suite.Wait / 2, suite.Wait + 1} {
			next := edge.At(verb.Call, suite.Wait/2+gap)
			after := append(slices.Clone(head[:n]), flush, next)
			out = append(out, suite.Plan(cfg, after...))
			for _, last := range []time.Duration{1, suite.Wait - 1, suite.Wait + 1} {
				out = append(out, suite.Plan(cfg, append(slices.Clone(after), edge.At(verb.Call, next.At+last))...))
			}
		}
	}
	return suite.NumberedCalls(out)
}
