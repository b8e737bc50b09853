package quotatest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// past judges a trace whose instants go back by one whose instants do not: each counts as the
// newest so far. Whether the instant of a request that was denied counts as the newest is left
// open. At an older instant a limiter may grant less than at the newest, so that only who asks
// at the newest must be granted what fits.
func (x *exam) past() *suite.Violation {
	usual := func(d conformance.Done) bool { return d.Op == conformance.OpAllow && d.N >= 1 && d.N <= x.full() }
	if !x.complete() || x.inOrder() || len(x.Done) == 0 || x.asks(func(d conformance.Done) bool { return !usual(d) }) {
		return nil
	}
	views := []*view{x.straightened(anyStep), x.straightened(whatIsGranted)}
	newest := x.Done[0].At
	for i, d := range x.Done {
		old := d.At < newest
		newest = max(newest, d.At)
		contradicts := func(v *view) bool { return v.steps[i].clear && v.steps[i].fits != d.OK }
		if !contradicts(views[0]) || !contradicts(views[1]) {
			continue
		}
		s := views[0].steps[i]
		switch {
		case d.OK:
			return x.broken(d.At, s.because()+" at the newest instant so far",
				"allow %d at %s was granted, want denied",
				d.N, timeline.Duration(d.At))
		case !old && x.traits.Denied != DeniedCounted:
			return x.broken(d.At, s.because()+": no instant is newer", "allow %d at %s was denied, want granted",
				d.N, timeline.Duration(d.At))
		}
	}
	return nil
}

// agreeing returns the views of the trace with each model that may be the limiter's. Of a trace
// whose instants go back these are the models that agree with all of it; what an answer at an old
// instant counts from is left open.
func (x *exam) agreeing() []*view {
	if v := x.view(); v != nil {
		return append([]*view{v}, v.also...)
	}
	clamps := x.traits.BackTime == BackClamp && x.traits.Denied != DeniedCounted && x.complete() && !x.inOrder()
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
func anyRequest(d conformance.Done) bool    { return d.Op == conformance.OpAllow }
func whatIsGranted(d conformance.Done) bool { return d.Op == conformance.OpAllow && d.OK }

// straightened compares the trace with the model as if each step had come at the newest instant
// so far, to which these steps have moved it.
func (x *exam) straightened(moves func(d conformance.Done) bool) *view {
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
	tr.Denied = DeniedFree // who counts what is denied may leave out what is old
	other := &exam{Recording: &rec, traits: &tr, kind: x.kind, source: x.source}
	var best *view
	for _, first := range other.origins(&tr) {
		if v := other.compare(&tr, first); best == nil || best.bad >= 0 && (v.bad < 0 || v.bad > best.bad) {
			best = v
		}
	}
	return best
}
