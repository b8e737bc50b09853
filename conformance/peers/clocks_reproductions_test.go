package peers

import (
	"context"
	"testing"
	"time"

	benbjohnson "github.com/benbjohnson/clock"
	"github.com/coder/quartz"
	"github.com/jonboulle/clockwork"
	"github.com/tilinna/clock"
	"github.com/zoobz-io/clockz"
	k8s "k8s.io/utils/clock/testing"
)

// These tests show what the suite says of fake clocks with the library alone, one
// for each kind of finding. They fail when the library is mended.

// shows fails the test unless a known failure shows.
func shows(t *testing.T, known bool, what string) {
	t.Helper()
	if !known {
		t.Errorf("it no longer shows that %s", what)
	}
}

func received(c <-chan time.Time) (time.Time, bool) {
	select {
	case v := <-c:
		return v, true
	default:
		return time.Time{}, false
	}
}

func TestClockwork_stoppedTickerTicks(t *testing.T) {
	c := clockwork.NewFakeClock()
	ticker := c.NewTicker(time.Second)
	ticker.Reset(700 * time.Millisecond)
	ticker.Stop()
	c.Advance(5 * time.Second)
	_, ok := received(ticker.Chan())
	shows(t, ok, "a ticker that was reset cannot be stopped")
}

func TestClockwork_staleValue(t *testing.T) {
	c := clockwork.NewFakeClock()
	timer := c.NewTimer(time.Second)
	c.Advance(time.Second)
	stopped := timer.Stop()
	_, ok := received(timer.Chan())
	shows(t, !stopped && ok, "Stop leaves the value of a timer that fired")
}

func TestClockwork_cancelledContextWaits(t *testing.T) {
	c := clockwork.NewFakeClock()
	ctx, cancel := clockwork.WithTimeout(context.Background(), c, time.Second)
	cancel()
	<-ctx.Done()
	over, end := context.WithCancel(context.Background())
	end()
	shows(t, c.BlockUntilContext(over, 1) == nil, "a cancelled context leaves its timer")
}

func TestQuartz_negativeTickerReset(t *testing.T) {
	m := quartz.NewMock(&strict{}).WithLogger(quartz.NoOpLogger)
	ticker := m.NewTicker(time.Second)
	panicked := true
	func() {
		defer func() { panicked = recover() != nil }()
		ticker.Reset(-1)
	}()
	shows(t, !panicked, "Ticker.Reset takes a negative period, against its own doc")
}

func TestBenbjohnson_zeroFunctionWaits(t *testing.T) {
	m := benbjohnson.NewMock()
	ran := make(chan bool, 1)
	timer := m.AfterFunc(0, func() { ran <- true })
	shows(t, timer.Stop(), "AfterFunc(0) waits for the clock to be moved")
}

func TestBenbjohnson_tickOfNoPeriod(t *testing.T) {
	shows(t, benbjohnson.NewMock().Tick(0) != nil, "Tick(0) returns a channel, where package time returns nil")
}

func TestK8s_valueIsTheEndOfTheStep(t *testing.T) {
	c := k8s.NewFakeClock(start)
	timer := c.NewTimer(time.Second)
	c.Step(3 * time.Second)
	v, _ := received(timer.C())
	shows(t, v.Equal(start.Add(3*time.Second)), "a timer sends the end of the Step")
}

func TestTilinna_lateCancelReplacesTheCause(t *testing.T) {
	m := clock.NewMock(start)
	ctx, cancel := m.TimeoutContext(context.Background(), time.Second)
	m.Add(time.Second)
	<-ctx.Done()
	cancel() // too late
	shows(t, ctx.Err() == context.DeadlineExceeded && context.Cause(ctx) == context.Canceled,
		"a late cancel replaces the cause of a context whose deadline has passed")
}

func TestClockz_resetOfAFiredTimer(t *testing.T) {
	c := clockz.NewFakeClockAt(start)
	ran := 0
	timer := c.AfterFunc(time.Second, func() { ran++ })
	for range 2 {
		c.Advance(time.Second)
		c.BlockUntilReady()
		timer.Reset(time.Second)
	}
	shows(t, ran == 1, "a timer that fired cannot be reset")
}
