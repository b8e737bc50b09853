package quotatest

import (
	"slices"

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
	views := []*view{x.straightened(false), x.straightened(true)}
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

// straightened compares the trace with the model as if each step had come at the newest instant
// so far, or at the newest at which something was granted.
func (x *exam) straightened(granted bool) *view {
	rec := *x.Recording
	rec.Done = slices.Clone(rec.Done)
	newest := rec.Done[0].At
	for i := range rec.Done {
		d := &rec.Done[i]
		d.At = max(d.At, newest)
		if d.OK || !granted {
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
