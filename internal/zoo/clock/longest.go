package clock

import (
	"context"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/jonboulle/clockwork"
)

// longMistakes are those of clocks that count in nanoseconds since their start, of which there are
// too few for what is armed for the longest duration when the clock has moved: it is due at once.
var longMistakes = []mistake{
	{"a timer overflows", "CK-TIMER", overflowing(func(f *ct.Funcs, fits fits) {
		newTimer := f.NewTimer
		f.NewTimer = func(d time.Duration) clockwork.Timer { return newTimer(fits(d)) }
	})},
	{"the deadline of a Reset overflows", "CK-STOP", overflowing(func(f *ct.Funcs, fits fits) {
		wrapTimers(func(t *timerMutant) {
			t.reset = func(d time.Duration) bool { return t.Timer.Reset(fits(d)) }
		})(f)
	})},
	{"a ticker overflows", "CK-TICKER", overflowing(func(f *ct.Funcs, fits fits) {
		newTicker := f.NewTicker
		f.NewTicker = func(d time.Duration) clockwork.Ticker {
			if d > 0 && fits(d) == 0 {
				d = time.Second
			}
			return newTicker(d)
		}
	})},
	{"a context overflows", "CK-CONTEXT", overflowing(func(f *ct.Funcs, fits fits) {
		withTimeout := f.WithTimeout
		f.WithTimeout = func(p context.Context, d time.Duration) (context.Context, context.CancelFunc) {
			return withTimeout(p, fits(d))
		}
	})},
}

// fits is a duration as a clock takes it.
type fits func(d time.Duration) time.Duration

// overflowing changes a clock by what tells how long a duration is taken for.
func overflowing(change func(f *ct.Funcs, fits fits)) func(f *ct.Funcs) {
	return func(f *ct.Funcs) {
		start := f.Now()
		change(f, func(d time.Duration) time.Duration {
			if d > 0 && f.Now().Sub(start)+d < 0 {
				return 0
			}
			return d
		})
	}
}
