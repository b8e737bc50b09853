package leakybuckettest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Rules are the laws of a leaky bucket.
func (c *contract) Rules() []suite.Rule[*Traits, *exam] {
	core := suite.Core
	law := func(id, text string, check func(*exam) *suite.Violation, declared ...string) suite.Rule[*Traits, *exam] {
		return suite.Rule[*Traits, *exam]{Rule: core(id, text), Declared: declared, Check: check}
	}
	return []suite.Rule[*Traits, *exam]{
		law("LB-SPACE", "Items MUST leave at least the interval apart, measured from item to "+
			"item, not on a grid; after idle time as many more as the declared Slack may leave together.",
			judged((*exam).space), "FirstItem"), // and with it the slack
		law("LB-EXACT", "While items wait they MUST leave exactly the interval apart; if the "+
			"function takes time, at most an interval after it returns.", (*exam).exact, "FirstItem"),
		law("LB-IDLE", "Idle time MUST NOT build up credit beyond the declared Slack, and an item "+
			"that finds an empty queue MUST leave when FirstItem says.", (*exam).idle, "FirstItem"),
		{
			Rule: core("LB-SAMEINSTANT", "Two items that come at the very instant at which the last one left "+
				"MUST NOT leave together."),
			Declared: []string{"FirstItem"},
			Unless:   func(_ *suite.Suite, tr *Traits) string { return suite.If(tr.Slack > 0, "declared: Slack") },
			Check:    judged((*exam).sameInstant),
		},
		law("LB-BOUND", "As many items as the backlog holds MUST be accepted to wait, and not one "+
			"more; with Unbounded, all of them.", judged((*exam).bound), "FirstItem"),
		law("LB-DROP", "An item that was refused, or that waits when Stop returns, MUST NOT "+
			"leave; every other item MUST leave, once.", judged((*exam).drop)),
		law("LB-FIFO", "Items MUST leave in the order in which they came.", judged((*exam).fifo)),
		law("LB-EMPTY", "Only items that were put may leave.", judged((*exam).empty)),
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
			Check:    judged((*exam).cancel),
		},
		{
			Rule: core("LB-CLOSE", "After Close nothing may be accepted; waiting items MUST leave or not, as "+
				"declared."),
			Ops:      []conformance.Op{verb.Close},
			Declared: []string{"CloseFlush"},
			About:    suite.Has(verb.Close),
			Check:    judged((*exam).close),
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
			Check: judged((*exam).heldUp),
		},
		suite.OneClock[*Traits, *exam](onPackageTime, suite.FireMarks),
		suite.Reads[*Traits, *exam](filled, taken),
		suite.Calls[*Traits]((*exam).calls),
		suite.Reentry("An operation called from the function that gets an item MUST NOT deadlock.",
			func(s *suite.Suite, tr *Traits) string { return edge.NoReentry(s, tr.Reentrancy) }, (*exam).reentry),
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

// tooClose returns the first item k that left too soon after an item i before it.
func (x *exam) tooClose() (i, k int, bad bool) {
	interval, slack := x.Schedule.Config.Interval, x.traits.Slack
	for k := range x.Fires {
		for i := max(0, k-slack-1); i < k; i++ {
			if k-i > slack && x.Fires[k].Began.At-x.Fires[i].Began.At < suite.Times(k-i-slack, interval) {
				return i, k, true
			}
		}
	}
	return 0, 0, false
}

func (x *exam) space() *suite.Violation {
	i, k, bad := x.tooClose()
	if !bad {
		return nil
	}
	a, b := x.Fires[i], x.Fires[k]
	interval, slack := x.Schedule.Config.Interval, x.traits.Slack
	because := fmt.Sprintf("the interval is %s, and a Slack of %d is declared", timeline.Duration(interval), slack)
	return x.told(b.Began.At, because, "item %d left %s after item %d, want %s at least",
		b.Value, timeline.Duration(b.Began.At-a.Began.At), a.Value,
		timeline.Duration(suite.Times(k-i-slack, interval)))
}

func (x *exam) sameInstant() *suite.Violation {
	interval := timeline.Duration(x.Schedule.Config.Interval)
	for k := 1; k < len(x.Fires); k++ {
		if a, b := x.Fires[k-1], x.Fires[k]; a.Began.At == b.Began.At {
			return x.told(b.Began.At, fmt.Sprintf("the interval is %s, and no Slack is declared", interval),
				"items %d and %d left together at %s", a.Value, b.Value, timeline.Duration(b.Began.At))
		}
	}
	return nil
}

// delayed finds an item that left more than an interval after it came, and after what the one
// before it left to had returned: whether the interval counts from the beginning of that or from
// its end is open.
func (x *exam) delayed() *suite.Violation {
	interval, free := x.Schedule.Config.Interval, time.Duration(0)
	for _, it := range x.accepted {
		if len(it.left) == 0 {
			continue
		}
		came := it.put.Began.At
		if latest := suite.Sum(max(free, came), interval); it.left[0].Began.At > latest {
			because := fmt.Sprintf("it came at %s, and the function of the one before had returned by %s",
				timeline.Duration(came), timeline.Duration(free))
			return x.leftAt(it, latest, because, timeline.Duration(latest)+" at the latest")
		}
		free = max(free, it.left[0].Ended.At)
	}
	return nil
}

func (x *exam) exact() *suite.Violation {
	if x.judgeable() && x.only(verb.Put) && x.back() == 0 && x.Schedule.Config.Busy > 0 {
		return x.delayed()
	}
	if !x.drained() || x.unordered() {
		return nil
	}
	if _, _, bad := x.tooClose(); bad {
		return nil // LB-SPACE judges that
	}
	it, due, idle := x.mistimed()
	if it == nil || idle || len(it.left) == 0 {
		return nil
	}
	because := fmt.Sprintf("item %d waited, and an item leaves every %s while any waits",
		it.put.N, timeline.Duration(x.Schedule.Config.Interval))
	if slack := x.traits.Slack; slack > 0 {
		because += fmt.Sprintf(", once a Slack of %d, which is declared, is used up", slack)
	}
	return x.leftAt(it, min(it.left[0].Began.At, due), because, timeline.Duration(due))
}

func (x *exam) idle() *suite.Violation {
	if !x.quiet() || x.unordered() {
		return nil
	}
	if i, k, bad := x.tooClose(); bad {
		// Idle time was saved up if nothing left in the interval before the first of the
		// items that are too close, or if nothing left before it at all.
		a, b := x.Fires[i], x.Fires[k]
		idled := i == 0 || a.Began.At-x.Fires[i-1].Began.At > x.Schedule.Config.Interval
		if !idled || b.Began.At == a.Began.At {
			return nil
		}
		return x.told(b.Began.At, "idle time before them must not count",
			"item %d left %s after item %d, which found an empty queue",
			b.Value, timeline.Duration(b.Began.At-a.Began.At), a.Value)
	}
	it, due, idle := x.mistimed()
	if it == nil || !idle || len(it.left) == 0 {
		return nil
	}
	because := fmt.Sprintf("it came at %s and found an empty queue, and %s is declared",
		timeline.Duration(it.put.Began.At), heads[x.traits.FirstItem-1])
	return x.leftAt(it, min(it.left[0].Began.At, due), because, timeline.Duration(due))
}

// unordered reports whether items that race with the turns of others may come before or after them, which matters to
// what does not leave at once.
func (x *exam) unordered() bool {
	return x.Schedule.RacingSteps() > 0 && x.traits.FirstItem != FirstAtOnce
}

func (x *exam) bound() *suite.Violation {
	if x.Schedule.RacingSteps() > 0 || x.back() > 0 || !x.takesAtItsWord(x.Schedule.Config.Backlog) {
		return nil
	}
	for k, it := range x.items {
		put := it.put
		if put.Inside || before(x.stop, put) || before(x.closed, put) {
			continue
		}
		if broken := x.admitted(put, queueBefore(x.items[:k], put)); broken != nil {
			return broken
		}
	}
	return nil
}

// takesAtItsWord reports whether a backlog is what it says, as any is but 0: that may stand for a
// default, for no bound, or for a bucket that lets nothing through. It does not if the first item is
// accepted and the second, that comes with it, is refused.
func (x *exam) takesAtItsWord(backlog int) bool {
	return backlog > 0 || len(x.items) > 1 && x.items[0].put.OK && !x.items[1].put.OK &&
		x.items[0].put.Began.At == x.items[1].put.Began.At
}

// queue is what an item finds when it is put.
type queue struct {
	waiting int
	places  int           // taken by what waits, or by what was cancelled and may still hold one
	last    time.Duration // when the last item left, negative if none has
}

// queueBefore is what put found of the items that were put before it.
func queueBefore(items []*item, put *conformance.Done) queue {
	q := queue{last: -1}
	for _, it := range items {
		if it.waits(put) {
			q.waiting++
			q.places++
		} else if it.put.OK && it.cancelled != nil && len(it.left) == 0 {
			q.places++
		}
		if len(it.left) > 0 && it.left[0].Began.Seq < put.Began.Seq {
			q.last = max(q.last, it.left[0].Began.At)
		}
	}
	return q
}

// admitted judges whether put was accepted or refused as it had to be.
func (x *exam) admitted(put *conformance.Done, q queue) *suite.Violation {
	backlog, interval := x.Schedule.Config.Backlog, x.Schedule.Config.Interval
	atOnce := x.traits.FirstItem == FirstAtOnce && q.waiting == 0 &&
		(x.traits.Slack > 0 || q.last < 0 || put.Began.At >= suite.Sum(q.last, interval))
	because := fmt.Sprintf("%d waited, and the backlog is %d", q.waiting, backlog)
	switch {
	case x.traits.Unbounded && put.OK:
		return nil
	case x.traits.Unbounded:
		because = "Unbounded is declared"
	case !put.OK && q.places < backlog:
	case x.Schedule.Config.Busy > 0: // what is due may still wait for the function
		return nil
	case !put.OK && atOnce && q.places == 0 && x.traits.Slack == 0:
		because = "nothing waited, and the interval was over"
	case put.OK && q.waiting >= backlog && !atOnce:
		return x.told(put.Began.At, because+": Unbounded is not declared",
			"item %d was accepted, want refused", put.N)
	default:
		return nil
	}
	return x.told(put.Began.At, because, "item %d was refused, want accepted", put.N)
}

func (x *exam) drop() *suite.Violation {
	stopped := func(d conformance.Done) bool { return d.Op == verb.Stop && d.Ended.Seq != 0 }
	var stop *conformance.Done // the first that has returned
	if i := slices.IndexFunc(x.Done, stopped); i >= 0 {
		stop = &x.Done[i]
	}
	for _, it := range x.items {
		came, n := it.put.Began.At, it.put.N
		switch {
		case !it.put.OK && len(it.left) > 0:
			at := it.left[0].Began.At
			return x.told(at, "", "item %d left at %s, which was refused at %s",
				n, timeline.Duration(at), timeline.Duration(came))
		case stop != nil && it.waits(stop) && it.leftDespite(stop) && it.left[0].Began.Seq > stop.Ended.Seq:
			return x.leftAnyway(it, fmt.Sprintf("stop at %s had returned", timeline.Duration(stop.Began.At)))
		case len(it.left) > 1:
			at, again := it.left[0].Began.At, it.left[1].Began.At
			return x.told(again, "", "item %d left twice, at %s and at %s",
				n, timeline.Duration(at), timeline.Duration(again))
		case it.put.OK && len(it.left) == 0 && it.cancelled == nil && x.closed == nil && x.stop == nil && x.over(it):
			return x.neverLeft(it, fmt.Sprintf("it was accepted at %s", timeline.Duration(came)))
		}
	}
	return nil
}

func (x *exam) fifo() *suite.Violation {
	if crowded(x.Schedule) {
		return nil
	}
	newest := -1
	for _, f := range x.Fires {
		i := x.index(f.Value)
		if i >= 0 && i < newest {
			return x.told(f.Began.At, "", "item %d left at %s, after item %d, which came later",
				f.Value, timeline.Duration(f.Began.At), x.items[newest].put.N)
		}
		newest = max(newest, i)
	}
	return nil
}

func (x *exam) empty() *suite.Violation {
	for _, f := range x.Fires {
		if x.index(f.Value) < 0 {
			return x.told(f.Began.At, "", "item %d left at %s, which nobody put",
				f.Value, timeline.Duration(f.Began.At))
		}
	}
	return nil
}

func (x *exam) often(again suite.Rerun) *suite.Violation {
	if !x.quiet() || len(x.Schedule.Steps) > 8 || x.Schedule.RacingSteps() > 0 {
		return nil
	}
	without := conformance.Schedule{Config: x.Schedule.Config}
	for _, it := range x.accepted {
		without.Steps = append(without.Steps, it.put.Step)
	}
	if len(x.accepted) == len(x.items) { // none was refused
		return nil
	}
	other := again(without)
	for i, f := range x.Fires {
		at := f.Began.At
		if i >= len(other.Fires) || f.Value != other.Fires[i].Value {
			return x.told(at, "without the refused items it does not",
				"item %d left at %s", f.Value, timeline.Duration(at))
		}
		if o := other.Fires[i].Began.At; at != o {
			because := fmt.Sprintf("without the refused items it leaves at %s", timeline.Duration(o))
			return x.told(min(o, at), because,
				"item %d left at %s, want %s", f.Value, timeline.Duration(at), timeline.Duration(o))
		}
	}
	return nil
}

// heldUp finds an item that left too late after the clock was set back, or never.
func (x *exam) heldUp() *suite.Violation {
	if x.Schedule.Config.Busy > 0 || x.closed != nil {
		return nil
	}
	allowed := x.back()
	if x.traits.ClockBack == trait.BackBounded {
		// How long was idle before the clock was set back it cannot know: the slack may be used up.
		allowed = suite.Times(1+x.traits.Slack, x.Schedule.Config.Interval)
	}
	if x.traits.FirstItem != FirstAtOnce {
		allowed = suite.Sum(allowed, x.Schedule.Config.Interval) // until the period that was under way is over
	}
	because := fmt.Sprintf("the clock was set back by %s", timeline.Duration(x.back()))
	latest := x.latestDues()
	for _, it := range x.accepted {
		due := suite.Sum(latest[it.k], allowed)
		switch {
		case len(it.left) == 0 && due <= x.End && x.stop == nil && it.cancelled == nil:
			return x.neverLeft(it, because)
		case len(it.left) > 0 && it.left[0].Began.At > due:
			return x.leftAt(it, due, because, timeline.Duration(due)+" at the latest")
		}
	}
	return nil
}

func (x *exam) reentry() *suite.Violation {
	d := edge.Reentered(x.Recording)
	if d == nil {
		return nil
	}
	return x.told(d.Began.At, "everything that could wake it was asleep for good",
		"%s called by the function never returned", d.Op)
}

func (x *exam) calls() *suite.Violation {
	if x.Refused != "" {
		return &suite.Violation{Headline: fmt.Sprintf("the constructor panicked with %s: %s",
			x.Schedule.Config, x.Refused)}
	}
	for _, d := range x.Done {
		if d.Panic != "" && !edge.StopsAgain(x.Recording, d) && !edge.ClosedFirst(x.Recording, &d) {
			return x.told(d.At, "", "%s panicked: %s", d.Step, d.Panic)
		}
		if x.Stuck && d.Ended.Seq == 0 && !d.Inside {
			return x.told(d.At, "", "%s never returned", d.Step)
		}
	}
	return nil
}
