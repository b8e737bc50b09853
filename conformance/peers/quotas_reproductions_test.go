package peers

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/RussellLuo/slidingwindow"
	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"
)

// Each known failure of TestQuotas with the library alone, as in the tests above.

func newThrottled(t *testing.T, wrap func(throttled.GCRAStoreCtx) throttled.GCRAStoreCtx) func(n int) (limited bool, remaining int) {
	t.Helper()
	store, err := memstore.NewCtx(0)
	if err != nil {
		t.Fatal(err)
	}
	l, err := throttled.NewGCRARateLimiterCtx(wrap(store), throttled.RateQuota{MaxRate: throttled.PerHour(1), MaxBurst: 4})
	if err != nil {
		t.Fatal(err)
	}
	return func(n int) (bool, int) {
		t.Helper()
		limited, r, err := l.RateLimitCtx(context.WithValue(context.Background(), races{}, new(int)), "key", n)
		if err != nil {
			t.Fatal(err)
		}
		return limited, r.Remaining
	}
}

// The docs say "Limit is the maximum number of requests that could be permitted
// instantaneously": 5. A quantity of -3 leaves 8 remaining, and is given back.
func TestThrottled_negativeQuantity(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		ask := newThrottled(t, func(s throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return s })
		if _, remaining := ask(-3); remaining != 8 {
			t.Errorf("%d of 5 remain after -3, which gave 8", remaining)
		}
		ask(3)
		ask(-3)
		if limited, _ := ask(5); limited {
			t.Error("5 of 5 were denied after 3 and -3: nothing is given back any more")
		}
	})
}

// The largest quantity times the interval is a small negative number: granted.
func TestThrottled_largestQuantity(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		ask := newThrottled(t, func(s throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return s })
		if limited, _ := ask(math.MaxInt); limited {
			t.Error("a request for MaxInt of 5 was denied: the overflow is mended")
		}
	})
}

// The docs say "if quantity is 0, no update is performed allowing you to peek". If
// somebody else wins the race of the peek, it takes 1.
func TestThrottled_peekTakesAfterALostRace(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		ask := newThrottled(t, func(s throttled.GCRAStoreCtx) throttled.GCRAStoreCtx { return losesFirst{s} })
		if _, remaining := ask(1); remaining != 4 {
			t.Fatalf("%d remain after 1 of 5", remaining)
		}
		ask(0)
		if _, remaining := ask(1); remaining != 2 {
			t.Errorf("%d remain after 2 of 5 and a peek, which took 1: want 2", remaining)
		}
	})
}

func newSlidingWindow(limit int64) *slidingwindow.Limiter {
	l, _ := slidingwindow.NewLimiter(time.Second, limit, func() (slidingwindow.Window, slidingwindow.StopFunc) {
		return slidingwindow.NewLocalWindow()
	})
	return l
}

// The docs say AllowN "reports whether n events may happen at time now". None may
// after 100 of 100: MaxInt64 are allowed, and -1 gives 1 back.
func TestSlidingWindow_oddNumbers(t *testing.T) {
	l := newSlidingWindow(100)
	l.AllowN(start, 100)
	if l.AllowN(start, 1) || !l.AllowN(start, -1) || !l.AllowN(start, 1) {
		t.Error("-1 no longer gives back")
	}
	if !l.AllowN(start, math.MaxInt64) {
		t.Error("MaxInt64 of 100 were denied: the overflow is mended")
	}
}

// "n events may happen" after 4096 of MaxInt64, too, where n is all of these.
func TestSlidingWindow_largestLimit(t *testing.T) {
	l := newSlidingWindow(math.MaxInt64)
	if !l.AllowN(start, 4096) || !l.AllowN(start, math.MaxInt64) {
		t.Error("MaxInt64 of MaxInt64 were denied when 4096 were gone: the overflow is mended")
	}
}

// In the year 1 the start of a window is a wrong instant, and no window ever ends.
func TestSlidingWindow_yearOne(t *testing.T) {
	l := newSlidingWindow(1)
	if !l.AllowN(time.Time{}, 1) {
		t.Fatal("the first of 1 was denied")
	}
	if l.AllowN(time.Time{}.Add(time.Hour), 1) {
		t.Error("1 of 1 was allowed an hour later: the year 1 works")
	}
}

// Increment "increments the limit by given count". The count before it and MaxInt64
// are less than the limit; a negative count leaves more than the limit remaining.
func TestUlule_oddCounts(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		l := limiter.New(memory.NewStoreWithOptions(limiter.StoreOptions{}), limiter.Rate{Limit: 4, Period: time.Second})
		if c, err := l.Increment(context.Background(), "a", -1); err != nil || c.Remaining != 5 {
			t.Errorf("%d of 4 remain after -1, which left 5", c.Remaining)
		}
		_, _ = l.Increment(context.Background(), "b", 1)
		if c, err := l.Increment(context.Background(), "b", math.MaxInt64); err != nil || c.Reached {
			t.Error("1 and MaxInt64 of 4 reach the limit: the overflow is mended")
		}
	})
}

// A Period of 292 years is accepted, and the limit of 1 never reached.
func TestUlule_longestPeriod(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		l := limiter.New(memory.NewStoreWithOptions(limiter.StoreOptions{}),
			limiter.Rate{Limit: 1, Period: math.MaxInt64})
		for range 3 {
			if c, err := l.Get(context.Background(), "a"); err != nil || c.Reached {
				t.Error("the limit was reached: the period does not overflow any more")
			}
		}
	})
}

// NewBursty accepts 0 executions; to ask for one panics.
func TestFailsafeBursty_limitOfNone(t *testing.T) {
	l := ratelimiter.NewBursty[any](0, time.Second)
	defer func() {
		if recover() == nil {
			t.Error("no panic: a limit of 0 is looked at")
		}
	}()
	l.TryAcquirePermit()
}

// TryAcquirePermits "tries to acquire permits", and there are none left: MaxInt64 of
// them are acquired.
func TestFailsafeBursty_largestNumber(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		l := ratelimiter.NewBursty[any](4, time.Second)
		if !l.TryAcquirePermits(4) || l.TryAcquirePermits(1) {
			t.Fatal("not 4 of 5")
		}
		if !l.TryAcquirePermits(math.MaxInt64) {
			t.Error("MaxInt64 of 4 were denied: the overflow is mended")
		}
	})
}

// The docs of NewSmooth say permits are spread "evenly". A second apiece, two are
// acquired a millisecond apart.
func TestFailsafeSmooth_grid(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		l := ratelimiter.NewSmoothWithMaxRate[any](time.Second)
		time.Sleep(999 * time.Millisecond)
		first := l.TryAcquirePermit()
		time.Sleep(time.Millisecond)
		if !first || !l.TryAcquirePermit() {
			t.Error("the second of two permits a millisecond apart was denied: the spacing is kept")
		}
	})
}

// Wait "blocks until lim permits an event to happen". At ten a second, the second of
// two comes less than 100ms after the first: what is left of a nanosecond is cut from the wait.
func TestXTime_waitIsCutToNanoseconds(t *testing.T) {
	l := rate.NewLimiter(rate.Every(100*time.Millisecond), 1)
	l.AllowN(start, 1)
	if d := l.ReserveN(start.Add(1), 1).DelayFrom(start); d >= 100*time.Millisecond {
		t.Errorf("the second is due after %v: the spacing is kept", d)
	}
}

// The store reads the runtime's clock past package time, so that in a bubble no time
// passes: no verdict on it is possible there. Its own clock cannot move a day while
// this test runs.
func TestSethvargo_clockCannotBeHeld(t *testing.T) {
	synctestcompat.Require(t)
	synctestcompat.Run(t, func(t *testing.T) {
		store, err := memorystore.New(&memorystore.Config{Tokens: 1, Interval: 24 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close(context.Background())
		if _, _, _, ok, _ := store.Take(context.Background(), "key"); !ok {
			t.Fatal("the first of 1 was denied")
		}
		time.Sleep(48 * time.Hour)
		if _, _, _, ok, _ := store.Take(context.Background(), "key"); ok {
			t.Error("two days of the bubble brought a token: the clock is package time's now, so run the suite on it")
		}
	})
}
