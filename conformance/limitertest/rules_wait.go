package limitertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// waitRules are the laws of waits.
func waitRules() []rule {
	return []rule{
		{
			Rule: core("W-NOTEARLY", "A wait MUST NOT return before its tokens are available."),
			Ops:  ops(verb.Wait), Declared: []string{"Initial"},
			About: suite.Has(verb.Wait),
			Sees:  accepted,
			Check: law("W-NOTEARLY"),
		},
		{
			Rule: core("W-EXACT", "A wait MUST return nil at the instant at which its tokens are available; "+
				"where the order is free, any one of the waits whose tokens are available MUST."),
			Ops: ops(verb.Wait), Declared: []string{"Initial"},
			About: suite.Has(verb.Wait),
			Sees:  accepted,
			Check: law("W-EXACT"),
		},
		{
			Rule: core("W-EATS", "A wait that returned nil MUST have taken its tokens, once."),
			Ops:  ops(verb.Wait), Declared: []string{"Initial"},
			About: suite.Has(verb.Wait),
			Sees:  accepted,
			Check: law("W-EATS"),
		},
		{
			Rule: core("W-PRE", "A wait whose context is done before it begins MUST return an error at once "+
				"and take nothing, even if tokens are available."),
			Ops: ops(opContext), Declared: []string{"Initial"},
			About: either(givesUp(verb.Wait), hasDeadline),
			Sees:  accepted,
			Check: law("W-PRE"),
		},
		{
			Rule: core("W-DEAD",
				"A wait whose deadline comes before its tokens MUST return an error, "+
					"at once or at its deadline as declared, and take nothing."),
			Ops: ops(opContext), Declared: []string{"Initial", "DeadlineCheck"},
			About: hasDeadline,
			Sees:  accepted,
			Check: law("W-DEAD"),
		},
		{
			Rule: core("W-DEADEQ",
				"A wait that ends at the very instant of its tokens MUST either return nil and take them, "+
					"or return an error and leave them."),
			Ops: ops(opContext), Declared: []string{"Initial", "Refund"},
			About: either(hasDeadline, givesUp(verb.Wait)),
			Sees:  accepted,
			Check: law("W-DEADEQ"),
		},
		{
			Rule: core("W-CANCEL", "A wait whose context is cancelled MUST return an error at that instant, "+
				"and give back its tokens, as Refund says, to the waits behind it."),
			Ops: ops(opContext), Declared: []string{"Initial", "Refund"},
			About: givesUp(verb.Wait),
			Sees:  accepted,
			Check: law("W-CANCEL"),
		},
		{
			Rule: extended("W-ERR", "A wait that gives up MUST, as far as declared, return its context's "+
				"error: errors.Is finds context.Canceled after a cancel, and context.DeadlineExceeded after "+
				"a deadline."),
			Ops: ops(opContext, verb.Wait), Declared: []string{"WaitErrors"},
			Unless: func(_ *suite.Suite, t *Traits) string {
				return suite.If(t.WaitErrors == WaitErrorsOwn, "declared: WaitErrorsOwn")
			},
			About: either(givesUp(verb.Wait), hasDeadline),
			Sees:  accepted,
			Check: (*exam).waitErrors,
		},
		{
			Rule: core("W-FIFO", "If waits are fair, waiters MUST be served in order of arrival, unless they "+
				"keep their instants after a change or refund."),
			Ops: ops(verb.Wait), Declared: []string{"Fair"},
			Unless: unfair,
			About:  suite.Has(verb.Wait),
			Sees:   accepted,
			Check:  (*exam).waitsInOrder,
		},
		{
			Rule: core("W-NOSTARVE", "If waits are fair, a wait MUST return in bounded time, however often "+
				"others ask."),
			Ops: ops(verb.Wait, verb.Allow), Declared: []string{"Fair"},
			Unless: unfair,
			About:  both(suite.Has(verb.Wait), func(j suite.Job) bool { return starving(j.Schedule) }),
			Sees:   accepted,
			Check:  (*exam).waitsInTime,
		},
		{
			Rule: core("W-NOLOST", "A wait that was not given up MUST return when no more requests come, "+
				"whoever gave up before it."),
			Ops:   ops(verb.Wait),
			About: suite.Has(verb.Wait),
			Sees:  accepted,
			Check: (*exam).waitsReturn,
		},
		{
			Rule: core("W-WAKE", "After SetLimit, or when another waiter gives up, a wait MUST keep its "+
				"instant or be rescheduled, as declared."),
			Ops: ops(verb.Wait), Declared: []string{"Initial", "Fair", "OnChange"},
			Unless: unfair,
			About: both(suite.Has(verb.Wait), either(hasDeadline,
				suite.Has(verb.Cancel, verb.SetLimit, verb.SetBurst))),
			Sees:  accepted,
			Check: law("W-WAKE"),
		},
	}
}

// unfair takes rules about the order of waits out of force.
func unfair(_ *suite.Suite, t *Traits) string {
	return suite.If(t.Fair == FairNone, "declared: FairNone")
}

func (x *exam) waitErrors() *suite.Violation {
	if !x.accountable() {
		return nil
	}
	for i := range x.Done {
		d := &x.Done[i]
		want, early := expectedError(&x.Trace, i)
		if want == nil || errors.Is(d.Err, want) || early && x.traits.WaitErrors != WaitErrorsDeadline {
			continue
		}
		if d.D > 0 && d.Ended.At == d.At+d.D && x.traits.DeadlineCheck == DeadlineFailFast &&
			x.traits.WaitErrors != WaitErrorsDeadline {
			continue // another was faster: its tokens come too late, and its context may not have ended yet
		}
		because := "its context was cancelled"
		switch {
		case early:
			because = "its tokens come after its deadline, and WaitErrorsDeadline is declared"
		case want == context.DeadlineExceeded:
			because = "its deadline had passed"
		}
		return x.broken(d.Ended.At, because, "%s returned the error %q, want one that is %v",
			x.named(d), d.Err, want)
	}
	return nil
}

// expectedError is what errors.Is should find in the error that a step returned, nil if there
// is none, or nothing is expected because it may have another reason: of waits for unusual numbers of tokens,
// of those that are cancelled and have a deadline as well, and at a rate of 0, where no tokens come at all. Early
// says that the deadline had not come.
func expectedError(tr *conformance.Trace, i int) (want error, early bool) {
	d, claimed := &tr.Done[i], 0
	for k := range tr.Done[:i+1] {
		if claims(tr.Done[k].Step) {
			claimed++
		}
	}
	rate, burst := tr.Schedule.Config.Rate, tr.Schedule.Config.Burst // the least while it waits
	for _, o := range tr.Done {
		before := o.Began.Seq < d.Began.Seq
		switch {
		case o.Began.Seq > d.Ended.Seq:
		case o.Op == verb.SetLimit && (before || o.Rate.Events == 0):
			rate = o.Rate
		case o.Op == verb.SetBurst && (before || o.N < burst):
			burst = o.N
		}
	}
	if d.Op != verb.Wait || d.Err == nil || d.Ended.Seq == 0 || d.N < 1 || d.N > burst {
		return nil, false
	}
	cancelled := slices.ContainsFunc(tr.Done, func(o conformance.Done) bool {
		return o.Op == verb.Cancel && o.N == claimed && o.Began.Seq < d.Ended.Seq
	})
	switch {
	case cancelled && d.D != 0:
		return nil, false
	case cancelled:
		return context.Canceled, false
	case d.D != 0:
		early = d.D > 0 && d.Ended.At < d.At+d.D
		if early && rate.Events == 0 {
			return nil, false
		}
		return context.DeadlineExceeded, early
	}
	return nil, false
}

func (x *exam) waitsInOrder() *suite.Violation {
	if !x.accountable() {
		return nil
	}
	served := func(d *conformance.Done) bool {
		return d.Op == verb.Wait && d.OK && d.Ended.Seq != 0 && d.N > 0
	}
	for i := range x.Done {
		a := &x.Done[i]
		if !served(a) {
			continue
		}
		for k := i + 1; k < len(x.Done); k++ {
			b := &x.Done[k]
			if served(b) && b.Ended.At+1+x.traits.Latency < a.Ended.At && !x.mayOvertake(a, b) {
				return x.broken(b.Ended.At, "",
					"%s returned at %s, before %s, which returned at %s",
					x.named(b), timeline.Duration(b.Ended.At), x.named(a), timeline.Duration(a.Ended.At))
			}
		}
	}
	return nil
}

// mayOvertake reports whether the limit or the burst was changed between the beginnings of two waits, or
// somebody gave up and the first keeps its instant all the same: what came back is for the second then.
func (x *exam) mayOvertake(first, second *conformance.Done) bool {
	if x.changed(first.At, second.At, verb.SetLimit, verb.SetBurst) {
		return true
	}
	if x.traits.OnChange == OnChangeServes {
		return false
	}
	return x.changed(first.At, second.At, verb.Cancel) ||
		slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
			return d.Op == verb.Wait && !d.OK && d.Ended.At > d.At &&
				d.Ended.At >= first.At && d.Ended.At <= second.At
		})
}

func (x *exam) waitsInTime() *suite.Violation {
	if !x.plain() || !starving(x.Schedule) || senseless(x.Schedule.Config.Burst) {
		return nil
	}
	cfg := x.Schedule.Config
	waited := 0
	for _, d := range x.Done {
		if d.Op == verb.Wait {
			waited += d.N
		}
	}
	for _, d := range x.Done {
		others := waited - d.N // other waits may be served first
		by := d.At + time.Duration(2*cfg.Burst+2+others)*(max(cfg.Rate.Interval(), x.traits.Resolution)+
			late(x.Schedule, x.traits))
		if d.Op == verb.Wait && x.End > by && (d.Ended.Seq == 0 || d.Ended.At > by) {
			full := time.Duration(cfg.Burst) * cfg.Rate.Interval()
			return x.broken(by, fmt.Sprintf("the rate %s fills the whole bucket in %s",
				cfg.Rate, timeline.Duration(full)),
				"%s had not returned by %s, overtaken by requests that came later", x.named(&d), timeline.Duration(by))
		}
	}
	return nil
}

// starving reports whether a schedule has so many requests that a wait could starve.
func starving(s conformance.Schedule) bool {
	n := 0
	for _, st := range s.Steps {
		if st.Op == verb.Allow {
			n++
		}
	}
	return n >= 10
}

func (x *exam) waitsReturn() *suite.Violation {
	if !x.accountable() || !x.beyondRequests() {
		return nil
	}
	burst := x.Schedule.Config.Burst
	most := burst
	if x.traits.servesMore() {
		most *= 2 // nobody has to count far more than that
	}
	for _, s := range x.Schedule.Steps {
		if s.Op == verb.SetLimit && s.Rate.Events == 0 {
			return nil
		}
		if s.Op == verb.SetBurst {
			most = min(most, burst, s.N)
		}
	}
	claimed := 0
	for i := range x.Done {
		d := &x.Done[i]
		if !claims(d.Step) {
			continue
		}
		claimed++
		if d.Op == verb.Wait && d.N <= most && x.lost(d, claimed) {
			return x.broken(x.End,
				"the last request came at "+timeline.Duration(x.Schedule.Steps[len(x.Schedule.Steps)-1].At),
				"%s had not returned by %s", named(d.Step, claimed), timeline.Duration(x.End))
		}
	}
	return nil
}

// lost reports whether a wait that nobody gave up did not return.
func (x *exam) lost(d *conformance.Done, claim int) bool {
	if d.D != 0 || d.N <= 0 {
		return false
	}
	for _, o := range x.Done {
		if o.Op == verb.Cancel && o.N == claim {
			return false
		}
	}
	return d.Ended.Seq == 0 || d.Err != nil && d.Ended.At >= x.End
}

// named names a step that can be given up by its number, as in cancel N.
func named(s conformance.Step, number int) string {
	what := "wait"
	if s.Op == verb.Reserve {
		what = "reservation"
	}
	return fmt.Sprintf("%s number %d (%s at %s)", what, number, timeline.Count(s.N, "token"), timeline.Duration(s.At))
}

// named names such a step of a run.
func (x *exam) named(d *conformance.Done) string {
	number := 0
	for _, o := range x.Done {
		number += suite.Number(claims(o.Step) && o.Began.Seq <= d.Began.Seq)
	}
	return named(d.Step, number)
}
