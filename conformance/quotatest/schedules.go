package quotatest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// asking makes a request for n events. looking is a step that peeks.
func asking(n int) conformance.Step { return conformance.Step{Op: verb.Allow, N: n} }

var looking = conformance.Step{Op: verb.Tokens}

// explored is what the schedules of a limiter are made of.
type explored struct {
	*suite.Suite
	kind Kind
	unit time.Duration      // the window; of GCRA the interval
	one  []conformance.Step // a request for one
	many []conformance.Step // requests for one and more
}

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if !s.Accepts(verb.Allow) {
		return nil
	}
	e := &explored{Suite: s, kind: c.spec.Kind, unit: time.Second, one: []conformance.Step{asking(1)}}
	if e.kind == GCRA {
		e.unit = suite.Wait
	}
	for n := 1; n <= 4 && (n == 1 || s.Accepts(takesMany)); n++ {
		e.many = append(e.many, asking(n))
	}
	out := e.windows()
	add := func(name string, all ...conformance.Schedule) {
		out = append(out, suite.Family{Name: name, Schedules: all})
	}
	w, tr := e.unit, &c.spec.Traits
	if s.Accepts(takesMany) {
		out = append(out, e.unusualNumbers()...)
	}
	looks := []conformance.Step{asking(1), looking}
	if s.Accepts(verb.Tokens) {
		end := time.Duration(suite.Number(tr.Edge == EdgeClosed))
		add("looks", slices.Concat(
			suite.Sequences(e.config(1), looks, []time.Duration{0, 1, w - 1}, 3),
			suite.Sequences(e.config(2), looks, []time.Duration{0, w / 2, w}, 4),
			// one of these looks after a window has ended, and asks when one that began with the look would have
			suite.Sequences(e.config(1), looks, []time.Duration{w/2 + end, w + end}, 4))...)
	}
	if s.Accepts(verb.Fault) {
		fault := func(n int) conformance.Step { return conformance.Step{Op: verb.Fault, N: n} }
		add("faults", suite.Sequences(e.config(2),
			[]conformance.Step{asking(1), fault(1), fault(0)}, []time.Duration{0, w / 2, 2 * w}, 5)...)
	}
	if s.Time == conformance.Injected && forward(s, tr) == "" && c.trip == 0 {
		add("clock set back", slices.Concat(e.back(), e.farBack(), e.deniedAndBack())...)
	}
	if s.Time == conformance.Explicit {
		add("back in time", e.back()...)
		add("far back in time", e.farBack()...)
		add("denied, then back in time", e.deniedAndBack()...)
		if s.Accepts(verb.Tokens) {
			add("looks back in time", suite.Sequences(e.config(2), looks, []time.Duration{0, w / 2, -w / 2, -w}, 4)...)
		}
	}
	for _, epoch := range s.Epochs() {
		add("epoch "+epoch, suite.Sequences(e.config(2).With("epoch", epoch), e.one, e.gaps(), 3)...)
	}
	if s.Accepts(takesMany) && e.kind != GCRA && tr.CountDenied != DeniedCounted && !c.countsEach(s) {
		add("largest limit", largestLimit()...)
	}
	if s.Accepts(takesKeys) && c.takesTime(tr) == "" {
		out = append(out, e.keyed(!tr.exact())...)
	}
	// Last, since a limiter that calculates with such a window may never return.
	add("odd limits", e.senselessLimits(tr.exact())...)
	return out
}

// config is the configuration with a limit, or burst: with a smaller one where the constructor
// refuses that many.
func (e *explored) config(limit int) conformance.Config {
	return configured(e.kind, accepted(e.Suite, e.kind, limit))
}

// configured is a configuration that is nothing special, with a limit or burst.
func configured(kind Kind, limit int) conformance.Config {
	if kind == GCRA {
		return suite.Configured("rate", "10/1s", "burst", fmt.Sprint(limit))
	}
	return suite.Configured("rate", fmt.Sprintf("%d/1s", limit))
}

// accepted is the largest limit up to most that the constructor accepts, or 1.
func accepted(s *suite.Suite, kind Kind, most int) int {
	refuses := func(limit int) bool {
		text := configured(kind, limit).String() + " | allow 1 @0"
		return slices.ContainsFunc(s.TryText(text, inside.OrderSettled), func(rec *suite.Recording) bool {
			return rec.Refused != ""
		})
	}
	for most > 1 && refuses(most) {
		most--
	}
	return most
}

// gaps are those around the ends of windows.
func (e *explored) gaps() []time.Duration {
	w := e.unit
	return []time.Duration{0, 1, w / 2, w - 1, w, w + 1, 5 * w / 2}
}

// windows are requests that could be granted, in windows of several lengths that begin at
// several places.
func (e *explored) windows() []suite.Family {
	w := e.unit
	fewer := []time.Duration{0, w / 2, w, 2 * w}
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: suite.Sequences(e.config(2), e.one, []time.Duration{1, w}, 2)},
		{Name: "limit 1", Schedules: suite.Sequences(e.config(1), e.one, e.gaps(), 4)},
		{Name: "limit 2", Schedules: suite.Sequences(e.config(2), e.one, e.gaps(), 4)},
		{Name: "longer", Schedules: suite.Sequences(e.config(2), e.one, fewer, 5)},
		{Name: "limit 4", Schedules: suite.Sequences(e.config(4), e.many, []time.Duration{0, w / 4, w, 3 * w / 2}, 3)},
		{Name: "many", Schedules: e.steady()},
		{Name: "after long", Schedules: suite.Sequences(e.config(2), e.one, []time.Duration{0, w, time.Hour}, 5)},
		{Name: "idle again and again", Schedules: e.idling()},
		{Name: "ages", Schedules: e.ages()},
		{Name: "more than before", Schedules: e.growing()},
		{Name: "other windows", Schedules: e.otherWindows()},
	}
	if e.kind == GCRA {
		return out
	}
	out = append(out, suite.Family{Name: "off the grid", Schedules: suite.Later(suite.Sequences(e.config(2), e.one,
		[]time.Duration{0, 3 * w / 10, 7*w/10 - 1, 7 * w / 10, 7*w/10 + 1, w}, 4), 3*w/10)})
	if e.Time != conformance.PackageTime {
		cfg := e.config(4).With("epoch", "2000-01-01T00:00:00.3Z")
		few := slices.DeleteFunc(slices.Clone(e.many), func(s conformance.Step) bool { return s.N == 2 })
		out = append(out, suite.Family{Name: "off the epoch",
			Schedules: suite.Sequences(cfg, few, []time.Duration{0, 7 * w / 10, w, 6 * w / 5}, 3)})
	}
	if e.kind != SlidingLog {
		out = append(out, suite.Family{Name: "no part of a day", Schedules: e.noPartOfDay()})
	}
	return out
}

// otherWindows are windows, or intervals of GCRA, that are not whole seconds or
// milliseconds.
func (e *explored) otherWindows() []conformance.Schedule {
	rates := []string{"2/1.5s", "2/100ms", "2/1m30s", "2/720h", "2/2.5ms"}
	if e.kind == GCRA {
		rates = []string{"2/1.5s", "2/1.001s", "2/1m30s"} // events 750ms, 500.5ms and 45s apart
	}
	var out []conformance.Schedule
	for _, rate := range rates {
		each := suite.Configured("rate", rate)
		w := each.Rate.Per
		if e.kind == GCRA {
			each, w = each.With("burst", "2"), w/2
		}
		out = append(out, suite.Sequences(each, e.one, []time.Duration{0, w / 2, w - 1, w, w + 1, 5 * w / 2}, 4)...)
	}
	if e.kind == GCRA {
		out = append(out, e.thirds()...)
	}
	return out
}

// noPartOfDay are windows of which no day is a whole number, so that it shows from which instant on those that are on
// the clock are counted.
func (e *explored) noPartOfDay() []conformance.Schedule {
	var out []conformance.Schedule
	for _, window := range []string{"28s", "168h"} {
		each := suite.Configured("rate", fmt.Sprintf("%d/%s", accepted(e.Suite, e.kind, 2), window))
		w := each.Rate.Per
		epoch, unix := w-into(AlignEpoch, each), w-into(AlignUnix, each)
		between := (epoch - unix).Abs()
		out = append(out, suite.Sequences(each, e.one, []time.Duration{0, between, epoch, unix, w}, 4)...)
	}
	return out
}

// thirds are intervals of GCRA that are no whole number of nanoseconds: a little before they are over, and where
// a limiter may say that they are.
func (e *explored) thirds() []conformance.Schedule {
	var out []conformance.Schedule
	for _, rate := range []string{"3/1s", "7/1s", "30000/1s"} {
		for _, burst := range []string{"1", "2"} {
			each := suite.Configured("rate", rate, "burst", burst)
			w := each.Rate.Interval()
			gaps := []time.Duration{0, w / 2, w - 100, w, w + 1}
			out = append(out, suite.Sequences(each, e.one, gaps, 4)...)
		}
	}
	return out
}

// steady asks many times, a little more and a little less often than the limit allows.
func (e *explored) steady() []conformance.Schedule {
	w := e.unit
	var out []conformance.Schedule
	for _, limit := range []int{1, 3, 10} {
		for _, gap := range []time.Duration{w / 20, w / 10, w * 3 / 10, w * 4 / 10, w * 7 / 10, w - 1, w * 13 / 10} {
			out = append(out, suite.Plan(e.config(limit), inARow(0, gap, 60)...))
		}
	}
	return out
}

// unusualNumbers ask for nothing, less than nothing, and more than the limit, and for numbers
// whose sums are near the largest.
func (e *explored) unusualNumbers() []suite.Family {
	unusual := []int{0, -1, -3, 5, math.MaxInt32, math.MaxInt, math.MinInt}
	if e.kind == SlidingLog {
		unusual = []int{0, -1, -3, 5} // a log with a mistake would remember each of MaxInt events
	}
	var out []suite.Family
	for _, n := range unusual {
		steps := []conformance.Step{asking(4), asking(n), asking(1)}
		out = append(out, suite.Family{Name: "odd numbers",
			Schedules: suite.Sequences(e.config(4), steps, []time.Duration{0, e.unit / 2}, 3)})
	}
	if e.kind == SlidingCounter || e.kind == FixedWindow {
		cfg, steps := suite.Configured("rate", "1000000000/1h"), []conformance.Step{asking(5e8), asking(1e9)}
		if e.kind == SlidingCounter { // a third of a full window before is left over after 80 minutes, but for 1 in 500
			steps = append(steps, asking(332e6), asking(335e6))
		}
		out = append(out, suite.Family{Name: "large",
			Schedules: suite.Sequences(cfg, steps, []time.Duration{0, time.Hour, 80 * time.Minute}, 3)})
	}
	return out
}

// back are schedules whose instants go back by a window, and then go on.
func (e *explored) back() []conformance.Schedule {
	w := e.unit
	out := suite.Sequences(e.config(2), e.one, []time.Duration{0, w, -w}, 6)
	for n := 6; n <= 24; n += 6 {
		s := suite.Plan(e.config(2))
		for i := range n {
			s.Steps = append(s.Steps, conformance.Step{Op: verb.Allow, N: 1, At: time.Duration(1-i/2%2) * w})
		}
		out = append(out, s)
	}
	return out
}

// farBack are schedules of several units whose instants go back by a part of a window, and by
// several, to before the limiter was made, and then go on.
func (e *explored) farBack() []conformance.Schedule {
	w, steps := e.unit, []conformance.Step{asking(1)}
	if e.Accepts(takesMany) {
		steps = append(steps, asking(3))
	}
	return suite.Sequences(e.config(4), steps, []time.Duration{0, w / 2, 7 * w / 2, -w / 3, -w, -3 * w}, 4)
}

// deniedAndBack are schedules in which what takes nothing comes when some of what was granted has expired: a look,
// or a request for too many. What is asked then, half a unit before, and later, would find room for it if that were
// forgotten, or no longer counted where it is.
func (e *explored) deniedAndBack() []conformance.Schedule {
	var takesNothing []conformance.Step
	if e.Accepts(verb.Tokens) {
		takesNothing = append(takesNothing, looking)
	}
	half, some := e.unit/2, 1
	limits := []int{accepted(e.Suite, e.kind, 1), accepted(e.Suite, e.kind, 2)}
	var out []conformance.Schedule
	for _, limit := range slices.Compact(limits) {
		nothing := takesNothing
		if e.Accepts(takesMany) {
			nothing, some = append(slices.Clone(nothing), asking(limit), asking(limit+1)), limit
		}
		for _, st := range nothing {
			for early := range 2 { // halves of a unit to what takes nothing
				at := func(s conformance.Step, halves int) conformance.Step {
					s.At = time.Duration(halves) * half
					return s
				}
				begin := []conformance.Step{asking(1)}
				if limit > 1 {
					begin = append(begin, at(asking(1), 1))
				}
				peak := 2 + early
				out = append(out, suite.Plan(e.config(limit), append(begin, at(st, peak), at(asking(1), peak-1),
					at(asking(some), peak+1), at(asking(some), peak+2))...))
			}
		}
	}
	return out
}

// senselessLimits are schedules with configurations that mayRefuse selects.
func (e *explored) senselessLimits(exact bool) []conformance.Schedule {
	var out []conformance.Schedule
	add := func(each conformance.Config) {
		steps := slices.Clone(e.one)
		if e.Accepts(verb.Tokens) {
			steps = append(steps, looking)
		}
		out = append(out, suite.Sequences(each, steps, []time.Duration{0, 1, time.Hour}, 3)...)
		out = append(out, suite.Plan(each, slices.Repeat(e.one, 5)...))
	}
	if e.kind != GCRA {
		add(suite.Configured("rate", "0/1s"))
		if exact {
			add(suite.Configured("rate", "1/1ns"))
		}
		for _, window := range []string{"2562047h47m16.854775807s", "1281023h53m38.427387904s"} {
			add(suite.Configured("rate", "1/"+window))
		}
		return out
	}
	for _, pair := range [][2]string{
		{"10/1s", "0"}, {"10/1s", "-1"}, {"10/1s", "2147483647"}, {"1/1h", "2147483647"},
		{"2000000000/1s", "1"}, {"2000000000/1s", "3"}, {"1500000000/1s", "1"}, {"1500000000/1s", "3"},
		{"1/2562047h47m16.854775807s", "3"}, {"1/1281023h53m38.427387904s", "4"},
		{"1/1281023h53m38.427387904s", "2"},
	} {
		add(suite.Configured("rate", pair[0], "burst", pair[1]))
	}
	return out
}
