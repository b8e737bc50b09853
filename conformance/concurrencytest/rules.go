package concurrencytest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Rules are the laws of a concurrency limiter. Those that have no Check are guards of the model.
func (c *contract) Rules() []suite.Rule[*Traits, *exam] {
	core, extended := suite.Core, suite.Extended
	withoutContext := lacking(func(tr *Traits) bool { return tr.Context == ContextIgnored })
	withoutHook := lacking(func(tr *Traits) bool { return tr.Hook == HookNone })
	mayLeave := func(_ *suite.Suite, tr *Traits) string { return tr.mayLeave() }
	guard := func(r conformance.Rule, absent func(*suite.Suite, *Traits) string, about func(suite.Job) bool,
		declared ...string) suite.Rule[*Traits, *exam] {
		return suite.Rule[*Traits, *exam]{Rule: r, Absent: absent, Declared: declared, About: about}
	}
	return completed([]suite.Rule[*Traits, *exam]{
		{
			Rule: core("CT-LIMIT", "Running requests MUST NOT hold more slots than the limit."),
		},
		{
			Rule: core("CT-WORK", "A request that finds its slots free and no waiters MUST run at once; a "+
				"waiter MUST run as soon as its slots are free and it is its turn."),
		},
		guard(core("CT-REJECT", "A request MUST be rejected at once if and only if it cannot run and the "+
			"backlog is full; a backlog of 0 is always full."),
			lacking(func(tr *Traits) bool { return tr.Backlog == BacklogUnbounded }),
			func(j suite.Job) bool { return j.Schedule.Config.Has("backlog") }, "Backlog"),
		{
			Rule:     extended("CT-SEAT", "A running request MUST NOT keep a place in the backlog, unless declared."),
			Absent:   lacking(func(tr *Traits) bool { return tr.Backlog == BacklogUnbounded || tr.nothingWaits() }),
			Declared: []string{"Backlog", "SeatHeld"},
			Unless:   lacking(func(tr *Traits) bool { return tr.SeatHeld == SeatKept }),
			About:    func(j suite.Job) bool { return j.Schedule.Config.Backlog > 0 && len(j.Schedule.Steps) > 2 },
		},
		guard(core("CT-TIME", "A waiter MUST be rejected at exactly its arrival plus the timeout, and "+
			"its place MUST be free then."),
			lacking((*Traits).noTimeout), func(j suite.Job) bool { return j.Schedule.Config.Timeout > 0 }, "Timeout"),
		guard(core("CT-TIME0", "With a timeout of 0 a request MUST run at once if its slots are free, "+
			"and otherwise be rejected at once."),
			lacking((*Traits).noTimeout), func(j suite.Job) bool {
				return j.Schedule.Config.Has("timeout") && j.Schedule.Config.Timeout == 0
			}, "Timeout"),
		guard(core("CT-CTX", "When a waiter's context ends, it MUST be rejected at once and its place be "+
			"free; a context that ends later MUST have no effect."),
			withoutContext, func(j suite.Job) bool { return cancels(j.Schedule) }, "Context"),
		guard(core("CT-CTXPRE", "A request whose context is already done MUST be rejected and MUST NOT "+
			"take a slot; with ContextEndsWait, only if it would have to wait."),
			withoutContext, func(j suite.Job) bool { return cancelsBefore(j.Schedule) }, "Context"),
		guard(core("CT-CTXERR", "A request ended by its context MUST return the context's error, if "+
			"declared, and MUST NOT return the error of another outcome: an expired deadline is not a "+
			"cancellation."),
			withoutContext, func(j suite.Job) bool { return cancels(j.Schedule) || cancelsBefore(j.Schedule) }),
		{
			Rule: core("CT-TIE", "If a slot comes free at the instant a wait ends, the waiter MUST either "+
				"get it or be rejected, never both and never neither, and the slot MUST NOT be lost."),
			Absent: lacking((*Traits).nobodyLeaves),
			Unless: mayLeave,
			About:  func(j suite.Job) bool { return j.Schedule.RacingSteps() > 0 },
		},
		{
			Rule:   core("CT-NOGHOST", "A slot MUST NOT go to a request that has given up."),
			Absent: lacking((*Traits).nobodyLeaves),
			Unless: mayLeave,
			About:  func(j suite.Job) bool { return cancels(j.Schedule) || j.Schedule.Config.Timeout > 0 },
		},
		{
			Rule:  core("CT-RELEASE", "When a request is done, all its slots MUST come free, exactly once."),
			About: suite.Has(verb.Release),
		},
		{
			Rule: core("CT-OVERREL", "Releasing a slot that nobody holds MUST panic or be ignored, as "+
				"declared; it MUST NOT block, raise the limit, or release another holder's slot."),
			Absent: lacking(func(tr *Traits) bool {
				return !c.suite.Accepts(verb.Release) || tr.OverRelease == OverReleaseUndefined
			}),
			Declared: []string{"OverRelease"},
			About:    func(j suite.Job) bool { return j.Family == overRelease || j.Family == "replay" },
			Check:    (*exam).misreleased,
			Again:    (*exam).afterOverRelease,
		},
		{
			Rule: core("CT-HEAD", "When the first waiter gives up, or can never run, those behind it that "+
				"fit MUST get the free slots at once. A waiter for more than a lowered limit may wait or be "+
				"rejected; but an implementation that rejects such waiters MUST NOT let any of them block those "+
				"behind it."),
			Absent: lacking(func(tr *Traits) bool { return tr.OneAtATime || tr.nobodyLeaves() }),
			Unless: mayLeave,
			About:  func(j suite.Job) bool { return weighs(j.Schedule) },
		},
		guard(extended("CT-FIFO", "Waiters MUST get slots in order of arrival, and a later request MUST "+
			"NOT overtake them."),
			lacking(func(tr *Traits) bool { return tr.nothingWaits() || tr.Fair == FairNone }),
			func(j suite.Job) bool { return len(j.Schedule.Steps) > 2 }, "Fair"),
		{
			Rule: core("CT-NOLOST", "However many requests come and go at once, none may wait for ever while "+
				"its slots are free."),
			Absent: lacking((*Traits).nothingWaits),
			Meets:  true,
			Probe:  c.lost,
		},
		{
			Rule: core("CT-OVER", "A request for more than the limit MUST NOT run; it MUST be rejected at "+
				"once, unless declared to wait."),
			Absent:   lacking(func(tr *Traits) bool { return tr.OneAtATime }),
			Declared: []string{"Oversize"},
			Unless:   func(_ *suite.Suite, tr *Traits) string { return tr.waitsForEver() },
			About:    func(j suite.Job) bool { return oversized(j.Schedule) },
		},
		{
			Rule: core("CT-RESIZE", "After the limit is lowered nothing may be admitted until enough is "+
				"released; after it is raised waiters MUST get the new slots at once."),
			Ops:   []conformance.Op{verb.Resize},
			About: suite.Has(verb.Resize),
		},
		guard(extended("CT-HOOK", "The hook MUST be called exactly once for each rejected request; for "+
			"one over the limit, as declared."),
			withoutHook, func(j suite.Job) bool {
				return j.Schedule.Config.Has("backlog") || j.Schedule.Config.Has("timeout") || oversized(j.Schedule)
			}, "Hook"),
		{
			Rule: core("CT-CONV", "Each request MUST either run or be rejected, exactly once, and MUST NOT "+
				"return before its handler; when all have ended every slot and place MUST be free."),
			Check: func(x *exam) *suite.Violation { return cmp.Or(x.answers(), breaks("CT-CONV")(x)) },
		},
		suite.OneClock[*Traits, *exam](c.timed, decisions),
		suite.Effect[*Traits, *exam](c.effects),
		suite.Calls[*Traits]((*exam).calls),
		{
			Rule:   core("X-PANIC", "A handler that panics or leaves by runtime.Goexit MUST release its slot."),
			Absent: lacking(func(*Traits) bool { return !c.suite.Accepts(verb.Do) }),
			About:  suite.Has(verb.Panic, verb.Exit),
		},
		{
			Rule: extended("X-REENT", "The hook MUST be able to call every operation: it MUST NOT run under a "+
				"lock."),
			Absent:   withoutHook,
			Declared: []string{"Hook"},
			Probe:    c.reentry,
		},
		suite.Leak[*Traits]("No goroutine or armed timer may remain while idle or after Stop; and while "+
			"a request runs, there MUST NOT be one more goroutine for each request that was rejected.",
			(*exam).left),
		{
			Rule: core("X-CONC", "Of concurrent requests at one instant exactly as many MUST run and wait as "+
				"in some sequential order of them."),
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return cmp.Or(suite.If(tr.Backlog == 0, "trait Backlog is undeclared"),
					suite.If(tr.HoldsLockWhileWaiting, "declared: HoldsLockWhileWaiting"))
			},
			Meets: true,
			Probe: c.concurrent,
		},
		suite.Race[*Traits, *exam](c.race, nil),
	})
}

// cancels reports whether a context is done at some instant.
func cancels(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == verb.Cancel || st.D > 0 && st.Op != verb.Idle
	})
}

// oversized reports whether a request asks for more slots than there are at first.
func oversized(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return st.K > s.Config.Limit })
}

// answers finds requests that were not answered exactly once.
func (x *exam) answers() *suite.Violation {
	if x.Refused != "" || x.Stuck {
		return nil
	}
	for _, q := range x.requests {
		switch {
		case q.panicked != "" || q.answered == 0:
			continue // X-CALLS or the model judges that
		case q.answered > 1 && q.runs == 1:
			return suite.Broken(q.decided.At, "", "request %d ran, but was also rejected: %v", q.id, q.err)
		case q.answered > 1:
			return suite.Broken(q.decided.At, "", "request %d ran %d times", q.id, q.runs)
		case q.early.Seq > 0:
			return suite.Broken(q.early.At, "", "request %d has returned, though its handler still runs", q.id)
		case q.runs == 0 && q.err == nil:
			return suite.Broken(q.decided.At, "", "request %d neither ran nor was it rejected", q.id)
		}
	}
	return nil
}

// misreleased finds releases of slots that nobody holds which do not do what is declared.
func (x *exam) misreleased() *suite.Violation {
	if x.Refused != "" || x.Stuck {
		return nil
	}
	for _, g := range x.groups {
		for _, s := range g.steps {
			if !s.releasesNothing() {
				continue
			}
			what := fmt.Sprintf("release %d at %s, though request %d holds no slot,", s.N, timeline.Duration(g.at), s.N)
			if s.K > 1 {
				what = fmt.Sprintf("a release at %s of %d slots, one more than are held,", timeline.Duration(g.at), s.K)
			}
			switch panics := x.traits.OverRelease == OverReleasePanics; {
			case !s.ended:
				return suite.Broken(g.at, "", "%s never returned", what)
			case panics && s.panicked == "":
				because := suite.If(x.declared.OverRelease == OverReleasePanics, "OverReleasePanics is declared")
				return suite.Broken(g.at, because, "%s went unnoticed, want a panic", what)
			case !panics && s.panicked != "":
				return suite.Broken(g.at, "OverReleaseIgnored is declared",
					"%s panicked, want it ignored: %s", what, s.panicked)
			}
		}
	}
	return nil
}

// afterOverRelease finds what comes of a release of slots that nobody holds, and not without it.
func (x *exam) afterOverRelease(again suite.Rerun) *suite.Violation {
	v := breaks("CT-OVERREL")(x)
	if v == nil {
		return nil
	}
	without := x.Schedule
	without.Steps = slices.Clone(without.Steps)
	for _, g := range x.groups {
		for _, done := range g.steps {
			if done.releasesNothing() {
				same := func(s conformance.Step) bool { return s == done.Step }
				without.Steps = slices.DeleteFunc(without.Steps, same)
			}
		}
	}
	if o := x.like(again(without)); !o.legal() {
		return nil
	}
	return v
}

// left finds what a run has left behind, without requests that cannot be made to give up.
func (x *exam) left() *suite.Violation {
	if x.Refused != "" || slices.ContainsFunc(x.requests, func(q *request) bool { return q.decided.Seq == 0 }) {
		return nil
	}
	return cmp.Or(x.LeftBehind(), x.piled())
}

// piled finds such goroutines.
func (x *exam) piled() *suite.Violation {
	if !piles(x.Schedule) {
		return nil
	}
	var first, last *group
	rejected := 0
	for _, g := range x.groups {
		ran, waits, gone := 0, 0, 0
		for _, q := range x.requests {
			switch decided := q.decided.Seq > 0 && q.decided.Seq < g.settled.Seq; {
			case q.arrived.Seq > g.settled.Seq:
			case !decided:
				waits++
			case q.admitted:
				ran++
			default:
				gone++
			}
		}
		if g.settled.Seq == 0 || g.settled.Seq > x.drained.Seq || ran != 1 || waits > 0 {
			continue
		}
		if last, rejected = g, gone; first == nil {
			first = g
		}
	}
	if rejected < many || last.others-first.others < rejected {
		return nil
	}
	return suite.Broken(last.at, "one request runs, and none waits",
		"%d more goroutines than before %d requests were rejected", last.others-first.others, rejected)
}

// completed lets a rule that is a guard of the model judge what breaks it before any other, and none but X-CALLS
// judge schedules with a limit below 0, after which nothing is known but whether the call has returned. If it has not,
// no other rule is left open by that.
func completed(rules []suite.Rule[*Traits, *exam]) []suite.Rule[*Traits, *exam] {
	for i := range rules {
		r := &rules[i]
		if r.Check == nil && r.Probe == nil {
			r.Check = breaks(r.ID)
		}
		if about := r.About; r.ID != "X-CALLS" {
			r.About = func(j suite.Job) bool { return !negative(j.Schedule) && (about == nil || about(j)) }
		}
	}
	return rules
}

// negative reports whether a schedule has a limit below 0.
func negative(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == verb.Resize && st.N < 0
	})
}

func (x *exam) calls() *suite.Violation {
	if cfg := x.Schedule.Config; x.Refused != "" {
		if cfg.Has("backlog") && cfg.Backlog == 0 || cfg.Has("timeout") && cfg.Timeout == 0 {
			return nil // a constructor may refuse what it does not offer
		}
		if cfg.Limit >= high || cfg.Timeout%time.Millisecond != 0 {
			return nil // so high a limit, or so fine a timeout
		}
		return suite.Broken(0, "", "the constructor refused %s: %s", cfg, x.Refused)
	}
	for _, g := range x.groups {
		for _, s := range g.steps {
			switch {
			case s.releasesNothing() && x.traits.OverRelease != OverReleaseIgnored:
				return nil // what follows is not judged
			case s.releasesNothing():
			case s.unclear() && s.ended: // it may refuse
			case s.panicked != "":
				return x.misdone(g, s, "panicked: "+s.panicked)
			case !s.ended && (s.Op == verb.Try || x.Stuck):
				return x.misdone(g, s, "never returned")
			}
		}
	}
	return nil
}

// misdone tells what came of a step, which may be one that the schedule does not have.
func (x *exam) misdone(g *group, s *step, came string) *suite.Violation {
	if !x.isOver(g) {
		return suite.Broken(g.at, "", "%s %s", s.Step, came)
	}
	return suite.Broken(g.at, "after "+lastly+", and then requests all slots and places",
		"after the last step, at %s, one %s %s", timeline.Duration(g.at), s.Op, came)
}
