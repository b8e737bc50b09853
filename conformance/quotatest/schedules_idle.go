package quotatest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// idleTimes is how often a limiter is left alone in a schedule.
const idleTimes = 6

// idling lists schedules in which everything that counts expires again and again: what a limiter
// keeps of one idle time is too little to show, and more than the limit once it has added up.
func (e *explored) idling() []conformance.Schedule {
	w, limits := e.unit, []int{accepted(e.Suite, e.kind, 1), accepted(e.Suite, e.kind, 2)}
	var out []conformance.Schedule
	for _, limit := range slices.Compact(limits) {
		long := time.Duration(limit+2) * w
		for _, gap := range []time.Duration{long, long + w/2, 20 * long} {
			out = append(out, e.leftAlone(limit, gap, limit+1), e.leftAlone(limit, gap, 1))
		}
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
		one := conformance.Step{Op: conformance.OpAllow, N: 1, At: time.Duration(i) * gap}
		s.Steps = append(s.Steps, slices.Repeat([]conformance.Step{one}, each)...)
	}
	return s
}
