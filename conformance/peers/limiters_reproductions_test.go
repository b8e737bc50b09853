package peers

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/juju/ratelimit"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	"golang.org/x/time/rate"
)

// These tests show what RunLimiter finds in limiters with the library alone.

// The docs of Cancel say that it "reverses the effects of this Reservation on the
// rate limit as much as possible". Called twice, it reverses more than there was: 4
// tokens leave a bucket of 3 at one instant.
func TestXTime_secondCancelRefundsAgain(t *testing.T) {
	l := rate.NewLimiter(10, 3)
	l.AllowN(start, 3)
	r := l.ReserveN(start, 1)
	r.CancelAt(start)
	r.CancelAt(start)
	if !l.AllowN(start, 1) {
		t.Error("a fourth token was denied: the second Cancel does nothing any more")
	}
}

// Three reservations, cancelled in reverse at the instant at which they were made,
// leave nothing reserved, so that the next is due after one interval. It is due after
// two: instants that were rounded to nanoseconds are compared, and one cancel gives
// back nothing.
func TestXTime_reverseCancelsLeaveOneTaken(t *testing.T) {
	l := rate.NewLimiter(3, 3)
	l.AllowN(start, 3)
	var made []*rate.Reservation
	for range 3 {
		made = append(made, l.ReserveN(start, 1))
	}
	for i := range made {
		made[2-i].CancelAt(start)
	}
	if d := l.ReserveN(start, 1).DelayFrom(start); d < 600*time.Millisecond {
		t.Errorf("the next reservation is due after %v: all was given back", d)
	}
}

// Cancel gives back 3 tokens, although without the reservation a burst of 1 would have taken all but one.
func TestXTime_cancelAfterALowerBurst(t *testing.T) {
	l := rate.NewLimiter(10, 5)
	r := l.ReserveN(start, 3)
	l.SetBurstAt(start, 1)
	l.SetBurstAt(start, 5)
	r.CancelAt(start)
	if !l.AllowN(start, 2) {
		t.Error("two tokens are not there: a cancel brings no more than the lower burst left")
	}
}

// Cancel counts what was reserved later in time, at the limit at which it was reserved
// itself. After another limit that comes to more than was taken, or to less.
func TestXTime_cancelAfterSetLimit(t *testing.T) {
	for _, c := range []struct {
		limit  rate.Limit
		tokens float64 // after the first was given up, and, if the limit fell, the second before
	}{
		{100, -0.2}, // one for the second reservation is missing, and should be -1
		{5, -1},     // nothing is reserved, so that it should be 0
	} {
		l := rate.NewLimiter(10, 3)
		l.AllowN(start, 3)
		first := l.ReserveN(start, 1)
		l.SetLimitAt(start, c.limit)
		second := l.ReserveN(start, 1)
		if c.limit < 10 {
			second.CancelAt(start)
		}
		first.CancelAt(start)
		if got := l.TokensAt(start); math.Abs(got-c.tokens) > 1e-6 {
			t.Errorf("after a limit of %v: %v tokens, want %v as in v0.14.0", c.limit, got, c.tokens)
		}
	}
}

// Who reserves after a cancel may be due before others, who keep their instants. The one that was due last then gives
// back 2 tokens when it is given up, and took 1: Cancel counts what was reserved later in time, which is less than none.
func TestXTime_cancelOutOfTurnGivesMoreThanItTook(t *testing.T) {
	l := rate.NewLimiter(10, 3)
	l.AllowN(start, 1)
	first, last := l.ReserveN(start, 3), l.ReserveN(start, 1)
	first.CancelAt(start)
	l.ReserveN(start, 1) // due before last
	before := l.TokensAt(start)
	last.CancelAt(start)
	if got := l.TokensAt(start) - before; math.Abs(got-2) > 1e-6 {
		t.Errorf("it gave back %v tokens, want 2 as in v0.14.0", got)
	}
}

// Under Inf nothing is taken; a cancel of what was reserved then brings tokens all
// the same.
func TestXTime_cancelOfWhatWasFreeRefunds(t *testing.T) {
	l := rate.NewLimiter(10, 3)
	l.AllowN(start, 3)
	l.SetLimitAt(start, rate.Inf)
	r := l.ReserveN(start, 3)
	l.SetLimitAt(start, 10)
	if l.AllowN(start, 1) {
		t.Fatal("the bucket was not empty")
	}
	r.CancelAt(start)
	if !l.AllowN(start, 3) {
		t.Error("3 tokens were denied: what was free is not refunded any more")
	}
}

// One event in 292 years is the smallest rate that Every can express. The delay of
// the second event is 2^63ns, which is taken for none (golang/go#71154 mended longer
// ones).
func TestXTime_smallestRateGrantsEverything(t *testing.T) {
	l := rate.NewLimiter(rate.Every(math.MaxInt64), 1)
	if !l.AllowN(start, 1) || !l.AllowN(start, 1) {
		t.Error("the second event was denied: the delay does not overflow any more")
	}
}

// The wait for MaxInt64 tokens overflows: it is negative, and so below any maximum.
func TestJuju_largeCountIsGranted(t *testing.T) {
	b := ratelimit.NewBucket(time.Hour, 3)
	if _, ok := b.TakeMaxDuration(math.MaxInt64, 0); !ok {
		t.Error("MaxInt64 tokens of 3 were denied: the wait does not overflow any more")
	}
}

// So does one of more than 292 years behind those who wait already.
func TestJuju_waitOfCenturiesIsGranted(t *testing.T) {
	b := ratelimit.NewBucket(200_000*time.Hour, 3)
	b.Take(13)
	if _, ok := b.TakeMaxDuration(3, 0); !ok {
		t.Error("3 tokens behind 13 were denied: the wait does not overflow any more")
	}
}

// "Capacity" has no bound in the docs. What comes to a bucket that is as large as can be overflows, and it
// denies everything.
func TestJuju_largestBucketIsEmptyAfterAnHour(t *testing.T) {
	c := &jumping{start}
	b := ratelimit.NewBucketWithClock(time.Second, math.MaxInt64, c)
	first := b.TakeAvailable(1)
	c.Sleep(time.Hour)
	if then := b.TakeAvailable(1); first != 1 || then != 0 {
		t.Errorf("%d and, an hour later, %d were granted, want 1 and 0: what comes does not overflow any more", first, then)
	}
}

// AcquirePermit "returns an error if the ctx is canceled". With a permit that is there
// it does so by chance.
func TestFailsafe_doneContextTakesByChance(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	taken := 0
	for range 100 {
		l := ratelimiter.NewSmoothBuilderWithMaxRate[any](time.Hour).Build()
		if l.AcquirePermit(ctx) == nil {
			taken++
		}
	}
	if taken == 0 {
		t.Error("none of 100 was taken: a context that is done is looked at first")
	}
}

// throttledLimiter is a GCRA of throttled over its store in memory.
func throttledLimiter(t *testing.T, quota throttled.RateQuota) func(quantity int) bool {
	t.Helper()
	store, err := memstore.NewCtx(0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := throttled.NewGCRARateLimiterCtx(store, quota)
	if err != nil {
		t.Fatal(err)
	}
	return func(quantity int) bool {
		limited, _, err := l.RateLimitCtx(context.Background(), "key", quantity)
		if err != nil {
			t.Fatal(err)
		}
		return !limited
	}
}

// A negative quantity gives back: 4 requests pass at a burst of 3, an hour apiece.
func TestThrottled_negativeQuantityGivesBack(t *testing.T) {
	allow := throttledLimiter(t, throttled.RateQuota{MaxRate: throttled.PerDuration(1, time.Hour), MaxBurst: 2})
	allow(1)
	allow(-1)
	if !allow(3) {
		t.Error("3 more were limited: a negative quantity gives nothing back any more")
	}
}

// The time for MaxInt64 requests overflows.
func TestThrottled_largeQuantityIsAllowed(t *testing.T) {
	allow := throttledLimiter(t, throttled.RateQuota{MaxRate: throttled.PerDuration(10, time.Second), MaxBurst: 2})
	if !allow(math.MaxInt64) {
		t.Error("MaxInt64 requests were limited: the time does not overflow any more")
	}
}

// The instant after two requests in 292 years each does not fit.
func TestThrottled_smallestRateAllowsEverything(t *testing.T) {
	allow := throttledLimiter(t, throttled.RateQuota{MaxRate: throttled.PerDuration(1, math.MaxInt64)})
	if !allow(1) || !allow(1) {
		t.Error("the second was limited: the instant does not overflow any more")
	}
}

// Four requests in 146 years each are 2^64ns, which do not fit.
func TestThrottled_longestBurstDeniesEverything(t *testing.T) {
	allow := throttledLimiter(t, throttled.RateQuota{MaxRate: throttled.PerDuration(1, 1<<62), MaxBurst: 3})
	if allow(1) {
		t.Error("the first of four was allowed: the burst does not overflow any more")
	}
}

// 6e8 a second are 1.67ns apiece; they are let pass 1ns apart.
func TestThrottled_fastRateIsCutToNanoseconds(t *testing.T) {
	store, err := memstore.New(0)
	if err != nil {
		t.Fatal(err)
	}
	now := start
	store.SetTimeNow(func() time.Time { return now })
	l, err := throttled.NewGCRARateLimiterCtx(throttled.WrapStoreWithContext(store), throttled.RateQuota{MaxRate: throttled.PerDuration(600_000_000, time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	allowed := 0
	for ; now.Before(start.Add(time.Microsecond)); now = now.Add(1) {
		if limited, _, err := l.RateLimitCtx(context.Background(), "key", 1); err == nil && !limited {
			allowed++
		}
	}
	if allowed <= 601 {
		t.Errorf("%d requests in a microsecond: the rate is kept", allowed)
	}
}
