package clocktest

import (
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// Draw draws a program of up to 40 steps.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	n := 1 + pick("steps", 40)
	d := &picked{of: pick}
	schedule := newProgram(s, &c.traits, d.pick, d.length).draw(n)
	if len(schedule.Steps) == 0 {
		schedule.Steps = []conformance.Step{{Op: verb.Now}}
	}
	return schedule
}

// picked makes the choices of a program from those of a pick for which 0 is the plainest. A length is a
// multiple of a sixtieth of the longest that may be drawn, and a small part of its own, so
// that few instants coincide.
type picked struct {
	of    suite.Pick
	count int
}

func (d *picked) pick(label string, n int) int {
	k := d.of(label, n)
	if label == labelOperation { // what prefers small numbers would have few of the last operations
		return (k + d.of(label, n)) % n
	}
	if label == labelWithout || label == labelOdd || label == labelLast {
		return n - 1 - k
	}
	return k
}

func (d *picked) length(label string, most time.Duration) time.Duration {
	const parts = 60
	if most < time.Millisecond {
		return time.Duration(d.of(label, int(most)))
	}
	d.count++
	odd := time.Duration(d.count) * 104_729 % 1_000_003
	return time.Duration(d.of(label, parts))*(most/parts) + odd
}

// Bounds for schedules that come from outside, so that a run does not take long.
const (
	fitSteps = 200
	fitTicks = 1_000
	fitSpan  = 1_000 * time.Hour
)

// Fits reports whether a run of a schedule on a clock does not take long.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	steps := schedule.Steps
	if len(steps) == 0 || len(steps) > fitSteps || schedule.Config.Given() > 0 || !c.playable(s, schedule) {
		return false
	}
	end := steps[len(steps)-1].At
	period := end/fitTicks + 1
	at := time.Duration(0)
	return !slices.ContainsFunc(steps, func(st conformance.Step) bool {
		ticks := st.Op == verb.Ticker || st.Op == verb.Rearm && maker(st.N, schedule).Op == verb.Ticker
		back := st.At < at
		at = st.At
		named := strings.ContainsAny(st.Op.Arguments(), "nN") // it says what it makes or uses
		return back || st.Racing || named && st.N < 1 ||
			st.At > fitSpan || max(st.D, -st.D) > fitSpan || ticks && st.D > 0 && st.D < period
	})
}

// Twins names no laws: a clock is compared with package time, not with itself.
func (c *contract) Twins(*suite.Suite) twins.Terms { return twins.Terms{} }

// Tidied makes the idle steps of a schedule fit the instants of the others again.
func (c *contract) Tidied(_ *suite.Suite, s conformance.Schedule) conformance.Schedule {
	at := time.Duration(0)
	out := s.Steps[:0:0]
	for _, st := range s.Steps {
		if st.Op == verb.Idle {
			if st.D = st.At - at; st.D <= 0 {
				continue
			}
		}
		if st.In != 0 {
			st.At = at
		}
		at = st.At
		out = append(out, st)
	}
	s.Steps = out
	return s
}
