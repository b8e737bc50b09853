package quota

import (
	"time"

	qt "github.com/escapement-go/escapement/conformance/quotatest"
)

// oneOnly is a limiter whose constructor takes single events in whole seconds only, as it
// documents: it keeps the instant of the last one.
func oneOnly() qt.Spec {
	return serial("one event in whole seconds", qt.SlidingLog,
		qt.Traits{Edge: qt.EdgeHalfOpen, CountDenied: qt.DeniedFree, OneAtATime: true},
		func(cfg qt.Config) takeAt {
			if cfg.Limit != 1 || cfg.Window < time.Second || cfg.Window%time.Second != 0 {
				panic("one event in whole seconds, and nothing else")
			}
			var last time.Time
			used := false
			return func(t time.Time, _ int) qt.Answer {
				if used && t.Sub(last) < cfg.Window {
					return qt.Answer{}
				}
				last, used = t, true
				return qt.Answer{OK: true}
			}
		})
}

// spaced is GCRA without a burst, in whole milliseconds: other limits are refused.
func spaced() qt.Spec {
	return serial("evenly spaced in milliseconds", qt.GCRA, qt.Traits{},
		func(cfg qt.Config) takeAt {
			if cfg.Burst != 1 || cfg.Limit < 1 || cfg.Window%(time.Duration(cfg.Limit)*time.Millisecond) != 0 {
				panic("no bursts, and intervals of whole milliseconds")
			}
			interval := cfg.Window / time.Duration(cfg.Limit)
			if interval > 24*time.Hour {
				panic("no more than a day")
			}
			var next time.Time
			return func(t time.Time, k int) qt.Answer {
				if k == 0 {
					return qt.Answer{OK: true}
				}
				if k > 1 || t.Before(next) {
					return qt.Answer{}
				}
				next = t.Add(interval)
				return qt.Answer{OK: true}
			}
		})
}

// Blind is a limiter that sees no time pass, as one does whose clock is not the declared one.
func Blind(source qt.TimeSource) qt.Spec {
	return qt.Spec{
		Name: "a limiter with a clock that stands", Time: source, Kind: qt.FixedWindow,
		Traits: limiterSpec("", qt.FixedWindow, source).Traits,
		New: func(env qt.Env, cfg qt.Config) qt.Funcs {
			l := &limiter{kind: qt.FixedWindow, cfg: cfg}
			return qt.Funcs{Take: func(n int) qt.Answer { return l.takeAt(env.Start, n) }}
		},
	}
}
