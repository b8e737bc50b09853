package debouncertest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
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
var onlyCalls = []conformance.Op{verb.Call}

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	ops := s.Supported(verb.Call, verb.Cancel, verb.Flush, verb.Stop)
	e := &explorer{s, &c.spec.Traits, ops}
	base := suite.Configured("wait", "100ms")
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: e.leaks(base, []time.Duration{1, wait})},
		enumerated("enumeration", base, 4, e.ops, suite.Around(wait)...),
		enumerated("odd wait", suite.Configured("wait", "333.333333ms"), 3, e.ops, suite.Around(333_333_333)...),
		enumerated("long wait", suite.Configured("wait", "2500h"), 3, onlyCalls, suite.Around(2500*time.Hour)...),
		enumerated("long silence", base, 3, onlyCalls, append([]time.Duration{1}, suite.Idles...)...),
		{Name: "silence first", Schedules: silenceFirst(base)},
		{Name: "racing", Schedules: races(e.ops, base)},
		{Name: "scenarios", Schedules: scenarios(e.ops, base)},
	}
	if e.Accepts(verb.Stop) {
		out = append(out, suite.Family{Name: "stop", Schedules: e.stops(base)})
	}
	if e.Accepts(verb.Pending) {
		out = append(out, enumerated("queries", base, 4, e.inside(), 0, wait-1, wait))
	}
	out = slices.Concat(out, e.callbacks(base), e.edges(), e.besides(), e.noWaits(), e.shortWaits(), e.centuries())
	for _, epoch := range e.Epochs() {
		out = append(out, enumerated("epoch "+epoch, base.With("epoch", epoch), 2, onlyCalls, suite.Around(wait)...))
	}
	return append(out, edge.StopsInside(s, "wait", c.kinds(), e.traits.Reentrancy)...)
}

// leaks are the schedules that look for what is left behind, by steps that meet a deadline too.
func (e *explorer) leaks(cfg conformance.Config, gaps []time.Duration) []conformance.Schedule {
	out := suite.Enumerate(cfg, e.ops, gaps, 2)
	for _, op := range e.ops {
		out = append(out, suite.Plan(cfg, edge.At(verb.Call, 0), edge.Racing(op, wait)))
	}
	out = suite.NumberedCalls(out)
	if cfg.MaxWait == 0 {
		months := cfg.Without("wait").With("wait", timeline.Duration(edge.Months))
		out = append(out, e.stopsSoon(months)...)
		if cfg.Edges&Leading != 0 && e.slow() == "" { // whose callback runs when the stop comes
			months = months.With("busy", "250ms")
			out = append(out, edge.StopsSoon(e.Suite, suite.Enumerate(months, onlyCalls, []time.Duration{1}, 2))...)
		}
	}
	return out
}

// stopsSoon stop a wait of months soon after it has begun, or was ended, and those of two keys.
func (e *explorer) stopsSoon(cfg conformance.Config) []conformance.Schedule {
	stops := func(op conformance.Op) bool { return op == verb.Stop }
	out := suite.Enumerate(cfg, slices.DeleteFunc(slices.Clone(e.ops), stops), []time.Duration{1}, 2)
	if e.Accepts(opKeys) {
		out = append(out, edge.Keyed(suite.Enumerate(cfg, onlyCalls, []time.Duration{1}, 2))...)
	}
	return edge.StopsSoon(e.Suite, out)
}

// enumerated is a family of all schedules of up to depth steps over the operations and gaps.
func enumerated(name string, cfg conformance.Config, depth int,
	ops []conformance.Op, gaps ...time.Duration) suite.Family {
	return suite.Family{Name: name, Schedules: suite.Enumerate(cfg, ops, gaps, depth)}
}

// silenceFirst are schedules whose first event comes long after the debouncer was made.
func silenceFirst(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, idle := range suite.Idles {
		out = append(out, suite.Later(suite.Enumerate(cfg, onlyCalls, []time.Duration{1, wait + 1}, 2), idle)...)
	}
	return out
}

// on is a configuration and a name of schedules with it on a kind of edges.
func on(ed Edges, cfg conformance.Config, name string) (conformance.Config, string) {
	if ed == Trailing {
		return cfg, name
	}
	return cfg.With("edges", ed.String()), "edges " + ed.String() + " " + name
}

// skipped is a family that cannot be run if there is a reason.
func skipped(why string, f suite.Family) suite.Family {
	f.Skip = why
	return f
}

// inside are the operations that callbacks do.
func (e *explorer) inside() []conformance.Op {
	return append(slices.Clone(e.ops), e.Supported(verb.Pending)...)
}

// callbacks are schedules of callbacks that call the debouncer, or that take time.
func (e *explorer) callbacks(base conformance.Config) []suite.Family {
	var out []suite.Family
	forbidden := edge.NoReentry(e.Suite, e.traits.Reentrancy)
	for _, op := range e.inside() {
		f := enumerated("inside "+string(op), base.With("inside", string(op)), 2, e.ops, 1, wait, 2*wait)
		out = append(out, skipped(forbidden, f))
	}
	for _, busy := range []time.Duration{wait * 3 / 10, wait * 5 / 2} {
		cfg := base.With("busy", timeline.Duration(busy))
		gaps := []time.Duration{1, wait - 1, wait, wait + 1, wait + 20*time.Millisecond, busy + 1}
		out = append(out, skipped(e.slow(),
			enumerated("busy "+timeline.Duration(busy), cfg, 3, e.ops, gaps...)))
	}
	out = append(out, e.overlapping(base)...)
	behind := suite.Family{Name: "behind a callback", Schedules: e.behind(base.With("busy", "250ms"))}
	return append(out, skipped(e.slow(), behind))
}

// overlapping are events with which callbacks could run at the same time, for debouncers whose callback
// must not call them: their methods may have to wait for it.
func (e *explorer) overlapping(base conformance.Config) []suite.Family {
	if e.traits.Reentrancy != ReentrancyForbidden || e.traits.Overlap != Serial && e.traits.Overlap != SerialReceiver {
		return nil
	}
	var out []suite.Family
	for _, ed := range e.traits.Edges {
		cfg, name := on(ed, base.With("busy", "250ms"), "overlapping")
		all := suite.Enumerate(cfg, onlyCalls, []time.Duration{1, wait + 20*time.Millisecond}, 3)
		out = append(out, skipped(edge.SlowAfterTrial(e.Suite, e.traits.Reentrancy, all),
			suite.Family{Name: name, Schedules: all}))
	}
	return out
}

// headsBehind begin the schedules of steps that come while a callback runs, from 100ms to 350ms: with an event that
// waits, one that is due, one that has come since, or none. Then is when such a step comes.
var headsBehind = []struct {
	head string
	then time.Duration
}{
	{" | call 1 @0 | call 2 @120ms", 200 * time.Millisecond},
	{" | call 1 @0 | call 2 @101ms", 230 * time.Millisecond},
	{" | call 1 @0 | call 2 @101ms | call 3 @261ms", 300 * time.Millisecond},
	{" | call 1 @0", 200 * time.Millisecond},
}

// oneBehind are such schedules of one step more.
func oneBehind(cfg conformance.Config, ops ...conformance.Op) []conformance.Schedule {
	var out []conformance.Schedule
	for _, behind := range headsBehind {
		for _, op := range ops {
			steps := suite.MustParse(cfg.String() + behind.head).Steps
			out = append(out, suite.Plan(cfg, append(steps, edge.At(op, behind.then))...))
		}
	}
	return out
}

// behind are such schedules, and those of any two steps after an event that is due between them.
func (e *explorer) behind(cfg conformance.Config) []conformance.Schedule {
	ops := e.Supported(verb.Cancel, verb.Flush, verb.Pending, verb.Stop)
	out := append(suite.ParseAll(cfg.String()+headsBehind[2].head), oneBehind(cfg, ops...)...)
	waits := suite.MustParse(cfg.String() + headsBehind[0].head).Steps
	for _, first := range slices.DeleteFunc(slices.Clone(ops), conformance.Op.Ends) {
		for _, then := range append(slices.Clone(ops), verb.Call) {
			out = append(out, suite.Plan(cfg, append(slices.Clone(waits),
				edge.At(first, 200*time.Millisecond), edge.At(then, 230*time.Millisecond))...))
		}
	}
	if e.Accepts(verb.Pending) && e.Accepts(verb.Cancel) { // due, and it may be decided
		out = append(out, suite.MustParse(cfg.String()+headsBehind[0].head+" | pending @230ms | cancel @240ms"))
	}
	long := suite.Plan(cfg) // so many that their fires queue up
	for n := range time.Duration(12) {
		long.Steps = append(long.Steps, edge.At(verb.Call, n*(wait+1)))
	}
	return suite.NumberedCalls(append(out, long))
}

// slow is why callbacks that take time are not tried, "" if they are.
func (e *explorer) slow() string {
	return cmp.Or(edge.Slow(e.Suite, e.traits.Reentrancy), edge.NoReentry(e.Suite, e.traits.Reentrancy))
}

// noWaits are schedules with a wait that is 0 or negative.
func (e *explorer) noWaits() []suite.Family {
	const late = "only a bubble can wait for what fires after its call at the same instant"
	zero, negative := e.Unsettled(), e.Unsettled()
	if t := e.traits.ZeroWait; !e.Bubble && t != ZeroRefused {
		negative = late
		if t != ZeroSync {
			zero = late
		}
	}
	if why := e.Livelocks(); why != "" {
		zero, negative = why, why
	}
	gaps := []time.Duration{0, 1, wait}
	return []suite.Family{
		skipped(negative, enumerated("negative wait", suite.Configured("wait", "-1ns"), 3, onlyCalls, gaps...)),
		skipped(zero, enumerated("zero wait", suite.Configured("wait", "0"), 3, e.ops, gaps...)),
	}
}

// shortWaits are schedules with a wait that is far too short for a real timer, and is not 0.
func (e *explorer) shortWaits() []suite.Family {
	return []suite.Family{
		enumerated("wait 1ns", suite.Configured("wait", "1ns"), 3, e.ops, 0, 1, 2),
		enumerated("wait 2ns", suite.Configured("wait", "2ns"), 3, onlyCalls, 0, 1, 2, 3),
		{Name: "wait 1ns racing", Schedules: suite.ParseAll("wait=1ns | call 1 @0 | call 2 @1ns~",
			"wait=1ns | call 1 @0 | call 2 @1ns~ | call 3 @3ns")},
	}
}

// races let a step meet the deadline of a burst of one or two calls, with at most one step
// after it, racing or not; and a call the deadline that a burst would have had which has been ended.
func races(ops []conformance.Op, cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, op := range ops {
		if op != verb.Call {
			out = append(out, suite.Plan(cfg, edge.At(verb.Call, 0), edge.At(op, wait/2), edge.Racing(verb.Call, wait)))
		}
	}
	for _, prefix := range [][]conformance.Step{
		{{Op: verb.Call, N: 1}},
		{{Op: verb.Call, N: 1}, {Op: verb.Call, N: 2, At: wait / 2}},
	} {
		for _, op := range ops {
			tie := edge.Racing(op, prefix[len(prefix)-1].At+wait)
			head := append(slices.Clone(prefix), tie)
			out = append(out, suite.Plan(cfg, head...))
			for _, after := range ops {
				call := after == verb.Call
				if op == verb.Stop && !call && after != verb.Stop || len(prefix) > 1 && !call {
					continue
				}
				for _, last := range []conformance.Step{ // a step that races where nothing is due is left out
					edge.At(after, tie.At), edge.Racing(after, tie.At), edge.At(after, tie.At+1),
					edge.At(after, tie.At+wait), edge.Racing(after, tie.At+wait),
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
	calls := func(n int, gap, grows time.Duration) conformance.Schedule {
		steps := make([]conformance.Step, n)
		for i := range steps {
			steps[i] = edge.At(verb.Call, gap+time.Duration(i)*grows)
		}
		return spaced(cfg, steps)
	}
	out := []conformance.Schedule{
		calls(40, wait/2, 0),   // a burst far longer than the wait
		calls(40, 0, 0),        // many events at one instant
		calls(300, wait/4, 0),  // more events in a burst than a byte counts, or than a queue holds
		calls(20, wait, 0),     // many bursts of one event, as close together as they can be
		calls(20, 2*wait+1, 0), // and with room
		calls(25, 0, wait/10),  // bursts that grow
	}
	// Every pair of an operation and a gap comes after every other such pair on one
	// instance.
	var letters []conformance.Step
	for _, op := range ops {
		if op == verb.Stop {
			continue
		}
		for _, gap := range []time.Duration{0, 1, wait / 2, wait - 1, wait, 2 * wait} {
			letters = append(letters, edge.At(op, gap))
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
	built := e.traits.built()
	base, _ := on(built, suite.Configured("wait", "100ms"), "")
	out := append(e.keyed(base), e.atOnce(base)...)
	if e.Time == conformance.Injected && e.traits.ClockBack != 0 {
		out = append(out, suite.Family{Name: "back", Schedules: e.setBack(base)})
	}
	if built != Trailing {
		return out
	}
	out = append(out, suite.Family{Name: "zero payload", Schedules: suite.ParseAll(base.String() + " | call 0 @0")})
	if e.Accepts(verb.Close) {
		out = append(out, e.ends(base)...)
	}
	return out
}

// ends are schedules with an end of the input. Nothing comes after it.
func (e *explorer) ends(base conformance.Config) []suite.Family {
	const name = string(verb.Close)
	gaps, ends := []time.Duration{1, wait + 1}, []time.Duration{0, wait / 2, wait + 1}
	ending := func(ops []conformance.Op) []conformance.Schedule {
		return suite.Ending(suite.Enumerate(base, ops, gaps, 3), verb.Close, ends)
	}
	cut := slices.DeleteFunc(slices.Clone(e.ops), conformance.Op.Ends)
	within := enumerated("inside "+name, base.With("inside", name), 2, onlyCalls, 1)
	forbidden := edge.NoReentry(e.Suite, e.traits.Reentrancy)
	out := []suite.Family{
		{Name: name, Look: true, Schedules: ending(onlyCalls)},
		{Name: name + " racing", Schedules: racingEnds(base)},
		{Name: name + " cut", Schedules: ending(cut)},
		skipped(forbidden, within),
		skipped(e.slow(), suite.Family{Name: name + " behind a callback",
			Schedules: oneBehind(base.With("busy", "250ms"), verb.Close)}),
	}
	if e.Accepts(opKeys) {
		within := edge.Keyed(suite.Enumerate(base, onlyCalls, []time.Duration{0, wait / 2}, 3))
		out = append(out, suite.Family{Name: "keys " + name,
			Schedules: suite.Ending(within, verb.Close, []time.Duration{1})})
	}
	for _, op := range e.inside() { // the end may run the callback
		inside := suite.Enumerate(base.With("inside", string(op)), onlyCalls, []time.Duration{wait + 1}, 2)
		out = append(out, skipped(forbidden, suite.Family{Name: name + " with " + string(op) + " inside",
			Schedules: suite.Ending(inside, verb.Close, []time.Duration{wait / 2})}))
	}
	return out
}

// racingEnds let an end of the input meet the deadline of the newest event.
func racingEnds(cfg conformance.Config) []conformance.Schedule {
	out := suite.Ending(suite.Enumerate(cfg, onlyCalls, []time.Duration{wait / 2, wait + 1}, 2),
		verb.Close, []time.Duration{wait})
	for _, s := range out {
		s.Steps[len(s.Steps)-1].Racing = true
	}
	return out
}

// setBack sets the clock back within a burst, of one event or of three.
func (e *explorer) setBack(base conformance.Config) []conformance.Schedule {
	configs := []conformance.Config{base}
	for _, ed := range e.traits.Edges {
		if ed&Leading != 0 && ed.String() != base.Edges.String() {
			configs = append(configs, suite.Configured("wait", "100ms", "edges", ed.String()))
		}
	}
	const gap = wait * 9 / 10
	var out []conformance.Schedule
	for _, cfg := range configs {
		for _, late := range []time.Duration{1, wait / 2, wait - 1} { // after the newest event
			for _, by := range []time.Duration{1, wait, time.Hour} {
				out = append(out, afterSetBack(cfg, late, by, 0)...)
			}
			// To where the burst began, or a little before: then the instant of its first event
			// comes once more, and what counts from there goes back, too.
			for _, by := range []time.Duration{1, 2*gap + late, 2*gap + late + wait/2} {
				out = append(out, afterSetBack(cfg, late, by, 0, gap, 2*gap)...)
			}
		}
	}
	return out
}

// afterSetBack are events at some instants, a clock that is set back when the newest of them is
// late old, and what may come then.
func afterSetBack(cfg conformance.Config, late, by time.Duration, events ...time.Duration) []conformance.Schedule {
	at := events[len(events)-1] + late
	then := func(more ...time.Duration) conformance.Schedule {
		s := suite.Plan(cfg)
		for _, event := range events {
			s.Steps = append(s.Steps, edge.At(verb.Call, event))
		}
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Wall, D: -by, At: at})
		for _, event := range more {
			s.Steps = append(s.Steps, edge.At(verb.Call, at+event))
		}
		return s
	}
	out := []conformance.Schedule{then(3 * wait), then(3*wait, 5*wait)}
	if cfg.Edges != Leading {
		out = append(out, then(), then(1))
	}
	return suite.NumberedCalls(out)
}

// centuries have a wait whose end is beyond what can be counted in nanoseconds since 1970, or since an event that
// came years before. Where time is over before it, what waits has to be stopped.
func (e *explorer) centuries() []suite.Family {
	gaps := []time.Duration{1}
	switch {
	case e.Accepts(verb.Stop):
		gaps = append(gaps, suite.Century)
	case e.Time == conformance.PackageTime: // over in the year 2262
		return nil
	}
	cfg := suite.Configured("wait", timeline.Duration(suite.MostHours))
	return []suite.Family{enumerated("centuries", cfg, 2, onlyCalls, gaps...)}
}
