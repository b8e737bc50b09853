package limiter

import (
	"math"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// funcs describes a bucket; what is about an instant comes in both forms.
func (l *debtBucket) funcs() lt.Funcs {
	f := onClock(l.clock, lt.Funcs{
		AllowAt: l.allow, TokensAt: l.tokensAt, ReserveAt: l.reserve, SetLimitAt: l.setLimit, SetBurstAt: l.setBurst,
	})
	f.WaitN = l.waitN
	f.ReserveWithin = func(n int, most time.Duration) lt.Reservation {
		if l.is("a reservation that comes too late keeps its tokens") {
			if r := f.Reserve(n); r.Delay() <= most {
				return r
			}
			return refused
		}
		c, ok := l.take(l.clock.Now(), n, most)
		delay := func() time.Duration { return c.delay(l.clock.Now()) }
		return lt.Reservation{OK: func() bool { return ok }, Delay: delay}
	}
	return f
}

func (l *debtBucket) reserve(t time.Time, n int) lt.Reservation {
	c, ok := l.take(t, n, math.MaxInt64)
	switch {
	case ok:
		return lt.Reservation{DelayFrom: c.delay, CancelAt: c.cancelAt}
	case l.is("a reservation above the burst is OK"):
		return lt.Reservation{DelayFrom: func(time.Time) time.Duration { return 0 }, CancelAt: func(time.Time) {}}
	}
	return refused
}

func debtSpec(mutant string, source lt.TimeSource) lt.Spec {
	return lt.Spec{
		Name:   "zoo: bucket in debt: " + mutant,
		Time:   source,
		New:    func(env lt.Env, cfg lt.Config) lt.Funcs { return newDebtBucket(env.Clock, cfg, mutant).funcs() },
		Traits: lt.XTimeRate(),
	}
}

// reasonsSpec is one whose waits say why they fail.
func reasonsSpec(source lt.TimeSource) lt.Spec {
	spec := debtSpec(givesReasons, source)
	spec.Name, spec.Traits.WaitErrors = "zoo: bucket in debt that gives reasons", lt.WaitErrorsDeadline
	return spec
}

// sleepsOver declares that waits sleep until their deadline, as it seems in a bubble if they look at another clock.
func sleepsOver(spec lt.Spec) lt.Spec {
	spec.Traits.DeadlineCheck = lt.DeadlineSleeps
	return spec
}

// reservesOnly declares nothing of waits, as whoever has none need not.
func reservesOnly(spec lt.Spec) lt.Spec {
	spec.Name += ", reserves only"
	spec.Traits.Fair, spec.Traits.DeadlineCheck, spec.Traits.OnChange, spec.Traits.WaitErrors = 0, 0, 0, 0
	return spec
}
