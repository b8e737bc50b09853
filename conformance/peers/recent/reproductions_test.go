package recent

import (
	"context"
	"math"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	cloudfoundry "code.cloudfoundry.org/clock/fakeclock"
	"github.com/cockroachdb/tokenbucket"
	"github.com/didip/tollbooth/v7"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/go-chi/httprate"
	jmhodges "github.com/jmhodges/clock"
	lnd "github.com/lightningnetwork/lnd/clock"
	"github.com/zeromicro/go-zero/core/executors"
	"github.com/zeromicro/go-zero/core/syncx"
	temporal "go.temporal.io/server/common/clock"
	"go.temporal.io/server/common/quotas"
	"golang.org/x/time/rate"
	"google.golang.org/api/support/bundler"
	"k8s.io/client-go/util/flowcontrol"
	"storj.io/common/sync2"
)

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
	synctest.Test(t, func(t *testing.T) { // both at one instant
		tiny := float32(1 / time.Duration(1<<63-1).Seconds())
		l := flowcontrol.NewTokenBucketRateLimiter(tiny, 1)
		if !l.TryAccept() || !l.TryAccept() {
			t.Error("denied at a rate of nearly 0: mended")
		}
	})
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

// A huge limit overflows as well (SC-APPROX, GC-REMAIN).
func TestHTTPRate_largestLimit(t *testing.T) {
	l := httprate.NewRateLimiter(math.MaxInt, time.Hour)
	for _, n := range []int{4096, math.MaxInt} {
		req := httptest.NewRequest("GET", "/", nil)
		req = req.WithContext(httprate.WithIncrement(req.Context(), n))
		if l.OnLimit(httptest.NewRecorder(), req, "key") {
			t.Errorf("of the increments 4096 and MaxInt, with a limit of MaxInt, %d was denied: mended", n)
		}
	}
}

// A tick carries the time that SetTime gets (CK-TIMER).
func TestLnd_tickIsLate(t *testing.T) {
	c := lnd.NewTestClock(start)
	tick := c.TickAfter(time.Second)
	c.SetTime(start.Add(3 * time.Second))
	if at := (<-tick).Sub(start); at != 3*time.Second {
		t.Errorf("it ticked with %v, want 3s", at)
	}
}

// An armed timer that is reset sends the deadline that it had before (CK-TIMER, CK-STOP, CK-DIFF).
func TestTemporal_resetTimerSendsItsOldDeadline(t *testing.T) {
	c := temporal.NewEventTimeSource()
	sent, timer := c.NewTimer(time.Second)
	timer.Reset(time.Hour)
	c.Advance(time.Hour)
	if at := (<-sent).Sub(time.Unix(0, 0)); at != time.Second {
		t.Errorf("reset to an hour, it sent %v: mended", at)
	}
}

// Stop leaves what was sent (CK-UNREAD).
func TestTemporal_stopLeavesTheValue(t *testing.T) {
	c := temporal.NewEventTimeSource()
	sent, timer := c.NewTimer(time.Second)
	c.Advance(time.Second)
	if stopped := timer.Stop(); stopped || len(sent) != 1 {
		t.Errorf("Stop says %t and leaves %d values: mended", stopped, len(sent))
	}
}

// "NewTimer creates a Timer that will send the current time" (CK-ZERO).
func TestTemporal_negativeTimerSendsThePast(t *testing.T) {
	c := temporal.NewEventTimeSource()
	sent, _ := c.NewTimer(-time.Hour)
	if late := c.Now().Sub(<-sent); late != time.Hour {
		t.Errorf("it sent %v before the current time, want 1h", late)
	}
}

// Functions run in the order in which they were armed (CK-ORDER).
func TestTemporal_functionsRunInTheOrderOfArming(t *testing.T) {
	c := temporal.NewEventTimeSource()
	var ran []time.Duration
	for _, d := range []time.Duration{2 * time.Second, time.Second} {
		c.AfterFunc(d, func() { ran = append(ran, d) })
	}
	if c.Advance(time.Minute); ran[0] != 2*time.Second {
		t.Errorf("they ran in the order %v: mended", ran)
	}
}

// A context does not end with its parent, nor has its deadline (CK-CTXTREE).
func TestTemporal_contextOutlivesItsParent(t *testing.T) {
	c := temporal.NewEventTimeSource()
	parent, cancel := temporal.ContextWithTimeout(context.Background(), time.Minute, c)
	child, cancelChild := temporal.ContextWithTimeout(parent, time.Hour, c)
	defer cancelChild()
	if deadline, _ := child.Deadline(); deadline != c.Now().Add(time.Hour) {
		t.Errorf("its deadline is %v: mended", deadline)
	}
	if cancel(); parent.Err() == nil || child.Err() != nil {
		t.Errorf("when the parent was cancelled it ended with %v: mended", child.Err())
	}
}

// Advance hangs at a timer that was reset while its last value was not read yet (CK-ARMED).
func TestTemporal_unreadTimerHangsAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := temporal.NewEventTimeSource()
		sent, timer := c.NewTimer(time.Second)
		c.Advance(time.Second)
		timer.Reset(time.Second)
		returned := make(chan struct{})
		go func() {
			c.Advance(time.Second)
			close(returned)
		}()
		synctest.Wait()
		select {
		case <-returned:
			t.Error("Advance returned: mended")
		default:
		}
		<-sent
		<-returned
	})
}

// A wait whose context is done takes a token that is there, and returns nil (W-PRE).
func TestTemporalQuotas_waitTakesForADoneContext(t *testing.T) {
	l := quotas.NewRateLimiter(1, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.Wait(done); err != nil {
		t.Errorf("it returned %v: mended", err)
	}
	if l.Allow() {
		t.Error("it took no token: mended")
	}
}

// A rate at which a token takes longer than a Duration can say grants all (RL-TINY).
func TestTemporalQuotas_tinyRateGrants(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // both at one instant
		l := quotas.NewRateLimiter(1/time.Duration(1<<63-1).Seconds(), 1)
		if !l.Allow() || !l.Allow() {
			t.Error("denied at a rate of nearly 0: mended")
		}
	})
}

// A clock that is set back brings tokens when it is on again (X-BACK).
func TestTemporalQuotas_clockSetBackBringsTokens(t *testing.T) {
	c := temporal.NewEventTimeSource()
	l := quotas.NewClockedRateLimiter(rate.NewLimiter(1, 3), c)
	granted := 0
	for _, ahead := range []time.Duration{0, -time.Hour, 0, -time.Hour, 0} {
		c.Update(start.Add(ahead))
		if l.Allow() {
			granted++
		}
	}
	if granted != 5 {
		t.Errorf("%d tokens of a burst of 3, in no time, want all 5 that were asked for", granted)
	}
}

// Tokens is 0 for a key that has its burst, as long as it has not made a request (RL-TOKENS).
func TestTollbooth_noTokensAtFirst(t *testing.T) {
	l := tollbooth.NewLimiter(1, nil).SetBurst(5)
	if n := l.Tokens("key"); n != 0 {
		t.Errorf("%d tokens before the first request: mended", n)
	}
	if l.LimitReached("key") || l.Tokens("key") != 4 {
		t.Errorf("%d tokens after the first request, want 4", l.Tokens("key"))
	}
}

// A maximum of 0, or near it, allows more than the burst (RL-LIM0, RL-TINY).
func TestTollbooth_maximumOfNoneAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // both requests at one instant
		for _, most := range []float64{0, 1e9 / (1 << 63)} {
			l := tollbooth.NewLimiter(most, nil).SetBurst(1)
			if l.LimitReached("key") || l.LimitReached("key") {
				t.Errorf("with a maximum of %g and a burst of 1, two requests reach the limit: mended", most)
			}
		}
	})
}

// A new bucket holds what 292 years bring, not its burst (X-CFG).
func TestTollbooth_slowBucketIsNotFull(t *testing.T) {
	l := tollbooth.NewLimiter(1/(100*365*24*time.Hour).Seconds(), nil).SetBurst(10)
	allowed := 0
	for range 10 {
		if !l.LimitReached("key") {
			allowed++
		}
	}
	if allowed != 2 {
		t.Errorf("%d allowed of a burst of 10, want 2", allowed)
	}
}

// SetMax and SetBurst leave keys alone that have made a request.
func TestTollbooth_knownKeysKeepTheirLimit(t *testing.T) {
	l := tollbooth.NewLimiter(1, nil).SetBurst(5)
	l.LimitReached("key")
	l.SetMax(0.001).SetBurst(1)
	for n := range 4 {
		if l.LimitReached("key") {
			t.Errorf("with a burst of 1, %d more were allowed: mended", n)
		}
	}
}

// Of two calls that meet both run (TH-ONEOF).
func TestLessExecutor_bothRun(t *testing.T) {
	const rounds = 1000
	for range rounds {
		var all [1000]struct {
			*executors.LessExecutor
			ready, ran atomic.Int32
		}
		for i := range all {
			all[i].LessExecutor = executors.NewLessExecutor(time.Hour)
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				for i := range all {
					x := &all[i]
					for x.ready.Add(1); x.ready.Load() < 2; { // so that they meet
					}
					x.DoOrDiscard(func() { x.ran.Add(1) })
				}
			})
		}
		both.Wait()
		for i := range all {
			if all[i].ran.Load() == 2 {
				return
			}
		}
	}
	t.Errorf("only one ran, in each of %d rounds: mended", rounds)
}

// A Flush that the handler calls never returns (X-REENT).
func TestBundler_flushWaitsForItself(t *testing.T) {
	flushing, flushed, handled := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var b *bundler.Bundler
	b = bundler.NewBundler(0, func(any) {
		defer close(handled)
		go func() { close(flushing); b.Flush(); close(flushed) }()
		<-flushing
		for range 1000 { // it would wait for flushed, if it were Flush that it calls
			runtime.Gosched()
		}
		select {
		case <-flushed:
			t.Error("Flush does not wait for the handler: mended")
		default:
		}
	})
	b.BundleCountThreshold = 1
	if err := b.Add(1, 1); err != nil {
		t.Fatal(err)
	}
	<-handled
	<-flushed
}

// A Stop that the function calls never returns (X-REENT).
func TestCooldown_stopWaitsForItself(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := sync2.NewCooldown(time.Second)
	stopping, stopped := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- c.Run(ctx, func(context.Context) error {
			go func() {
				close(stopping)
				c.Stop()
				close(stopped)
			}()
			<-stopping
			for range 1000 { // it would wait for stopped, if it were Stop that it calls
				runtime.Gosched()
			}
			select {
			case <-stopped:
				t.Error("Stop does not wait for the function: mended")
			default:
			}
			return nil
		})
	}()
	c.Trigger()
	<-ended
	<-stopped
}

// A Return between the two looks of a Borrow wakes nobody (CT-NOLOST).
func TestTimeoutLimit_waitsBesideAFreeSlot(t *testing.T) {
	const rounds = 1_000_000
	synctest.Test(t, func(t *testing.T) {
		for range rounds {
			l := syncx.NewTimeoutLimit(1)
			l.TryBorrow()
			var borrowed atomic.Bool
			go func() { borrowed.Store(l.Borrow(time.Hour) == nil) }()
			go func() { _ = l.Return() }()
			synctest.Wait() // both have done what they can
			if !borrowed.Load() {
				if !l.TryBorrow() {
					t.Error("the slot is not free")
				}
				time.Sleep(time.Hour) // until it gives up
				synctest.Wait()
				return
			}
		}
		t.Skipf("each of %d got the slot: by chance, or it is mended", rounds)
	})
}

// settable is a clock that can be set back.
type settable struct {
	*fakeclock.Clock
	ahead time.Duration
}

func (c *settable) Now() time.Time { return c.Clock.Now().Add(c.ahead) }
