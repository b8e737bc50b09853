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
	kind     Kind
	unit     time.Duration      // the window; of GCRA the interval
	one      []conformance.Step // a request for one
	many     []conformance.Step // requests for one and more
	families []suite.Family
}

// add adds a family.
func (e *explored) add(name string, all ...[]conformance.Schedule) {
	f := suite.Family{Name: name, Look: name == suite.Leaks, Schedules: slices.Concat(all...)}
	e.families = append(e.families, f)
}

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if !s.Accepts(verb.Allow) {
		return nil
	}
	e := &explored{Suite: s, kind: c.spec.Kind, unit: unit(c.spec.Kind, configured(c.spec.Kind, 1)),
		one: []conformance.Step{asking(1)}}
	for n := 1; n <= 4 && (n == 1 || s.Accepts(takesMany)); n++ {
		e.many = append(e.many, asking(n))
	}
	e.windows()
	w, tr := e.unit, &c.spec.Traits
	if s.Accepts(takesMany) {
		e.unusualNumbers()
	}
	looks := []conformance.Step{asking(1), looking}
	if s.Accepts(verb.Tokens) {
		end := time.Duration(suite.Number(tr.Edge == EdgeClosed))
		e.add("looks",
			suite.Sequences(e.config(1), looks, []time.Duration{0, 1, w - 1}, 3),
			suite.Sequences(e.config(2), looks, []time.Duration{0, w / 2, w}, 4),
			// one of these looks after a window has ended, and asks when one that began with the look would have
			suite.Sequences(e.config(1), looks, []time.Duration{w/2 + end, w + end}, 4))
	}
	if s.Accepts(verb.Fault) {
		fault := func(n int) conformance.Step { return conformance.Step{Op: verb.Fault, N: n} }
		steps := []conformance.Step{asking(1), fault(1), fault(0)}
		e.add("faults", suite.Sequences(e.config(2), steps, []time.Duration{0, w / 2, 2 * w}, 5))
	}
	if s.Time == conformance.Injected && forward(s, tr) == "" && c.trip == 0 {
		e.add("clock set back", e.back(), e.farBack(), e.deniedAndBack())
	}
	if s.Time == conformance.Explicit {
		e.add("back in time", e.back())
		e.add("far back in time", e.farBack())
		e.add("denied, then back in time", e.deniedAndBack())
		if s.Accepts(verb.Tokens) {
			e.add("looks back in time", suite.Sequences(e.config(2), looks, []time.Duration{0, w / 2, -w / 2, -w}, 4))
		}
	}
	for _, epoch := range s.Epochs() {
		e.add("epoch "+epoch, suite.Sequences(e.config(2).With("epoch", epoch), e.one, e.gaps(), 3))
	}
	if s.Accepts(takesMany) && e.kind != GCRA && tr.CountDenied != DeniedCounted && !c.countsEach(s) {
		e.add("largest limit", largestLimit())
	}
	if s.Accepts(takesKeys) && c.takesTime(tr) == "" {
		e.keyed(!tr.exact())
	}
	// Last, since a limiter that calculates with such a window may never return.
	e.add("odd limits", e.senselessLimits(tr.exact()))
	return e.families
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

// looks are the steps that peek.
func (e *explored) looks() (out []conformance.Step) {
	if e.Accepts(verb.Tokens) {
		out = append(out, looking)
	}
	return out
}

// oneAndTwo are the limits 1 and 2, as far as the constructor accepts them.
func (e *explored) oneAndTwo() []int {
	return slices.Compact([]int{accepted(e.Suite, e.kind, 1), accepted(e.Suite, e.kind, 2)})
}

// gaps are those around the ends of windows.
func (e *explored) gaps() []time.Duration {
	w := e.unit
	return []time.Duration{0, 1, w / 2, w - 1, w, w + 1, 5 * w / 2}
}

// windows are requests that could be granted, in windows of several lengths that begin at
// several places.
func (e *explored) windows() {
	w, two := e.unit, e.config(2)
	e.add(suite.Leaks, suite.Sequences(two, e.one, []time.Duration{1, w}, 2))
	e.add("limit 1", suite.Sequences(e.config(1), e.one, e.gaps(), 4))
	e.add("limit 2", suite.Sequences(two, e.one, e.gaps(), 4))
	e.add("longer", suite.Sequences(two, e.one, []time.Duration{0, w / 2, w, 2 * w}, 5))
	e.add("limit 4", suite.Sequences(e.config(4), e.many, []time.Duration{0, w / 4, w, 3 * w / 2}, 3))
	e.add("many", e.steady())
	e.add("after long", suite.Sequences(two, e.one, []time.Duration{0, w, time.Hour}, 5))
	e.add("idle again and again", e.idling())
	e.add("ages", e.ages())
	e.add("more than before", e.growing())
	e.add("other windows", e.otherWindows())
	if e.kind == GCRA {
		return
	}
	grid := []time.Duration{0, 3 * w / 10, 7*w/10 - 1, 7 * w / 10, 7*w/10 + 1, w}
	e.add("off the grid", suite.Later(suite.Sequences(two, e.one, grid, 4), 3*w/10))
	if e.Time != conformance.PackageTime {
		cfg := e.config(4).With("epoch", "2000-01-01T00:00:00.3Z")
		few := slices.DeleteFunc(slices.Clone(e.many), func(s conformance.Step) bool { return s.N == 2 })
		e.add("off the epoch", suite.Sequences(cfg, few, []time.Duration{0, 7 * w / 10, w, 6 * w / 5}, 3))
	}
	if e.kind != SlidingLog {
		e.add("no part of a day", e.noPartOfDay())
	}
}

// scaled are sequences of up to four requests for one, with gaps that depend on the configuration, and on its unit.
func (e *explored) scaled(
	gaps func(cfg conformance.Config, w time.Duration) []time.Duration, configs ...conformance.Config,
) (out []conformance.Schedule) {
	for _, cfg := range configs {
		out = append(out, suite.Sequences(cfg, e.one, gaps(cfg, unit(e.kind, cfg)), 4)...)
	}
	return out
}

// unit is the window, or the interval of GCRA.
func unit(kind Kind, cfg conformance.Config) time.Duration {
	if kind == GCRA {
		return cfg.Rate.Interval()
	}
	return cfg.Rate.Per
}

// otherWindows are windows, or intervals of GCRA, that are not whole seconds or milliseconds. Intervals that are no
// whole number of nanoseconds may be over where a limiter says so.
func (e *explored) otherWindows() []conformance.Schedule {
	around := func(_ conformance.Config, w time.Duration) []time.Duration {
		return []time.Duration{0, w / 2, w - 1, w, w + 1, 5 * w / 2}
	}
	if e.kind != GCRA {
		return e.scaled(around, suite.Each(suite.Configured(), "rate",
			"2/1.5s", "2/100ms", "2/1m30s", "2/720h", "2/2.5ms")...)
	}
	two := suite.Configured("burst", "2")
	out := e.scaled(around, suite.Each(two, "rate", "2/1.5s", "2/1.001s", "2/1m30s")...) // 750ms, 500.5ms and 45s apart
	for _, cfg := range suite.Each(two, "rate", "3/1s", "7/1s", "30000/1s") {
		out = append(out, e.scaled(func(_ conformance.Config, w time.Duration) []time.Duration {
			return []time.Duration{0, w / 2, w - 100, w, w + 1}
		}, suite.Each(cfg, "burst", "1", "2")...)...)
	}
	return out
}

// noPartOfDay are windows of which no day is a whole number, so that it shows from which instant on those that are on
// the clock are counted.
func (e *explored) noPartOfDay() []conformance.Schedule {
	n := accepted(e.Suite, e.kind, 2)
	return e.scaled(func(cfg conformance.Config, w time.Duration) []time.Duration {
		epoch, unix := w-into(AlignEpoch, cfg), w-into(AlignUnix, cfg)
		return []time.Duration{0, (epoch - unix).Abs(), epoch, unix, w}
	}, suite.Each(suite.Configured(), "rate", fmt.Sprintf("%d/28s", n), fmt.Sprintf("%d/168h", n))...)
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
func (e *explored) unusualNumbers() {
	unusual := []int{0, -1, -3, 5, math.MaxInt32, math.MaxInt, math.MinInt}
	if e.kind == SlidingLog {
		unusual = unusual[:4] // a log with a mistake would remember each of MaxInt events
	}
	for _, n := range unusual {
		steps := []conformance.Step{asking(4), asking(n), asking(1)}
		e.add("odd numbers", suite.Sequences(e.config(4), steps, []time.Duration{0, e.unit / 2}, 3))
	}
	if e.kind == SlidingCounter || e.kind == FixedWindow {
		cfg, steps := suite.Configured("rate", "1000000000/1h"), []conformance.Step{asking(5e8), asking(1e9)}
		if e.kind == SlidingCounter { // a third of a full window before is left over after 80 minutes, but for 1 in 500
			steps = append(steps, asking(332e6), asking(335e6))
		}
		e.add("large", suite.Sequences(cfg, steps, []time.Duration{0, time.Hour, 80 * time.Minute}, 3))
	}
}

// back are schedules whose instants go back by a window, and then go on.
func (e *explored) back() []conformance.Schedule {
	w := e.unit
	out := suite.Sequences(e.config(2), e.one, []time.Duration{0, w, -w}, 6)
	for n := 6; n <= 24; n += 6 {
		steps := inARow(w, 0, n)
		for i := range steps {
			steps[i].At -= time.Duration(i/2%2) * w
		}
		out = append(out, suite.Plan(e.config(2), steps...))
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
	at := func(s conformance.Step, halves int) conformance.Step {
		s.At = time.Duration(halves) * e.unit / 2
		return s
	}
	var out []conformance.Schedule
	for _, limit := range e.oneAndTwo() {
		nothing, some := e.looks(), 1
		if e.Accepts(takesMany) {
			nothing, some = append(nothing, asking(limit), asking(limit+1)), limit
		}
		for _, st := range nothing {
			for peak := 2; peak <= 3; peak++ { // halves of a unit to what takes nothing
				steps := append(inARow(0, e.unit/2, limit), at(st, peak), at(asking(1), peak-1),
					at(asking(some), peak+1), at(asking(some), peak+2))
				out = append(out, suite.Plan(e.config(limit), steps...))
			}
		}
	}
	return out
}

// senselessLimits are schedules with configurations that mayRefuse selects.
func (e *explored) senselessLimits(exact bool) (out []conformance.Schedule) {
	rates := []string{"0/1s", "1/1ns", "1/2562047h47m16.854775807s", "1/1281023h53m38.427387904s"}
	if !exact {
		rates = slices.Delete(rates, 1, 2)
	}
	if e.kind == GCRA {
		rates = []string{"10/1s burst=0", "10/1s burst=-1", "10/1s burst=2147483647", "1/1h burst=2147483647",
			"2000000000/1s burst=1", "2000000000/1s burst=3", "1500000000/1s burst=1", "1500000000/1s burst=3",
			"1/2562047h47m16.854775807s burst=3", "1/1281023h53m38.427387904s burst=4",
			"1/1281023h53m38.427387904s burst=2"}
	}
	for _, rate := range rates {
		cfg := suite.MustParse("rate=" + rate + " | allow 1 @0").Config
		steps := append(slices.Clone(e.one), e.looks()...)
		out = append(out, suite.Sequences(cfg, steps, []time.Duration{0, 1, time.Hour}, 3)...)
		out = append(out, suite.Plan(cfg, slices.Repeat(e.one, 5)...))
	}
	return out
}

// idleTimes is how often a limiter is left alone in a schedule.
const idleTimes = 6

// idling lists schedules in which everything that counts expires again and again: what a limiter
// keeps of one idle time is too little to show, and more than the limit once it has added up.
func (e *explored) idling() []conformance.Schedule {
	w := e.unit
	var out []conformance.Schedule
	for _, limit := range e.oneAndTwo() {
		long := time.Duration(limit+2) * w
		for _, gap := range []time.Duration{long, long + w/2, 20 * long} {
			out = append(out, e.leftAlone(limit, gap, limit+1), e.leftAlone(limit, gap, 1))
		}
	}
	return out
}

// ages lists schedules in which a limiter that was used up is asked again after so long that a
// number of nanoseconds is too large for who counts with 32 bits, or has a bound of its own beyond
// which it counts from a newer instant: a little less, and a little more.
func (e *explored) ages() []conformance.Schedule {
	limit := accepted(e.Suite, e.kind, 2)
	var out []conformance.Schedule
	for _, bits := range []int{31, 32, 60} {
		for _, off := range []time.Duration{-1, 1} {
			out = append(out, suite.Plan(configured(e.kind, limit),
				append(inARow(0, 0, limit+1), inARow(1<<bits+off, 0, limit+1)...)...))
		}
	}
	return out
}

// inARow asks n times, so far apart.
func inARow(from, gap time.Duration, n int) (out []conformance.Step) {
	for i := range n {
		out = append(out, conformance.Step{Op: verb.Allow, N: 1, At: from + time.Duration(i)*gap})
	}
	return out
}

// leftAlone asks each times after each idle time, and once more than the limit after the last.
func (e *explored) leftAlone(limit int, gap time.Duration, each int) conformance.Schedule {
	s := suite.Plan(configured(e.kind, limit))
	for i := range idleTimes {
		if i == idleTimes-1 {
			each = limit + 1
		}
		s.Steps = append(s.Steps, inARow(time.Duration(i)*gap, 0, each)...)
	}
	return s
}

// growing lists schedules in which some events expire before there are more at a time than ever
// before: what remembers events in a ring has to make room when the ring does not begin at its
// first place. It is left alone long enough between for all of them to expire.
func (e *explored) growing() []conformance.Schedule {
	var limits []int
	for _, most := range []int{5, 9, 17} {
		limits = append(limits, accepted(e.Suite, e.kind, most))
	}
	var out []conformance.Schedule
	for _, limit := range slices.Compact(limits) {
		long := time.Duration(limit+2) * e.unit
		for first := 1; first <= min(limit, 4); first++ {
			out = append(out, suite.Plan(configured(e.kind, limit),
				slices.Concat(inARow(0, 1, first), inARow(long, 1, limit+1), inARow(4*long, 1, limit+1))...))
		}
	}
	return out
}

// largestLimit is a request for the largest limit that there is, when some of it is gone: who adds what it asks for
// to what is gone gets a sum that no int holds. As many are gone as a float of that size still tells from none. Who
// counts what it denies is not asked, since what it counts has no bound.
func largestLimit() []conformance.Schedule {
	const gone = 1 << 12
	cfg := suite.Configured("rate", fmt.Sprintf("%d/1s", math.MaxInt))
	return []conformance.Schedule{suite.Plan(cfg, asking(gone), asking(math.MaxInt))}
}

// incountable reports whether a limit is so large that a constructor may fail over it as the runtime does: there is
// no room to remember so many.
func incountable(limit int) bool { return limit == math.MaxInt }

// countsEach reports whether a limiter takes room or time for each event: with the largest limit its constructor
// would not end, and one with a mistake would use up the memory to remember them all.
func (c *contract) countsEach(s *suite.Suite) bool {
	full := func(st *suite.Stage, n int) (end func()) {
		env := st.Plain()
		impl := c.spec.made(env, Config{Limit: n, Window: time.Second, Burst: n})
		var d conformance.Done
		impl.do(asking(n), env.Start, &d)
		return func() { impl.end(st, st.Now(), time.Second) }
	}
	return c.trip > 0 || s.TakesEach(full) // over a network it does not show
}
