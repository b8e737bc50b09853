package limiters

import (
	"fmt"
	"time"
)

// A cellRate is what the generic cell rate algorithm decides by, beside an arrival time. Its
// instants are counted in nanoseconds from wherever its owner likes, and no further from
// there than tooFar.
type cellRate struct {
	interval int64 // between events that come evenly
	burst    int64
}

// newCellRate checks the arguments of a constructor.
func newCellRate(constructor string, interval time.Duration, burst int) cellRate {
	if interval <= 0 {
		panic(fmt.Sprintf("limiters: %s: interval %v must be >= 1ns: use a TokenBucket for higher rates, and for Inf",
			constructor, interval))
	}
	burst = max(burst, 0)
	if burst > 0 && int64(interval) > 2*tooFar/int64(burst) {
		panic(fmt.Sprintf("limiters: %s: %d intervals of %v are more than 73 years: use a TokenBucket, or a smaller burst",
			constructor, burst, interval))
	}
	return cellRate{int64(interval), int64(burst)}
}

// judge decides on n events at now if the theoretical arrival time is tat, and returns what
// it is then. With a retry other than 0 they are denied.
func (c *cellRate) judge(now, tat int64, n int) (next int64, retry time.Duration) {
	next = max(now, tat)
	if n < 0 || int64(n) > c.burst {
		return next, InfDuration
	}
	after := next + c.interval*int64(n)
	if wait := after - c.interval*c.burst - now; n > 0 && wait > 0 {
		return next, time.Duration(wait)
	}
	return after, 0
}

// peek tells how things stand at now if the theoretical arrival time is tat, with the wait for one event.
func (c *cellRate) peek(now, tat int64) Decision {
	d := c.result(now, max(now, tat), 0)
	_, d.RetryAfter = c.judge(now, tat, 1)
	return d
}

// result tells how things stand at now if the theoretical arrival time is next.
func (c *cellRate) result(now, next int64, retry time.Duration) (d Decision) {
	c.tell(&d, now, next, retry)
	return d
}

// tell sets d, which is zero, to the result.
func (c *cellRate) tell(d *Decision, now, next int64, retry time.Duration) {
	d.Allowed, d.RetryAfter, d.ResetAfter = retry == 0, retry, time.Duration(next-now)
	d.Limit, d.Window = int(c.burst), time.Duration(c.interval*c.burst)
	if room := c.interval*c.burst - (next - now); room > 0 {
		d.Remaining = int(room / c.interval)
	}
}
