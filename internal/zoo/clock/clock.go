// Package clock has the zoo's fake clocks.
package clock

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	ct "github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/jonboulle/clockwork"
)

// mistake is what is wrong with a clock, with the rule that must catch it. It is a change of a correct clock's
// operations, or has none: then plain makes it.
type mistake struct {
	name, rule string
	change     func(f *ct.Funcs)
}

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range slices.Concat(timerMistakes, functionMistakes, contextMistakes, longMistakes, wallMistakes,
		unreadMistakes) {
		made := zoo.Mutant{Name: m.name, Rule: m.rule}
		switch {
		case m.change == nil:
			made.Spec = plainSpec("zoo plain clock: "+m.name, ct.Traits{}, plain{mutant: m.name,
				under: m.name == runsUnderLock, aside: m.name == tickComesBack || m.name == tickIsLost,
				settles: m.rule != "X-RACE" && !slices.Contains(unsettled, m.name)})
		case m.rule == "CK-AWAIT":
			made.Spec = spec("zoo clock: "+m.name, ct.WaitsForFunctions, m.change)
		default:
			made.Spec = spec("zoo clock that settles: "+m.name, ct.WaitsForAll, m.change)
		}
		made.Hangs, made.Chance = m.rule == "CK-REENT" || m.name == sendsUnderLock, m.rule == "CK-AWAIT"
		if m.rule == "CK-TICKSTOP" {
			made.Steps = 6 // three of them only read, and its smallest schedule has one of these
		}
		all = append(all, made)
	}
	return all
}

// Designs are correct clocks that wait for more or less and have more or less.
func Designs() []zoo.Design {
	plainly := func(name string, traits ct.Traits) ct.Spec { return plainSpec(name, traits, plain{}) }
	return zoo.Named([]ct.Spec{
		spec("zoo clock that settles", ct.WaitsForAll, nil),
		spec("zoo clock", ct.WaitsForFunctions, nil),
		spec("zoo clock that waits for nothing", ct.WaitsForNothing, startsFunctions),
		spec("zoo clock without Timer.Reset", ct.WaitsForAll, func(f *ct.Funcs) {
			eachTimer(f, func(t clockwork.Timer) clockwork.Timer { return noReset{t} })
			f.NoTimerReset = true
		}),
		spec("zoo clock whose timers answer nothing", ct.WaitsForAll, func(f *ct.Funcs) {
			eachTimer(f, func(t clockwork.Timer) clockwork.Timer { return silent{t} })
			f.NoTimerAnswers = true
		}),
		spec("zoo clock with After alone", ct.WaitsForAll, afterAlone),
		spec("zoo clock with a heap of functions", ct.WaitsForAll, heapedFunctions(2, "")),
		spec("zoo clock that arms a timer for each context", ct.WaitsForAll, armedContexts),
		plainly("zoo plain clock", ct.Traits{}),
		plainSpec("zoo plain clock that runs functions under its lock",
			ct.Traits{Reentrancy: ct.ReentrancyForbidden}, plain{under: true}),
		plainSpec("zoo plain clock that sets unread tickers aside", ct.Traits{}, plain{aside: true}),
		plainly("zoo plain clock for one goroutine", ct.Traits{OneGoroutine: true}),
		global(plainly("zoo clock that is a global variable", ct.Traits{})),
		starting(plainly("zoo plain clock that starts its functions", ct.Traits{})),
		changed(plainly("zoo plain clock for one goroutine without Sleep", ct.Traits{OneGoroutine: true}),
			func(f *ct.Funcs) { f.Sleep = nil }),
	}, func(s ct.Spec) string { return s.Name })
}

// changed is a clock with other operations.
func changed(s ct.Spec, change func(f *ct.Funcs)) ct.Spec {
	made := s.New
	s.New = func(env ct.Env) ct.Funcs {
		f := made(env)
		change(&f)
		return f
	}
	return s
}

// global is a clock of which there is one at a time.
func global(s ct.Spec) ct.Spec {
	var newest atomic.Pointer[ct.Funcs]
	return changed(s, func(f *ct.Funcs) {
		made := *f
		newest.Store(&made)
		*f = ct.Funcs{
			Now:       func() time.Time { return newest.Load().Now() },
			Advance:   func(d time.Duration) { newest.Load().Advance(d) },
			After:     func(d time.Duration) <-chan time.Time { return newest.Load().After(d) },
			NewTimer:  func(d time.Duration) clockwork.Timer { return newest.Load().NewTimer(d) },
			AfterFunc: func(d time.Duration, fn func()) clockwork.Timer { return newest.Load().AfterFunc(d, fn) },
		}
	})
}

// starting is a clock that starts its functions, and moves on.
func starting(s ct.Spec) ct.Spec {
	s.Traits = ct.Traits{Waits: ct.WaitsForNothing}
	return changed(s, startsFunctions)
}

func startsFunctions(f *ct.Funcs) {
	afterFunc := f.AfterFunc
	f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return afterFunc(d, func() { go fn() }) }
}

func afterAlone(f *ct.Funcs) { *f = ct.Funcs{Now: f.Now, Advance: f.Advance, After: f.After} }

// eachTimer changes all timers, also those of functions.
func eachTimer(f *ct.Funcs, change func(t clockwork.Timer) clockwork.Timer) {
	newTimer, afterFunc := f.NewTimer, f.AfterFunc
	f.NewTimer = func(d time.Duration) clockwork.Timer { return change(newTimer(d)) }
	f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return change(afterFunc(d, fn)) }
}

// silent is a timer that always says the same.
type silent struct{ clockwork.Timer }

func (t silent) Stop() bool                 { t.Timer.Stop(); return true }
func (t silent) Reset(d time.Duration) bool { t.Timer.Reset(d); return true }

// lastReset is a timer that Reset only stops.
type lastReset struct{ clockwork.Timer }

func (t lastReset) Reset(time.Duration) bool { return t.Stop() }

// noReset is a timer that can be stopped only.
type noReset struct{ clockwork.Timer }

func (noReset) Reset(time.Duration) bool { panic("there is no Reset") }

// spec describes a correct fake clock, and one mistake at will.
func spec(name string, waits ct.Waits, change func(f *ct.Funcs)) ct.Spec {
	return ct.Spec{
		Name:   name,
		Traits: ct.Traits{Waits: waits},
		New: func(env ct.Env) ct.Funcs {
			var opts []fakeclock.Option
			if waits == ct.WaitsForAll {
				opts = append(opts, fakeclock.WithSettle(env.Settle))
			}
			clock := fakeclock.New(opts...)
			f := ct.Of(clock)
			f.Tick = func(d time.Duration) <-chan time.Time {
				if d <= 0 {
					return nil
				}
				return clock.NewTicker(d).Chan()
			}
			f.WithTimeout = func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc) {
				return fakeclock.WithTimeout(parent, clock, d)
			}
			f.WithDeadline = func(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
				return fakeclock.WithDeadline(parent, clock, t)
			}
			if change != nil {
				change(&f)
			}
			return f
		},
	}
}
