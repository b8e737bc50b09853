package debouncertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// deniedBehind finds an event that a query denies while a callback runs, though the cancel that comes
// next, while that still runs, discards it. What is due by then may be decided, which some answer with
// true and others with false; but what is decided is no longer discarded.
func (x *exam) deniedBehind(query *conformance.Done) *suite.Violation {
	v, c, at := x.view(), x.pendingAt(query.Began.Seq), query.Began.At
	if query.OK || query.Inside || c == nil || x.traits.Overlap == SerialReceiver || !v.bearsNewest {
		return nil
	}
	cancel := v.after(query)
	if cancel == nil || cancel.Op != verb.Cancel || cancel.Inside || cancel.Ended.At != cancel.Began.At {
		return nil
	}
	runs := v.running(at)
	for _, d := range []*conformance.Done{query, cancel} {
		if runs == nil || v.running(d.Began.At+1) != runs || v.races(d.Began.At) || d.Ended.At != d.Began.At {
			return nil
		}
	}
	if c.Ended.Seq == 0 || c.Ended.Seq > query.Began.Seq || x.firedBy(c.N, x.End) {
		return nil
	}
	return x.told(at, text("call %d at %s had neither fired nor been discarded: the cancel at %s discards it",
		c.N, c.Began.At, cancel.Began.At), "Pending() = false at %s, want true", at)
}

// after is the first call, cancel, flush or stop after a query, nil if there is none.
func (v *view) after(query *conformance.Done) *conformance.Done {
	for _, d := range v.ops {
		if d.Began.Seq > query.Began.Seq {
			return d
		}
	}
	return nil
}
