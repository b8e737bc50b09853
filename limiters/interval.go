package limiters

import (
	"math"
	"math/bits"
	"time"
)

// An interval is the time between two events at some rate in nanoseconds, in
// fixed point: cost / 2^shift, with 0 <= shift <= 63.
//
// It is rounded up, by less than 2^-62 of itself or, at more than 5e8 events per
// second, by less than 2^-63 ns. So no number of intervals is shorter than it
// should be, and as many as a bucket can hold are less than a nanosecond longer.
// The zero interval is that of an infinite rate.
//
// Methods that take d nanoseconds and a phase count the phase, in units of
// 1/cost of an interval and less than one, as gone by already.
type interval struct {
	cost  uint64
	shift uint8
}

// never is an interval longer than any time.Duration.
var never = interval{cost: math.MaxUint64}

// interval returns 1e9/r. r must be sane.
func (r Limit) interval() interval {
	if r == Inf {
		return interval{}
	}
	if r < 0x1p-34 { // one in 544 years, or none
		return never
	}
	// A rate made from an interval of whole nanoseconds, as by Every, is meant
	// to be exactly that.
	if ns := 1e9 / float64(r); ns >= 1 && ns < 1<<63 {
		if whole := math.Round(ns); math.Abs(ns-whole) <= ns*0x1p-51 {
			shift := bits.LeadingZeros64(uint64(whole))
			return interval{uint64(whole) << shift, uint8(shift)}
		}
	}
	// r is mant * 2^(exp-53): divide 1e9 * 2^scale by mant, with the largest
	// scale for which the quotient and shift are in range.
	frac, exp := math.Frexp(float64(r))
	mant := uint64(frac * (1 << 53))
	scale := min(86, 63+53-exp)
	if scale < 0 {
		return interval{1, 63} // more than 2^63 per nanosecond
	}
	hi, lo := shl(1e9, scale)
	cost, rem := bits.Div64(hi, lo, mant)
	if rem > 0 {
		cost++
	}
	return interval{cost, uint8(scale - 53 + exp)}
}

// still reports whether counting intervals makes no sense: there are none, or
// they have no length.
func (i interval) still() bool { return i.cost == 0 || i == never }

// fit reports whether n intervals take less than d.
func (i interval) fit(n, d, phase uint64) bool {
	nh, nl := bits.Mul64(n, i.cost)
	dh, dl := i.scale(d, phase)
	return nh < dh || nh == dh && nl < dl
}

// least returns the least d in which an interval fits, or the longest time.Duration.
func (i interval) least() time.Duration {
	return time.Duration(min(i.cost>>i.shift, math.MaxInt64-1)) + 1
}

// wait returns how long after d n intervals are complete, which must not fit,
// rounded down; if it is longer than a time.Duration, the longest one.
func (i interval) wait(n, d, phase uint64) time.Duration {
	wait, _ := i.left(n, d, phase)
	return wait
}

// left is wait, and reports whether that is exact.
func (i interval) left(n, d, phase uint64) (wait time.Duration, exact bool) {
	nh, nl := bits.Mul64(n, i.cost)
	dh, dl := i.scale(d, phase)
	lo, borrow := bits.Sub64(nl, dl, 0)
	hi, _ := bits.Sub64(nh, dh, borrow)
	if hi>>i.shift > 0 {
		return math.MaxInt64, false
	}
	return time.Duration(min(hi<<(64-i.shift)|lo>>i.shift, math.MaxInt64)), lo<<(64-i.shift) == 0
}

// before returns how many intervals are complete before the end of d, which must be less
// than 2^64 intervals and more than 0.
func (i interval) before(d, phase uint64) uint64 {
	hi, lo := i.scale(d, phase)
	n, rem := bits.Div64(hi, lo, i.cost)
	if rem == 0 {
		n--
	}
	return n
}

// count returns how many whole intervals are in d, which must be less than 2^64,
// and the fraction of one left over in units of 2^-64.
func (i interval) count(d, phase uint64) (n, frac uint64) {
	hi, lo := i.scale(d, phase)
	n, rem := bits.Div64(hi, lo, i.cost)
	frac, _ = bits.Div64(rem, 0, i.cost)
	return n, frac
}

// scale returns d and phase in the units of cost.
func (i interval) scale(d, phase uint64) (hi, lo uint64) {
	hi, lo = shl(d, int(i.shift))
	lo, carry := bits.Add64(lo, phase, 0)
	return hi + carry, lo
}

// shl returns v << by, for 0 <= by < 128, as 128 bits.
func shl(v uint64, by int) (hi, lo uint64) {
	if by >= 64 {
		return v << (by - 64), 0
	}
	return v >> (64 - by), v << by
}
