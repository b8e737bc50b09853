package edge

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Slow is why callbacks that take time cannot be driven exactly, "" if they can.
func Slow(s *suite.Suite, declared conformance.Reentrancy) string {
	switch {
	case !s.Bubble:
		return "a callback that runs for a while needs a bubble to be driven exactly"
	case declared == conformance.ReentrancyForbidden:
		return "declared: ReentrancyForbidden, so methods may wait for a running callback"
	}
	return ""
}

// SlowAfterTrial is Slow for schedules whose calls wait for a running callback or do not: where
// callbacks must not call the implementation, they are tried. One whose methods wait for the callback on a
// channel can be driven, and one in which they do so for a lock cannot.
func SlowAfterTrial(s *suite.Suite, declared conformance.Reentrancy, schedules []conformance.Schedule) string {
	why := Slow(s, declared)
	if s.Bubble && declared == conformance.ReentrancyForbidden && s.Progresses(schedules) {
		return ""
	}
	return why
}

// NoReentry is why callbacks must not call the implementation, nor take time, for which methods
// may have to wait; "" if they may.
func NoReentry(s *suite.Suite, declared conformance.Reentrancy) string {
	switch {
	case declared == conformance.ReentrancyForbidden:
		return "declared: ReentrancyForbidden"
	case declared == 0 && s.Undeclared():
		return "trait Reentrancy is undeclared, and so are others"
	}
	return ""
}

// PanicsAs returns the one policy that is not broken, as the rule about it would see, 0 if there
// is none or nobody can tell. With judges by that rule.
func PanicsAs(with func(conformance.PanicPolicy) (broken *suite.Violation, skip string)) int {
	fits := 0
	for _, policy := range []conformance.PanicPolicy{conformance.PanicPropagates, conformance.PanicRecovered} {
		switch broken, skip := with(policy); {
		case skip != "":
			return 0
		case broken == nil && fits != 0:
			return 0 // no call runs a callback, so nobody can tell
		case broken == nil:
			fits = int(policy)
		}
	}
	return fits
}
