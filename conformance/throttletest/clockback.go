package throttletest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// setBackUnless is why a clock that is set back cannot be judged, "" if it can.
func setBackUnless(want ClockBack, choice string) func(*suite.Suite, *Traits) string {
	return func(s *suite.Suite, tr *Traits) string {
		return cmp.Or(undeclared(tr.ClockBack != want, choice),
			suite.If(s.Time == conformance.PackageTime, "package time cannot be set back"))
	}
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
		if e == Leading && traits.Windows != 0 {
			out = append(out, suite.Family{Name: "back k", Schedules: afterSetBack(cfg.With("k", "2"))})
		}
		if e == Leading && traits.ClockBack == BackStands && s.Accepts(verb.Reset) {
			out = append(out, suite.Family{Name: "back reset", Schedules: resetSetBack(cfg)})
		}
	}
	return out
}

// afterSetBack sets the clock back after the first interval or a later one has begun, within it
// or when it is over, by less and by more than an interval. One event follows, events an interval
// apart to the nanosecond, or a steady flow of events.
func afterSetBack(cfg conformance.Config) []conformance.Schedule {
	const wait = suite.Wait
	var out []conformance.Schedule
	for _, began := range []time.Duration{0, wait * 17 / 10} {
		head := []conformance.Step{{Op: verb.Call}}
		if began > 0 { // as many events as it lets pass
			later := conformance.Step{Op: verb.Call, At: began}
			head = append(head, slices.Repeat([]conformance.Step{later}, max(1, cfg.K))...)
		}
		for _, by := range []time.Duration{-1, -wait / 2, -wait, -time.Hour} {
			for _, after := range []time.Duration{1, wait / 2, wait - 1, wait * 3 / 2, wait * 5 / 2} {
				at := began + after
				for _, tail := range [][]time.Duration{{1}, {0, wait / 2, wait, wait + 1, 2*wait + 1}, flow} {
					steps := append(slices.Clone(head), conformance.Step{Op: verb.Wall, D: by, At: at})
					for _, gap := range tail {
						steps = append(steps, conformance.Step{Op: verb.Call, At: at + gap})
					}
					out = append(out, suite.Plan(cfg, steps...))
				}
			}
		}
	}
	return suite.NumberedCalls(out)
}

// resetSetBack resets a throttle when the clock has been set back. Two events follow, soon one after
// the other, around the instant at which the clock is where it was, or about an interval apart.
func resetSetBack(cfg conformance.Config) []conformance.Schedule {
	const wait = suite.Wait
	var out []conformance.Schedule
	for _, by := range []time.Duration{wait / 2, wait, 2 * wait} {
		for _, gap := range []time.Duration{1, wait / 2, wait, wait + 1, by, by + 1} {
			out = append(out, suite.Plan(cfg, edge.At(verb.Call, 0), edge.At(verb.Call, 2*wait),
				conformance.Step{Op: verb.Wall, D: -by, At: 2*wait + 1},
				edge.At(verb.Reset, 2*wait+2), edge.At(verb.Call, 2*wait+3), edge.At(verb.Call, 2*wait+3+gap)))
		}
	}
	return suite.NumberedCalls(out)
}

// flow are the instants of a steady flow of events, which lasts for three intervals.
var flow = func() (at []time.Duration) {
	for i := range 30 {
		at = append(at, time.Duration(i)*suite.Wait/10)
	}
	return at
}()

// afterSetting returns the last step that sets the clock and the steps after it.
func (x *exam) afterSetting() (set conformance.Step, after []conformance.Step) {
	for i, s := range x.Schedule.Steps {
		if s.Op == verb.Wall {
			set, after = s, x.Schedule.Steps[i+1:]
		}
	}
	return set, after
}

// heldUp judges runs in which the clock is set back, which may hold an event up for one interval
// at most. On the leading edge that shows when another one comes.
func (x *exam) heldUp() *suite.Violation {
	interval := x.Schedule.Config.Interval
	set, steps := x.afterSetting()
	for i, s := range steps {
		by := s.At + 2*interval
		if x.edges&Trailing == 0 {
			over := s.At + interval
			if x.traits.Boundary != BoundaryPasses {
				over += 2
			}
			next := slices.IndexFunc(steps[i:], func(o conformance.Step) bool { return o.At >= over })
			if next < 0 {
				return nil
			}
			by = steps[i+next].At
		}
		inTime := func(f conformance.Fire) bool { return f.Began.At >= s.At && f.Began.At <= by }
		if !slices.ContainsFunc(x.Fires, inTime) {
			because := fmt.Sprintf("the clock was set back by %s at %s, which may delay events by %s at most",
				timeline.Duration(-set.D), timeline.Duration(set.At), timeline.Duration(interval))
			return suite.Broken(by, because,
				"nothing was emitted from %s to %s", timeline.Duration(s.At), timeline.Duration(by))
		}
	}
	return nil
}

// crowded finds emissions that are too close to each other though the clock has not been set
// between them, where a clock that is set back may let an event pass sooner. It begins with the
// first event after that. What the trailing edge emits first may have been due before.
func (x *exam) crowded() *suite.Violation {
	_, steps := x.afterSetting()
	if x.twice() || x.traits.ClockBack != BackBounded || len(steps) == 0 {
		return nil
	}
	first := slices.IndexFunc(x.Done, func(d conformance.Done) bool { return d.Step == steps[0] })
	if first < 0 {
		return nil
	}
	fires := x.since(&x.Done[first])
	if x.edges&Trailing != 0 && len(fires) > 0 {
		fires = fires[1:]
	}
	return x.spaced(fires, x.mostWithin())
}

// mostWithin returns how many emissions may come within an interval, whenever that begins.
func (x *exam) mostWithin() int {
	k := max(1, x.Schedule.Config.K)
	if k > 1 && x.traits.Windows == WindowsFromFirst {
		return 2*k - 1 // at the end of an interval and the start of the next
	}
	return k
}

// shown is what the wall clock shows at an instant.
func (x *exam) shown(at time.Duration) time.Duration {
	skew := time.Duration(0)
	for _, s := range x.Schedule.Steps {
		if s.Op == verb.Wall && s.At <= at {
			skew += s.D
		}
	}
	return at + skew
}

// latest is the latest instant that the clock has shown to an event by an instant, since the last reset: after that
// a throttle may be a new one.
func (x *exam) latest(by time.Duration) time.Duration {
	latest := time.Duration(-edge.Far)
	for _, s := range x.Schedule.Steps {
		if s.At <= by && s.Op == verb.Reset {
			latest = -edge.Far
		}
		if s.At <= by && s.Op == verb.Call {
			latest = max(latest, x.shown(s.At))
		}
	}
	return latest
}

// stands judges runs in which the clock is set back by the latest instant that the clock
// has shown: emissions since the last reset come no sooner on that clock, and what waits comes.
func (x *exam) stands() *suite.Violation {
	interval, most := x.Schedule.Config.Interval, x.mostWithin()
	on := func(f conformance.Fire) time.Duration { return max(x.latest(f.Began.At), x.shown(f.Began.At)) }
	for i := most; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-most]
		if on(f)-on(before) >= x.shortest() || x.resetBetween(before, f) {
			continue
		}
		because := edge.Text("the interval of %s since the emission before it was not over on that clock", interval)
		if most > 1 {
			because = edge.Text("%d had come in the interval of %s before it on that clock", most, interval)
		}
		return x.broken(f.Began.At, because, "emitted at %s, when the clock had reached no more than %s",
			f.Began.At, on(f))
	}
	if x.shown(x.End) < x.latest(x.End)+2*interval { // an interval may still run on that clock
		return nil
	}
	return x.lost()
}
