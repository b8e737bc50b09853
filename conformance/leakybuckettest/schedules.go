package leakybuckettest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	if s.Inexact() != "" || !s.Accepts(conformance.OpPut) {
		return nil
	}
	base := conformance.Config{}.With("interval", "100ms")
	size := func(n int) conformance.Config { return base.With("backlog", fmt.Sprint(n)) }
	put := []conformance.Step{{Op: conformance.OpPut}}
	grid := []time.Duration{0, 1, suite.Wait / 2, suite.Wait - 1, suite.Wait, suite.Wait + 1, 5 * suite.Wait / 2}
	out := []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: withItems(suite.Sequences(size(2), put, []time.Duration{1, suite.Wait}, 3))},
		{Name: "queue", Schedules: withItems(suite.Sequences(size(2), put, grid, 4))},
		{Name: "longer queue", Schedules: withItems(suite.Sequences(size(2), put, []time.Duration{0, suite.Wait / 2, suite.Wait, 5 * suite.Wait / 2}, 5))},
		{Name: "queue of one", Schedules: withItems(suite.Sequences(size(1), put, grid, 4))},
		{Name: "bursts", Schedules: withItems(suite.Sequences(size(3), put, []time.Duration{0, suite.Wait}, 7))},
		{Name: "long", Schedules: longQueues()},
	}
	if s.Accepts(conformance.OpCancel) {
		steps := []conformance.Step{{Op: conformance.OpPut}, {Op: conformance.OpCancel, N: 1}, {Op: conformance.OpCancel, N: 2}, {Op: conformance.OpCancel, N: 3}}
		out = append(out,
			suite.Family{Name: "cancels", Schedules: withItems(suite.Sequences(size(2), steps, []time.Duration{0, suite.Wait / 2}, 4))},
			suite.Family{Name: "cancels and what comes later", Schedules: append(
				after(size(3), "put 1 @0 | put 2 @0 | put 3 @0 | put 4 @0", "put 0 @0 | cancel 2 @0 | cancel 3 @0 | cancel 4 @0", []time.Duration{0, suite.Wait / 2, suite.Wait}, 2),
				after(size(2), "put 1 @0 | put 2 @0 | cancel 2 @0", "put 0 @0", []time.Duration{0, suite.Wait / 2, suite.Wait}, 3)...)},
			suite.Family{Name: "later cancels", Schedules: withItems(suite.Sequences(size(1), []conformance.Step{{Op: conformance.OpPut}, {Op: conformance.OpCancel, N: 2}}, []time.Duration{0, suite.Wait / 2, suite.Wait}, 5))})
	}
	if s.Accepts(conformance.OpClose) {
		out = append(out, suite.Family{Name: "closes", Schedules: withItems(suite.Sequences(size(2), []conformance.Step{{Op: conformance.OpPut}, {Op: conformance.OpClose}}, []time.Duration{0, suite.Wait / 2, suite.Wait}, 4))})
		if s.Accepts(conformance.OpCancel) {
			out = append(out, suite.Family{Name: "closes and cancels", Schedules: after(size(2), "put 1 @0 | put 2 @0 | put 3 @0",
				"close @0 | cancel 2 @0 | cancel 3 @0", []time.Duration{0, suite.Wait / 2}, 3)})
		}
	}
	if s.Accepts(conformance.OpStop) {
		out = append(out, suite.Family{Name: suite.Leaks, Look: true, Schedules: after(size(2), "put 1 @0 | put 2 @0 | put 3 @0", "stop @0", []time.Duration{0, suite.Wait / 2, suite.Wait}, 1)})
	}
	if slack := c.spec.Traits.Slack; slack > 0 {
		out = append(out, suite.Family{Name: "slack", Schedules: slacks(slack)})
	} else {
		out = append(out, suite.Family{Name: "racing", Skip: s.Unsettled(), Schedules: races(s)})
	}
	for _, op := range []conformance.Op{conformance.OpPut, conformance.OpCancel, conformance.OpClose} {
		if s.Accepts(op) {
			out = append(out, suite.Family{Name: "inside", Schedules: withItems(suite.Sequences(size(2).With("inside", string(op)), put, []time.Duration{0, suite.Wait}, 3))})
		}
	}
	if s.Time != conformance.PackageTime {
		for _, epoch := range suite.Epochs {
			out = append(out, suite.Family{Name: "epoch " + epoch, Schedules: withItems(suite.Sequences(size(2).With("epoch", epoch), put, grid, 3))})
		}
	}
	return out
}

// withItems gives the items their numbers, and leaves out schedules that begin with
// another step than a put.
func withItems(all []conformance.Schedule) []conformance.Schedule {
	all = slices.DeleteFunc(all, func(s conformance.Schedule) bool { return s.Steps[0].Op != conformance.OpPut })
	for _, s := range all {
		n := 0
		for i := range s.Steps {
			if s.Steps[i].Op == conformance.OpPut {
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

// races are schedules in which something is done at the instant at which an item
// that waits is due.
func races(s *suite.Suite) []conformance.Schedule {
	const conf = "interval=100ms backlog=2 | put 1 @0 | put 2 @0"
	texts := []string{
		conf + " | put 3 @100ms~",
		conf + " | put 3 @0 | put 4 @100ms~",
		conf + " | put 3 @100ms~ | put 4 @100ms~",
		conf + " | put 3 @100ms~ | put 4 @200ms~",
		conf + " | put 3 @50ms | put 4 @200ms~ | put 5 @250ms",
	}
	if s.Accepts(conformance.OpCancel) {
		texts = append(texts,
			conf+" | cancel 2 @100ms~",
			conf+" | cancel 2 @100ms~ | put 3 @150ms | put 4 @150ms",
			conf+" | put 3 @0 | cancel 2 @100ms~ | put 4 @150ms",
			conf+" | put 3 @0 | cancel 3 @100ms~")
	}
	return suite.ParseAll(texts...)
}

// longQueues fill a queue at once, and go on faster and slower than it empties, at
// intervals that are not round.
func longQueues() []conformance.Schedule {
	var out []conformance.Schedule
	for _, interval := range []time.Duration{suite.Wait, 333333333, 7} {
		for _, gap := range []time.Duration{0, interval * 3 / 10, interval * 7 / 10, interval, interval * 13 / 10, 3*interval + 1} {
			s := conformance.Schedule{Config: conformance.Config{}.With("interval", timeline.Duration(interval)).With("backlog", "20")}
			for i := range 40 {
				s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpPut, N: i + 1, At: time.Duration(i) * gap})
			}
			out = append(out, s)
		}
	}
	return out
}

// slacks let idle time pass, around and far beyond what the slack makes up for, and then
// put more than may leave together, twice.
func slacks(slack int) []conformance.Schedule {
	var out []conformance.Schedule
	full := time.Duration(slack) * suite.Wait
	for _, idle := range []time.Duration{full - suite.Wait/2, full, full + suite.Wait*3/10, full + suite.Wait*7/10, full + suite.Wait, 2 * full, 20 * full} {
		s := conformance.Schedule{Config: conformance.Config{}.With("interval", timeline.Duration(suite.Wait)).With("backlog", fmt.Sprint(slack+4))}
		s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpPut, N: 1})
		for _, at := range []time.Duration{idle, 2*idle + 2*suite.Wait} { // all have left 2 intervals after the first
			for range slack + 3 {
				s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpPut, N: len(s.Steps) + 1, At: at})
			}
		}
		out = append(out, s)
	}
	return out
}
