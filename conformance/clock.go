package conformance

import (
	"context"
	"testing"
	"time"

	"github.com/escapement-go/escapement/synctestcompat"
	"github.com/jonboulle/clockwork"
)

// ClockSpec describes an implementation of the fake clock contract: a clock that
// moves when it is told to, and otherwise behaves as package time does.
type ClockSpec struct {
	// Name is how reports call it.
	Name string
	// New makes a clock that stands still. Clocks must not share state.
	New func(env ClockEnv) ClockFuncs
	// Traits are the choices of the implementation.
	Traits ClockTraits
	// KnownFailing lists what is known to fail.
	KnownFailing []Known

	// met, if set, is told of each operation and the state of the timer it meets.
	met func(kind, op Op, state string)
}

// ClockEnv is what a clock is made in.
type ClockEnv struct {
	// Settle returns when every goroutine of the test is blocked. A clock that can
	// be told to wait for goroutines while it advances gets this to do so.
	Settle func()
}

// ClockFuncs are the operations of one clock; those that are nil are not tried.
// Now and Advance must be there. [ClockOf] fills them from a clock with
// clockwork's methods.
type ClockFuncs struct {
	Now     func() time.Time
	Since   func(t time.Time) time.Duration
	Until   func(t time.Time) time.Duration
	Advance func(d time.Duration)

	Sleep     func(d time.Duration)
	After     func(d time.Duration) <-chan time.Time
	NewTimer  func(d time.Duration) clockwork.Timer
	AfterFunc func(d time.Duration, f func()) clockwork.Timer
	NewTicker func(d time.Duration) clockwork.Ticker
	// NoTimerReset and NoTickerReset say that its timers, those of functions included,
	// and its tickers have no Reset worth calling.
	NoTimerReset, NoTickerReset bool

	WithTimeout  func(parent context.Context, d time.Duration) (context.Context, context.CancelFunc)
	WithDeadline func(parent context.Context, t time.Time) (context.Context, context.CancelFunc)

	// Armed returns the number of armed timers of every kind, contexts included.
	Armed func() int
}

// FakeClock is a clock that [ClockOf] can describe.
type FakeClock interface {
	clockwork.Clock
	Advance(d time.Duration)
}

// ClockOf returns the operations of a clock with clockwork's methods, all but the
// contexts. Armed is there if the clock has BlockUntilContext, which counts.
func ClockOf(c FakeClock) ClockFuncs {
	f := ClockFuncs{
		Now: c.Now, Since: c.Since, Until: c.Until, Advance: c.Advance,
		Sleep: c.Sleep, After: c.After, NewTimer: c.NewTimer, AfterFunc: c.AfterFunc, NewTicker: c.NewTicker,
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

// ClockTraits are the choices on which fake clocks differ. The zero value of each
// is "undeclared".
type ClockTraits struct {
	// Waits says what Advance waits for before it fires the next timer and before
	// it returns.
	Waits ClockWaits
}

// ClockWaits says what Advance waits for.
type ClockWaits int

// The choices. Package time in a bubble waits for everything; a clock that
// declares less is not held to the laws of what it does not wait for.
const (
	// WaitsForAll: for every goroutine that a timer wakes or starts, until it
	// blocks. Only possible with ClockEnv.Settle, or the like of it.
	WaitsForAll ClockWaits = iota + 1
	// WaitsForFunctions: for the functions of AfterFunc, but not for goroutines that
	// receive from channels or sleep.
	WaitsForFunctions
	// WaitsForNothing: Advance may return, and fire later timers, before anything
	// that it started has run.
	WaitsForNothing
)

// RunClock holds a fake clock to what package time does, one subtest for each
// rule, and returns what it found. Each schedule runs on package time in a bubble
// and on the clock, which must show the same. [Rules] lists the rules.
//
//	conformance.RunClock(t, conformance.ClockSpec{
//		Name: "mine",
//		New: func(env conformance.ClockEnv) conformance.ClockFuncs {
//			return conformance.ClockOf(mine.NewFakeClock())
//		},
//		Traits: conformance.ClockTraits{Waits: conformance.WaitsForFunctions},
//	})
//
// Where package time promises nothing, as for the order of equal deadlines, nothing
// is demanded. Without bubbles everything is skipped.
func RunClock(t *testing.T, spec ClockSpec) *Report {
	t.Helper()
	return clockContract(t, spec).run()
}

// clockContract is the spec in the terms of the suite.
func clockContract(t *testing.T, spec ClockSpec) *contract {
	t.Helper()
	if spec.New == nil {
		t.Fatal("conformance: RunClock: the spec has no New; say how to make a clock")
	}
	c := &contract{
		t: t, name: spec.Name, kind: "clock", time: Injected, known: spec.KnownFailing,
		rules: clockRules, clk: &spec,
	}
	c.lab = &lab{t: t, time: Injected, play: func(_ driver, j job, rec *recorder) { spec.play(j, rec) }}
	c.traits = []trait{{
		name: "Waits", declared: int(spec.Traits.Waits), values: []string{"WaitsForAll", "WaitsForFunctions", "WaitsForNothing"},
		needless: func() bool { return c.clkOps[OpAfterFunc] == false },
		observe:  c.observeWaits,
	}}
	c.families = clockFamilies
	c.canary = clockCanary
	c.accepts = func(op Op) bool { return c.clkOps[op] }
	c.learn = func() { c.clkOps = spec.operations() }
	return c
}

// opReset and opRepace stand for the Reset of a timer and of a ticker in a set of
// operations.
const (
	opReset  Op = "Timer.Reset"
	opRepace Op = "Ticker.Reset"
)

// operations reports what the clock can do. It looks at one that is thrown away.
func (spec *ClockSpec) operations() map[Op]bool {
	f := spec.New(ClockEnv{Settle: func() {}})
	timers := f.NewTimer != nil || f.AfterFunc != nil
	channels := f.NewTimer != nil || f.NewTicker != nil || f.After != nil
	contexts := f.WithTimeout != nil || f.WithDeadline != nil
	return map[Op]bool{
		OpIdle: true, OpNow: true,
		OpTimer: f.NewTimer != nil, OpAfter: f.After != nil, OpTicker: f.NewTicker != nil, OpAfterFunc: f.AfterFunc != nil,
		OpSleep: f.Sleep != nil, OpNap: f.Sleep != nil,
		OpHalt: timers, OpRearm: timers && !f.NoTimerReset || f.NewTicker != nil && !f.NoTickerReset, OpChan: timers,
		OpConsume: channels, OpRead: channels,
		opReset: timers && !f.NoTimerReset, opRepace: f.NewTicker != nil && !f.NoTickerReset,
		OpArmed: f.Armed != nil, OpTimeout: f.WithTimeout != nil, OpDeadline: f.WithDeadline != nil,
		OpWithin: contexts, OpCancel: contexts, OpErr: contexts,
	}
}

// play runs a schedule on package time and on a fresh clock, in the same bubble:
// neither sees the other's time. It records what was seen of both.
func (spec *ClockSpec) play(j job, rec *recorder) {
	rec.trace.Schedule = j.schedule
	want := newWorld(j.schedule, packageTime(), synctestcompat.Wait)
	want.ledger = newLedger()
	want.ledger.state = spec.met
	want.run(nil)
	rec.trace.want, rec.trace.unordered = want.events, want.ledger.unordered
	if rec.trace.unordered != "" {
		return // nothing to hold the clock to
	}
	got := newWorld(j.schedule, spec.New(ClockEnv{Settle: synctestcompat.Wait}), synctestcompat.Wait)
	got.run(rec)
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.trace.events, rec.trace.End = got.events, got.at
}

// packageTime is the bubble's time as the operations of a clock.
func packageTime() ClockFuncs {
	f := ClockOf(synctestcompat.NewClock())
	f.WithTimeout = context.WithTimeout
	f.WithDeadline = context.WithDeadline
	return f
}

// observeWaits tries what Advance waits for, without anybody settling after it.
func (c *contract) observeWaits() int {
	switch {
	case c.returnsEarly(false) != "":
		return int(WaitsForNothing)
	case c.accepts(OpSleep) && c.returnsEarly(true) != "":
		return int(WaitsForFunctions)
	}
	return int(WaitsForAll)
}

// clockCanary proves that the clock stands still while package time moves, and
// moves by what it is told.
func clockCanary(c *contract) string {
	if !synctestcompat.Available {
		return ""
	}
	why := ""
	c.lab.inBubble(func() {
		f := c.clk.New(ClockEnv{Settle: synctestcompat.Wait})
		if f.Now == nil || f.Advance == nil {
			why = "New returned no Now or no Advance: a clock can be read and moved"
			return
		}
		start := f.Now()
		time.Sleep(time.Hour)
		synctestcompat.Wait()
		if d := f.Now().Sub(start); d != 0 {
			why = "the clock moved by " + d.String() + " while package time moved by 1h: it is no fake clock"
			return
		}
		f.Advance(time.Minute)
		synctestcompat.Wait()
		if d := f.Now().Sub(start); d != time.Minute {
			why = "Advance(1m) moved the clock by " + d.String()
		}
	})
	return why
}
