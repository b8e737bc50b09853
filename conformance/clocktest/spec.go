// Package clocktest compares fake clocks with package time. A fake clock moves only by
// Advance; its timers, tickers, functions, sleepers and contexts must behave like those
// of package time. Each schedule runs on package time in a bubble and then on the clock,
// which must behave the same.
//
//	func TestConformance(t *testing.T) {
//		clocktest.Run(t, clocktest.Spec{
//			Name: "mine",
//			New: func(env clocktest.Env) clocktest.Funcs {
//				return clocktest.Of(mine.NewFakeClock())
//			},
//			Traits: clocktest.Traits{Waits: clocktest.WaitsForFunctions},
//		})
//	}
//
// Where package time promises nothing, as for the order of equal deadlines, no rule
// applies. Without bubbles everything is skipped. Leave Traits out at first: the subtest
// TRAITS prints the literal to paste. Package conformance explains what the suite does.
package clocktest

import (
	"cmp"
	"context"
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/jonboulle/clockwork"
)

//go:embed RULES.md
var page string

// The types that a spec needs from package conformance, which documents them.
type (
	Known  = conformance.Known
	Report = conformance.Report
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// New makes a clock that stands still. Clocks must not share state.
	New func(env Env) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Env is the environment of a clock.
type Env struct {
	// Settle returns when every goroutine of the test is blocked, for clocks that can wait
	// for goroutines while they advance.
	Settle func()
}

// Funcs are the operations of one clock; those that are nil are not tried. Now and Advance
// must be set. [Of] fills them from a clock with clockwork's methods.
type Funcs struct {
	// Now, Since and Until are like those of package time.
	Now   func() time.Time
	Since func(t time.Time) time.Duration
	Until func(t time.Time) time.Duration
	// Advance moves the clock by d, which is at least 0, and fires what is due on the way.
	Advance func(d time.Duration)
	// SetWall steps the wall clock to t, forward or back, and fires nothing: Now is t, and goes on from there.
	SetWall func(t time.Time)

	// Sleep, After, NewTimer, AfterFunc and NewTicker are like those of package time; a
	// period of 0 or less must panic.
	Sleep     func(d time.Duration)
	After     func(d time.Duration) <-chan time.Time
	NewTimer  func(d time.Duration) clockwork.Timer
	AfterFunc func(d time.Duration, f func()) clockwork.Timer
	NewTicker func(d time.Duration) clockwork.Ticker
	// Tick is like that of package time: it returns nil for a period of 0 or less.
	Tick func(d time.Duration) <-chan time.Time
	// NoTimerReset and NoTickerReset say that Reset of timers, also of AfterFunc's, or
	// of tickers must not be called.
	NoTimerReset, NoTickerReset bool
	// NoTimerAnswers says that Stop or Reset of timers, also of AfterFunc's, does not report
	// whether they were armed: their results are ignored.
	NoTimerAnswers bool

	// WithTimeout and WithDeadline are like those of package context.
	WithTimeout  func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc)
	WithDeadline func(parent context.Context, t time.Time) (context.Context, context.CancelFunc)

	// Armed returns the number of armed timers of every kind, contexts included.
	Armed func() int
}

// Clock is a fake clock that [Of] can describe.
type Clock interface {
	clockwork.Clock
	Advance(d time.Duration)
}

// Of returns the operations of a clock with clockwork's methods, all but the contexts.
// Tick and SetWall are set if the clock has them, and Armed if it has BlockUntilContext, by which
// timers can be counted.
func Of(c Clock) Funcs {
	f := Funcs{
		Now: c.Now, Since: c.Since, Until: c.Until, Advance: c.Advance,
		Sleep: c.Sleep, After: c.After, NewTimer: c.NewTimer, AfterFunc: c.AfterFunc, NewTicker: c.NewTicker,
	}
	if t, ok := c.(interface {
		Tick(d time.Duration) <-chan time.Time
	}); ok {
		f.Tick = t.Tick
	}
	if w, ok := c.(interface{ SetWall(t time.Time) }); ok {
		f.SetWall = w.SetWall
	}
	if b, ok := c.(interface {
		BlockUntilContext(ctx context.Context, n int) error
	}); ok {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		f.Armed = func() int {
			n := 0
			for b.BlockUntilContext(over, n+1) == nil {
				n++
			}
			return n
		}
	}
	return f
}

// Run compares a fake clock with package time, one subtest for each rule, and returns what
// it found.
func Run(t *testing.T, spec Spec) *Report {
	t.Helper()
	return spec.Run(t)
}

// Run is the function [Run].
func (spec Spec) Run(t *testing.T) *Report {
	t.Helper()
	return suite.Run(t, newContract(spec))
}

// Judge returns what runs single schedules.
func (spec Spec) Judge(t *testing.T) conformance.Judge {
	t.Helper()
	return suite.NewExaminer(t, newContract(spec))
}

// Examine is for the tests of this module.
func (spec Spec) Examine(t *testing.T, o inside.Options) *Report {
	t.Helper()
	return suite.Examine(t, newContract(spec), o)
}

// Rules are the laws, in the order of their subtests.
func Rules() []conformance.Rule { return suite.Laws(newContract(Spec{})) }

// contract is the spec in the terms of the suite.
type contract struct {
	spec Spec
	// traits are those that are declared, completed by what Learn has found, which is learnt as
	// long as it is not declared.
	traits, learnt Traits

	homes []home // of all schedules that are explored
}

// home is the family of a schedule.
type home struct{ schedule, family string }

func newContract(spec Spec) *contract { return &contract{spec: spec, traits: spec.Traits} }

// Profile names the contract. The clock is injected: its time is not that of the bubble.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: conformance.Injected, Known: c.spec.KnownFailing,
		Kind: "clock", Package: "clocktest", Page: page, JudgesClock: true,
		Unmade: suite.If(c.spec.New == nil, "a clock"), InBubble: "package time can only be held",
		Signs: []suite.Sign{
			{Like: `^F\d`, Means: "F is a function that runs"},
			{Like: `^S\d`, Means: "S is a sleeper that wakes"},
			{Like: `^C\d`, Means: "C is the state of a context"},
			{Like: `^[yn]$`, Means: "y and n are answers, true and false"},
			{Like: `^done$`, Means: "done is a return"},
			{Like: `^-$`, Means: "- is nothing to read"},
			{Like: `^!$`, Means: "! is a panic"},
		}}
}

// Lacks says that nothing can wait for the clock.
func (c *contract) Lacks(s *suite.Suite) string {
	waits := s.Supported(verb.Timer, verb.After, verb.AfterFunc, verb.Ticker,
		verb.Sleep, verb.Timeout)
	return suite.If(len(waits) == 0, "the spec has nothing that waits for the clock: no timer, ticker, "+
		"AfterFunc, Sleep or context")
}

// Abilities that no step names, in the set of operations: the Reset of timers, and that of
// tickers, which are both rearm in schedules, Tick, and SetWall.
const (
	opResetTimer  conformance.Op = "Timer.Reset"
	opResetTicker conformance.Op = "Ticker.Reset"
	opTick        conformance.Op = "Tick"
	opSetWall     conformance.Op = "SetWall"
)

// Learn looks at a clock that is thrown away. Until it is declared what Advance waits for, it is
// observed what functions may do.
func (c *contract) Learn(s *suite.Suite) map[conformance.Op]bool {
	f := c.spec.New(Env{Settle: func() {}})
	if c.traits = c.spec.Traits; c.traits.Waits == 0 && f.AfterFunc != nil && f.Advance != nil && s.Bubble {
		reentrancy, onAdvance := c.observeFunction(s)
		c.traits.Reentrancy = cmp.Or(c.traits.Reentrancy, reentrancy)
		c.traits.OnAdvance = c.traits.OnAdvance || onAdvance
	}
	if c.traits.Waits == 0 && f.AfterFunc == nil { // it has no functions to wait for
		c.traits.Waits = WaitsForFunctions
	}
	c.learnt = c.traits
	timers := f.NewTimer != nil || f.AfterFunc != nil
	channels := f.NewTimer != nil || f.NewTicker != nil || f.After != nil
	contexts := f.WithTimeout != nil || f.WithDeadline != nil
	resetTimer, resetTicker := timers && !f.NoTimerReset, f.NewTicker != nil && !f.NoTickerReset
	return map[conformance.Op]bool{
		verb.Idle: true, verb.Now: true,
		verb.Timer: f.NewTimer != nil, verb.After: f.After != nil,
		verb.Ticker: f.NewTicker != nil, verb.AfterFunc: f.AfterFunc != nil,
		verb.Sleep: f.Sleep != nil, verb.Nap: f.Sleep != nil,
		verb.Halt: timers, verb.Rearm: resetTimer || resetTicker, verb.Chan: timers,
		opTick: f.Tick != nil, opSetWall: f.SetWall != nil, opResetTimer: resetTimer, opResetTicker: resetTicker,
		verb.Consume: channels, verb.Read: channels,
		verb.Armed:   f.Armed != nil,
		verb.Timeout: f.WithTimeout != nil, verb.Deadline: f.WithDeadline != nil,
		verb.Within: contexts, verb.Cancel: contexts, verb.Err: contexts,
	}
}

// FamilyOf names the family of a schedule that is run alone, since each family has a rule
// that judges it: the family that has the schedule, or else the first that has one which begins like
// it, as what comes after a difference is cut off, or else that of the programs, to which drawn
// schedules belong.
func (c *contract) FamilyOf(s *suite.Suite, schedule conformance.Schedule) string {
	if s.Single {
		return programs
	}
	if c.homes == nil {
		for _, f := range c.Families(s) {
			for _, t := range f.Schedules {
				if f.Name != suite.Leaks {
					c.homes = append(c.homes, home{t.String(), f.Name})
				}
			}
		}
	}
	text := schedule.String()
	has := slices.IndexFunc(c.homes, func(h home) bool { return h.schedule == text })
	if has < 0 {
		has = slices.IndexFunc(c.homes, func(h home) bool { return strings.HasPrefix(h.schedule, text+" | ") })
	}
	if has < 0 {
		return programs
	}
	return c.homes[has].family
}

// Hung judges a run without progress: it is proved why if a goroutine waits for a lock in
// a method that it called from a function of the clock.
func (c *contract) Hung(s *suite.Suite, h *suite.Hang) (rule string, broken *suite.Violation, done bool) {
	before := suite.If(h.Panicked != "", h.Panicked+"; after that, ")
	if where := h.LockedInCallback(); where != "" {
		s.CannotReenter = true
		return "CK-REENT", &suite.Violation{
			Headline: "a method of the clock that a function called never returned",
			Because: before + "its goroutine is blocked under the function that the clock runs: " + where +
				"; if your documentation forbids functions to use the clock, declare Reentrancy: " +
				"clocktest.ReentrancyForbidden",
		}, true
	}
	family := h.Job.Family
	if family == suite.Leaks {
		family = programs
	}
	if where := s.WaitsForEver(h); where != "" {
		lost := s.Lost(where)
		lost.Because = before + lost.Because
		return family, lost, true
	}
	return family, nil, true
}
