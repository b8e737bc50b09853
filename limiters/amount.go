package limiters

import (
	"math"
	"math/bits"
)

// An amount is a number of tokens in fixed point: whole + frac / 2^64.
type amount struct {
	whole int64
	frac  uint64
}

func (a amount) plus(b amount) amount {
	frac, carry := bits.Add64(a.frac, b.frac, 0)
	return amount{a.whole + b.whole + int64(carry), frac}
}

func (a amount) minus(b amount) amount {
	frac, borrow := bits.Sub64(a.frac, b.frac, 0)
	return amount{a.whole - b.whole - int64(borrow), frac}
}

func (a amount) less(b amount) bool {
	return a.whole < b.whole || a.whole == b.whole && a.frac < b.frac
}

func (a amount) float() float64 {
	return float64(a.whole) + math.Ldexp(float64(a.frac), -64)
}
