package throttletest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Draw draws sustained calls, bursts, calls at the end of an interval and one nanosecond
// before and after it, resets between them, a stop at the end, and callbacks that take
// time.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	kind := pick("kind", 10)
	if busy := c.drawnBusy(s); kind == 9 && len(busy) > 0 {
		cfg := suite.OneOf(pick, "config", busy)
		return suite.DrawBusy(pick, cfg, cfg.Interval, []conformance.Op{verb.Call})
	}
	cfg := suite.OneOf(pick, "config", c.drawn())
	ops := []conformance.Op{verb.Call, verb.Call, verb.Call}
	if cfg.Edges == Leading {
		ops = append(ops, s.Supported(verb.Reset)...)
	}
	gaps := suite.GapsAround(cfg.Interval)
	if cfg.Interval == 0 {
		gaps = []time.Duration{0, 1, time.Second}
	}
	out := suite.Plan(cfg)
	at, n := time.Duration(0), 0
	for i, m := range suite.Moves(pick, ops, gaps, 2*cfg.Interval, 0) {
		if i > 0 || m.Gap == len(gaps) {
			at += m.After
		}
		st := conformance.Step{Op: m.Op, At: at}
		if m.Op == verb.Call {
			n++
			st.N = n
		}
		out.Steps = append(out.Steps, st)
	}
	if kind == 8 && s.Accepts(verb.Stop) {
		after := []time.Duration{1, 0, cfg.Interval / 2, cfg.Interval + 1}[n%4]
		out.Steps = append(out.Steps, conformance.Step{Op: verb.Stop, At: at + after})
	}
	return out
}

// drawn lists the configurations of schedules that are drawn.
func (c *contract) drawn() []conformance.Config {
	edges := c.kinds()
	var out []conformance.Config
	for _, cfg := range suite.Each(suite.Configured(), "interval", "100ms", "333.333333ms", "1ms", "2500h") {
		for _, e := range edges {
			out = append(out, cfg.With("edges", e.String()))
		}
	}
	for _, e := range edges {
		if c.spec.Time == conformance.PackageTime {
			break // a bubble's epoch is fixed, and timers of no duration crash some toolchains
		}
		out = append(out, suite.Each(base.With("edges", e.String()), "epoch", suite.DrawnEpochs...)...)
		if e&Leading != 0 || e == Trailing && synctestcompat.Available {
			out = append(out, suite.Configured("interval", "0", "edges", e.String()))
		}
	}
	if c.spec.Traits.Windows != 0 && slices.Contains(edges, Leading) {
		out = append(out, suite.Each(base.With("edges", "leading"), "k", "2", "3", "10")...)
	}
	return out
}

// drawnBusy lists the configurations with callbacks that take time.
func (c *contract) drawnBusy(s *suite.Suite) []conformance.Config {
	forbidden := c.spec.Traits.Reentrancy == ReentrancyForbidden
	if !synctestcompat.Available || c.explicit() || forbidden || s.Accepts(verb.Fault) {
		return nil
	}
	var out []conformance.Config
	for _, e := range c.kinds() {
		if e != NoEdges {
			out = append(out, suite.Each(base.With("edges", e.String()), "busy", "30ms", "250ms")...)
		}
	}
	return out
}

// Fits accepts calls, and resets on the leading edge.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	resets := slices.ContainsFunc(schedule.Steps, func(st conformance.Step) bool { return st.Op != verb.Call })
	edges := schedule.Config.Edges
	return s.Plain(schedule, "interval", "edges") && suite.Measurable(schedule.Config.Interval) &&
		slices.Contains(c.spec.Traits.Edges, edges) && (!resets || edges == Leading)
}

// Twins puts the laws that compare two runs to a throttle.
func (c *contract) Twins(s *suite.Suite) twins.Terms {
	tw := twins.Terms{
		Laws:     []string{"X-REPLAY", "X-SHIFT", "X-SCALE", "X-RENAME", "X-ISO", "X-EVICT"},
		Nameless: c.spec.Traits.Payload == NoPayload,
		Long:     func(cfg conformance.Config) time.Duration { return 100_000 * cfg.Interval },
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			ops := []conformance.Op{verb.Call}
			if cfg.Edges == Leading {
				ops = append(ops, s.Supported(verb.Reset)...)
			}
			return suite.DrawClear(pick, cfg, ops, suite.Bare)
		},
	}
	for _, e := range c.kinds() {
		tw.Configs = append(tw.Configs, suite.Configured("interval", suite.Unit.String(), "edges", e.String()))
	}
	return tw
}
