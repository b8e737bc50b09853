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

// mistake is what is wrong with a clock, with the rule that must catch it.
type mistake struct {
	name, rule string
	make       func(f *ct.Funcs)
}

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range slices.Concat(timerMistakes, functionMistakes, contextMistakes, longMistakes, wallMistakes) {
		design, waits := "zoo clock that settles", ct.WaitsForAll
		if m.rule == "CK-AWAIT" || m.rule == "X-RACE" {
			design, waits = "zoo clock", ct.WaitsForFunctions
		}
		steps := 0
		if m.rule == "CK-TICKSTOP" {
			steps = 6 // three of them only read, and its smallest schedule has one of these
		}
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: spec(design+": "+m.name, waits, m.make),
			Hangs: m.rule == "CK-REENT", Chance: m.rule == "CK-AWAIT", Steps: steps,
		})
	}
	for _, m := range []struct{ name, rule, mutant string }{
		{"a tick that was dropped a nanosecond ago comes after all", "CK-CHAIN", "seen"},
		{"a ticker is read while others are due, and loses a tick", "CK-TICKER", "soon"},
	} {
		all = append(all, zoo.Mutant{Name: m.name, Rule: m.rule, Spec: asideSpec("zoo plain clock: "+m.name, m.mutant)})
	}
	return append(all, zoo.Mutant{
		Name: sendsUnderLock, Rule: "CK-DIFF", Hangs: true,
		Spec: plainSpec("zoo plain clock: "+sendsUnderLock, ct.Traits{}, func(p *plain) { p.mutant = sendsUnderLock }),
	})
}

// Designs are correct clocks that wait for more or less and have more or less.
func Designs() []zoo.Design {
	var all []zoo.Design
	for _, s := range []ct.Spec{
		spec("zoo clock that settles", ct.WaitsForAll, nil),
		spec("zoo clock", ct.WaitsForFunctions, nil),
		spec("zoo clock that waits for nothing", ct.WaitsForNothing, startsFunctions),
		spec("zoo clock without Timer.Reset", ct.WaitsForAll, func(f *ct.Funcs) {
			newTimer, afterFunc := f.NewTimer, f.AfterFunc
			f.NewTimer = func(d time.Duration) clockwork.Timer { return noReset{newTimer(d)} }
			f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return noReset{afterFunc(d, fn)} }
			f.NoTimerReset = true
		}),
		spec("zoo clock whose timers answer nothing", ct.WaitsForAll, unanswering),
		spec("zoo clock with After alone", ct.WaitsForAll, func(f *ct.Funcs) {
			*f = ct.Funcs{Now: f.Now, Advance: f.Advance, After: f.After}
		}),
		spec("zoo clock with a heap of functions", ct.WaitsForAll, heapedFunctions(2, "")),
		spec("zoo clock that arms a timer for each context", ct.WaitsForAll, armedContexts),
		plainSpec("zoo plain clock", ct.Traits{}),
		plainSpec("zoo plain clock that runs functions under its lock", ct.Traits{Reentrancy: ct.ReentrancyForbidden}),
		asideSpec("zoo plain clock that sets unread tickers aside", ""),
		plainSpec("zoo plain clock for one goroutine", ct.Traits{OneGoroutine: true}),
		global(plainSpec("zoo clock that is a global variable", ct.Traits{})),
		starting(plainSpec("zoo plain clock that starts its functions", ct.Traits{})),
		sleepless(plainSpec("zoo plain clock for one goroutine without Sleep", ct.Traits{OneGoroutine: true})),
	} {
		all = append(all, zoo.Design{Name: s.Name, Spec: s})
	}
	return all
}

// global is a clock of which there is one at a time.
func global(s ct.Spec) ct.Spec {
	made := s.New
	var now atomic.Pointer[ct.Funcs]
	s.New = func(env ct.Env) ct.Funcs {
		f := made(env)
		now.Store(&f)
		return ct.Funcs{
			Now:       func() time.Time { return now.Load().Now() },
			Advance:   func(d time.Duration) { now.Load().Advance(d) },
			After:     func(d time.Duration) <-chan time.Time { return now.Load().After(d) },
			NewTimer:  func(d time.Duration) clockwork.Timer { return now.Load().NewTimer(d) },
			AfterFunc: func(d time.Duration, fn func()) clockwork.Timer { return now.Load().AfterFunc(d, fn) },
		}
	}
	return s
}

// starting is a clock that starts its functions, and moves on.
func starting(s ct.Spec) ct.Spec {
	made := s.New
	s.Traits = ct.Traits{Waits: ct.WaitsForNothing}
	s.New = func(env ct.Env) ct.Funcs {
		f := made(env)
		startsFunctions(&f)
		return f
	}
	return s
}

func startsFunctions(f *ct.Funcs) {
	afterFunc := f.AfterFunc
	f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return afterFunc(d, func() { go fn() }) }
}

// sleepless is a clock without Sleep.
func sleepless(s ct.Spec) ct.Spec {
	made := s.New
	s.New = func(env ct.Env) ct.Funcs {
		f := made(env)
		f.Sleep = nil
		return f
	}
	return s
}

// tickOf makes a Tick of the other operations.
func tickOf(f *ct.Funcs) func(d time.Duration) <-chan time.Time {
	newTicker := f.NewTicker
	return func(d time.Duration) <-chan time.Time {
		if d <= 0 {
			return nil
		}
		return newTicker(d).Chan()
	}
}

// unanswering makes timers of which Stop and Reset tell nothing.
func unanswering(f *ct.Funcs) {
	newTimer, afterFunc := f.NewTimer, f.AfterFunc
	f.NewTimer = func(d time.Duration) clockwork.Timer { return silent{newTimer(d)} }
	f.AfterFunc = func(d time.Duration, fn func()) clockwork.Timer { return silent{afterFunc(d, fn)} }
	f.NoTimerAnswers = true
}

// silent is a timer that always says the same.
type silent struct{ clockwork.Timer }

func (t silent) Stop() bool                 { t.Timer.Stop(); return true }
func (t silent) Reset(d time.Duration) bool { t.Timer.Reset(d); return true }

// unstoppable is a timer whose Stop does nothing.
type unstoppable struct{ clockwork.Timer }

func (unstoppable) Stop() bool { return true }

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
			f.Tick = tickOf(&f)
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
