package edge

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
)

// Slow is why callbacks that take time cannot be driven exactly, "" if they can.
func Slow(s *suite.Suite, declared trait.Reentrancy) string {
	switch {
	case !s.Bubble:
		return "a callback that runs for a while needs a bubble to be driven exactly"
	case declared == trait.ReentrancyForbidden:
		return "declared: ReentrancyForbidden, so methods may wait for a running callback"
	}
	return ""
}

// SlowAfterTrial is Slow for schedules whose calls wait for a running callback or do not: where
// callbacks must not call the implementation, they are tried. One whose methods wait for the callback on a
// channel can be driven, and one in which they do so for a lock cannot.
func SlowAfterTrial(s *suite.Suite, declared trait.Reentrancy, schedules []conformance.Schedule) string {
	why := Slow(s, declared)
	if s.Bubble && declared == trait.ReentrancyForbidden && s.Progresses(schedules) {
		return ""
	}
	return why
}

// NoReentry is why callbacks must not call the implementation, nor take time, for which methods
// may have to wait; "" if they may.
func NoReentry(s *suite.Suite, declared trait.Reentrancy) string {
	switch {
	case declared == trait.ReentrancyForbidden:
		return "declared: ReentrancyForbidden"
	case declared == 0 && s.Undeclared():
		return "trait Reentrancy is undeclared, and so are others"
	}
	return ""
}

// PanicsAs returns the policy that is not broken, as the rule about it would see; where both are, the one that takes
// a longer schedule to break. It returns 0 and why if nobody can tell. With judges by that rule.
func PanicsAs(with func(trait.PanicPolicy) (broken *suite.Violation, skip string)) (policy int, why string) {
	up, skip := with(trait.PanicPropagates)
	if skip != "" {
		return 0, skip
	}
	kept, _ := with(trait.PanicRecovered)
	switch {
	case up == nil && kept == nil:
		return 0, "no operation runs the callback, so nothing shows where its panic goes"
	case up == nil, kept != nil && up.Run.Schedule.Compare(kept.Run.Schedule) >= 0:
		return int(trait.PanicPropagates), ""
	}
	return int(trait.PanicRecovered), ""
}

// Twice tells from a run of a single event with both edges whether it fires on both: at once, and when the wait or
// interval is over. It returns 0 if there is no such run.
func Twice(rec *suite.Recording) int {
	switch {
	case rec == nil || len(rec.Fires) == 0:
		return 0
	case len(rec.Fires) == 2 && rec.Fires[1].Began.At == suite.Wait:
		return int(trait.BothTwice)
	}
	return int(trait.BothOnce)
}
