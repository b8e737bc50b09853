package limiter

import (
	"context"
	"errors"
	"math"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// funcs describes a bucket; reservations and instants come in both forms.
func (l *debtBucket) funcs() lt.Funcs {
	reserve := func(t time.Time, n int) lt.Reservation {
		c, ok := l.take(t, n, math.MaxInt64)
		if !ok {
			if l.is("a reservation above the burst is OK") {
				return lt.Reservation{
					Delay: func() time.Duration { return 0 }, DelayFrom: func(time.Time) time.Duration { return 0 },
					Cancel: func() {}, CancelAt: func(time.Time) {},
				}
			}
			return lt.Reservation{OK: func() bool { return false }}
		}
		return lt.Reservation{
			Delay: func() time.Duration { return c.delay(l.clock.Now()) }, DelayFrom: c.delay,
			Cancel: func() { c.cancelAt(l.clock.Now()) }, CancelAt: c.cancelAt,
		}
	}
	within := func(n int, most time.Duration) lt.Reservation {
		if l.is("a reservation that comes too late keeps its tokens") {
			if r := reserve(l.clock.Now(), n); r.Delay() <= most {
				return r
			}
			return lt.Reservation{OK: func() bool { return false }}
		}
		c, ok := l.take(l.clock.Now(), n, most)
		delay := func() time.Duration { return c.delay(l.clock.Now()) }
		return lt.Reservation{OK: func() bool { return ok }, Delay: delay}
	}
	return lt.Funcs{
		ReserveWithin: within,
		AllowN:        func(n int) bool { return l.allow(l.clock.Now(), n) }, AllowAt: l.allow,
		Tokens: func() float64 { return l.tokensAt(l.clock.Now()) }, TokensAt: l.tokensAt,
		WaitN:   l.waitN,
		Reserve: func(n int) lt.Reservation { return reserve(l.clock.Now(), n) }, ReserveAt: reserve,
		SetLimit: func(r lt.Rate) { l.setLimit(l.clock.Now(), r) }, SetLimitAt: l.setLimit,
		SetBurst: func(n int) { l.setBurst(l.clock.Now(), n) }, SetBurstAt: l.setBurst,
	}
}

func debtSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name:   "zoo: bucket in debt: " + mutant,
		Time:   source,
		New:    func(env lt.Env, cfg lt.Config) lt.Funcs { return newDebtBucket(env.Clock, cfg, mutant).funcs() },
		Traits: lt.XTimeRate(),
	}
}

// reasonsSpec is one whose waits say why they fail: their tokens come too late, or never, for which it has an error of
// its own.
func reasonsSpec(source lt.TimeSource) lt.Spec {
	spec := debtSpec("", source)
	spec.Name, spec.Traits.WaitErrors = "zoo: bucket in debt that gives reasons", lt.WaitErrorsDeadline
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newDebtBucket(env.Clock, cfg, "")
		f := l.funcs()
		f.WaitN = func(ctx context.Context, n int) error {
			err := l.waitN(ctx, n)
			l.mu.Lock()
			defer l.mu.Unlock()
			if errors.Is(err, errTooLate) && n <= l.burst && l.rate > 0 {
				return context.DeadlineExceeded
			}
			return err
		}
		return f
	}
	return spec
}

// reservesOnly declares nothing of waits, as whoever has none need not.
func reservesOnly(spec lt.Spec) lt.Spec {
	spec.Name += ", reserves only"
	spec.Traits.Fair, spec.Traits.DeadlineCheck, spec.Traits.OnChange, spec.Traits.WaitErrors = 0, 0, 0, 0
	return spec
}
