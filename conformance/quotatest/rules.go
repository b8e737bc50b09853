package quotatest

import (
	"cmp"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

type rule = suite.Rule[*Traits, *exam]

// Rules are the laws of a quota.
func (c *contract) Rules() []rule {
	core := suite.Core
	answered := suite.Extended // of limiters that answer with the field
	log, counter := c.absentBut(SlidingLog), c.absentBut(SlidingCounter)
	window, gcra := c.absentBut(FixedWindow), c.absentBut(GCRA)
	allow, many := []conformance.Op{verb.Allow}, []conformance.Op{takesMany}
	decides := func(absent func(*suite.Suite, *Traits) string, id, text string) rule {
		return rule{Rule: core(id, text), Absent: absent, Ops: allow}
	}
	answers := func(of Fields, id, text string) rule {
		return rule{
			Rule: answered(id, text), Ops: allow,
			Unless: func(s *suite.Suite, tr *Traits) string {
				return cmp.Or(unanswered(of)(s, tr), suite.If(of&^tr.judged() != 0, "declared: DeniedCounted"))
			},
			Check: unmoved(func(x *exam) *suite.Violation { return x.answers(of) }),
			Mixed: true, // one about decisions tells more
		}
	}
	// traceless makes the rule of requests for an unusual number, which are called so.
	traceless := func(id, text, what string, of func(n, full int) bool) rule {
		has := func(s conformance.Schedule) bool {
			return asks(s, func(n int) bool { return of(n, full(c.spec.Kind, s.Config)) })
		}
		return rule{Rule: core(id, text), Ops: many, Unusual: has,
			About: func(j suite.Job) bool { return has(j.Schedule) },
			Again: leavesNoTrace(what, func(x *exam, d *conformance.Done) bool {
				return d.Op == verb.Allow && of(d.N, x.full()) && !(d.N > 0 && x.counts())
			})}
	}
	large := traceless("RL-NBIG", "A request for more than the limit, or the burst, MUST NOT be granted, however "+
		"large, and MUST leave no trace.", "a request for more than the limit",
		func(n, full int) bool { return n > full })
	large.Check = (*exam).large
	modelled := []rule{ // the first difference from the model breaks one that has no other check
		decides(log, "SW-ANY", "No more than the limit may be granted in any period as long as the window."),
		decides(log, "SW-EXP", "An event exactly as old as the window MUST be inside or outside it, as declared."),
		decides(log, "SW-WORK", "A request that fits into the window MUST be granted."),
		decides(log, "SW-DENYCOUNT", "Denied requests MUST count or not, as declared."),
		{
			Rule: core("SC-APPROX", "A request MUST be granted if the estimate has room for it and denied if "+
				"not, except within one event of the boundary once the previous window has begun to fade. No "+
				"more than twice the limit may be granted in any period as long as a window."),
			Absent: counter, Ops: allow,
			Check: func(x *exam) *suite.Violation { return cmp.Or(unmoved((*exam).twice)(x), x.decided("SC-APPROX")) },
		},
		{
			Rule: core("SC-ORDER", "Instants that go back MUST NOT reset the counts: no more may be granted "+
				"than the limit for each whole window that they span and for one more at each end."),
			Absent: c.absentBut(FixedWindow, SlidingLog, SlidingCounter), Ops: allow,
			Unless: forward,
			About:  func(j suite.Job) bool { return suite.GoesBack(j.Schedule) },
			Check:  (*exam).bounded,
		},
		{
			Rule: core("SC-N1", "With a limit of 1 an event MUST be granted if its window and the one before "+
				"are empty, and no other in its window."),
			Absent: counter, Ops: allow,
			About: func(j suite.Job) bool { return j.Schedule.Config.Rate.Events == 1 },
		},
		decides(counter, "SC-FIRST", "Every window MUST begin where declared, the first one too."),
		decides(window, "FW-ALIGNED", "No more than the limit may be granted in each window, which begins where "+
			"declared."),
		{
			Rule:   core("FW-2N", "No more than twice the limit may be granted in any period as long as a window."),
			Absent: window,
			Check:  unmoved((*exam).twice),
		},
		decides(window, "FW-NOEXTEND", "Requests MUST NOT extend a window: the next one begins on time, with its "+
			"full limit."),
		decides(window, "FW-EDGE", "The instant at which a window ends MUST belong to it or to the next, as "+
			"declared."),
		decides(window, "FW-HIT", "Requests MUST be granted up to and including the one that uses up the limit."),
		decides(gcra, "GC-EQUIV", "Every decision MUST be that of the token bucket."),
		decides(gcra, "GC-BURST", "A new limiter MUST grant exactly its burst at once."),
		{
			Rule: core("GC-TAT", "After any idle time, and at any instants, no more than the burst may be "+
				"granted on top of the rate."),
			Absent: gcra, Ops: allow,
			Unless: func(_ *suite.Suite, tr *Traits) string { return rewinds(tr) },
			Check:  func(x *exam) *suite.Violation { return cmp.Or(x.bounded(), x.decided("GC-TAT")) },
		},
		answers(FieldRetry, "GC-RETRY", "A denied request MUST be granted after exactly its RetryAfter, and "+
			"not a nanosecond sooner; an estimate MUST be positive, and may be too long."),
		{
			Rule: answered("GC-RETRYNEG", "The RetryAfter of a request that can never be granted MUST be as "+
				"declared."),
			Ops: many,
			Unless: func(s *suite.Suite, tr *Traits) string {
				return cmp.Or(unanswered(FieldRetry)(s, tr),
					suite.If(tr.RetryNever == 0, "trait RetryNever is undeclared"))
			},
			About: func(j suite.Job) bool {
				full := full(c.spec.Kind, j.Schedule.Config)
				return slices.ContainsFunc(j.Schedule.Steps, func(s conformance.Step) bool { return s.N > full })
			},
			Check: (*exam).retryNever,
		},
		answers(FieldRemaining, "GC-REMAIN", "Remaining MUST be how many more events would be granted at once, "+
			"from 0 to the limit; an estimate may be off by one event."),
		answers(FieldReset, "GC-RESET", "The limiter MUST decide like a new one after ResetAfter, and not "+
			"sooner; an estimate may be too long. A limiter that already does may tell when its window ends."),
		{
			Rule: core("GC-DENYPURE", "A denied request MUST leave no trace, unless it is declared to count."),
			Ops:  allow, Unless: denialsCount,
			Again: leavesNoTrace("a denied request", (*exam).denied),
		},
		{
			Rule: core("GC-PEEKPURE", "A query, or a request for 0, MUST leave no trace."),
			About: func(j suite.Job) bool {
				return suite.Has(verb.Tokens)(j) || asks(j.Schedule, func(n int) bool { return n == 0 })
			},
			Again: leavesNoTrace("a query", func(_ *exam, d *conformance.Done) bool {
				return d.Op == verb.Tokens || d.N == 0
			}),
		},
		traceless("GC-NEG", "A request for a negative number MUST leave no trace.", "a request for a negative number",
			func(n, _ int) bool { return n < 0 }),
		large,
		{
			Rule: core("RL-PAST", "A request at an instant before the newest MUST NOT be granted if it does "+
				"not fit at the newest; one at the newest or later MUST be granted if it fits, whatever "+
				"instants came before."),
			Ops:    allow,
			Unless: forward,
			About:  func(j suite.Job) bool { return suite.GoesBack(j.Schedule) },
			Check:  (*exam).past,
		},
		{
			Rule: core("RL-EPOCH", "Answers MUST NOT depend on the time at which the clock starts."),
			Ops:  allow,
			Unless: func(s *suite.Suite, _ *Traits) string {
				return suite.If(s.Time == conformance.PackageTime, "package time always starts at the same instant")
			},
			About: func(j suite.Job) bool { return j.Schedule.Config.Has("epoch") },
			Again: (*exam).epoch,
		},
	}
	for i := range modelled {
		r := &modelled[i]
		if r.Check == nil && r.Again == nil {
			r.Check = func(x *exam) *suite.Violation { return x.decided(r.ID) }
		}
		own := r.Unless
		r.Unless = func(s *suite.Suite, tr *Traits) string {
			if own != nil {
				return cmp.Or(own(s, tr), c.undeclared(s, tr))
			}
			return c.undeclared(s, tr)
		}
	}
	all := slices.Concat(modelled, edge.RemoteRules[*Traits]((*exam).remote), []rule{
		{
			Rule: core("CN-WINDOW", "A refund at once MUST undo exactly what it gives back; after its window "+
				"has passed it MUST change nothing."),
			Ops: []conformance.Op{givesBack}, Unless: c.remote,
			Probe: func(p *suite.Probe) (*suite.Violation, string) {
				return cmp.Or(c.backed(p), c.beside(p, "a refund", func(s session) { s.GiveBack(1) })), ""
			},
		},
		{
			Rule: core("GC-FRESH", "After Reset a limiter MUST grant what a new one grants, and no more, at "+
				"once and later."),
			Ops: []conformance.Op{verb.Reset}, Unless: c.remote,
			Probe: func(p *suite.Probe) (*suite.Violation, string) {
				return cmp.Or(c.reset(p), c.beside(p, "a reset", func(s session) { s.Reset() })), ""
			},
		},
		suite.OneClock[*Traits, *exam](c.timed,
			suite.AnswersInFull(verb.Allow, (&exam{traits: &c.spec.Traits}).said)),
		suite.Reads[*Traits, *exam](c.timed, suite.Answers(verb.Allow)),
		suite.Calls[*Traits]((*exam).calls),
		{
			Rule: core("X-CFG", "A constructor MUST refuse a senseless limit, burst or window, or return a "+
				"limiter that works: it does not panic later, is not unlimited, and does not deny for ever without "+
				"an error."),
			Ops:   allow,
			About: func(j suite.Job) bool { return mayRefuse(c.spec.Kind, j.Schedule.Config) },
			Check: (*exam).config,
		},
		suite.Leak[*Traits]("No goroutine or armed timer may remain while idle or after Stop.",
			(*exam).LeftBehind),
		suite.InARow[*Traits, *exam](verb.Allow, c.inARow),
		{
			Rule: core("X-CONC", "Concurrent requests at one instant MUST together get what some sequential "+
				"order of them gets, whoever queries meanwhile."),
			Ops:    allow,
			Unless: func(s *suite.Suite, tr *Traits) string { return cmp.Or(oneGoroutine(s, tr), c.remote(s, tr)) },
			Meets:  true,
			Probe:  c.concurrent,
		},
		suite.Race[*Traits, *exam](c.race, oneGoroutine),
	})
	for i := range all {
		if id := all[i].ID; id != "X-CALLS" && id != "X-LEAK" && id != "RL-EPOCH" {
			all[i].About = edge.Unkeyed(all[i].About)
			all[i].Sees = taken(all[i].Sees)
		}
	}
	return append(all, c.keyRules()...)
}

// taken selects the runs that ask for one at a time, where that is declared.
func taken(sees func(*exam) bool) func(*exam) bool {
	return func(x *exam) bool {
		several := func(d conformance.Done) bool { return d.Op == verb.Allow && d.N != 1 }
		return !(x.traits.OneAtATime && x.asks(several)) && (sees == nil || sees(x))
	}
}

// forward is why instants do not go back, or why what they mean is not judged, "" if it is.
func forward(s *suite.Suite, tr *Traits) string {
	return cmp.Or(suite.If(s.Time == conformance.PackageTime, "only explicit instants can go back"),
		suite.If(tr.BackTime == 0, "trait BackTime is undeclared"), rewinds(tr))
}

func rewinds(tr *Traits) string { return suite.If(tr.BackTime == BackRewind, "declared: BackRewind") }

func denialsCount(_ *suite.Suite, tr *Traits) string {
	return suite.If(tr.CountDenied == DeniedCounted, "declared: DeniedCounted")
}

// remote takes a rule out of force that is about what comes at one instant.
func (c *contract) remote(*suite.Suite, *Traits) string {
	return suite.If(c.trip > 0, "a request takes time")
}

func oneGoroutine(_ *suite.Suite, tr *Traits) string {
	return suite.If(tr.OneGoroutine, "declared: OneGoroutine")
}

// absentBut makes the Absent of rules that are about these kinds only.
func (c *contract) absentBut(kinds ...Kind) func(*suite.Suite, *Traits) string {
	return func(*suite.Suite, *Traits) string {
		return suite.If(!slices.Contains(kinds, c.spec.Kind), "about another kind of limiter")
	}
}

// answers is a choice that the model does not need: what is answered beside OK.
const answers = "Fields"

// undeclared says which of the traits that the model of the kind needs is undeclared, ""
// if none is.
func (c *contract) undeclared(s *suite.Suite, tr *Traits) string {
	for _, choice := range c.Table(s, tr) {
		apart := choice.Name == answers || choice.Name == "BackTime" || choice.Name == "RetryNever"
		if !apart && choice.Declared == 0 && choice.Needless != nil && !choice.Needless() {
			return "trait " + choice.Name + " is undeclared"
		}
	}
	return ""
}

// unanswered takes a rule out of force if a field is not declared to be filled in.
func unanswered(field Fields) func(*suite.Suite, *Traits) string {
	return func(_ *suite.Suite, tr *Traits) string {
		return suite.If(tr.Fields&field == 0, answersLiteral(int(field))+" is not declared")
	}
}

// asks reports whether a request of the schedule is for such a number.
func asks(s conformance.Schedule, which func(n int) bool) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == verb.Allow && which(st.N)
	})
}
