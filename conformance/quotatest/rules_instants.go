package quotatest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// past judges a run whose instants go back by the courses in which each step counts as at the newest instant so far.
// At an older one a limiter may grant less than at the newest, so that only who asks at the newest must be granted what
// fits.
func (x *exam) past() *suite.Violation {
	if !x.complete() || x.inOrder() || len(x.Done) == 0 {
		return nil
	}
	var open []*course // those in which everything that was granted fits
	worst := -1
	var at step
	for _, c := range x.back() {
		i := slices.IndexFunc(c.steps, func(s step) bool {
			return s.Op == verb.Allow && s.N <= x.full() && s.OK && s.clear && !s.fits
		})
		if i < 0 {
			open = append(open, c)
		} else if i > worst {
			worst, at = i, c.steps[i]
		}
	}
	switch {
	case open == nil && !x.beyondJudgement():
		return x.otherwise(&x.Done[worst], at.because()+" at the newest instant so far")
	case open == nil || x.asks(func(d conformance.Done) bool { return !x.usual(d) }) || x.counts():
		return nil
	}
	newest := x.Done[0].At
	for i, d := range x.Done {
		old := d.At < newest
		newest = max(newest, d.At)
		denies := func(c *course) bool { return !c.steps[i].clear || !c.steps[i].fits }
		if !d.OK && !old && !slices.ContainsFunc(open, denies) {
			return x.otherwise(&d, open[0].steps[i].because()+": no instant is newer")
		}
	}
	return nil
}

// back are the courses of a run whose instants go back. Who counts what is denied may leave out what is old.
func (x *exam) back() []*course {
	if x.taken == nil {
		tr := *x.traits
		tr.CountDenied = DeniedFree
		x.taken = x.courses(&tr)
	}
	return x.taken
}

// beyondJudgement reports whether it is unclear what steps that take nothing do beside making their
// instants the newest.
func (x *exam) beyondJudgement() bool {
	unusual := func(d conformance.Done) bool { return d.Op != verb.Allow || d.N > x.full() }
	opens := x.kind == FixedWindow && x.traits.Align == AlignFirstUse
	return x.asks(func(d conformance.Done) bool { return d.Op == verb.Allow && d.N < 1 }) ||
		(opens || x.counts()) && x.asks(unusual)
}

// counts reports whether denied requests count.
func (x *exam) counts() bool { return x.traits.CountDenied == DeniedCounted }

// readings lists the instants that the steps may count from: the newest so far, to which what is granted, and each sort
// of what takes nothing, has moved the limiter, or not. In the first all steps have.
func (x *exam) readings() (out [][]time.Duration) {
	sorts := []func(d conformance.Done) bool{
		func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK && d.N <= x.full() },
		func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK && d.N > x.full() },
		func(d conformance.Done) bool { return d.Op != verb.Allow },
	}
	sorts = slices.DeleteFunc(sorts, func(is func(d conformance.Done) bool) bool { return !x.asks(is) })
	if x.inOrder() {
		sorts = nil
	}
	for without := range 1 << len(sorts) {
		at, newest := make([]time.Duration, len(x.Done)), time.Duration(math.MinInt64)
		for i, d := range x.Done {
			at[i] = max(d.At, newest)
			of := slices.IndexFunc(sorts, func(is func(d conformance.Done) bool) bool { return is(d) })
			if of < 0 || without&(1<<of) == 0 {
				newest = at[i]
			}
		}
		if !slices.ContainsFunc(out, func(other []time.Duration) bool { return slices.Equal(at, other) }) {
			out = append(out, at)
		}
	}
	return out
}

// agreeing are the courses by which answers are judged: those that agree with the whole run, or else the one that does
// for the most steps. If instants go back there must be one course: what an answer at an old instant counts from is
// left open, and whether a look, or what was denied, has begun a window.
func (x *exam) agreeing() []*course {
	if v := x.course(); v != nil && v.bad >= 0 {
		return []*course{v}
	} else if v != nil {
		return slices.DeleteFunc(slices.Clone(x.taken), func(c *course) bool { return c.bad >= 0 })
	}
	clamps := x.traits.BackTime == BackClamp && !x.counts() && x.complete() && !x.inOrder()
	beyond := func(d conformance.Done) bool { return d.N < 0 || d.N > x.full() }
	if !clamps || x.asks(beyond) || len(x.back()) != 1 || x.back()[0].bad >= 0 { // or RL-PAST judges it
		return nil
	}
	return x.back()
}
