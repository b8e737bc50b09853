package leakybuckettest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Rules are the laws of a leaky bucket. Those that have neither a Check nor a run of their own are guards of the model.
func (c *contract) Rules() []suite.Rule[*Traits, *exam] {
	core := suite.Core
	law := func(id, text string, declared ...string) suite.Rule[*Traits, *exam] {
		return suite.Rule[*Traits, *exam]{Rule: core(id, text), Declared: declared}
	}
	rules := []suite.Rule[*Traits, *exam]{
		law("LB-SPACE", "Items MUST leave at least the interval apart, measured from item to "+
			"item, not on a grid; after idle time as many more as the declared Slack may leave together.",
			"FirstItem"), // and with it the slack
		law("LB-EXACT", "While items wait they MUST leave exactly the interval apart; if the "+
			"function takes time, at most an interval after it returns.", "FirstItem"),
		law("LB-IDLE", "Idle time MUST NOT build up credit beyond the declared Slack, and an item "+
			"that finds an empty queue MUST leave when FirstItem says.", "FirstItem"),
		{
			Rule: core("LB-SAMEINSTANT", "Two items that come at the very instant at which the last one left "+
				"MUST NOT leave together."),
			Declared: []string{"FirstItem"},
			Unless:   func(_ *suite.Suite, tr *Traits) string { return suite.If(tr.Slack > 0, "declared: Slack") },
		},
		law("LB-BOUND", "As many items as the backlog holds MUST be accepted to wait, and not one "+
			"more; with Unbounded, all of them.", "FirstItem"),
		law("LB-DROP", "An item that was refused, or that waits when Stop returns, MUST NOT "+
			"leave; every other item MUST leave, once."),
		law("LB-FIFO", "Items MUST leave in the order in which they came."),
		law("LB-EMPTY", "Only items that were put may leave."),
		{
			Rule: core("LB-FRAC", "Refused items, however many, MUST NOT affect the instants at which the "+
				"others leave."),
			Unless: func(_ *suite.Suite, tr *Traits) string { return suite.If(tr.Unbounded, "declared: Unbounded") },
			Again:  (*exam).often,
		},
		{
			Rule: core("LB-CANCEL", "An item cancelled while it waits MUST NOT leave, MUST free its place no "+
				"later than its turn, and MUST NOT delay the others: each MUST leave in its own turn, or in "+
				"that of an item cancelled before it."),
			Ops:      []conformance.Op{verb.Cancel},
			Declared: []string{"FirstItem"},
			About:    suite.Has(verb.Cancel),
		},
		{
			Rule: core("LB-CLOSE", "After Close nothing may be accepted; waiting items MUST leave or not, as "+
				"declared."),
			Ops:      []conformance.Op{verb.Close},
			Declared: []string{"CloseFlush"},
			About:    suite.Has(verb.Close),
		},
		{
			Rule: conformance.Rule{ID: "X-BACK", Level: conformance.Extended,
				Text: "A clock that is set back MUST NOT delay an item by more than declared: by an interval " +
					"plus the saved Slack, or by as much as it was set back."},
			Declared: []string{"FirstItem", "ClockBack"},
			Unless: func(s *suite.Suite, _ *Traits) string {
				return suite.If(s.Time != conformance.Injected, "only an injected clock can be set back")
			},
			About: suite.Steps(verb.Wall),
		},
		suite.OneClock[*Traits, *exam](onPackageTime, suite.FireMarks),
		suite.Reads[*Traits, *exam](filled, taken),
		suite.Calls[*Traits]((*exam).calls),
		suite.Reentry("An operation called from the function that gets an item MUST NOT deadlock.",
			func(s *suite.Suite, tr *Traits) string { return edge.NoReentry(s, tr.Reentrancy) }, (*exam).Deadlock),
		suite.Leak[*Traits]("No goroutine or armed timer may remain after Stop or Close, or while idle.",
			(*exam).leftBehind),
		{
			Rule:     core("X-PANIC", "If the function panics, the other items MUST leave as if it had returned."),
			Declared: []string{"FirstItem"},
			Unless: func(s *suite.Suite, tr *Traits) string {
				return cmp.Or(s.Inexact, suite.If(tr.FirstItem != FirstAtOnce, ownGoroutine), c.undecidedSlack(s, tr))
			},
			Probe: c.panics,
		},
		{
			Rule: core("X-CONC", "Concurrent puts at one instant MUST NOT have more items accepted than "+
				"sequential ones; each accepted item MUST leave once or be cancelled once."),
			Declared: []string{"FirstItem"},
			Unless: func(s *suite.Suite, tr *Traits) string {
				locks := suite.If(tr.HoldsLockWhileWaiting, "declared: HoldsLockWhileWaiting")
				return cmp.Or(s.Inexact, locks, c.undecidedSlack(s, tr))
			},
			Meets: true,
			Probe: c.concurrent,
		},
		suite.Race[*Traits, *exam](c.race, nil),
	}
	for i := range rules {
		if r := &rules[i]; r.Check == nil && r.Again == nil && r.Probe == nil {
			r.Check = breaks(r.ID)
		}
	}
	return rules
}

// leftBehind finds what is left when all is over. While somebody waits whose turn is later than a run can
// be, that is not before a Stop.
func (x *exam) leftBehind() *suite.Violation {
	if x.cut() && x.stop == nil {
		return nil
	}
	return x.LeftBehind()
}

// undecidedSlack is why what no schedule shows is not judged where a Slack was observed, and none is declared.
func (c *contract) undecidedSlack(s *suite.Suite, tr *Traits) string {
	return suite.If(s.Undeclared() && c.slackSeen > 0 && tr.Slack == 0, "trait Slack is undeclared")
}

// ownGoroutine is why the callback cannot be made to panic.
const ownGoroutine = "items leave on a goroutine of the implementation, where a panic would end the test"

// often finds items that leave at other instants without the refused ones.
func (x *exam) often(again suite.Rerun) *suite.Violation {
	if !x.quiet() || len(x.Schedule.Steps) > 8 || x.Schedule.RacingSteps() > 0 {
		return nil
	}
	without, refused := conformance.Schedule{Config: x.Schedule.Config}, 0
	for _, it := range x.items {
		if it.put.OK {
			without.Steps = append(without.Steps, it.put.Step)
		} else {
			refused = it.put.N
		}
	}
	if refused == 0 {
		return nil
	}
	want, got := suite.FireMarks(again(without)), suite.FireMarks(x.Recording)
	if slices.Equal(want, got) {
		return nil
	}
	return suite.Unlike(x.Recording, want, got, "as without the refused items",
		fmt.Sprintf("item %d was refused", refused))
}

func (x *exam) calls() *suite.Violation {
	mayPanic := func(d *conformance.Done) bool {
		return edge.StopsAgain(x.Recording, *d) || edge.ClosedFirst(x.Recording, d)
	}
	return x.Misdone(false, mayPanic, false, x.told)
}
