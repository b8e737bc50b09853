package recent

import (
	"context"
	"time"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/jonboulle/clockwork"
	lnd "github.com/lightningnetwork/lnd/clock"
	temporal "go.temporal.io/server/common/clock"
)

// lndClock is the test clock of lnd, which has nothing but channels "that will receive a tick
// after the specified duration", and is set to instants.
func lndClock() clocktest.Spec {
	return clocktest.Spec{
		Name: "lightningnetwork/lnd/clock v1.1.1",
		New: func(clocktest.Env) clocktest.Funcs {
			c := lnd.NewTestClock(start)
			return clocktest.Funcs{
				Now: c.Now, After: c.TickAfter,
				Advance: func(d time.Duration) { c.SetTime(c.Now().Add(d)) },
			}
		},
		KnownFailing: lndKnown,
	}
}

// temporalClock is the fake clock of Temporal's server, whose methods "are synchronous": "all
// triggered timers from AfterFunc will fire before the method returns, in the same goroutine",
// and "the timeSource is locked while the callback is called".
func temporalClock() clocktest.Spec {
	return clocktest.Spec{
		Name: "go.temporal.io/server v1.30.8 clock",
		New: func(clocktest.Env) clocktest.Funcs {
			c := temporal.NewEventTimeSource()
			return clocktest.Funcs{
				Now: c.Now, Since: c.Since, Advance: c.Advance, Sleep: c.Sleep, Armed: c.NumTimers,
				NewTimer: func(d time.Duration) clockwork.Timer {
					ch, timer := c.NewTimer(d)
					return temporalTimer{timer, ch}
				},
				AfterFunc: func(d time.Duration, f func()) clockwork.Timer {
					return temporalTimer{c.AfterFunc(d, f), nil}
				},
				WithTimeout: func(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
					return temporal.ContextWithTimeout(ctx, d, c)
				},
				WithDeadline: func(ctx context.Context, t time.Time) (context.Context, context.CancelFunc) {
					return temporal.ContextWithDeadline(ctx, t, c)
				},
			}
		},
		Traits: clocktest.Traits{
			Waits: clocktest.WaitsForFunctions, Reentrancy: clocktest.ReentrancyForbidden, OnAdvance: true,
		},
		KnownFailing: temporalKnown,
	}
}

type temporalTimer struct {
	temporal.Timer
	ch <-chan time.Time
}

func (t temporalTimer) Chan() <-chan time.Time { return t.ch }
