package limiters_test

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
)

// A bucket that a ticker fills has a period of whole nanoseconds. At 60 per second that is
// 16666666 ns, and not the 16 ms that is told of it: 250 hours bring two of 54 million tokens
// too many. A bucket that counts when it is asked is exact.
func TestTokenBucket_againstATicker(t *testing.T) {
	const perSecond, hours = 60, 250
	clock := fakeclock.NewTest(t)
	lazy := limiters.NewTokenBucket(perSecond, 1<<30, limiters.WithClock(clock))
	lazy.AllowN(clock.Now(), 1<<30) // empty
	clock.Advance(hours * time.Hour)
	ticks := int64(hours * time.Hour / (time.Second / perSecond)) // of a ticker that nobody is too slow for
	if want := int64(hours * 3600 * perSecond); ticks != want+2 {
		t.Errorf("%d ticks in %d hours, want %d and 2", ticks, hours, want)
	}
	if got, want := lazy.Tokens(), float64(hours*3600*perSecond); got != want {
		t.Errorf("%v tokens in %d hours, want %v", got, hours, want)
	}
}

// A ticker does not know when a token was taken: one that is taken half a period before a
// tick is back at the tick, so that two pass in half a period. Counted, it is back after one.
func TestTokenBucket_tickerHasAPhase(t *testing.T) {
	clock := fakeclock.NewTest(t)
	ticker := clock.NewTicker(time.Second)
	defer ticker.Stop()
	lazy := limiters.NewTokenBucket(limiters.Every(time.Second), 1, limiters.WithClock(clock))
	clock.Advance(time.Second / 2)
	if !lazy.Allow() { // both buckets are empty from here on
		t.Fatal("a full bucket denies")
	}
	var filled, counted time.Duration
	for range 4 {
		clock.Advance(time.Second / 2)
		select {
		case <-ticker.Chan():
			if filled == 0 {
				filled = clock.Elapsed()
			}
		default:
		}
		if counted == 0 && lazy.Tokens() >= 1 {
			counted = clock.Elapsed()
		}
	}
	if filled != time.Second || counted != 1500*time.Millisecond {
		t.Errorf("a token taken at 500ms is back at %v by ticks and at %v by counting, want 1s and 1.5s", filled, counted)
	}
}
