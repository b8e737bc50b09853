package quotatest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// past judges a trace whose instants go back by one whose instants do not: each counts as the
// newest so far. At an older instant a limiter may grant less than at the newest, so that only who asks
// at the newest must be granted what fits.
func (x *exam) past() *suite.Violation {
	if !x.complete() || x.inOrder() || len(x.Done) == 0 {
		return nil
	}
	if found := x.tooMuch(); found != nil {
		return found
	}
	if x.asks(func(d conformance.Done) bool { return !x.usual(d) }) || x.traits.CountDenied == DeniedCounted {
		return nil
	}
	var views []*view
	newest := x.Done[0].At
	for i, d := range x.Done {
		old := d.At < newest
		if newest = max(newest, d.At); d.OK || old {
			continue
		}
		if views == nil {
			views = []*view{x.straightened(anyStep), x.straightened(whatIsGranted)}
		}
		must := func(v *view) bool { return v.steps[i].clear && v.steps[i].fits }
		if must(views[0]) && must(views[1]) {
			return x.otherwise(&d, views[0].steps[i].because()+": no instant is newer")
		}
	}
	return nil
}

// tooMuch finds a grant by which more is granted than fits, whichever steps have made their instants the newest.
// Whether those did that took nothing is left open, as long as each of a sort did.
func (x *exam) tooMuch() *suite.Violation {
	if x.beyondJudgement() {
		return nil
	}
	worst, at := -1, step{}
	for _, moves := range x.readings() {
		for _, v := range x.allStraightened(moves) {
			i := slices.IndexFunc(v.steps, func(s step) bool {
				return s.Op == verb.Allow && s.N <= x.full() && s.OK && s.clear && !s.fits
			})
			if i < 0 {
				return nil
			}
			if i > worst {
				worst, at = i, v.steps[i]
			}
		}
	}
	return x.otherwise(&x.Done[worst], at.because()+" at the newest instant so far")
}

// beyondJudgement reports whether it is unclear what steps that take nothing do beside making their
// instants the newest.
func (x *exam) beyondJudgement() bool {
	unusual := func(d conformance.Done) bool { return d.Op != verb.Allow || d.N > x.full() }
	opens := x.kind == FixedWindow && x.traits.Align == AlignFirstUse
	return x.asks(func(d conformance.Done) bool { return d.Op == verb.Allow && d.N < 1 }) ||
		(opens || x.traits.CountDenied == DeniedCounted) && x.asks(unusual)
}

// readings lists which steps make their instants the newest: what is granted, and each sort of what takes nothing,
// or not. All steps do in the first.
func (x *exam) readings() (out []func(d conformance.Done) bool) {
	sorts := []func(d conformance.Done) bool{
		func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK && d.N <= x.full() },
		func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK && d.N > x.full() },
		func(d conformance.Done) bool { return d.Op != verb.Allow },
	}
	sorts = slices.DeleteFunc(sorts, func(is func(d conformance.Done) bool) bool { return !x.asks(is) })
	for without := range 1 << len(sorts) {
		out = append(out, func(d conformance.Done) bool {
			i := slices.IndexFunc(sorts, func(is func(d conformance.Done) bool) bool { return is(d) })
			return i < 0 || without&(1<<i) == 0
		})
	}
	return out
}

// agreeing returns the views of the trace with each model that may be the limiter's. Of a trace
// whose instants go back these are the models that agree with all of it; what an answer at an old
// instant counts from is left open.
func (x *exam) agreeing() []*view {
	if v := x.view(); v != nil {
		return append([]*view{v}, v.also...)
	}
	clamps := x.traits.BackTime == BackClamp && x.traits.CountDenied != DeniedCounted && x.complete() && !x.inOrder()
	beyond := func(d conformance.Done) bool { return d.N < 0 || d.N > x.full() }
	if !clamps || x.asks(beyond) || len(x.origins(x.traits)) > 1 || len(x.Done) == 0 {
		return nil
	}
	var out []*view
	for _, moves := range []func(d conformance.Done) bool{anyStep, anyRequest, whatIsGranted} {
		v := x.straightened(moves)
		for i := range v.steps {
			if i > 0 && v.steps[i].At < v.steps[i-1].At {
				return nil // whether a look, or what was denied, has begun a window is left open
			}
			v.steps[i].old = x.Done[i].At < v.steps[i].At
		}
		if v.bad < 0 { // or RL-PAST judges it
			out = append(out, v)
		}
	}
	return out
}

// Which steps make their instant the newest.
func anyStep(conformance.Done) bool         { return true }
func anyRequest(d conformance.Done) bool    { return d.Op == verb.Allow }
func whatIsGranted(d conformance.Done) bool { return d.Op == verb.Allow && d.OK }

// straightened compares the trace with the model as if each step had come at the newest instant
// so far, to which these steps have moved it.
func (x *exam) straightened(moves func(d conformance.Done) bool) (best *view) {
	for _, v := range x.allStraightened(moves) {
		if best == nil || best.bad >= 0 && (v.bad < 0 || v.bad > best.bad) {
			best = v
		}
	}
	return best
}

// allStraightened is straightened with each of the models that may be the limiter's.
func (x *exam) allStraightened(moves func(d conformance.Done) bool) (all []*view) {
	rec := *x.Recording
	rec.Done = slices.Clone(rec.Done)
	newest := time.Duration(math.MinInt64)
	for i := range rec.Done {
		d := &rec.Done[i]
		d.At = max(d.At, newest)
		if moves(*d) {
			newest = d.At
		}
	}
	tr := *x.traits
	tr.CountDenied = DeniedFree // who counts what is denied may leave out what is old
	other := &exam{Recording: &rec, traits: &tr, kind: x.kind, source: x.source}
	for _, first := range other.origins(&tr) {
		all = append(all, other.compare(&tr, first))
	}
	return all
}
