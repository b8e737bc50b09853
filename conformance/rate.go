package conformance

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/internal/timeline"
)

// Rate is a limiter's rate as an exact fraction: Events in each Per. Its text
// form is "10/1s", or "inf" for [Inf]. The zero Rate is no rate at all; a limiter
// that never refills has Rate{0, time.Second}.
type Rate struct {
	Events int
	Per    time.Duration
}

// Inf is the rate of a limiter that grants everything.
var Inf = Rate{Events: -1}

// PerSecond returns the rate as x/time and most limiters take it: events per
// second, the float64 nearest to the fraction. For [Inf] it is the largest
// float64, which is what x/time calls Inf.
func (r Rate) PerSecond() float64 {
	if r == Inf {
		return math.MaxFloat64
	}
	if r.Per <= 0 {
		return 0
	}
	const whole = 1 << 53 // every whole number up to it is a float64, so that one division rounds once
	if r.Events >= 0 && int64(r.Events) <= whole/int64(time.Second) && r.Per <= whole {
		return float64(int64(r.Events)*int64(time.Second)) / float64(r.Per)
	}
	f, _ := new(big.Rat).Mul(big.NewRat(int64(r.Events), int64(r.Per)), big.NewRat(1e9, 1)).Float64()
	return f
}

// Interval returns the time between two events, rounded to the nearest
// nanosecond. It is 0 for [Inf] and for a rate of no events. Where it is a
// microsecond or more, no rule holds the rounding against a limiter made from it.
func (r Rate) Interval() time.Duration {
	if r.Events <= 0 {
		return 0
	}
	e := time.Duration(r.Events)
	return (r.Per + e/2) / e
}

// Exact reports whether the time between two events is a whole number of
// nanoseconds.
func (r Rate) Exact() bool {
	return r.Events > 0 && r.Per%time.Duration(r.Events) == 0
}

// Extreme reports whether the time between two events is beyond what limiters are
// for: below a nanosecond, or above a year.
func (r Rate) Extreme() bool {
	return r.Events > 0 && (r.Per < time.Duration(r.Events) || r.Per/time.Duration(r.Events) > 365*24*time.Hour)
}

// String returns the text form, as in "10/1s".
func (r Rate) String() string {
	if r == Inf {
		return "inf"
	}
	return strconv.Itoa(r.Events) + "/" + timeline.Duration(r.Per)
}

func parseRate(s string) (Rate, error) {
	if s == "inf" {
		return Inf, nil
	}
	events, per, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(events)
	if !ok || err != nil || n < 0 {
		return Rate{}, fmt.Errorf("rate %q: want events/duration, as in 10/1s, or inf", s)
	}
	d, err := parseDuration(per)
	if err != nil || d <= 0 {
		return Rate{}, fmt.Errorf("rate %q: want events/duration, as in 10/1s, or inf", s)
	}
	return Rate{n, d}, nil
}
