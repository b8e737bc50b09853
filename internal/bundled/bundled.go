// Package bundled describes what this module brings to the suite, for every test that
// judges it: of the suite, of properties and of the benchmarks.
package bundled

import (
	"context"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/jonboulle/clockwork"
)

// Clock describes fakeclock.Clock, either as it is or told to settle.
func Clock(waits conformance.ClockWaits) conformance.ClockSpec {
	name := "fakeclock.Clock"
	if waits == conformance.WaitsForAll {
		name += " WithSettle"
	}
	return conformance.ClockSpec{
		Name: name,
		New: func(env conformance.ClockEnv) conformance.ClockFuncs {
			var opts []fakeclock.Option
			if waits == conformance.WaitsForAll {
				opts = append(opts, fakeclock.WithSettle(env.Settle))
			}
			clock := fakeclock.New(opts...)
			f := conformance.ClockOf(clock)
			f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return fakeclock.WithTimeout(parent, clock, d)
			}
			f.WithDeadline = func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
				return fakeclock.WithDeadline(parent, clock, t)
			}
			return f
		},
		Traits: conformance.ClockTraits{Waits: waits},
	}
}

// clockFor is the clock to inject, nil for package time.
func clockFor(source conformance.TimeSource, env conformance.Env) clockwork.Clock {
	if source == conformance.PackageTime {
		return nil
	}
	return env.Clock
}
