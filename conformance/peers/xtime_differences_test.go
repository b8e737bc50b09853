package peers

import (
	"math"
	"testing"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"golang.org/x/time/rate"
)

// bucket is what the two limiters have in common, and reserves are cancelled with.
type bucket struct {
	allow    func(t time.Time, n int) bool
	tokens   func(t time.Time) float64
	setLimit func(t time.Time, limit float64)
	reserve  func(t time.Time, n int) (delay func(t time.Time) time.Duration, cancel func(t time.Time))
}

func theirBucket(limit float64, burst int) bucket {
	l := rate.NewLimiter(rate.Limit(limit), burst)
	return bucket{l.AllowN, l.TokensAt, func(t time.Time, limit float64) { l.SetLimitAt(t, rate.Limit(limit)) },
		func(t time.Time, n int) (func(time.Time) time.Duration, func(time.Time)) {
			r := l.ReserveN(t, n)
			return r.DelayFrom, r.CancelAt
		}}
}

func ourBucket(limit float64, burst int) bucket {
	l := limiters.NewTokenBucket(limiters.Limit(limit), burst)
	return bucket{l.AllowN, l.TokensAt, func(t time.Time, limit float64) { l.SetLimitAt(t, limiters.Limit(limit)) },
		func(t time.Time, n int) (func(time.Time) time.Duration, func(time.Time)) {
			r := l.ReserveN(t, n)
			return r.DelayFrom, r.CancelAt
		}}
}

// The histories in the package comment of limiters, of a bucket with limit 1/s,
// burst 10 and no tokens, and how many tokens (or grants, or seconds) each ends with.
func TestXTime_differences(t *testing.T) {
	t0 := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	granted := func(n int, allow func(i int) bool) (sum float64) {
		for i := range n {
			if allow(i) {
				sum++
			}
		}
		return sum
	}
	calls := func(limit float64) func(make func(float64, int) bucket, _ bucket) float64 {
		return func(make func(float64, int) bucket, _ bucket) float64 {
			b := make(limit, 5)
			return granted(100, func(i int) bool { return b.allow(t0, 1) })
		}
	}
	for _, tt := range []struct {
		name         string
		history      func(make func(limit float64, burst int) bucket, b bucket) float64
		ours, theirs float64
	}{
		{"an instant before the newest", func(make func(float64, int) bucket, _ bucket) float64 {
			b := make(1, 10)
			return granted(200, func(i int) bool { return b.allow(t0.Add(time.Duration((i+1)%2)*10*time.Second), 1) })
		}, 10, 200},
		{"n == 0 in debt: AllowN", func(_ func(float64, int) bucket, b bucket) float64 {
			b.reserve(t0, 5)
			return granted(1, func(int) bool { return b.allow(t0, 0) })
		}, 1, 0},
		{"n == 0 in debt: ReserveN", func(_ func(float64, int) bucket, b bucket) float64 {
			b.reserve(t0, 5)
			delay, _ := b.reserve(t0, 0)
			return delay(t0).Seconds()
		}, 0, 5},
		{"n < 0", func(_ func(float64, int) bucket, b bucket) float64 {
			b.allow(t0, -5)
			return b.tokens(t0)
		}, 0, 5},
		{"Cancel twice", func(_ func(float64, int) bucket, b bucket) float64 {
			_, cancel := b.reserve(t0, 5)
			cancel(t0)
			cancel(t0)
			return b.tokens(t0)
		}, 0, 10},
		{"Cancel again after too late", func(_ func(float64, int) bucket, b bucket) float64 {
			_, cancel := b.reserve(t0, 5)
			cancel(t0.Add(6 * time.Second))
			cancel(t0.Add(5 * time.Second))
			return b.tokens(t0.Add(5 * time.Second))
		}, 0, 5},
		{"Cancel what Inf gave", func(_ func(float64, int) bucket, b bucket) float64 {
			b.setLimit(t0, math.MaxFloat64)
			_, cancel := b.reserve(t0, 5)
			b.setLimit(t0, 1)
			cancel(t0)
			return b.tokens(t0)
		}, 0, 5},
		{"Cancel after SetLimit", func(_ func(float64, int) bucket, b bucket) float64 {
			_, cancel := b.reserve(t0, 5)
			b.setLimit(t0, 10)
			b.reserve(t0, 5)
			cancel(t0)
			return b.tokens(t0)
		}, -10, -1},
		{"Cancel after the bucket was full", func(_ func(float64, int) bucket, b bucket) float64 {
			_, cancel := b.reserve(t0, 5)
			b.setLimit(t0, 100)
			b.allow(t0.Add(time.Second), 10)
			cancel(t0.Add(time.Second))
			return b.tokens(t0.Add(time.Second))
		}, 0, 9},
		{"Cancel after others", func(_ func(float64, int) bucket, b bucket) float64 {
			_, first := b.reserve(t0, 4)
			_, second := b.reserve(t0, 3)
			first(t0)
			_, third := b.reserve(t0, 2)
			third(t0)
			before := b.tokens(t0)
			second(t0)
			return b.tokens(t0) - before
		}, 3, 4},
		{"math.Inf(1)", calls(math.Inf(1)), 100, 100},
		{"SetLimit of NaN", func(make func(float64, int) bucket, _ bucket) float64 {
			b := make(1, 5)
			b.setLimit(t0, math.NaN())
			return granted(100, func(int) bool { return b.allow(t0, 1) })
		}, 5, 100},
		{"longest interval", func(make func(float64, int) bucket, _ bucket) float64 {
			b := make(float64(rate.Every(math.MaxInt64)), 1)
			return granted(2, func(int) bool { return b.allow(t0, 1) })
		}, 1, 2},
		{"never", func(_ func(float64, int) bucket, b bucket) float64 {
			b.setLimit(t0, 0)
			delay, _ := b.reserve(t0, 1)
			return (limiters.InfDuration - delay(t0.Add(time.Hour))).Seconds()
		}, 0, 3600},
	} {
		for _, side := range []struct {
			name string
			make func(float64, int) bucket
			want float64
		}{{"limiters", ourBucket, tt.ours}, {"x/time/rate", theirBucket, tt.theirs}} {
			b := side.make(1, 10)
			b.allow(t0, 10)
			if got := tt.history(side.make, b); math.Abs(got-side.want) > 1e-9 {
				t.Errorf("%s: %s ends with %v, want %v", tt.name, side.name, got, side.want)
			}
		}
	}
}
