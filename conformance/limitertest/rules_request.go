package limitertest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// requestRules are the laws of requests that are answered at once. Where one schedule breaks several rules the first of
// them is told, so what is about one thing stands before what is about any.
func (c *contract) requestRules() []rule {
	return []rule{
		{
			Rule:     core("RL-FULL", "A new limiter MUST grant its burst at once."),
			Declared: []string{"Initial"},
			Unless: func(_ *suite.Suite, t *Traits) string {
				return suite.If(t.Initial != InitialFull, "declared: not full at first")
			},
			Check: (*exam).full,
		},
		{
			Rule:  core("RL-CAP", "The bucket MUST NOT hold more than the burst, after any idle time."),
			About: suite.Has(verb.Allow, verb.Tokens),
			Check: (*exam).cap,
		},
		{
			Rule:  core("RL-ENV", "In any period of length L no more than rate*L + burst tokens may be granted."),
			Check: (*exam).env,
		},
		checked((*exam).work, "RL-WORK", "A request that the bucket can pay for MUST be granted.", verb.Allow, nil),
		checked((*exam).model, "RL-MODEL", "Every decision MUST be that of the exact token bucket, except within 1ns, "+
			"or a billionth of a token, of the boundary.", verb.Allow, nil),
		{
			Rule: extended("RL-TOKENS",
				"Tokens MUST show the balance, rounded down to whole tokens or not; a debt as a negative "+
					"number or as 0."),
			Ops: ops(verb.Tokens), Declared: []string{"Initial"},
			About: suite.Has(verb.Tokens),
			Check: (*exam).tokens,
		},
		{
			Rule: core("RL-DENYPURE", "A denied request MUST leave no trace: later decisions are as if it "+
				"had not been made."),
			Ops: ops(verb.Allow), Declared: []string{"Initial"},
			About: suite.Has(verb.Allow),
			Again: (*exam).denyPure,
		},
		checked((*exam).fractions, "RL-FRAC", "However often the limiter is asked, tokens MUST accrue at the full "+
			"rate: fractions are not lost between requests.", verb.Allow,
			func(j suite.Job) bool { return len(j.Schedule.Steps) >= often }),
		{
			Rule: core("RL-N0", "A request for 0 tokens MUST change nothing, and MUST be granted while "+
				"nothing is owed, unless declared to be refused."),
			Ops: ops(opSeveral), Declared: []string{"Initial"},
			About: asksFor(isZero),
			Check: law("RL-N0"),
			Again: changedBy(isZero, "a request for 0 tokens"),
		},
		{
			Rule: core("RL-NEG", "A request for a negative number of tokens MUST NOT add tokens; it is refused "+
				"or does nothing."),
			Ops:     ops(opSeveral),
			About:   asksFor(isNegative),
			Unusual: func(s conformance.Schedule) bool { return asks(s, isNegative) },
			Check:   law("RL-NEG"),
			Again:   changedBy(isNegative, "a request for a negative number"),
		},
		{
			Rule: core("RL-NBIG", "A request for more than the burst MUST NOT be granted, however large, and MUST "+
				"leave no trace."),
			Ops: ops(opSeveral), Declared: []string{"Oversize"},
			Unless: func(_ *suite.Suite, t *Traits) string {
				return cmp.Or(suite.If(t.Oversize == OversizePrepaid, "declared: OversizePrepaid"),
					suite.If(t.Overdraft, "declared: Overdraft"))
			},
			About:   either(asksFor(isTooMany), suite.Has(verb.SetBurst)),
			Unusual: func(s conformance.Schedule) bool { return asks(s, isTooMany) },
			Check:   law("RL-NBIG"),
			Again:   changedBy(isTooMany, "a request for more than the burst"),
		},
	}
}

// often is how many steps a schedule must have for lost fractions to show.
const often = 10

func (x *exam) env() *suite.Violation {
	switch {
	case x.plain() && !x.beyondRequests():
		if x.unexplained == nil {
			return nil // an exact bucket that pays for each grant keeps every envelope
		}
	case x.prepaid():
	case !x.beyondRequests() || !x.accountable():
		return nil
	case asks(x.Schedule, isNegative):
		return nil // RL-NEG judges what they bring
	}
	return x.envelope()
}

// prepaid reports whether the trace is judgeable and has nothing but requests, with some for more than the burst
// that are granted, as is declared, and that the next request pays for.
func (x *exam) prepaid() bool {
	cfg := x.Schedule.Config
	return x.traits.Oversize == OversizePrepaid && x.judgeable() && cfg.Burst > 0 && cfg.Rate.Exact() &&
		!x.beyondRequests() && asks(x.Schedule, isTooMany) && !asks(x.Schedule, isNegative)
}

// plus adds up tokens, at most as many as an int can count.
func plus(a, b int) int {
	if b > 0 && a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

func (x *exam) work() *suite.Violation {
	if v := x.notPrepaid(); v != nil {
		return v
	}
	return x.misjudged("RL-WORK")
}

// misjudged is breaks, but where unusual numbers of tokens are asked for, and nothing else is done: these have rules of
// their own.
func (x *exam) misjudged(law string) *suite.Violation {
	if x.beyondRequests() || x.plain() {
		return x.breaks(law)
	}
	return nil
}

// notPrepaid looks for a request for more than the burst that a new bucket denies, though it is declared to grant
// that. Very large ones may be beyond what it can owe.
func (x *exam) notPrepaid() *suite.Violation {
	if !x.prepaid() || x.traits.Initial != InitialFull || len(x.Done) == 0 {
		return nil
	}
	burst, d := x.Schedule.Config.Burst, x.Done[0]
	if d.Op != verb.Allow || d.N <= burst || d.N > 2*burst || d.OK || d.Panic != "" {
		return nil
	}
	return x.broken(d.At, "OversizePrepaid is declared: the bucket is full, and the next request pays",
		"allow %d at %s was denied, want granted", d.N, timeline.Duration(d.At))
}

func (x *exam) model() *suite.Violation {
	if d := x.unexplained; d != nil && d.law == "RL-WORK" && !d.slight && !x.beyondRequests() {
		return x.misjudged("RL-WORK")
	}
	return x.misjudged("RL-MODEL")
}

func (x *exam) full() *suite.Violation {
	if !x.plain() {
		return nil
	}
	return x.firstBurst()
}

// firstBurst looks for a request of a new limiter, within its burst, that is not granted at once.
func (x *exam) firstBurst() *suite.Violation {
	taken := 0
	for i, d := range x.Done {
		if d.Op == verb.Tokens {
			continue
		}
		if d.At > x.Done[0].At+time.Duration(i)*x.traits.Latency || d.N > x.Schedule.Config.Burst-taken {
			return nil
		}
		if taken += d.N; !x.atOnce(&d) {
			return x.broken(d.At, fmt.Sprintf("a new limiter holds its burst of %d, and the requests add up to %d",
				x.Schedule.Config.Burst, taken),
				"%s %d of a new limiter was not granted at once", d.Op, d.N)
		}
	}
	return nil
}

// atOnce reports whether a request was granted without a wait, so far as can be told.
func (x *exam) atOnce(d *conformance.Done) bool {
	return d.OK && (d.Op != verb.Wait || d.Ended.At <= d.At || x.traits.Latency > 0)
}

func (x *exam) cap() *suite.Violation {
	if !x.judgeable() {
		return nil
	}
	burst := x.Schedule.Config.Burst
	for _, d := range x.Done {
		if d.Op == verb.SetLimit && d.Rate == Inf {
			return nil
		}
		if d.Op == verb.SetBurst {
			burst = d.N
		}
		if d.Op == verb.Tokens && d.Tokens > float64(max(0, burst))*(1+1e-9) {
			return x.broken(d.At, fmt.Sprintf("the burst is %d", burst),
				"Tokens() = %s at %s, want %d at the most", number(d.Tokens), timeline.Duration(d.At), burst)
		}
	}
	first := x.unexplained
	if first == nil || !x.plain() || x.beyondRequests() {
		return nil
	}
	sum, from := 0, time.Duration(-1)
	for _, d := range x.Done[:first.event+1] {
		switch {
		case d.Op != verb.Allow || !d.OK:
		case d.At < first.at:
			from = d.At
		default:
			sum = plus(sum, d.N)
		}
	}
	if sum <= burst || !x.Done[first.event].OK {
		return nil
	}
	because := fmt.Sprintf("the burst is %d", burst)
	if from >= 0 {
		because += ", and the limiter had been idle since " + timeline.Duration(from)
	}
	return x.broken(first.at, because, "%d tokens were granted at the instant %s, want %d at the most",
		sum, timeline.Duration(first.at), burst)
}

// tokens judges what Tokens returned. It may also be the level of a limiter that breaks
// another law, which is then not held against Tokens; but where every decision is right, such a level
// must explain all of them.
func (x *exam) tokens() *suite.Violation {
	if !x.accountable() || !suite.Steps(verb.Tokens)(suite.Job{Schedule: x.Schedule}) {
		return nil
	}
	look := func() *account {
		a := x.account()
		a.judgesTokens = true
		return a
	}
	d := look().replay()
	if d == nil || d.law != "RL-TOKENS" {
		return nil
	}
	if x.explanation(d, look, x.unexplained != nil) != "" {
		return nil
	}
	return x.broken(d.at, d.because, "%s", d.headline)
}

func (x *exam) fractions() *suite.Violation {
	if x.unexplained == nil || !x.plain() || len(x.Schedule.Steps) < often ||
		slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
			return s.Op != verb.Tokens && (s.Op != verb.Allow || s.N != 1)
		}) {
		return nil
	}
	lump := x.traits.lump(x.Schedule.Config.Rate) + x.traits.meanwhile(x.Schedule.Config.Rate, 1)
	a := x.account()
	// An exact bucket that decides the same requests for itself, but where a nanosecond would decide.
	want, got, due, differ := 0, 0, suite.Lane{Name: "want"}, time.Duration(-1)
	for _, d := range x.Done {
		a.pass(d.At)
		if d.Op != verb.Allow {
			continue
		}
		enough := a.lo.Cmp(a.need(1)) >= 0
		if a.minus(a.lo, a.one).CmpAbs(a.flow) <= 0 {
			enough = d.OK
		}
		due.Marks = append(due.Marks, suite.Mark{At: d.At, Text: suite.Granted[enough]})
		if differ < 0 && enough != d.OK {
			differ = d.At
		}
		if enough {
			a.add(-1, -1)
		}
		want, got = want+suite.Number(enough), got+suite.Number(d.OK)
	}
	if got >= want-1-lump {
		return nil
	}
	broken := x.broken(differ, fmt.Sprintf("%d requests came in %s at a rate of %s",
		len(x.Done), timeline.Duration(a.at-x.Schedule.Steps[0].At), x.Schedule.Config.Rate),
		"%s had been granted by %s, want %d", timeline.Count(got, "token"), timeline.Duration(a.at), want)
	broken.Lanes = []suite.Lane{due, x.got()}
	return broken
}

// unusually reports whether the run has requests for such a number of tokens, no others out of range, and nothing but
// requests.
func (x *exam) unusually(is func(n, burst int) bool) bool {
	burst := x.Schedule.Config.Burst
	return x.judgeable() && !x.beyondRequests() && asks(x.Schedule, is) &&
		!slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
			return s.Op == verb.Allow && x.outOfRange(s) && !is(s.N, burst)
		})
}

// changedBy looks for a decision that requests for such a number of tokens have changed, and says what they are. The
// account does not count what they were given, so that a later decision shows it.
func changedBy(is func(n, burst int) bool, what string) func(*exam, suite.Rerun) *suite.Violation {
	return func(x *exam, again suite.Rerun) *suite.Violation {
		if !x.unusually(is) {
			return nil
		}
		return x.without(again, what, what, func(d *conformance.Done) bool {
			return d.Op == verb.Allow && is(d.N, x.Schedule.Config.Burst)
		})
	}
}

func (x *exam) denyPure(again suite.Rerun) *suite.Violation {
	if !x.plain() || x.beyondRequests() || len(x.Schedule.Steps) > 8 || x.traits.Resolution > 0 {
		return nil // a run at other instants within the grain may be decided otherwise
	}
	denied := func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK }
	if !slices.ContainsFunc(x.Done, denied) {
		return nil
	}
	lacking := map[*conformance.Done]bool{}
	x.watch(func(a *account, d *conformance.Done) { lacking[d] = denied(*d) && a.hi.Cmp(a.need(d.N)) < 0 })
	return x.without(again, "the denied requests", "a denied request",
		func(d *conformance.Done) bool { return lacking[d] })
}

// without runs the schedule again without the steps that drop selects, which are all of something, and looks for
// another step that is then decided differently, if rounding does not explain that.
func (x *exam) without(again suite.Rerun, all, one string, drop func(d *conformance.Done) bool) *suite.Violation {
	if len(x.Done) > 0 && x.traits.Initial != InitialFull && drop(&x.Done[0]) {
		return nil // a bucket that is not full at first may begin to fill at any first request
	}
	d, _, _ := edge.Without(x.Recording, again, drop)
	if d == nil || !x.clear(d) {
		return nil // where either is right, what follows may differ too
	}
	return x.broken(d.At, "without "+all+" before it, the same limiter decides differently",
		"%s %d at %s: %s changed the outcome", d.Op, d.N, timeline.Duration(d.At), one)
}

// clear reports whether only one answer to a request is right, whatever rounding does, and where requests take time
// whether it got the other one.
func (x *exam) clear(d *conformance.Done) (yes bool) {
	x.watch(func(a *account, o *conformance.Done) {
		if o == d {
			spares, lacks := a.spares(d.N), a.lacks(d.N)
			yes = (spares || lacks) && (x.traits.Latency == 0 || spares != d.OK)
		}
	})
	return yes
}
