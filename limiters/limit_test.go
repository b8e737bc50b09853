package limiters

import (
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/escapement-go/escapement/internal/prove"
	"pgregory.net/rapid"
)

func TestEvery(t *testing.T) {
	for _, tt := range []struct {
		interval time.Duration
		want     Limit
	}{
		{time.Second, 1}, {100 * ms, 10}, {0, Inf}, {-time.Second, Inf}, {math.MinInt64, Inf}, {time.Minute, 1. / 60},
	} {
		if got := Every(tt.interval); got != tt.want {
			t.Errorf("Every(%v) = %v, want %v", tt.interval, got, tt.want)
		}
	}
}

func TestLimit_String(t *testing.T) {
	for _, tt := range []struct {
		limit Limit
		want  string
	}{
		{10, "10/s"}, {.5, "0.5/s"}, {0, "0/s"}, {-1, "-1/s"}, {1e21, "1e+21/s"}, {Inf, "Inf"}, {Limit(math.Inf(1)), "Inf"}, {Limit(math.NaN()), "NaN/s"},
	} {
		if got := tt.limit.String(); got != tt.want {
			t.Errorf("Limit(%v).String() = %q, want %q", float64(tt.limit), got, tt.want)
		}
	}
}

// Whole nanoseconds come back from Every as they went in.
func TestLimit_wholeInterval(t *testing.T) {
	prove.SameSeed(t)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Uint64Range(1, 1<<50).Draw(t, "ns")
		got := Every(time.Duration(want)).interval()
		if got.cost>>got.shift != want || got.cost != want<<got.shift {
			t.Errorf("Every(%d).interval() = %d / 2^%d ns", want, got.cost, got.shift)
		}
	})
}

// Any other interval is rounded up in the 62nd bit, or where shift is at its end.
func TestLimit_interval(t *testing.T) {
	prove.SameSeed(t)
	rapid.Check(t, func(t *rapid.T) {
		r := Limit(math.Ldexp(rapid.Float64Range(1, 2).Draw(t, "mantissa"), rapid.IntRange(-34, 200).Draw(t, "exponent")))
		got := r.interval()
		exact := new(big.Rat).SetFloat64(float64(r))
		exact.Quo(big.NewRat(1e9, 1), exact)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(got.shift)))
		rat := new(big.Rat).Mul(new(big.Rat).SetInt(new(big.Int).SetUint64(got.cost)), unit)

		err := new(big.Rat).Sub(rat, exact)
		most := new(big.Rat).Mul(exact, big.NewRat(1, 1<<50)) // if taken for whole nanoseconds
		if err.Cmp(unit) >= 0 && err.Cmp(most) > 0 || err.Sign() < 0 && err.Neg(err).Cmp(most) > 0 {
			t.Errorf("interval of %v = %d / 2^%d ns: %v off", r, got.cost, got.shift, err.FloatString(30))
		}
		if got.shift > 63 || got.shift < 63 && got.cost < 1<<62 {
			t.Errorf("interval of %v = %d / 2^%d: bits to spare", r, got.cost, got.shift)
		}
	})
}

func TestInterval_count(t *testing.T) {
	prove.SameSeed(t)
	rapid.Check(t, func(t *rapid.T) {
		shift := rapid.Uint8Range(0, 63).Draw(t, "shift")
		i := interval{rapid.Uint64Range(1<<62, math.MaxUint64-1).Draw(t, "cost"), shift}
		d := rapid.Uint64Range(0, 1<<62).Draw(t, "d")
		phase := rapid.Uint64Range(0, i.cost-1).Draw(t, "phase")
		if hi, _ := shl(d, int(shift)); hi >= i.cost-1 {
			t.Skip("more than 2^64 intervals")
		}
		n, frac := i.count(d, phase)

		cost := new(big.Int).SetUint64(i.cost)
		all := new(big.Int).Lsh(new(big.Int).SetUint64(d), uint(shift))
		all.Add(all, new(big.Int).SetUint64(phase))
		wantN, rest := new(big.Int).DivMod(all, cost, new(big.Int))
		wantFrac := rest.Div(rest.Lsh(rest, 64), cost)
		if n != wantN.Uint64() || frac != wantFrac.Uint64() {
			t.Errorf("%v.count(%d, %d) = %d, %d, want %v, %v", i, d, phase, n, frac, wantN, wantFrac)
		}

		// The next whole interval, and some more.
		m := rapid.Uint64Range(n+1, n+1<<20).Draw(t, "m")
		gap := new(big.Int).Mul(new(big.Int).SetUint64(m), cost)
		gap.Sub(gap, all)
		whole := gap.TrailingZeroBits() >= uint(shift)
		gap.Rsh(gap, uint(shift))
		if want := gap.Uint64(); gap.IsInt64() && uint64(i.wait(m, d, phase)) != want {
			t.Errorf("%v.wait(%d, %d, %d) = %d, want %d", i, m, d, phase, i.wait(m, d, phase), want)
		} else if !gap.IsInt64() && i.wait(m, d, phase) != math.MaxInt64 {
			t.Errorf("%v.wait(%d, %d, %d) = %d, want the longest", i, m, d, phase, i.wait(m, d, phase))
		}
		if _, exact := i.left(m, d, phase); gap.IsInt64() && exact != whole {
			t.Errorf("%v.left(%d, %d, %d) is exact: %v, want %v", i, m, d, phase, exact, whole)
		}
		before := n
		if new(big.Int).Mul(wantN, cost).Cmp(all) == 0 {
			before--
		}
		if d > 0 && i.before(d, phase) != before {
			t.Errorf("%v.before(%d, %d) = %d, want %d", i, d, phase, i.before(d, phase), before)
		}
		if i.fit(m, d, phase) || n > 0 && !i.fit(n-1, d, phase) {
			t.Errorf("%v.fit(_, %d, %d): %d whole ones, but %d fit or %d do not", i, d, phase, n, m, n-1)
		}
	})
}
