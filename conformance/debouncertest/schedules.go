package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// explorer lists the schedules that an implementation is explored with.
type explorer struct {
	*suite.Suite
	traits *Traits
	ops    []conformance.Op // calls, and what ends a burst
}

// wait is the wait of most schedules.
const wait = suite.Wait

// onlyCalls are the operations of schedules that have nothing but events.
var onlyCalls = []conformance.Op{conformance.OpCall}

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	ops := s.Supported(conformance.OpCall, conformance.OpCancel, conformance.OpFlush, conformance.OpStop)
	e := &explorer{s, c.Traits(), ops}
	base := suite.Configured("wait", "100ms")
	uneven, long := suite.Configured("wait", "333.333333ms"), suite.Configured("wait", "2500h")
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: suite.Enumerate(base, e.ops, []time.Duration{1, wait}, 2)},
		{Name: "enumeration", Schedules: suite.Enumerate(base, e.ops, suite.Around(wait), 4)},
		{Name: "odd wait", Schedules: suite.Enumerate(uneven, e.ops, suite.Around(333_333_333), 3)},
		{Name: "long wait", Schedules: suite.Enumerate(long, onlyCalls, suite.Around(2500*time.Hour), 3)},
		{Name: "racing", Schedules: races(e.ops, base)},
		{Name: "scenarios", Schedules: scenarios(e.ops, base)},
	}
	if e.Accepts(conformance.OpStop) {
		out = append(out, suite.Family{Name: "stop", Schedules: e.stops(base)})
	}
	if e.Accepts(conformance.OpPending) {
		out = append(out, suite.Family{Name: "queries", Schedules: suite.Enumerate(base,
			append(slices.Clone(e.ops), conformance.OpPending), []time.Duration{0, wait - 1, wait}, 4)})
	}
	out = append(out, e.callbacks(base)...)
	out = append(out, e.edges()...)
	out = append(out, e.besides()...)
	out = append(out, e.noWaits()...)
	if e.Time == conformance.Injected {
		for _, epoch := range suite.Epochs {
			out = append(out, suite.Family{Name: "epoch " + epoch,
				Schedules: suite.Enumerate(base.With("epoch", epoch), onlyCalls, suite.Around(wait), 2)})
		}
	}
	return out
}

// callbacks are schedules of callbacks that call the debouncer, or that take time.
func (e *explorer) callbacks(base conformance.Config) []suite.Family {
	var out []suite.Family
	forbidden := e.traits.Reentrancy == ReentrancyForbidden
	for _, op := range append(slices.Clone(e.ops), conformance.OpPending) {
		if e.Accepts(op) {
			cfg := base.With("inside", string(op))
			out = append(out, suite.Family{
				Name:      "inside " + string(op),
				Skip:      suite.If(forbidden, "declared: ReentrancyForbidden"),
				Schedules: suite.Enumerate(cfg, e.ops, []time.Duration{1, wait, 2 * wait}, 2),
			})
		}
	}
	slow := ""
	switch {
	case !e.Bubble:
		slow = "a callback that runs for a while needs a bubble to be driven exactly"
	case forbidden:
		slow = "declared: ReentrancyForbidden, so methods may wait for a running callback"
	}
	for _, busy := range []time.Duration{wait * 3 / 10, wait * 5 / 2} {
		out = append(out, suite.Family{Name: "busy " + timeline.Duration(busy), Skip: slow, Schedules: suite.Enumerate(
			base.With("busy", timeline.Duration(busy)), e.ops,
			[]time.Duration{1, wait - 1, wait, wait + 1, wait + 20*time.Millisecond, busy + 1}, 3)})
	}
	return out
}

// noWaits are schedules with a wait that is 0 or negative.
func (e *explorer) noWaits() []suite.Family {
	const late = "what fires after its call at the same instant can only be awaited in a bubble"
	zero, negative := e.Unsettled(), e.Unsettled()
	if t := e.traits.ZeroWait; !e.Bubble && t != ZeroRefused {
		negative = late
		if t != ZeroSync {
			zero = late
		}
	}
	gaps := []time.Duration{0, 1, wait}
	return []suite.Family{
		{
			Name:      "negative wait",
			Skip:      negative,
			Schedules: suite.Enumerate(suite.Configured("wait", "-1ns"), onlyCalls, gaps, 3),
		},
		{Name: "zero wait", Skip: zero, Schedules: suite.Enumerate(suite.Configured("wait", "0"), e.ops, gaps, 3)},
	}
}

// races let a step meet the deadline of a burst of one or two calls, with at most one step
// after it, racing or not.
func races(ops []conformance.Op, cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, prefix := range [][]conformance.Step{
		{{Op: conformance.OpCall, N: 1}},
		{{Op: conformance.OpCall, N: 1}, {Op: conformance.OpCall, N: 2, At: wait / 2}},
	} {
		for _, op := range ops {
			tie := conformance.Step{Op: op, At: prefix[len(prefix)-1].At + wait, Racing: true}
			head := append(slices.Clone(prefix), tie)
			out = append(out, suite.Plan(cfg, head...))
			for _, after := range ops {
				stopped := op == conformance.OpStop && after != conformance.OpCall && after != conformance.OpStop
				if stopped || len(prefix) > 1 && after != conformance.OpCall {
					continue
				}
				for _, last := range []conformance.Step{ // a step that races where nothing is due is left out
					{Op: after, At: tie.At},
					{Op: after, At: tie.At, Racing: true},
					{Op: after, At: tie.At + 1},
					{Op: after, At: tie.At + wait},
					{Op: after, At: tie.At + wait, Racing: true},
				} {
					out = append(out, suite.Plan(cfg, append(slices.Clone(head), last)...))
				}
			}
		}
	}
	return suite.NumberedCalls(out)
}

// scenarios are schedules longer than those of the enumeration, which use an instance many
// times.
func scenarios(ops []conformance.Op, cfg conformance.Config) []conformance.Schedule {
	calls := func(n int, gap func(i int) time.Duration) conformance.Schedule {
		steps := make([]conformance.Step, n)
		for i := range steps {
			steps[i] = conformance.Step{Op: conformance.OpCall, At: gap(i)}
		}
		return spaced(cfg, steps)
	}
	every := func(gap time.Duration) func(int) time.Duration { return func(int) time.Duration { return gap } }
	out := []conformance.Schedule{
		calls(40, every(wait/2)),   // a burst far longer than the wait
		calls(40, every(0)),        // many events at one instant
		calls(20, every(wait)),     // many bursts of one event, as close together as they can be
		calls(20, every(2*wait+1)), // and with room
		calls(25, func(i int) time.Duration { return time.Duration(i) * wait / 10 }), // bursts that grow
	}
	// Every pair of an operation and a gap comes after every other such pair on one
	// instance.
	var letters []conformance.Step
	for _, op := range ops {
		if op == conformance.OpStop {
			continue
		}
		for _, gap := range []time.Duration{0, 1, wait / 2, wait - 1, wait, 2 * wait} {
			letters = append(letters, conformance.Step{Op: op, At: gap})
		}
	}
	var word []conformance.Step
	for _, i := range suite.DeBruijn(len(letters)) {
		word = append(word, letters[i])
	}
	return suite.NumberedCalls(append(out, spaced(cfg, word)))
}

// spaced is the schedule of steps whose instants say how long each comes after the one
// before it.
func spaced(cfg conformance.Config, steps []conformance.Step) conformance.Schedule {
	steps = slices.Clone(steps)
	for i := 1; i < len(steps); i++ {
		steps[i].At += steps[i-1].At
	}
	return suite.Plan(cfg, steps...)
}

// besides are the schedules of further things that a debouncer may have: an end of its
// input, keys, a clock that is set back.
func (e *explorer) besides() []suite.Family {
	base := suite.Configured("wait", "100ms")
	gaps := []time.Duration{0, 1, wait - 1, wait + 1}
	built := e.traits.built()
	if built != Trailing {
		base = base.With("edges", built.String())
	}
	out := []suite.Family{{Name: suite.Instances, Schedules: suite.Keyed(suite.Enumerate(base, onlyCalls, gaps, 3))}}
	if e.Accepts(opKeys) {
		keyed := suite.Keyed(suite.Enumerate(base, onlyCalls, gaps, 3))
		out = append(out, suite.Family{Name: suite.Keys, Schedules: keyed})
	}
	if e.Time == conformance.Injected && e.traits.ClockBack != 0 {
		out = append(out, suite.Family{Name: "back", Schedules: e.setBack(base)})
	}
	if built != Trailing {
		return out
	}
	zero := suite.Plan(base, conformance.Step{Op: conformance.OpCall})
	out = append(out, suite.Family{Name: "zero payload", Schedules: []conformance.Schedule{zero}})
	if e.Accepts(conformance.OpClose) {
		open := suite.Enumerate(base, onlyCalls, []time.Duration{1, wait + 1}, 3)
		out = append(out, suite.Family{
			Name:      string(conformance.OpClose),
			Look:      true,
			Schedules: suite.Ending(open, conformance.OpClose, []time.Duration{0, wait / 2, wait + 1}),
		})
	}
	return out
}

// setBack sets the clock back within a burst.
func (e *explorer) setBack(base conformance.Config) []conformance.Schedule {
	configs := []conformance.Config{base}
	for _, ed := range e.traits.Edges {
		if ed&Leading != 0 && ed.String() != base.Edges.String() {
			configs = append(configs, suite.Configured("wait", "100ms", "edges", ed.String()))
		}
	}
	var out []conformance.Schedule
	for _, cfg := range configs {
		for _, by := range []time.Duration{-1, -wait, -time.Hour} {
			for _, at := range []time.Duration{1, wait / 2, wait - 1} {
				call := func(n int, at time.Duration) conformance.Step {
					return conformance.Step{Op: conformance.OpCall, N: n, At: at}
				}
				first, back := call(1, 0), conformance.Step{Op: conformance.OpWall, D: by, At: at}
				out = append(out,
					suite.Plan(cfg, first, back, call(2, at+3*wait)),
					suite.Plan(cfg, first, back, call(2, at+3*wait), call(3, at+5*wait)))
				if cfg.Edges != Leading {
					out = append(out, suite.Plan(cfg, first, back), suite.Plan(cfg, first, back, call(2, at+1)))
				}
			}
		}
	}
	return out
}
