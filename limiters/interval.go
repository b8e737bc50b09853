package limiters

import (
	"math"
	"math/bits"
)

// An interval is the time between two events at some rate in nanoseconds, in
// fixed point: cost / 2^shift, with 0 <= shift <= 63.
//
// It is rounded up, by less than 2^-62 of itself or, at more than 5e8 events per
// second, by less than 2^-63 ns. So no number of intervals is shorter than it
// should be, and as many as a bucket can hold are less than a nanosecond longer.
// The zero interval is that of an infinite rate.
type interval struct {
	cost  uint64
	shift uint8
}

// never is an interval longer than any time.Duration.
var never = interval{cost: math.MaxUint64}

// interval returns 1e9/r. r must be sane and finite.
func (r Limit) interval() interval {
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

// fit reports whether n intervals take less than d nanoseconds.
func (i interval) fit(n, d uint64) bool {
	nh, nl := bits.Mul64(n, i.cost)
	dh, dl := shl(d, int(i.shift))
	return nh < dh || nh == dh && nl < dl
}

// count returns how many whole intervals are in d, which must be less than 2^64,
// and the nanoseconds left over.
func (i interval) count(d uint64) (n uint64, rest float64) {
	hi, lo := shl(d, int(i.shift))
	n, rem := bits.Div64(hi, lo, i.cost)
	return n, math.Ldexp(float64(rem), -int(i.shift))
}

// whole returns how many whole intervals are in d, which must be less than 2^64,
// and how long they take, rounded up.
func (i interval) whole(d uint64) (n, took uint64) {
	hi, lo := shl(d, int(i.shift))
	n, _ = bits.Div64(hi, lo, i.cost)
	hi, lo = bits.Mul64(n, i.cost)
	lo, carry := bits.Add64(lo, 1<<i.shift-1, 0)
	hi += carry
	return n, hi<<(64-i.shift) | lo>>i.shift
}

// shl returns v << by, for 0 <= by < 128, as 128 bits.
func shl(v uint64, by int) (hi, lo uint64) {
	if by >= 64 {
		return v << (by - 64), 0
	}
	return v >> (64 - by), v << by
}
