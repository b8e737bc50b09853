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

func waitRules() []rule {
	waits, given := suite.Has(verb.Wait), givesUp(verb.Wait)
	wake := judged("W-WAKE", "After SetLimit, or when another waiter gives up, a wait MUST keep its "+
		"instant or be rescheduled, as declared.", verb.Wait,
		both(waits, either(hasDeadline, suite.Has(verb.Cancel, verb.SetLimit, verb.SetBurst))), "Fair", "OnChange")
	wake.Unless = unfair
	return []rule{
		judged("W-NOTEARLY", "A wait MUST NOT return before its tokens are available.", verb.Wait, waits),
		judged("W-EXACT", "A wait MUST return nil at the instant at which its tokens are available; "+
			"where the order is free, any one of the waits whose tokens are available MUST.", verb.Wait, waits),
		judged("W-EATS", "A wait that returned nil MUST have taken its tokens, once.", verb.Wait, waits),
		judged("W-PRE", "A wait whose context is done before it begins MUST return an error at once "+
			"and take nothing, even if tokens are available.", opContext, either(given, hasDeadline)),
		judged("W-DEAD", "A wait whose deadline comes before its tokens MUST return an error, "+
			"at once or at its deadline as declared, and take nothing.", opContext, hasDeadline, "DeadlineCheck"),
		judged("W-DEADEQ", "A wait that ends at the very instant of its tokens MUST either return nil and take them, "+
			"or return an error and leave them.", opContext, either(hasDeadline, given), "Refund"),
		judged("W-CANCEL", "A wait whose context is cancelled MUST return an error at that instant, "+
			"and give back its tokens, as Refund says, to the waits behind it.", opContext, given, "Refund"),
		{
			Rule: extended("W-ERR", "A wait that gives up MUST, as far as declared, return its context's "+
				"error: errors.Is finds context.Canceled after a cancel, and context.DeadlineExceeded after "+
				"a deadline."),
			Ops: ops(opContext, verb.Wait), Declared: []string{"WaitErrors"},
			Unless: func(_ *suite.Suite, t *Traits) string {
				return suite.If(t.WaitErrors == WaitErrorsOwn, "declared: WaitErrorsOwn")
			},
			About: either(given, hasDeadline),
			Check: (*exam).waitErrors,
		},
		{
			Rule: core("W-FIFO", "If waits are fair, waiters MUST be served in order of arrival, unless they "+
				"keep their instants after a change or refund."),
			Ops: ops(verb.Wait), Declared: []string{"Fair"},
			Unless: unfair,
			About:  waits,
			Check:  (*exam).waitsInOrder,
		},
		{
			Rule: core("W-NOSTARVE", "If waits are fair, a wait MUST return in bounded time, however often "+
				"others ask."),
			Ops: ops(verb.Wait, verb.Allow), Declared: []string{"Fair"},
			Unless: unfair,
			About:  both(waits, func(j suite.Job) bool { return starving(j.Schedule) }),
			Check:  (*exam).waitsInTime,
		},
		{
			Rule: core("W-NOLOST", "A wait that was not given up MUST return when no more requests come, "+
				"whoever gave up before it."),
			Ops:   ops(verb.Wait),
			About: waits,
			Check: (*exam).waitsReturn,
		},
		wake,
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
	d := &tr.Done[i]
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
	cancelled := cancelledFirst(tr, d, numbers(tr)[d])
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
	return x.changed(first.At, second.At, verb.SetLimit, verb.SetBurst) ||
		x.traits.OnChange != OnChangeServes && x.left(first.At, second.At)
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
	for i := range x.Done {
		d := &x.Done[i]
		others := waited - d.N // other waits may be served first
		by := d.At + time.Duration(2*cfg.Burst+2+others)*(max(cfg.Rate.Interval(), x.traits.Resolution)+
			late(x.Schedule, x.traits))
		if d.Op == verb.Wait && x.End > by && (d.Ended.Seq == 0 || d.Ended.At > by) {
			full := time.Duration(cfg.Burst) * cfg.Rate.Interval()
			return x.broken(by, fmt.Sprintf("the rate %s fills the whole bucket in %s",
				cfg.Rate, timeline.Duration(full)),
				"%s had not returned by %s, overtaken by requests that came later", x.named(d), timeline.Duration(by))
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
	for i := range x.Done {
		if d := &x.Done[i]; d.Op == verb.Wait && d.N <= most && x.lost(d) {
			return x.broken(x.End,
				"the last request came at "+timeline.Duration(x.Schedule.Steps[len(x.Schedule.Steps)-1].At),
				"%s had not returned by %s", x.named(d), timeline.Duration(x.End))
		}
	}
	return nil
}

// lost reports whether a wait that nobody gave up did not return.
func (x *exam) lost(d *conformance.Done) bool {
	if d.D != 0 || d.N <= 0 || d.Ended.Seq != 0 && (d.Err == nil || d.Ended.At < x.End) {
		return false
	}
	number := numbers(&x.Trace)[d]
	return !slices.ContainsFunc(x.Done, func(o conformance.Done) bool { return o.Op == verb.Cancel && o.N == number })
}

// named names a step that can be given up by its number, as in cancel N.
func named(s conformance.Step, number int) string {
	what := "wait"
	if s.Op == verb.Reserve {
		what = "reservation"
	}
	return fmt.Sprintf("%s number %d (%s at %s)", what, number, timeline.Count(s.N, "token"), timeline.Duration(s.At))
}

func (x *exam) named(d *conformance.Done) string { return named(d.Step, numbers(&x.Trace)[d]) }
