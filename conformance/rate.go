package conformance

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
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
	interval, rest := r.Per/e, r.Per%e
	if rest >= e-rest {
		interval++
	}
	return interval
}

// Period returns the period in which exactly n events come. There is none, and it returns false, for [Inf] and for a
// rate of no events, where it would be no whole number of nanoseconds, and where a Duration cannot be as long.
func (r Rate) Period(n int) (period time.Duration, ok bool) {
	if r.Events <= 0 || r.Per <= 0 || n < 1 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(n), uint64(r.Per))
	if hi >= uint64(r.Events) {
		return 0, false
	}
	all, rest := bits.Div64(hi, lo, uint64(r.Events))
	if rest != 0 || all > math.MaxInt64 {
		return 0, false
	}
	return time.Duration(all), true
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
	d, other := parseDuration(per)
	if !ok || cmp.Or(err, other) != nil || n < 0 || d <= 0 {
		return Rate{}, fmt.Errorf("rate %q: want events/duration, as in 10/1s, or inf", s)
	}
	return Rate{n, d}, nil
}
