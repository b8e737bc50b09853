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

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if s.Inexact() != "" || !s.Accepts(verb.Put) {
		return nil
	}
	base := conformance.Config{}.With("interval", "100ms")
	size := func(n int) conformance.Config { return base.With("backlog", fmt.Sprint(n)) }
	put := []conformance.Step{{Op: verb.Put}}
	grid := []time.Duration{0, 1, suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1, 5 * suite.Wait / 2}
	halves := []time.Duration{0, suite.Wait / 2, suite.Wait}
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: sequences(size(2), put, []time.Duration{1, suite.Wait}, 3)},
		{Name: "queue", Schedules: sequences(size(2), put, grid, 4)},
		{Name: "longer queue", Schedules: sequences(size(2), put, append(halves[:3:3], 5*suite.Wait/2), 5)},
		{Name: "queue of one", Schedules: sequences(size(1), put, grid, 4)},
		{Name: "after idle time", Schedules: sequences(size(2), put, []time.Duration{0, 1, 11 * suite.Wait}, 3)},
		{Name: "bursts", Schedules: sequences(size(3), put, []time.Duration{0, suite.Wait}, 7)},
		{Name: "long", Schedules: longQueues()},
		{Name: "hours", Schedules: sequences(size(2).Without("interval").With("interval", "3h"), put,
			[]time.Duration{0, time.Hour, 3*time.Hour - 1, 3 * time.Hour, 3*time.Hour + 1}, 3)},
	}
	if tr := c.spec.Traits; tr.FirstItem == FirstAtOnce && tr.Slack == 0 && !tr.Unbounded {
		out = append(out, suite.Family{Name: "no backlog", Schedules: after(size(0), "put 1 @0 | put 2 @0", "put 0 @0",
			[]time.Duration{1, suite.Wait - 1, suite.Wait, 5 * suite.Wait / 2}, 2)})
	}
	for _, f := range withdrawn(s, size) {
		f.Schedules = spent(c.spec.Traits.Slack, f.Schedules)
		out = append(out, f)
	}
	if slack := c.spec.Traits.Slack; slack > 0 {
		out = append(out, suite.Family{Name: "slack", Schedules: slacks(slack)},
			suite.Family{Name: "racing", Skip: s.Unsettled(), Schedules: spent(slack, racingEnds(s))})
	} else {
		out = append(out, suite.Family{Name: "racing", Skip: s.Unsettled(), Schedules: c.races(s)})
	}
	for _, op := range []conformance.Op{verb.Put, verb.Cancel, verb.Close} {
		if s.Accepts(op) && edge.NoReentry(s, c.spec.Traits.Reentrancy) == "" {
			cfg := size(2).With("inside", string(op))
			inside := sequences(cfg, put, []time.Duration{0, suite.Wait}, 3)
			out = append(out, suite.Family{Name: "inside", Schedules: inside})
		}
	}
	if s.Accepts(opServes) && s.Bubble {
		out = append(out, busy(s, size(2))...)
		if c.spec.Traits.FirstItem != FirstOnGrid { // a tick may wait for the function, just before the next one
			once := size(2).With("busy", "350ms").With("busyruns", "1")
			out = append(out, suite.Family{Name: "busy once", Schedules: sequences(once, put, halves, 4)})
		}
	}
	if c.spec.Traits.ClockBack != 0 && s.Time == conformance.Injected {
		out = append(out, suite.Family{Name: "clock set back", Schedules: setsBack()})
	}
	if s.Time != conformance.PackageTime {
		for _, epoch := range suite.Epochs {
			far := sequences(size(2).With("epoch", epoch), put, grid, 3)
			out = append(out, suite.Family{Name: "epoch " + epoch, Schedules: far})
		}
	}
	if tr := c.spec.Traits; tr.FirstItem != 0 && tr.Slack == 0 && c.undecidedSlack(s, &tr) == "" { // overflows
		out = append(out, suite.Family{Name: "centuries", Schedules: c.centuries(s, size(2))})
	}
	return out
}

// withdrawn are schedules in which what waits is cancelled, or the bucket is closed or stopped.
func withdrawn(s *suite.Suite, size func(int) conformance.Config) (out []suite.Family) {
	cancel := func(n int) conformance.Step { return conformance.Step{Op: verb.Cancel, N: n} }
	halves := []time.Duration{0, suite.Wait / 2, suite.Wait}
	put := []conformance.Step{{Op: verb.Put}}
	if s.Accepts(verb.Cancel) {
		const cancels = "put 0 @0 | cancel 2 @0 | cancel 3 @0 | cancel 4 @0"
		later := append(
			after(size(3), "put 1 @0 | put 2 @0 | put 3 @0 | put 4 @0", cancels, halves, 2),
			after(size(2), "put 1 @0 | put 2 @0 | cancel 2 @0", "put 0 @0", halves, 3)...)
		edges := []time.Duration{suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1}
		later = append(later, after(size(2), "put 1 @0 | put 2 @0 | cancel 2 @0", "put 0 @0", edges, 2)...)
		any3 := append(put[:1:1], cancel(1), cancel(2), cancel(3))
		out = append(out,
			suite.Family{Name: "cancels", Schedules: sequences(size(2), any3, halves[:2], 4)},
			suite.Family{Name: "cancels and what comes later", Schedules: later},
			suite.Family{Name: "later cancels", Schedules: sequences(size(1), append(put[:1:1], cancel(2)), halves, 5)})
	}
	if s.Accepts(verb.Close) {
		closes := append(put[:1:1], conformance.Step{Op: verb.Close})
		out = append(out, suite.Family{Name: "closes", Schedules: sequences(size(2), closes, halves, 4)},
			suite.Family{Name: "closes, and what comes later", Schedules: after(size(2),
				"put 1 @0 | put 2 @0 | put 3 @0", "close @0 | put 0 @0", halves[:2], 2)})
		if s.Accepts(verb.Cancel) {
			out = append(out, suite.Family{Name: "closes and cancels", Schedules: after(size(2),
				"put 1 @0 | put 2 @0 | put 3 @0", "close @0 | cancel 2 @0 | cancel 3 @0", halves[:2], 3)})
		}
	}
	if s.Accepts(verb.Stop) {
		stops := after(size(2), "put 1 @0 | put 2 @0", "stop @0", halves, 1)
		months := size(2).Without("interval").With("interval", timeline.Duration(edge.Months))
		stops = append(stops, edge.StopsSoon(s, sequences(months, put, []time.Duration{0, suite.Wait}, 3))...)
		out = append(out, suite.Family{Name: suite.Leaks, Look: true, Schedules: stops},
			suite.Family{Name: "stops", Schedules: stopped(s, size(2))})
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
		s.Steps = append(slices.Repeat([]conformance.Step{{Op: verb.Put}}, slack), s.Steps...)
	}
	return withItems(all)
}

// onPackageTime are the schedules that are run while package time moves on.
func onPackageTime(*suite.Suite) []conformance.Schedule {
	put := []conformance.Step{{Op: verb.Put}}
	return sequences(suite.Configured("interval", "100ms", "backlog", "2"), put, suite.Around(suite.Wait), 3)
}

// filled are schedules of items that come to a full bucket around the instants at which others leave it.
func filled(*suite.Suite) []conformance.Schedule {
	put := conformance.Step{Op: verb.Put}
	all := suite.Sequences(suite.Configured("interval", "100ms", "backlog", "2"), []conformance.Step{put},
		[]time.Duration{0, suite.Wait / 2, suite.Wait, suite.Wait + 2}, 4)
	for i := range all {
		all[i].Steps = append([]conformance.Step{put, put}, all[i].Steps...)
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
	steps := []conformance.Step{{Op: verb.Put}}
	for _, op := range s.Supported(verb.Stop, verb.Close) {
		steps = append(steps, conformance.Step{Op: op})
	}
	for _, busy := range []time.Duration{suite.Wait * 3 / 10, suite.Wait * 5 / 2} {
		gaps := []time.Duration{0, busy / 2, suite.Wait + busy/3}
		text := timeline.Duration(busy)
		all := slices.DeleteFunc(sequences(cfg.With("busy", text), steps, gaps, 4), func(s conformance.Schedule) bool {
			stops := index(s, verb.Stop) >= 0
			return stops && (index(s, verb.Close) >= 0 || !stopsOnce(s.Steps))
		})
		out = append(out, suite.Family{Name: "busy " + text, Schedules: all})
	}
	return out
}

// stopped are schedules in which the bucket is stopped while items wait, and offered more; perhaps it
// was closed before.
func stopped(s *suite.Suite, cfg conformance.Config) []conformance.Schedule {
	steps := []conformance.Step{{Op: verb.Put}}
	for _, op := range s.Supported(verb.Stop, verb.Close) {
		steps = append(steps, conformance.Step{Op: op})
	}
	all := sequences(cfg, steps, []time.Duration{0, suite.Wait / 2}, 4)
	return slices.DeleteFunc(all, func(s conformance.Schedule) bool { return !stopsOnce(s.Steps) })
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

// index is that of the first step of an operation, negative if there is none.
func index(s conformance.Schedule, op conformance.Op) int {
	return slices.IndexFunc(s.Steps, func(s conformance.Step) bool { return s.Op == op })
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
	for _, s := range all {
		n := 0
		for i := range s.Steps {
			if s.Steps[i].Op == verb.Put {
				n++
				s.Steps[i].N = n
			}
		}
	}
	return all
}

// after lists the schedules that begin with head, all of it at 0, and go on with up to
// depth steps of the alphabet, each a gap after the one before it.
func after(cfg conformance.Config, head, alphabet string, gaps []time.Duration, depth int) []conformance.Schedule {
	begin, steps := suite.MustParse(head).Steps, suite.MustParse(alphabet).Steps
	var out []conformance.Schedule
	for _, gap := range gaps {
		for _, s := range suite.Sequences(cfg, steps, gaps, depth) {
			for i := range s.Steps {
				s.Steps[i].At += gap
			}
			out = append(out, suite.Plan(cfg, append(slices.Clone(begin), s.Steps...)...))
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
			for _, head := range []string{"put 1 @0", "put 1 @0 | put 2 @0", "put 1 @0 | put 2 @0 | put 3 @0"} {
				steps := append(suite.MustParse(head).Steps, back)
				all = append(all, suite.Plan(cfg, slices.Clone(steps)...))
				for _, gap := range []time.Duration{0, w / 2, w, 9 * w} {
					put := conformance.Step{Op: verb.Put, At: at + gap}
					all = append(all, suite.Plan(cfg, append(slices.Clone(steps), put)...),
						suite.Plan(cfg, append(slices.Clone(steps), put, put)...))
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
	return append(suite.ParseAll(texts...), racingEnds(s)...)
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
			s := conformance.Schedule{Config: cfg}
			for i := range 40 {
				s.Steps = append(s.Steps, conformance.Step{Op: verb.Put, N: i + 1, At: time.Duration(i) * gap})
			}
			out = append(out, s)
		}
	}
	return out
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
	cfg = cfg.Without("interval").With("interval", timeline.Duration(suite.MostHours))
	return sequences(cfg, []conformance.Step{{Op: verb.Put}}, []time.Duration{0, 1, suite.Century}, items)
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
		s := conformance.Schedule{Config: cfg}
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Put, N: 1})
		for _, at := range []time.Duration{idle, 2*idle + 2*interval} { // all have left 2 intervals after the first
			for range slack + 3 {
				s.Steps = append(s.Steps, conformance.Step{Op: verb.Put, N: len(s.Steps) + 1, At: at})
			}
		}
		out = append(out, s)
	}
	return out
}
