package conformance

import (
	"math"
	"testing"
	"time"
)

func TestRate_Interval(t *testing.T) {
	for _, k := range []struct {
		rate Rate
		want time.Duration
	}{
		{Rate{3, time.Second}, 333_333_333},
		{Rate{3, 2 * time.Second}, 666_666_667},
		{Rate{2, 1}, 1}, // a half is rounded up
		{Rate{3, math.MaxInt64}, math.MaxInt64 / 3},
		{Rate{2, math.MaxInt64}, math.MaxInt64/2 + 1},
		{Rate{math.MaxInt32, 1}, 0},
		{Rate{0, time.Second}, 0},
		{Inf, 0},
	} {
		if got := k.rate.Interval(); got != k.want {
			t.Errorf("%v.Interval() = %v, want %v", k.rate, got, k.want)
		}
	}
}

func TestRate_Period(t *testing.T) {
	for _, k := range []struct {
		rate Rate
		n    int
		want time.Duration // 0: there is none
	}{
		{Rate{10, time.Second}, 3, 300 * time.Millisecond},
		{Rate{3, time.Second}, 3, time.Second},
		{Rate{3, time.Second}, 1, 0},
		{Rate{1, math.MaxInt64/2 + 1}, 1, math.MaxInt64/2 + 1},
		{Rate{1, math.MaxInt64/2 + 1}, 2, 0}, // one nanosecond too long
		{Rate{1, math.MaxInt64}, math.MaxInt, 0},
		{Rate{math.MaxInt, math.MaxInt64}, math.MaxInt, math.MaxInt64},
		{Rate{10, time.Second}, 0, 0},
		{Rate{10, time.Second}, -1, 0},
		{Rate{0, time.Second}, 1, 0},
		{Inf, 1, 0},
	} {
		got, ok := k.rate.Period(k.n)
		if got != k.want || ok != (k.want > 0) {
			t.Errorf("%v.Period(%d) = %v, %t, want %v", k.rate, k.n, got, ok, k.want)
		}
	}
}
