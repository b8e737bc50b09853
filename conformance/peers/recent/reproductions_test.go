package recent

import (
	"context"
	"math"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	cloudfoundry "code.cloudfoundry.org/clock/fakeclock"
	"github.com/cockroachdb/tokenbucket"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/ethereum/go-ethereum/common/mclock"
	"github.com/go-chi/httprate"
	jmhodges "github.com/jmhodges/clock"
	"k8s.io/client-go/util/flowcontrol"
)

// What is due at once waits for Run (CK-ZERO).
func TestEthereum_zeroWaitsForRun(t *testing.T) {
	var c mclock.Simulated
	ran := false
	c.AfterFunc(0, func() { ran = true })
	if ran {
		t.Error("ran at once: mended")
	}
	if c.Run(0); !ran {
		t.Error("did not run at all")
	}
}

// The time that functions see is that of the end of Run (CK-AT).
func TestEthereum_functionsSeeTheEnd(t *testing.T) {
	var c mclock.Simulated
	var at mclock.AbsTime
	c.AfterFunc(time.Second, func() { at = c.Now() })
	c.Run(5 * time.Second)
	if at != mclock.AbsTime(5*time.Second) {
		t.Errorf("it ran at %v, want the end, 5s", time.Duration(at))
	}
}

// What a function arms counts from the end of Run (CK-CHAIN).
func TestEthereum_chainBeginsAtTheEnd(t *testing.T) {
	var c mclock.Simulated
	ran := false
	c.AfterFunc(time.Second, func() { c.AfterFunc(time.Second, func() { ran = true }) })
	if c.Run(10 * time.Second); ran {
		t.Error("both ran within 10s: mended")
	}
	if c.Run(time.Second); !ran {
		t.Error("the second did not run a second after the end")
	}
}

// A timer sends the end of Increment (CK-TIMER, CK-STOP).
func TestCloudfoundry_timerSendsTheEnd(t *testing.T) {
	c := cloudfoundry.NewFakeClock(start)
	timer := c.NewTimer(time.Second)
	c.Increment(5 * time.Second)
	if at := (<-timer.C()).Sub(start); at != 5*time.Second {
		t.Errorf("it sent %v, want the end, 5s", at)
	}
}

// Stop leaves values behind (CK-UNREAD, CK-TICKUNREAD).
func TestCloudfoundry_stopLeavesValues(t *testing.T) {
	c := cloudfoundry.NewFakeClock(start)
	timer, ticker := c.NewTimer(time.Second), c.NewTicker(time.Second)
	c.Increment(time.Second)
	timer.Stop()
	ticker.Stop()
	if len(timer.C()) != 1 || len(ticker.C()) != 1 {
		t.Errorf("%d and %d values after Stop, want 1 and 1", len(timer.C()), len(ticker.C()))
	}
}

// A ticker ticks once for each Increment, and goes on from its end (CK-TICKER, CK-TICKSTOP).
func TestCloudfoundry_tickerGoesOnFromTheEnd(t *testing.T) {
	c := cloudfoundry.NewFakeClock(start)
	ticker := c.NewTicker(time.Second)
	c.Increment(2500 * time.Millisecond)
	if at := (<-ticker.C()).Sub(start); at != 2500*time.Millisecond {
		t.Errorf("ticked at %v, want 2.5s", at)
	}
	c.Increment(500 * time.Millisecond) // 3 s: package time ticks
	if len(ticker.C()) != 0 {
		t.Error("ticks at 3s: mended")
	}
}

// Reset of a stopped timer says that it was armed (CK-ZERO).
func TestCloudfoundry_stoppedIsArmed(t *testing.T) {
	timer := cloudfoundry.NewFakeClock(start).NewTimer(time.Second)
	timer.Stop()
	if !timer.Reset(-time.Hour) {
		t.Error("it was not armed: mended")
	}
}

// Wait is on package time, whatever the clock.
func TestClientGo_waitsOnPackageTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := fakeclock.New()
		l := flowcontrol.NewTokenBucketRateLimiterWithClock(1, 1, c)
		began := time.Now()
		for range 2 {
			if err := l.Wait(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != time.Second || c.Elapsed() != 0 {
			t.Errorf("it took %v of package time and %v of the clock, want 1s and 0", took, c.Elapsed())
		}
	})
}

// A rate at which a token takes longer than a Duration can say grants all (RL-TINY).
func TestClientGo_tinyRateGrants(t *testing.T) {
	tiny := float32(1 / time.Duration(1<<63-1).Seconds())
	l := flowcontrol.NewTokenBucketRateLimiter(tiny, 1)
	if !l.TryAccept() || !l.TryAccept() {
		t.Error("denied at a rate of nearly 0: mended")
	}
}

// A clock that is set back brings tokens when it is on again (X-BACK).
func TestClientGo_clockSetBackBringsTokens(t *testing.T) {
	c := &settable{Clock: fakeclock.New()}
	l := flowcontrol.NewTokenBucketRateLimiterWithClock(1, 3, c)
	granted := 0
	for _, c.ahead = range []time.Duration{0, -time.Hour, 0, -time.Hour, 0} {
		if l.TryAccept() {
			granted++
		}
	}
	if granted != 5 {
		t.Errorf("%d tokens of a burst of 3, in no time, want all 5 that were asked for", granted)
	}
}

// What is due at once waits for Add (CK-ZERO).
func TestJmhodges_afterZero(t *testing.T) {
	select {
	case <-jmhodges.NewFake().After(0):
		t.Error("After(0) sends at once: mended")
	default:
	}
}

// Stop leaves what was sent (CK-UNREAD).
func TestJmhodges_stopLeavesTheValue(t *testing.T) {
	c := jmhodges.NewFake()
	timer := c.NewTimer(time.Second)
	c.Add(time.Second)
	if stopped := timer.Stop(); stopped || len(timer.C) != 1 {
		t.Errorf("Stop says %t and leaves %d values: mended", stopped, len(timer.C))
	}
}

// A negative amount adds tokens (RL-NEG).
func TestCockroach_negativeAmountAdds(t *testing.T) {
	var tb tokenbucket.TokenBucket
	tb.InitWithNowFn(10, 3, func() time.Time { return time.Unix(0, 0) })
	granted := 0
	for _, n := range []tokenbucket.Tokens{-1, 1, 3} {
		if ok, _ := tb.TryToFulfill(n); ok && n > 0 {
			granted += int(n)
		}
	}
	if granted != 4 {
		t.Errorf("%d tokens of a burst of 3, at one instant, want 4", granted)
	}
}

// A negative increment gives back (GC-NEG), and a huge one overflows (RL-NBIG).
func TestHTTPRate_increments(t *testing.T) {
	for _, increments := range [][]int{{1, -1, 4}, {1, math.MaxInt}} {
		l := httprate.NewRateLimiter(4, time.Hour)
		for _, n := range increments {
			req := httptest.NewRequest("GET", "/", nil)
			req = req.WithContext(httprate.WithIncrement(req.Context(), n))
			if l.OnLimit(httptest.NewRecorder(), req, "key") {
				t.Errorf("of the increments %d, with a limit of 4, %d was denied: mended", increments, n)
			}
		}
	}
}

// settable is a clock that can be set back.
type settable struct {
	*fakeclock.Clock
	ahead time.Duration
}

func (c *settable) Now() time.Time { return c.Clock.Now().Add(c.ahead) }
