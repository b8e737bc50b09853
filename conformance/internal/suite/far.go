package suite

import (
	"math"
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Year is a year without a leap day.
const Year = 365 * 24 * time.Hour

// Century is what an implementation need not be able to count: more may be refused, or stand for never.
const Century = 100 * Year

// MostHours is the longest duration of whole hours.
const MostHours = math.MaxInt64 / time.Hour * time.Hour

// Last is the last instant at which a run ends: the fake clock and package time, whose runs begin in 2040,
// have none after it that can be counted. Events may come a second before, and what they bring 300ms later.
func Last(t conformance.TimeSource) time.Duration {
	if t == conformance.PackageTime {
		return 220 * Year
	}
	return math.MaxInt64 - Wait
}

// Until is when a run ends that has come to an instant and takes so long from there, or time's end.
func (s *Suite) Until(at, takes time.Duration) time.Duration {
	return max(at, min(Sum(at, takes), Last(s.Time)))
}

// OutOfTime reports whether time is over before the last step, and says of such a run that it is left out.
func (s *Stage) OutOfTime() bool {
	for _, step := range s.Steps() {
		if step.At > Last(s.Time) {
			s.Rec.Locked(func(rec *Recording) { rec.LeftOut = "time is over before its last step" })
			return true
		}
	}
	return false
}

// Sum adds durations without overflow, unless both are negative.
func Sum(a, b time.Duration) time.Duration {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Times is n times d without overflow, for an n that is not negative.
func Times(n int, d time.Duration) time.Duration {
	if n > 0 && d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}
	return time.Duration(n) * d
}
