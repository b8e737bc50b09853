package fakeclock_test

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/fakeclock"
)

func TestConformance_Clock(t *testing.T) {
	t.Run("plain", func(t *testing.T) { clocktest.Run(t, clock(clocktest.WaitsForFunctions)) })
	t.Run("WithSettle", func(t *testing.T) { clocktest.Run(t, clock(clocktest.WaitsForAll)) })
}

// clock describes Clock, as it is or told to settle.
func clock(waits clocktest.Waits) clocktest.Spec {
	name := "fakeclock.Clock"
	if waits == clocktest.WaitsForAll {
		name += " WithSettle"
	}
	return clocktest.Spec{
		Name: name,
		New: func(env clocktest.Env) clocktest.Funcs {
			var opts []fakeclock.Option
			if waits == clocktest.WaitsForAll {
				start := time.Date(2031, 4, 5, 6, 7, 8, 910_111_213, time.UTC) // no whole second
				opts = append(opts, fakeclock.WithSettle(env.Settle), fakeclock.WithStart(start))
			}
			c := fakeclock.New(opts...)
			f := clocktest.Of(c)
			f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return fakeclock.WithTimeout(parent, c, d)
			}
			f.WithDeadline = func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
				return fakeclock.WithDeadline(parent, c, t)
			}
			return f
		},
		Traits: clocktest.Traits{Waits: waits},
	}
}
