package throttletest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

type rule = suite.Rule[*Traits, *exam]

// The two kinds of rules.
var core, extended = suite.Core, suite.Extended

// breaks is the Check of a rule that is broken if the first difference between a run and the model says so.
func breaks(id string) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation { return x.difference().Breaks(id) }
}

// finished is the Check of a rule of runs that came to their end.
func finished(check func(x *exam) *suite.Violation) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if x.unfinished() {
			return nil
		}
		return check(x)
	}
}

// law makes such a rule about ordinary runs with one of these edges, if any are given.
func law(r conformance.Rule, edges ...Edges) rule {
	return rule{Rule: r, Absent: without(edges...), About: ordinary, Check: breaks(r.ID)}
}

// ofOperation makes such a rule about runs with an operation.
func ofOperation(op conformance.Op, r conformance.Rule) rule {
	return rule{Rule: r, Ops: []conformance.Op{op}, About: suite.Steps(op), Check: breaks(r.ID)}
}

// without says that none of these edges is declared.
func without(edges ...Edges) func(*suite.Suite, *Traits) string {
	return func(_ *suite.Suite, tr *Traits) string {
		if len(edges) == 0 || len(tr.Edges) == 0 && slices.Contains(edges, Leading) {
			return ""
		}
		return suite.If(!tr.has(edges...), edge.NoSuchEdge)
	}
}

// alone are the rules about a single throttle on a clock that goes forward. Once one of
// them is broken, the rules about keys, instances and clocks that are set back would only
// show the same mistake again.
var alone = []string{"TH-FIRST", "TH-LEADNEXT", "TH-SPACE", "TH-DROP", "TH-LAST", "TH-NOTDEB", "TH-PAY", "TH-SINGLE",
	"TH-TRAILONLY", "TH-TRAILOPENS", "TH-NOSPON", "TH-NONE", "X-CALLS"}

// isBusy reports whether a run is of one throttle whose callbacks take time.
func isBusy(j suite.Job) bool {
	return j.Schedule.Config.Busy > 0 && !edge.HasKeys(j.Schedule) && !readerGone(j.Schedule)
}

// special reports whether a run is judged only by rules made for it: callbacks do
// something, an interval lets several events pass, there is no edge, or there are steps
// other than calls and resets.
func special(j suite.Job) bool {
	cfg := j.Schedule.Config
	return cfg.Busy > 0 || cfg.Inside != "" || cfg.K > 1 || cfg.Edges == NoEdges ||
		slices.ContainsFunc(j.Schedule.Steps, func(s conformance.Step) bool {
			other := s.Op != verb.Call && s.Op != verb.Reset && s.Op != verb.Idle
			return other || edge.Key(s) != 0
		})
}

// ordinary selects the other runs.
func ordinary(j suite.Job) bool { return !special(j) }

// back selects the runs in which the wall clock is set.
var back = suite.Steps(verb.Wall)

// several selects the runs of one throttle whose intervals let several events pass.
func several(j suite.Job) bool {
	return j.Schedule.Config.K > 1 && !back(j) && !edge.HasKeys(j.Schedule)
}

// orBack selects runs of a clock that is set back, too, of intervals that let one event pass or of those that let
// several pass: what a rule says of emissions holds again after that.
func orBack(about func(suite.Job) bool, many bool) func(suite.Job) bool {
	return func(j suite.Job) bool { return about(j) || back(j) && j.Schedule.Config.K > 1 == many }
}

// spaced is the Check of a rule of how close emissions may be, also when the clock has been set back.
func spaced(id string) func(x *exam) *suite.Violation {
	return finished(func(x *exam) *suite.Violation {
		if x.has(verb.Wall) {
			return x.crowded()
		}
		return x.difference().Breaks(id)
	})
}

// resets selects the runs that the rule of Reset judges.
func resets(j suite.Job) bool {
	alone := !edge.HasKeys(j.Schedule) && !back(j)
	return alone && j.Schedule.Config.Inside == "" && suite.Has(verb.Reset)(j)
}

// undeclared is why a rule is skipped that needs an optional choice, "" if it is not
// skipped.
func undeclared(yes bool, choice string) string { return suite.If(yes, "no "+choice+" is declared") }

// Rules are the laws of a throttle. Most are checked by comparing the run with a model;
// the first difference breaks one of them.
func (c *contract) Rules() []rule {
	all := slices.Concat(intervalRules(), c.endRules(), c.particularRules(), c.commonRules())
	for i, r := range all {
		if !slices.Contains(whateverEdges, r.ID) {
			all[i].Declared = append([]string{"Edges"}, r.Declared...)
		}
	}
	return all
}

// intervalRules are those of what is emitted in an interval, and when.
func intervalRules() []rule {
	return []rule{
		law(core("TH-FIRST", "On the leading edge the very first event MUST be emitted at once, at "+
			"whatever time the clock starts."),
			Leading, LeadingAndTrailing),
		law(core("TH-LEADNEXT", "On the leading edge an event after the end of an interval MUST be "+
			"emitted at once; one at exactly its end, as declared."),
			Leading, LeadingAndTrailing),
		{
			Rule:  core("TH-SPACE", "Two emissions MUST be at least the interval apart."),
			About: orBack(ordinary, false),
			Check: spaced("TH-SPACE"),
		},
		law(core("TH-DROP", "With the leading edge alone an event within an interval MUST be dropped, "+
			"and never emitted later."),
			Leading),
		law(core("TH-LAST", "On the trailing edge, what came last in an interval MUST be emitted at its end."),
			Trailing, LeadingAndTrailing),
		law(core("TH-NOTDEB", "A steady stream of events MUST NOT postpone the end of an interval."),
			Trailing, LeadingAndTrailing),
		law(core("TH-PAY", "The trailing edge MUST emit the declared payload: of the interval's newest "+
			"event, or of its first."),
			Trailing, LeadingAndTrailing),
		law(core("TH-SINGLE", "With both edges a single event MUST be emitted once, or twice, as declared."),
			LeadingAndTrailing),
		law(core("TH-TRAILONLY", "With the trailing edge alone an event MUST NOT be emitted "+
			"before the end of its interval."),
			Trailing),
		law(core("TH-TRAILOPENS", "An emission on the trailing edge MUST open an interval of its own."),
			Trailing, LeadingAndTrailing),
		{
			Rule: core("TH-NOSPON", "Nothing may be emitted without an event since the last emission, "+
				"nor with a payload that no event had."),
			Check: (*exam).unbidden,
		},
		{
			Rule: core("TH-ZERO", "With an interval of 0 every event MUST be emitted, unless the "+
				"constructor refuses 0."),
			About: ofZero,
			Check: finished((*exam).zero),
		},
		{
			Rule: extended("TH-NONE", "Without any edge nothing may be emitted, unless the constructor "+
				"refuses that."),
			Absent: without(NoEdges),
			About:  func(j suite.Job) bool { return j.Schedule.Config.Edges == NoEdges },
			Check:  breaks("TH-NONE"),
		},
	}
}

// endRules are those of what ends an interval, a throttle or a stream, and of what counts in an interval.
func (c *contract) endRules() []rule {
	ofSeveral := func(r conformance.Rule, about func(suite.Job) bool, check func(*exam) *suite.Violation) rule {
		return rule{Rule: r, Declared: []string{"Windows"}, Absent: without(Leading), About: about, Check: check}
	}
	return []rule{
		{
			Rule: core("TH-RESET", "After Reset the next event MUST be emitted, "+
				"and begin an interval of full length."),
			Ops:    []conformance.Op{verb.Reset},
			Absent: without(Leading),
			About:  resets,
			Check:  finished((*exam).reset),
		},
		{
			Rule: extended("TH-FLUSH", "Flush MUST emit a pending event at once, once, and nothing if "+
				"none is pending. Its emission MUST open an interval, leave the current one running, or end it, "+
				"as declared; if undeclared, any of these. The newest later event MUST be emitted no later than "+
				"an interval after it came; a flush of nothing MUST NOT make it come sooner, nor later on the "+
				"leading edge."),
			Ops:    []conformance.Op{verb.Flush},
			Absent: without(Trailing, LeadingAndTrailing),
			About: func(j suite.Job) bool { // what a flush after Stop does, that of Stop judges
				return suite.Steps(verb.Flush)(j) && !suite.Steps(verb.Stop)(j) && !edge.HasKeys(j.Schedule)
			},
			Check: finished((*exam).flushed),
		},
		{
			Rule: core("TH-ONEOF", "When many goroutines bring events at one instant, each edge MUST emit one of "+
				"them, or the leading edge the declared k."),
			Meets: true,
			Probe: c.concurrent,
		},
		{
			Rule: core("TH-STOP", "After Stop nothing may be emitted for an event that came before it: "+
				"Stop drops what is pending."),
			Ops:   []conformance.Op{verb.Stop},
			About: suite.Has(verb.Stop),
			Check: (*exam).stopHolds,
		},
		ofSeveral(extended("TH-RATE", "An interval MUST NOT let more than k events pass, counted as declared."),
			orBack(several, true), spaced("TH-RATE")),
		ofSeveral(extended("TH-MAXIMAL",
			"An event MUST be emitted at once if its interval has fewer than k emissions."),
			several, breaks("TH-MAXIMAL")),
		ofOperation(verb.Fault, extended("TH-ERR", "An error item MUST be passed on at once and in order, whatever "+
			"the interval.")),
		ofOperation(verb.Fault, extended("TH-ERRNEUT",
			"Errors MUST NOT open an interval, postpone one or count in one.")),
		{
			Rule: extended("TH-CTX", "When the context is cancelled the output MUST be closed at once, nothing more "+
				"may be emitted, and no goroutine may keep waiting for a reader that has gone."),
			Ops:   []conformance.Op{verb.Cancel},
			About: suite.Steps(verb.Cancel),
			Check: (*exam).cancelCloses,
		},
		{
			Rule: extended("TH-CLOSE",
				"When the input ends the output MUST be closed, and pending events treated as declared."),
			Ops: []conformance.Op{verb.Close},
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return undeclared(tr.has(Trailing, LeadingAndTrailing) && tr.CloseFlush == 0, "CloseFlush")
			},
			About: suite.Steps(verb.Close),
			Check: (*exam).endCloses,
		},
	}
}

// particularRules are those of callbacks that take time, of a clock that is set back, of keys and instances, and of
// what a throttle does with what it was given.
func (c *contract) particularRules() []rule {
	drop := ofOperation(verb.Drop, core("TH-CANCEL", "Drop MUST drop the pending event, and none that comes later. "+
		"What was dropped MUST NOT open an interval."))
	drop.Absent = without(Trailing, LeadingAndTrailing)
	setBack := func(r conformance.Rule, unless func(*suite.Suite, *Traits) string,
		check func(*exam) *suite.Violation) rule {
		return rule{Rule: r, Declared: []string{"ClockBack"}, Unless: unless, About: back, Beyond: alone, Check: check}
	}
	return []rule{
		{
			Rule: core("TH-BUSY", "Even if callbacks take time, emissions MUST begin at least the interval apart, "+
				"none may come twice, and the trailing edge MUST emit the newest event."),
			Absent: uncalled,
			About:  isBusy,
			Check:  func(x *exam) *suite.Violation { return x.bounded().Violation },
		},
		{
			Rule: extended("TH-ANCHOR", "The interval of a callback that takes time MUST count from its start, or "+
				"from its end, as declared."),
			Declared: []string{"Anchor"},
			Absent:   without(Leading, Trailing, LeadingAndTrailing),
			About:    isBusy,
			Beyond:   []string{"TH-BUSY"},
			Check:    finished((*exam).anchored),
		},
		setBack(extended("TH-CLOCKBACK",
			"When the clock is set back, events MUST NOT be delayed by more than one interval."),
			setBackUnless(BackBounded, "ClockBack: BackBounded"), finished((*exam).heldUp)),
		setBack(extended("X-BACK", "A clock that is set back MUST count as one that stands still until it is where "+
			"it was: no emission may come sooner, and pending events MUST come when it has moved on."),
			setBackUnless(BackStands, "ClockBack: BackStands"), finished((*exam).stands)),
		{
			Rule:   extended("TH-KEY", "Each key MUST have an interval of its own."),
			Ops:    []conformance.Op{opKeys},
			Unless: func(_ *suite.Suite, tr *Traits) string { return suite.If(tr.Payload == NoPayload, nameless) },
			About:  suite.InFamily(suite.Keys),
			Beyond: beyondKeys,
			Check:  finished((*exam).eachKey),
		},
		{
			Rule: core("X-ISO", "Instances MUST NOT share state."),
			Unless: func(s *suite.Suite, tr *Traits) string {
				return suite.If(s.Accepts(opKeys) && tr.Payload == NoPayload, nameless)
			},
			About: suite.InFamily(suite.Instances),
			Check: finished((*exam).eachKey),
			Owing: func(x *exam, again suite.Rerun) bool { return edge.Beside(x.Recording, again) },
		},
		suite.OneClock[*Traits, *exam](edge.CallsAround("interval", opKeys), suite.FireMarks),
		drop,
		suite.Effect[*Traits, *exam](c.effects),
		suite.Reads[*Traits, *exam](edge.CallsAround("interval", opKeys), suite.FireMarks),
	}
}

// commonRules are those of every contract, as far as they concern a throttle.
func (c *contract) commonRules() []rule {
	reentry := suite.Reentry("An operation called from the callback MUST NOT deadlock.",
		func(s *suite.Suite, tr *Traits) string {
			none := suite.If(s.Time == conformance.Explicit, "there is no callback")
			return cmp.Or(edge.NoReentry(s, tr.Reentrancy), none)
		}, (*exam).Deadlock)
	reentry.Absent = uncalled
	return []rule{
		{
			Rule: extended("X-ROW", "Events of one goroutine at one instant MUST come out in their order, however "+
				"fast they follow."),
			Unless: func(s *suite.Suite, _ *Traits) string { return suite.If(!s.Bubble, suite.Unordered) },
			Absent: func(s *suite.Suite, _ *Traits) string {
				return suite.If(!s.Accepts(opEmits), "it emits nothing itself")
			},
			Probe: c.inARow,
		},
		{
			Rule: extended("X-RENAME", "Every event MUST count, even one whose payload equals the last."),
			Absent: func(s *suite.Suite, _ *Traits) string {
				return suite.If(!s.Accepts(opEmits), "its events have no payloads")
			},
			Probe: func(p *suite.Probe) (*suite.Violation, string) {
				return edge.Payloads(p, "interval", c.kinds())
			},
		},
		{
			Rule: extended("X-PANIC", "After a callback panics the throttle MUST work on, and the panic propagate or "+
				"be recovered, as declared."),
			Declared: []string{"PanicPolicy"},
			Unless:   uncalled,
			Probe:    c.panics,
		},
		reentry,
		suite.Calls[*Traits]((*exam).calls),
		suite.Leak[*Traits]("No goroutine or armed timer may remain while idle or after Stop.", (*exam).LeftBehind),
		suite.Race[*Traits, *exam](c.race, nil),
	}
}

// whateverEdges are the rules that need not know on which edges a throttle emits.
var whateverEdges = []string{"X-CLOCK1", "X-REENT", "X-CALLS", "X-LEAK", "X-RACE"}

// nameless is why keys cannot be judged.
const nameless = "declared: NoPayload, so the key of a callback is unknown"

// unbidden finds what is emitted though nothing has come. It judges every run, unless what is
// wrong is that a key emits for another.
func (x *exam) unbidden() *suite.Violation {
	if ordinary(suite.Job{Schedule: x.Schedule}) {
		if v := x.difference().Breaks("TH-NOSPON"); v != nil {
			return v
		}
	}
	v := x.fromNothing()
	if v != nil && edge.HasKeys(x.Schedule) && !x.unfinished() && x.eachKey() != nil {
		return nil
	}
	return v
}

// ofZero selects the runs that the rule of an interval of 0 judges.
func ofZero(j suite.Job) bool {
	cfg := j.Schedule.Config
	return cfg.Has("interval") && cfg.Interval == 0 && (ordinary(j) || cfg.Busy > 0 ||
		cfg.Inside == verb.Call && cfg.K <= 1 && onlyCalls(j))
}

// zero judges them.
func (x *exam) zero() *suite.Violation {
	if cfg := x.Schedule.Config; cfg.Busy > 0 || cfg.Inside != "" || x.Schedule.RacingSteps() > 0 {
		return x.zeroBusy()
	}
	return x.difference().Breaks("TH-ZERO")
}

// onlyCalls selects the runs whose steps are calls.
func onlyCalls(j suite.Job) bool {
	return !slices.ContainsFunc(j.Schedule.Steps, func(s conformance.Step) bool { return s.Op != verb.Call })
}

// calls finds operations that panicked or did not return. A constructor may refuse no interval, one that is short, and
// one that is too long to count with.
func (x *exam) calls() *suite.Violation {
	cfg := x.Schedule.Config
	mayPanic := func(d *conformance.Done) bool {
		return edge.StopsAgain(x.Recording, *d) || edge.ClosedFirst(x.Recording, d)
	}
	return x.Misdone(cfg.Interval < time.Millisecond || cfg.Interval > suite.Century, mayPanic,
		cfg.Busy > 0 && !readerGone(x.Schedule), x.broken)
}

// uncalled is why rules about callbacks are not in force where there are none.
func uncalled(s *suite.Suite, _ *Traits) string {
	return suite.If(!s.Accepts(opEmits), "there is no callback")
}
