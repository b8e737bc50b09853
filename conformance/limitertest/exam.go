package limitertest

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits *Traits
	of     *contract
	begun  *account // see account
	// unexplained is the first difference from the account, with the law that it breaks;
	// nil if there is none.
	unexplained *difference
}

// Exam puts a trace in the terms of a bucket. If it differs from the account, the law that
// it breaks is looked for here, once and before any rule sees the trace.
func (c *contract) Exam(t *Traits, rec *suite.Recording, job suite.Job) *exam {
	if t.Latency > 0 {
		rec = suite.AsBegun(rec)
	}
	if c.naps {
		napping := *t
		napping.naps, t = true, &napping
	}
	x := &exam{Recording: rec, traits: t, of: c}
	judges := x.accountable
	if !x.beyondRequests() {
		judges = x.judgeable
	}
	if judges() && !edge.ForKeys(rec.Schedule) {
		x.unexplained = c.learnt.trace(x, job)
	}
	return x
}

// account returns the account at the beginning of the run.
func (x *exam) account() *account {
	if x.begun == nil {
		x.begun = newAccount(&x.Trace, x.traits)
	}
	a := *x.begun
	return &a
}

// watch calls f before each step, with an account that takes what was granted before.
func (x *exam) watch(f func(a *account, d *conformance.Done)) {
	a := x.account()
	a.watch = func(d *conformance.Done) { f(a, d) }
	a.replay()
}

// made reports whether there is anything to judge: the limiter was made and the run came
// to an end.
func (x *exam) made() bool { return x.Refused == "" && !x.Stuck }

func (x *exam) forward() bool { return !suite.GoesBack(x.Schedule) }

// judgeable reports whether the trace is one that the bucket can judge: made, with time
// going forward and a rate that is not extreme.
func (x *exam) judgeable() bool {
	return x.made() && x.Schedule.Config.Rate.Events > 0 && !x.Schedule.Config.Rate.Extreme() && x.forward() &&
		x.counted()
}

// counted reports whether the burst is one that somebody may want to be counted. Of larger ones only X-CFG says
// anything.
func (x *exam) counted() bool { return x.Schedule.Config.Burst < 1<<30 }

// accountable reports whether the trace is one that the account can judge: made, with time
// going forward, a burst, and a rate that brings something.
func (x *exam) accountable() bool {
	rate := x.Schedule.Config.Rate
	return x.made() && (rate.Events > 0 && !rate.Extreme() || rate == Inf) && x.forward() && x.counted() &&
		(x.Schedule.Config.Burst > 0 || x.Schedule.Config.Burst == 0 && alwaysInfinite(x.Schedule))
}

// alwaysInfinite reports whether the rate is [Inf] from the beginning to the end.
func alwaysInfinite(s conformance.Schedule) bool {
	return s.Config.Rate == Inf && !slices.ContainsFunc(s.Steps, func(s conformance.Step) bool {
		return s.Op == verb.SetLimit && s.Rate != Inf
	})
}

// beyondRequests reports whether the run has more than requests that are answered at once, by
// yes or no, or an infinite rate, of which only the account knows.
func (x *exam) beyondRequests() bool { return !alone(&x.Trace) }

// alone reports whether a run has nothing but such requests, at a rate that is finite.
func alone(tr *conformance.Trace) bool {
	return !failed(tr) && tr.Schedule.Config.Rate != Inf &&
		!slices.ContainsFunc(tr.Schedule.Steps, func(s conformance.Step) bool {
			switch s.Op {
			case verb.Cancel, verb.SetLimit, verb.SetBurst, verb.Fault:
				return true
			}
			return claims(s)
		})
}

// outOfRange reports whether a step asks for a number of tokens that has a rule of its own.
func (x *exam) outOfRange(s conformance.Step) bool {
	return s.N < 1 || s.N > x.Schedule.Config.Burst && !x.traits.Overdraft
}

// plain reports whether the trace is judgeable and has nothing but requests for usual
// numbers of tokens, and waits without a deadline.
func (x *exam) plain() bool { return x.judgeable() && x.ordinary() }

// ordinary reports that of the steps and answers.
func (x *exam) ordinary() bool {
	return !failed(&x.Trace) && !slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
		switch s.Op {
		case verb.Tokens, verb.Idle:
			return false
		case verb.Allow, verb.Wait:
			return x.outOfRange(s) || s.D != 0
		}
		return true
	})
}

// changed reports whether one of the operations was done between two instants.
func (x *exam) changed(from, to time.Duration, ops ...conformance.Op) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return slices.Contains(ops, d.Op) && d.At >= from && d.At <= to
	})
}

// broken makes a violation with the lanes of a limiter.
func (x *exam) broken(at time.Duration, because, headline string, args ...any) *suite.Violation {
	var lanes []suite.Lane
	steps := x.Schedule.Steps
	otherKey := func(st conformance.Step) bool { return edge.Key(st) != edge.Key(steps[0]) }
	if !x.beyondRequests() && !x.prepaid() && x.Schedule.Config.Rate.Per > 0 && !slices.ContainsFunc(steps, otherKey) {
		lanes = append(lanes, x.wanted()) // elsewhere the bucket says nothing of that
	}
	return &suite.Violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at,
		Lanes: append(lanes, x.got())}
}

// breaks returns the difference from the account, if it breaks the law.
func (x *exam) breaks(law string) *suite.Violation {
	if d := x.unexplained; d != nil && d.law == law {
		return x.broken(d.at, d.because, "%s", d.headline)
	}
	return nil
}

// wanted is what the timeline shows of requests that the exact bucket grants.
func (x *exam) wanted() suite.Lane {
	want := suite.Lane{Name: "want"}
	x.watch(func(a *account, d *conformance.Done) {
		if d.Op != verb.Allow {
			return
		}
		mark := "?" // within the tolerance: either
		switch {
		case a.pays(d.N), d.N < 1:
			mark = suite.Granted[a.hi.Cmp(a.need(d.N)) >= 0 && (d.N <= a.burst || a.traits.Overdraft)]
		case a.lacks(d.N):
			mark = suite.Granted[false]
		}
		want.Marks = append(want.Marks, suite.Mark{At: d.At, Text: mark})
	})
	return want
}

// got is what the timeline shows of what was requested, waited for and reserved.
func (x *exam) got() suite.Lane {
	got := suite.Lane{Name: "got"}
	for _, d := range x.Done {
		mark := suite.Mark{At: d.At, Text: suite.Granted[d.OK]}
		switch {
		case d.Op == verb.Reserve && d.OK:
			mark.Text = "+" + timeline.Duration(d.Delay)
		case d.Op == verb.Wait && d.Err != nil:
			mark.At, mark.Text = d.Ended.At, "err"
		case d.Op == verb.Wait:
			mark = suite.Mark{At: d.Ended.At, Text: "y"}
		}
		if d.Op == verb.Allow || d.Op == verb.Reserve || d.Op == verb.Wait && d.Ended.Seq != 0 {
			got.Marks = append(got.Marks, mark)
		}
	}
	return got
}

// tokens writes units, so many a token, as a number of tokens. What rounding makes whole is said to be less, or more.
func tokens(units, per *big.Int) string {
	r := new(big.Rat).SetFrac(units, per)
	f, _ := r.Float64()
	text := number(f)
	whole, ok := new(big.Int).SetString(text, 10)
	if !ok || r.IsInt() {
		return text
	}
	if r.Cmp(new(big.Rat).SetInt(whole)) < 0 {
		return "just under " + text
	}
	return "just over " + text
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 10, 64) }
