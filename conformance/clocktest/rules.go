package clocktest

import (
	"cmp"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// programs is the family of schedules that no other family has: those that are drawn, and
// others that are run alone.
const programs = "CK-DIFF"

// Rules are the laws of a fake clock. Unless they say otherwise they are core, and compare the runs of the family that
// bears their name with package time.
func (c *contract) Rules() []suite.Rule[*Traits, *exam] {
	core := suite.Core
	unlessForbidden := func(_ *suite.Suite, tr *Traits) string { return tr.forbids() }
	unlessNothing := func(_ *suite.Suite, tr *Traits) string {
		return suite.If(tr.Waits == WaitsForNothing, "declared: "+tr.Waits.String())
	}
	unlessIdle := func(s *suite.Suite, tr *Traits) string { return cmp.Or(unlessNothing(s, tr), tr.forbids()) }
	lacks := func(why string, ops ...conformance.Op) func(*suite.Suite, *Traits) string {
		return func(s *suite.Suite, _ *Traits) string { return suite.If(len(s.Supported(ops...)) == 0, why) }
	}
	law := func(id, text string, ops ...conformance.Op) suite.Rule[*Traits, *exam] {
		return suite.Rule[*Traits, *exam]{Rule: core(id, text), Ops: ops}
	}
	rules := []suite.Rule[*Traits, *exam]{
		law("CK-NOW", "Only Advance may move the clock, by exactly what it says; Since and Until "+
			"MUST agree with Now."),
		{
			Rule: core("CK-TIMER", "A timer, and After, MUST send once, when the clock reaches the deadline "+
				"and not sooner, and MUST send the time of the deadline."),
			Unless: lacks("the implementation has no timer", verb.Timer, verb.After),
		},
		law("CK-STOP", "Stop and Reset MUST report whether the timer was armed; a stopped timer "+
			"MUST NOT fire, and a reset one MUST fire once, its new duration after the Reset.", verb.Timer),
		law("CK-UNREAD", "Stop and Reset of a timer that has fired but whose value was not received "+
			"MUST report true, and a value from before a Stop or Reset MUST NOT be received after it "+
			"(Go 1.23).", verb.Timer),
		law("CK-TICKER", "A ticker MUST send the time of each tick, drop ticks while one waits to "+
			"be received, and keep its cadence.", verb.Ticker),
		law("CK-TICKSTOP", "A stopped ticker MUST NOT tick; Reset MUST make any ticker, a stopped "+
			"one too, tick at the new period until it is stopped.", verb.Ticker),
		law("CK-TICKUNREAD", "A tick from before a Stop or Reset of a ticker MUST NOT be received after "+
			"it (Go 1.23).", verb.Ticker),
		{
			Rule: core("CK-TICK", "Tick MUST be like NewTicker without Stop, but return nil if the period is not "+
				"positive."),
			Absent: lacks("the clock has no Tick", opTick),
			Probe:  toEnd(c.ticks),
		},
		law("CK-TICKARG", "NewTicker and Ticker.Reset MUST panic if the period is not positive.", verb.Ticker),
		law("CK-ZERO", "Timers, functions and sleeps with a duration <= 0 MUST fire at once, "+
			"without an Advance."),
		{
			Rule: core("CK-FUNC", "AfterFunc MUST run its function once, exactly when the duration has "+
				"passed; Stop and Reset MUST take effect, and report whether it was armed."),
			Ops:   []conformance.Op{verb.AfterFunc},
			Check: (*exam).inAnyOrder,
		},
		law("CK-CHAN", "AfterFunc's timer MUST have a nil channel.", verb.AfterFunc),
		{
			Rule:  core("CK-SLEEP", "Sleep MUST return when the duration has passed, and not before."),
			Ops:   []conformance.Op{verb.Sleep},
			Check: (*exam).inAnyOrder,
		},
		{
			Rule: core("CK-SAME", "Timers due at one instant MUST all fire, in any order, except one that a "+
				"function stops in time: Stop MUST then report true, and otherwise false."),
			Check: (*exam).together,
		},
		{
			Rule:   core("CK-REENT", "A function MUST be able to call every method of the clock and its timers."),
			Ops:    []conformance.Op{verb.AfterFunc},
			Unless: unlessForbidden,
		},
		{
			Rule: core("CK-ORDER", "Functions with different deadlines MUST run in the order of their "+
				"deadlines, however far one Advance goes."),
			Ops: []conformance.Op{verb.AfterFunc}, Declared: []string{"Waits"},
			Unless: unlessNothing,
			Check:  (*exam).runsInOrder,
		},
		{
			Rule: core("CK-AT", "While a function runs, Now MUST be the instant at which it was due, however "+
				"far one Advance goes."),
			Ops: []conformance.Op{verb.AfterFunc}, Declared: []string{"Waits"},
			Unless: unlessIdle,
		},
		{
			Rule: core("CK-CHAIN", "What a function arms, resets, stops or receives MUST take effect before "+
				"the clock moves on: what it arms fires on the way, what it stops does not."),
			Ops: []conformance.Op{verb.AfterFunc}, Declared: []string{"Waits"},
			Unless: unlessIdle,
		},
		{
			Rule: core("CK-FLOW", "A goroutine woken by a timer MUST run before the clock moves on: Now is "+
				"still that instant, and what it arms, receives, resets or stops takes effect."),
			Ops: []conformance.Op{verb.Consume}, Declared: []string{"Waits"},
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return suite.If(tr.Waits > WaitsForAll, "declared: "+tr.Waits.String())
			},
		},
		law("CK-CONTEXT", "A context MUST be live until its deadline, and answer without "+
			"blocking; from the deadline on it MUST have ended with context.DeadlineExceeded, or as "+
			"cancelled once cancel returns.", verb.Timeout),
		law("CK-CTXTREE", "A context MUST have the earlier of its own and its parent's deadline, "+
			"end when its parent ends, and keep the Err and Cause with which it first ended.", verb.Timeout),
		{
			Rule: core("CK-ARMED", "What is armed MUST be counted once, and no longer after it has fired or "+
				"was stopped, reset or cancelled."),
			Ops:   []conformance.Op{verb.Armed},
			Check: (*exam).counts,
		},
		{
			Rule: core("CK-WALL", "After a step of the wall clock, timers, tickers, functions, sleeps and timeouts, "+
				"old and new, MUST last their durations, children of older contexts too; Until MUST agree "+
				"with a timer armed for the same instant."),
			Absent: lacks("the clock has no SetWall", opSetWall),
			Probe:  toEnd(c.stepsWall),
		},
		{
			Rule: conformance.Rule{ID: "CK-AWAIT", Level: conformance.Extended,
				Text: "When Advance returns, all that it is declared to wait for MUST have run."},
			Ops:      []conformance.Op{verb.AfterFunc},
			Declared: []string{"Waits"},
			Unless:   unlessNothing,
			Probe:    c.awaits,
		},
		{
			Rule:     core("CK-DIFF", "On any mix of operations the clock MUST show what package time shows."),
			Absent:   lacks("it has nothing that waits", verb.Timer, verb.After, verb.AfterFunc, verb.Ticker),
			Declared: []string{"Waits"},
			Check:    (*exam).inOrder,
			Probe:    c.differs,
			Mixed:    true,
		},
		suite.Leak[*Traits]("When all timers are stopped and all contexts cancelled, no goroutine may remain.",
			(*exam).leaves),
		suite.Race[*Traits, *exam](c.race, func(_ *suite.Suite, tr *Traits) string {
			return suite.If(tr.OneGoroutine, "declared: OneGoroutine")
		}),
	}
	for i := range rules {
		r := &rules[i]
		if r.Check == nil && r.Probe == nil {
			r.Check = (*exam).inOrder
		}
		if r.Check != nil && r.About == nil {
			r.About = suite.InFamily(r.ID)
		}
	}
	return rules
}

// inOrder judges a run by comparing it with package time.
func (x *exam) inOrder() *suite.Violation {
	return x.compared(x.want, x.got, x.traits.Waits != WaitsForNothing)
}

// runsInOrder is inOrder. What is wrong among many functions shows in many ways, of which one is enough.
func (x *exam) runsInOrder() *suite.Violation {
	v := x.inOrder()
	if v != nil {
		v.Kind = ""
	}
	return v
}

// inAnyOrder is inOrder, except that events may come in any order while time moves, or
// during a step: other rules judge the order.
func (x *exam) inAnyOrder() *suite.Violation { return x.compared(x.want, x.got, false) }

// counts compares only the numbers of armed timers.
func (x *exam) counts() *suite.Violation {
	return x.compared(counted(x.want), counted(x.got), x.traits.Waits != WaitsForNothing)
}

func counted(events []event) []event {
	return slices.DeleteFunc(slices.Clone(events), func(e event) bool {
		return e.step.Op != verb.Armed
	})
}

func (x *exam) compared(want, got []event, ordered bool) *suite.Violation {
	switch {
	case x.open() != "":
		return nil
	case x.Stuck:
		return x.stuck()
	}
	d := compare(want, got, ordered)
	if d == nil {
		return nil
	}
	return x.told(d, want, got)
}

func (x *exam) leaves() *suite.Violation {
	v := x.LeftBehind()
	if x.open() != "" || v == nil {
		return nil
	}
	v.Because = "all timers were stopped, all contexts cancelled and every sleeper woken"
	return v
}
