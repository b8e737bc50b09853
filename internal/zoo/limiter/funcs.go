package limiter

import (
	"context"
	"math"
	"time"

	"github.com/jonboulle/clockwork"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// onClock gives operations at an instant the form that reads a clock.
func onClock(clock clockwork.Clock, f lt.Funcs) lt.Funcs {
	if allow := f.AllowAt; allow != nil {
		f.AllowN = func(n int) bool { return allow(clock.Now(), n) }
	}
	if allow := f.AllowKeyAt; allow != nil {
		f.AllowKey = func(key, n int) bool { return allow(clock.Now(), key, n) }
	}
	if tokens := f.TokensAt; tokens != nil {
		f.Tokens = func() float64 { return tokens(clock.Now()) }
	}
	if set := f.SetLimitAt; set != nil {
		f.SetLimit = func(r lt.Rate) { set(clock.Now(), r) }
	}
	if set := f.SetBurstAt; set != nil {
		f.SetBurst = func(n int) { set(clock.Now(), n) }
	}
	if reserve := f.ReserveAt; reserve != nil {
		f.ReserveAt = func(t time.Time, n int) lt.Reservation {
			r := reserve(t, n)
			if delay := r.DelayFrom; delay != nil {
				r.Delay = func() time.Duration { return delay(clock.Now()) }
			}
			if cancel := r.CancelAt; cancel != nil {
				r.Cancel = func() { cancel(clock.Now()) }
			}
			return r
		}
		f.Reserve = func(n int) lt.Reservation { return f.ReserveAt(clock.Now(), n) }
	}
	return f
}

// refused is no reservation.
var refused = lt.Reservation{OK: func() bool { return false }}

// patience is how long who waits has from now on.
func patience(ctx context.Context, now time.Time) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline.Sub(now)
	}
	return math.MaxInt64
}

// over is a design whose operations are made of those of another one.
func over(spec lt.Spec, name string, wrap func(env lt.Env, f lt.Funcs) lt.Funcs) lt.Spec {
	inner := spec.New
	spec.Name = name
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs { return wrap(env, inner(env, cfg)) }
	return spec
}
