package limiters

import (
	"math"
	"strconv"
	"time"
)

// A Limit is a rate, in events per second. The zero Limit allows only the events of a
// burst.
//
// Zero and negative limits mean 0. So does NaN in SetLimit, as a rate computed at run time should not end the process;
// [NewTokenBucket] panics with it. [Inf] and the floating-point infinity mean no limit. Rates below one event in 544
// years count as 0; those above 1e12 are rounded down to fewer digits than a float64 has.
type Limit float64

// Inf is the infinite rate: it allows all events, whatever the burst.
const Inf = Limit(math.MaxFloat64)

// Every converts the time between two events to a Limit. It is Inf if interval
// is not positive.
func Every(interval time.Duration) Limit {
	if interval <= 0 {
		return Inf
	}
	return 1 / Limit(interval.Seconds())
}

// String returns the rate as "10/s", or "Inf".
func (r Limit) String() string {
	if r >= Inf {
		return "Inf"
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64) + "/s"
}

// sane maps all that is not a finite positive rate to 0 or Inf.
func (r Limit) sane() Limit {
	if !(r > 0) { // NaN too
		return 0
	}
	return min(r, Inf)
}
