package peers

import (
	"testing"
	"time"

	"github.com/escapement-go/escapement/fakeclock"
	uber "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// These tests show each known failure with the library alone, so that a mistake of
// the suite cannot hide behind it. They fail when the library is mended.

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// The docs of AllowN: "reports whether n events may happen at time t". A request
// for -1 is granted and pays one token in: 4 leave a bucket of 3 at one instant.
func TestXTime_negativeRequestAddsTokens(t *testing.T) {
	l := rate.NewLimiter(10, 3)
	l.AllowN(start, 1)
	l.AllowN(start, -1)
	if !l.AllowN(start, 3) {
		t.Error("AllowN(t, 3) was denied: x/time no longer adds tokens for a negative n")
	}
}

// One token a second and a burst of 2 make 3 tokens in a second; asking about the
// start of that second again mints a fourth, and so on for ever (golang/go#56287).
func TestXTime_pastInstantMintsTokens(t *testing.T) {
	l := rate.NewLimiter(1, 2)
	granted := 0
	for range 100 {
		if l.AllowN(start.Add(time.Second), 1) {
			granted++
		}
		l.AllowN(start, 0) // asks for nothing, one second ago
	}
	if granted <= 3 {
		t.Errorf("%d tokens in one second: x/time no longer mints any", granted)
	}
}

// 6e8 a second are 1.67ns apiece; the limiter lets them pass 1ns apart.
func TestUber_fastRateIsCutToNanoseconds(t *testing.T) {
	clock := &jumping{now: start}
	l := uber.New(600_000_000, uber.WithoutSlack, uber.WithClock(clock))
	for range 601 {
		l.Take()
	}
	if got := clock.now.Sub(start); got >= time.Microsecond {
		t.Errorf("601 Takes took %v: the rate is kept", got)
	}
}

// A clock that stands at Unix(0) is taken for an unused limiter: nothing waits.
func TestUber_unixZeroIsTakenForNew(t *testing.T) {
	clock := &jumping{now: time.Unix(0, 0)}
	l := uber.New(10, uber.WithoutSlack, uber.WithClock(clock))
	for range 100 {
		l.Take()
	}
	if got := clock.now.Sub(time.Unix(0, 0)); got != 0 {
		t.Errorf("100 Takes at 10/s took %v: the sentinel is gone", got)
	}
}

// What idle time earns is lost when the last Take was at Unix(0): after 10s with a
// slack of 1 the second Take waits.
func TestUber_unixZeroLosesSlack(t *testing.T) {
	for _, epoch := range []time.Time{time.Unix(0, 0), start} {
		clock := &jumping{now: epoch}
		l := uber.New(10, uber.WithSlack(1), uber.WithClock(clock))
		l.Take()
		clock.Sleep(10 * time.Second)
		before := clock.now
		l.Take()
		clock.Sleep(50 * time.Millisecond)
		l.Take()
		waited := clock.now.Sub(before) - 50*time.Millisecond
		if (waited > 0) != (epoch != start) {
			t.Errorf("after %v: waited %v", epoch, waited)
		}
	}
}

// jumping is a clock whose Sleep moves it.
type jumping struct{ now time.Time }

func (c *jumping) Now() time.Time        { return c.now }
func (c *jumping) Sleep(d time.Duration) { c.now = c.now.Add(d) }

var _ uber.Clock = (*fakeclock.Clock)(nil)
