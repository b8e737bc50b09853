package clocktest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// CK-DIFF judges this many random programs whose outcome is not open. The seed of a
// program is its number. Batch programs are drawn at a time.
const (
	fixedPrograms = 300
	fixedSteps    = 30
	batch         = 256
)

// differs runs programs, and leaves out of the first that shows a difference whatever the
// difference does not need.
func (c *contract) differs(p *suite.Probe) (*suite.Violation, string) {
	search := &search{contract: c, probe: p}
	var first *suite.Violation
	judged, seed := 0, uint64(0)
	for judged < fixedPrograms && first == nil && !search.stalled {
		schedules := make([]conformance.Schedule, min(fixedPrograms-judged, batch))
		for i := range schedules {
			schedules[i] = c.program(p.Suite, seed, fixedSteps)
			seed++
		}
		p.Explored(schedules...)
		search.try(schedules, func(x *exam) {
			if x.open() != "" {
				return
			}
			judged++
			if first == nil {
				first = x.inOrder()
			}
		})
	}
	if first == nil {
		return nil, ""
	}
	return search.smallest(first), ""
}

// search runs programs for a probe. A run without progress ends it.
type search struct {
	*contract
	probe   *suite.Probe
	stalled bool
	found   *suite.Violation // while its schedule is made smaller
}

// try runs schedules and shows their traces.
func (s *search) try(schedules []conformance.Schedule, see func(x *exam)) {
	jobs := make([]suite.Job, len(schedules))
	for i := range jobs {
		jobs[i] = suite.Job{Schedule: schedules[i], Family: programs}
	}
	h := s.probe.Run(jobs, func(j suite.Job, rec *suite.Recording) { see(s.Exam(&s.traits, rec, j)) })
	if h != nil {
		s.stalled = true
		s.probe.Stalled(fmt.Sprintf("no progress: %.200s...", h.Job.Schedule))
	}
}

// smallest makes the schedule of a difference smaller as long as a difference of its kind remains: it leaves out steps
// and rounds durations.
func (s *search) smallest(v *suite.Violation) *suite.Violation {
	s.found = v
	for s.fewerSteps() {
	}
	s.lastIdle()
	s.rounder(time.Minute)
	s.rounder(time.Second)
	return s.found
}

// keeps reports whether a changed schedule, mended, shows such a difference, which is the one from then on.
func (s *search) keeps(change func(steps []conformance.Step) []conformance.Step) bool {
	old := s.found.Run.Schedule
	changed := s.Tidied(s.probe.Suite, conformance.Schedule{Steps: change(slices.Clone(old.Steps))})
	inTime := func(a, b conformance.Step) int { return cmp.Compare(a.At, b.At) }
	if len(changed.Steps) == 0 || slices.Equal(changed.Steps, old.Steps) ||
		!slices.IsSortedFunc(changed.Steps, inTime) {
		return false
	}
	var found *suite.Violation
	s.try([]conformance.Schedule{changed}, func(x *exam) { found = x.inOrder() })
	if found == nil || found.Kind != s.found.Kind {
		return false
	}
	s.found = found
	return true
}

// left is how many steps are left.
func (s *search) left() int { return len(s.found.Run.Schedule.Steps) }

// fewerSteps leaves out halves, quarters and so on, down to single steps. It reports whether
// there were any to leave out.
func (s *search) fewerSteps() (fewer bool) {
	for size := max(1, s.left()/2); size > 0; size /= 2 {
		for i := 0; i+size <= s.left(); {
			if s.keeps(func(all []conformance.Step) []conformance.Step { return slices.Delete(all, i, i+size) }) {
				fewer = true
			} else {
				i++
			}
		}
	}
	return fewer
}

// lastIdle lets time pass where the last step may only be there for that.
func (s *search) lastIdle() {
	s.keeps(func(all []conformance.Step) []conformance.Step {
		last := &all[len(all)-1]
		*last = conformance.Step{Op: verb.Idle, At: last.At}
		return all
	})
}

// rounder rounds the duration of each step up to whole units, and then the instant of the
// steps that come together with it.
func (s *search) rounder(unit time.Duration) {
	up := func(d time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
	for i := 0; i < s.left(); i++ {
		s.keeps(func(all []conformance.Step) []conformance.Step {
			all[i].D = up(all[i].D)
			return all
		})
		s.keeps(func(all []conformance.Step) []conformance.Step {
			at := all[i].At
			for n := i; n < len(all) && all[n].At == at; n++ {
				all[n].At = up(at)
			}
			return all
		})
	}
}
