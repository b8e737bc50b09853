package suite

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
)

// OneClock is X-CLOCK1, for implementations on an injected clock: each of the schedules is run
// twice, the second time with package time moving on by an hour before each step, and shows the
// same marks.
func OneClock[T, E any](schedules func(s *Suite) []conformance.Schedule, marks func(rec *Recording) []Mark) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: "X-CLOCK1", Level: conformance.Core,
			Text: "No other clock than the one injected may have any influence."},
		Unless: func(s *Suite, _ *T) string {
			if s.Time != conformance.Injected {
				return "no clock is injected"
			}
			return If(!s.Bubble, "package time can only be held in a bubble")
		},
		Cause: true,
		Probe: func(p *Probe) (*Violation, string) { return otherClock(p, schedules(p.Suite), marks) },
	}
}

func otherClock(p *Probe, schedules []conformance.Schedule, marks func(rec *Recording) []Mark) (*Violation, string) {
	still, done := p.runAll(schedules, false)
	moved, alsoDone := p.runAll(schedules, true)
	if !done || !alsoDone || len(still) != len(moved) {
		return nil, "a run made no progress"
	}
	for i, rec := range moved {
		want, got := marks(still[i]), marks(rec)
		if still[i].LeftOut != "" || rec.LeftOut != "" || slices.Equal(want, got) {
			continue
		}
		if seen, done := p.both(schedules[i], rec, still[i], marks); !done {
			return nil, "a run made no progress"
		} else if seen {
			continue
		}
		k, at := apart(want, got)
		return &Violation{
			Headline: fmt.Sprintf("%s, want %s as on package time that stands still", said(got, k), said(want, k)),
			Because:  "package time moved on by an hour before each step, and Env.Clock did not",
			At:       at,
			Lanes:    []Lane{{"want", want}, {"got", got}},
			Run:      rec,
		}, ""
	}
	return nil, ""
}

// both runs a schedule some more times on each time, and reports whether what comes out on the one also comes
// out on the other: who goes first at one instant may be chance.
func (p *Probe) both(
	s conformance.Schedule, moved, still *Recording, marks func(rec *Recording) []Mark,
) (seen, done bool) {
	const more = 8
	others := slices.Repeat([]conformance.Schedule{s}, more)
	onStill, done := p.runAll(others, false)
	onMoved, alsoDone := p.runAll(others, true)
	onStill, onMoved = append(onStill, still), append(onMoved, moved)
	seen = slices.ContainsFunc(onMoved, func(rec *Recording) bool {
		return slices.ContainsFunc(onStill, func(o *Recording) bool { return slices.Equal(marks(rec), marks(o)) })
	})
	return seen, done && alsoDone
}

// apart returns which of the marks are the first that differ, and the earlier of their instants.
func apart(want, got []Mark) (k int, at time.Duration) {
	for k < min(len(want), len(got)) && want[k] == got[k] {
		k++
	}
	var instants []time.Duration
	for _, marks := range [][]Mark{want, got} {
		if k < len(marks) {
			instants = append(instants, marks[k].At)
		}
	}
	return k, slices.Min(instants)
}

// said is a mark in words.
func said(marks []Mark, k int) string {
	if k >= len(marks) {
		return "nothing"
	}
	return marks[k].Text + " at " + timeline.Duration(marks[k].At)
}

// runAll runs each schedule once, and reports whether all have come to their ends.
func (p *Probe) runAll(schedules []conformance.Schedule, jump bool) (out []*Recording, done bool) {
	var jobs []Job
	for _, s := range schedules {
		jobs = append(jobs, Job{Schedule: s, Jump: jump})
	}
	h := p.Run(jobs, func(_ Job, rec *Recording) { out = append(out, rec) })
	return out, h == nil
}

// FireMarks are those of the callbacks of a run.
func FireMarks(rec *Recording) []Mark { return rec.Got().Marks }
