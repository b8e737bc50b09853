package leakybuckettest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// putting is the alphabet of nothing but items, halves are gaps of a half and a whole interval.
var (
	putting = []conformance.Step{{Op: verb.Put}}
	halves  = []time.Duration{0, suite.Wait / 2, suite.Wait}
)

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if s.Inexact != "" || !s.Accepts(verb.Put) {
		return nil
	}
	tr := c.spec.Traits
	base := suite.Configured("interval", "100ms")
	size := func(n int) conformance.Config { return base.With("backlog", fmt.Sprint(n)) }
	puts := func(n int, gaps []time.Duration, depth int) []conformance.Schedule {
		return sequences(size(n), putting, gaps, depth)
	}
	grid := []time.Duration{0, 1, suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1, 5 * suite.Wait / 2}
	hours := []time.Duration{0, time.Hour, 3*time.Hour - 1, 3 * time.Hour, 3*time.Hour + 1}
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: puts(2, []time.Duration{1, suite.Wait}, 3)},
		{Name: "queue", Schedules: puts(2, grid, 4)},
		{Name: "longer queue", Schedules: puts(2, append(halves[:3:3], 5*suite.Wait/2), 5)},
		{Name: "queue of one", Schedules: puts(1, grid, 4)},
		{Name: "after idle time", Schedules: puts(2, []time.Duration{0, 1, 11 * suite.Wait}, 3)},
		{Name: "bursts", Schedules: puts(3, []time.Duration{0, suite.Wait}, 7)},
		{Name: "long", Schedules: longQueues()},
		{Name: "hours", Schedules: sequences(withInterval(size(2), 3*time.Hour), putting, hours, 3)},
	}
	add := func(name string, schedules []conformance.Schedule) {
		out = append(out, suite.Family{Name: name, Schedules: schedules})
	}
	if tr.FirstItem == FirstAtOnce && tr.Slack == 0 && !tr.Unbounded {
		gaps := []time.Duration{1, suite.Wait - 1, suite.Wait, 5 * suite.Wait / 2}
		add("no backlog", after(size(0), "put 1 @0 | put 2 @0", "put 0 @0", gaps, 2))
	}
	for _, f := range withdrawn(s, size) {
		f.Schedules = spent(tr.Slack, f.Schedules)
		out = append(out, f)
	}
	races := racingEnds(s)
	if tr.Slack > 0 {
		add("slack", slacks(tr.Slack))
		races = spent(tr.Slack, races)
	} else {
		races = append(c.races(s), races...)
	}
	out = append(out, suite.Family{Name: "racing", Skip: s.Unsettled(), Schedules: races})
	for _, op := range s.Supported(verb.Put, verb.Cancel, verb.Close) {
		if edge.NoReentry(s, tr.Reentrancy) == "" {
			add("inside", sequences(size(2).With("inside", string(op)), putting, []time.Duration{0, suite.Wait}, 3))
		}
	}
	if s.Accepts(opServes) && s.Bubble {
		out = append(out, busy(s, size(2))...)
		if tr.FirstItem != FirstOnGrid { // a tick may wait for the function, just before the next one
			add("busy once", sequences(size(2).With("busy", "350ms").With("busyruns", "1"), putting, halves, 4))
		}
	}
	if tr.ClockBack != 0 && s.Time == conformance.Injected {
		add("clock set back", setsBack())
	}
	for _, epoch := range s.Epochs() {
		add("epoch "+epoch, sequences(size(2).With("epoch", epoch), putting, grid, 3))
	}
	if tr.FirstItem != 0 && tr.Slack == 0 && c.undecidedSlack(s, &tr) == "" { // overflows
		add("centuries", c.centuries(s, size(2)))
	}
	return out
}

func withInterval(cfg conformance.Config, d time.Duration) conformance.Config {
	return cfg.Without("interval").With("interval", timeline.Duration(d))
}

// withdrawn are schedules in which what waits is cancelled, or the bucket is closed or stopped.
func withdrawn(s *suite.Suite, size func(int) conformance.Config) (out []suite.Family) {
	add := func(name string, schedules ...[]conformance.Schedule) {
		out = append(out, suite.Family{Name: name, Look: name == suite.Leaks, Schedules: slices.Concat(schedules...)})
	}
	either := func(text string) []conformance.Step { return append(putting[:1:1], suite.MustParse(text).Steps...) }
	const two, three = "put 1 @0 | put 2 @0", "put 1 @0 | put 2 @0 | put 3 @0"
	if s.Accepts(verb.Cancel) {
		add("cancels", sequences(size(2), either("cancel 1 @0 | cancel 2 @0 | cancel 3 @0"), halves[:2], 4))
		edges := []time.Duration{suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1}
		add("cancels and what comes later",
			after(size(3), three+" | put 4 @0", "put 0 @0 | cancel 2 @0 | cancel 3 @0 | cancel 4 @0", halves, 2),
			after(size(2), two+" | cancel 2 @0", "put 0 @0", halves, 3),
			after(size(2), two+" | cancel 2 @0", "put 0 @0", edges, 2))
		add("later cancels", sequences(size(1), either("cancel 2 @0"), halves, 5))
	}
	if s.Accepts(verb.Close) {
		add("closes", sequences(size(2), either("close @0"), halves, 4))
		add("closes, and what comes later", after(size(2), three, "close @0 | put 0 @0", halves[:2], 2))
		if s.Accepts(verb.Cancel) {
			add("closes and cancels", after(size(2), three, "close @0 | cancel 2 @0 | cancel 3 @0", halves[:2], 3))
		}
	}
	if s.Accepts(verb.Stop) {
		months := withInterval(size(2), edge.Months)
		add(suite.Leaks, after(size(2), two, "stop @0", halves, 1),
			edge.StopsSoon(s, sequences(months, putting, []time.Duration{0, suite.Wait}, 3)))
		add("stops", slices.DeleteFunc(ending(s, size(2), []time.Duration{0, suite.Wait / 2}),
			func(s conformance.Schedule) bool { return !stopsOnce(s.Steps) }))
	}
	return out
}

// spent makes the schedules begin with as many more items as a slack is, at 0, so that what comes
// after them waits as it does without a slack.
func spent(slack int, all []conformance.Schedule) []conformance.Schedule {
	if slack == 0 {
		return all
	}
	for k := range all {
		s := &all[k]
		for i := range s.Steps {
			if s.Steps[i].Op == verb.Cancel {
				s.Steps[i].N += slack
			}
		}
		s.Steps = append(slices.Repeat(putting, slack), s.Steps...)
	}
	return withItems(all)
}

// onPackageTime are the schedules that are run while package time moves on.
func onPackageTime(*suite.Suite) []conformance.Schedule {
	return sequences(suite.Configured("interval", "100ms", "backlog", "2"), putting, suite.Around(suite.Wait), 3)
}

// filled are schedules of items that come to a full bucket around the instants at which others leave it.
func filled(*suite.Suite) []conformance.Schedule {
	gaps := []time.Duration{0, suite.Wait / 2, suite.Wait, suite.Wait + 2}
	all := suite.Sequences(suite.Configured("interval", "100ms", "backlog", "2"), putting, gaps, 4)
	for i := range all {
		all[i].Steps = slices.Concat(putting, putting, all[i].Steps)
	}
	return suite.NumberedCalls(all)
}

// taken are the items that leave, and the answers to items.
func taken(rec *suite.Recording) []suite.Mark {
	return append(suite.FireMarks(rec), suite.Answers(verb.Put)(rec)...)
}

// busy are schedules in which the function that items leave to takes its time, up to more than an
// interval, and in which the bucket is stopped or closed meanwhile.
func busy(s *suite.Suite, cfg conformance.Config) (out []suite.Family) {
	for _, busy := range []time.Duration{suite.Wait * 3 / 10, suite.Wait * 5 / 2} {
		text := timeline.Duration(busy)
		all := ending(s, cfg.With("busy", text), []time.Duration{0, busy / 2, suite.Wait + busy/3})
		all = slices.DeleteFunc(all, func(s conformance.Schedule) bool {
			job := suite.Job{Schedule: s}
			return hasStop(job) && (hasClose(job) || !stopsOnce(s.Steps))
		})
		out = append(out, suite.Family{Name: "busy " + text, Schedules: all})
	}
	return out
}

var hasStop, hasClose = suite.Steps(verb.Stop), suite.Steps(verb.Close)

// ending are schedules of items, in which the bucket may be stopped or closed, and offered more.
func ending(s *suite.Suite, cfg conformance.Config, gaps []time.Duration) []conformance.Schedule {
	steps := putting[:1:1]
	for _, op := range s.Supported(verb.Stop, verb.Close) {
		steps = append(steps, conformance.Step{Op: op})
	}
	return sequences(cfg, steps, gaps, 4)
}

// stopsOnce reports whether there is one Stop, and no Close after it: a bucket that is stopped need
// take no more of these.
func stopsOnce(steps []conformance.Step) bool {
	stops := 0
	for _, s := range steps {
		if stops > 0 && s.Op == verb.Close {
			return false
		}
		stops += suite.Number(s.Op == verb.Stop)
	}
	return stops == 1
}

// sequences are the sequences of the suite with numbered items.
func sequences(
	cfg conformance.Config, steps []conformance.Step, gaps []time.Duration, depth int,
) []conformance.Schedule {
	return withItems(suite.Sequences(cfg, steps, gaps, depth))
}

// withItems numbers the items of each schedule, and leaves out schedules that do not begin
// with a put.
func withItems(all []conformance.Schedule) []conformance.Schedule {
	all = slices.DeleteFunc(all, func(s conformance.Schedule) bool { return s.Steps[0].Op != verb.Put })
	return suite.NumberedCalls(all)
}

// after lists the schedules that begin with head, all of it at 0, and go on with up to
// depth steps of the alphabet, each a gap after the one before it.
func after(cfg conformance.Config, head, alphabet string, gaps []time.Duration, depth int) []conformance.Schedule {
	begin, steps := suite.MustParse(head).Steps, suite.MustParse(alphabet).Steps
	var out []conformance.Schedule
	for _, gap := range gaps {
		for _, s := range suite.Later(suite.Sequences(cfg, steps, gaps, depth), gap) {
			out = append(out, suite.Plan(cfg, slices.Concat(begin, s.Steps)...))
		}
	}
	return withItems(out)
}

// setsBack set the clock back, a little and far, while items wait and while none does, and go
// on.
func setsBack() (all []conformance.Schedule) {
	const w = suite.Wait
	cfg := suite.Configured("interval", "100ms", "backlog", "9")
	for _, by := range []time.Duration{1, w / 2, w, 7 * w, time.Hour} {
		for _, at := range []time.Duration{0, w / 2, w, 5 * w} {
			back := conformance.Step{Op: verb.Wall, D: -by, At: at}
			for items := 1; items <= 3; items++ {
				steps := append(slices.Repeat(putting, items), back)
				all = append(all, suite.Plan(cfg, steps...))
				for _, gap := range []time.Duration{0, w / 2, w, 9 * w} {
					put := conformance.Step{Op: verb.Put, At: at + gap}
					all = append(all, suite.Plan(cfg, slices.Concat(steps, []conformance.Step{put})...),
						suite.Plan(cfg, slices.Concat(steps, []conformance.Step{put, put})...))
				}
			}
		}
	}
	return withItems(all)
}

// races are schedules in which something is done at the instant at which an item
// that waits is due, or in which the input ends right behind an item.
func (c *contract) races(s *suite.Suite) []conformance.Schedule {
	const conf = "interval=100ms backlog=2 | put 1 @0 | put 2 @0"
	texts := []string{
		conf + " | put 3 @100ms~",
		conf + " | put 3 @0 | put 4 @100ms~",
		conf + " | put 3 @100ms~ | put 4 @100ms~",
		conf + " | put 3 @100ms~ | put 4 @200ms~",
		conf + " | put 3 @50ms | put 4 @200ms~ | put 5 @250ms",
		"interval=1ns backlog=2 | put 1 @0 | put 2 @0 | put 3 @1ns~",
	}
	if s.Accepts(verb.Cancel) {
		texts = append(texts,
			conf+" | cancel 2 @100ms~",
			conf+" | cancel 2 @100ms~ | put 3 @150ms | put 4 @150ms",
			conf+" | put 3 @0 | cancel 2 @100ms~ | put 4 @150ms",
			conf+" | put 3 @0 | cancel 3 @100ms~",
			conf+" | cancel 2 @100ms~ | put 3 @100ms~ | put 4 @100ms~",
			conf+" | cancel 2 @100ms~ | put 3 @100ms~ | put 4 @100ms~ | put 5 @150ms")
	}
	if s.Accepts(verb.Close) && s.Accepts(opServes) && c.spec.Traits.CloseFlush == CloseAtDeadline {
		texts = append(texts, // who waits for both at once may choose by chance
			"interval=100ms backlog=1 | put 1 @0~ | close @0~",
			"interval=100ms backlog=2 | put 1 @0~ | close @0~",
			"interval=100ms backlog=3 | put 1 @0~ | close @0~",
			"interval=100ms backlog=2 | put 1 @0 | put 2 @0~ | close @0~",
			"interval=100ms backlog=2 | put 1 @0 | put 2 @100ms~ | close @100ms~",
			"interval=100ms backlog=2 | put 1 @0 | put 2 @250ms~ | close @250ms~")
	}
	return suite.ParseAll(texts...)
}

// racingEnds are schedules in which the bucket is stopped or closed at the instant at which an item is
// due, while others wait behind it.
func racingEnds(s *suite.Suite) []conformance.Schedule {
	var texts []string
	for _, op := range s.Supported(verb.Stop, verb.Close) {
		const conf = "interval=100ms backlog=3 | put 1 @0 | put 2 @0 | put 3 @0"
		texts = append(texts,
			fmt.Sprintf("%s | %s @100ms~", conf, op),
			fmt.Sprintf("%s | put 4 @0 | %s @200ms~", conf, op))
	}
	return suite.ParseAll(texts...)
}

// longQueues put many items, faster and slower than they leave, at intervals that are not
// round numbers.
func longQueues() []conformance.Schedule {
	var out []conformance.Schedule
	for _, interval := range []time.Duration{suite.Wait, 333333333, 7812500, 7, 1} {
		cfg := suite.Configured("interval", timeline.Duration(interval), "backlog", "20")
		tenth := func(n time.Duration) time.Duration { return interval * n / 10 }
		gaps := []time.Duration{0, tenth(3), tenth(7), interval, tenth(13), 3*interval + 1}
		for _, gap := range slices.Compact(gaps) {
			s := suite.Plan(cfg, slices.Repeat(putting, 40)...)
			for i := range s.Steps {
				s.Steps[i].At = time.Duration(i) * gap
			}
			out = append(out, s)
		}
	}
	return withItems(out)
}

// centuries have an interval of which two, or one and a little, are beyond what any duration is. No item's turn
// is as far ahead. Package time is over in the year 2262, so that who waits there has to be stopped.
func (c *contract) centuries(s *suite.Suite, cfg conformance.Config) []conformance.Schedule {
	if s.Time == conformance.PackageTime && !s.Accepts(verb.Stop) {
		return nil
	}
	items := 1
	if c.spec.Traits.FirstItem == FirstAtOnce {
		items = 2
	}
	return sequences(withInterval(cfg, suite.MostHours), putting, []time.Duration{0, 1, suite.Century}, items)
}

// slacks let idle time pass, a little less and more than earns the whole slack, and much
// more, and then put more items than may leave together; and all that twice.
func slacks(slack int) []conformance.Schedule {
	var out []conformance.Schedule
	const interval = suite.Wait
	cfg := suite.Configured("interval", timeline.Duration(interval), "backlog", fmt.Sprint(slack+4))
	full := time.Duration(slack) * interval
	idles := []time.Duration{
		full - interval/2, full, full + interval*3/10, full + interval*7/10, full + interval, 2 * full, 20 * full,
	}
	for _, idle := range idles {
		s := suite.Plan(cfg, putting...)
		for _, at := range []time.Duration{idle, 2*idle + 2*interval} { // all have left 2 intervals after the first
			s.Steps = append(s.Steps, slices.Repeat([]conformance.Step{{Op: verb.Put, At: at}}, slack+3)...)
		}
		out = append(out, s)
	}
	return withItems(out)
}
