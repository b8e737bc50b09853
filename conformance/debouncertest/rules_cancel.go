package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// cancelRules are those of Cancel.
func cancelRules() []rule {
	ops, about := []conformance.Op{verb.Cancel}, suite.Has(verb.Cancel)
	return []rule{
		{
			Rule:   core("DB-CANCEL", "Cancel MUST discard the pending event: nothing fires for it."),
			Ops:    ops,
			Absent: noTrailing,
			About:  about,
			Sees:   (*exam).ofTrailing,
			Check:  judged((*exam).cancel),
		},
		{
			Rule: extended("DB-CANCELBAR", "Once Cancel has returned, a callback MUST NOT start: with "+
				"FinishBarrier for any earlier event, with CommitBarrier for one that Cancel reported as "+
				"cancelled. With CommitBarrier, Cancel MUST NOT report a fired event as cancelled."),
			Ops:      ops,
			Declared: []string{"CancelBarrier"},
			Absent:   noTrailing,
			Unless:   promisesNothing,
			About:    about,
			Sees:     (*exam).ofAnyEdge,
			Check:    judged((*exam).barrier),
		},
		{
			Rule: core("DB-REUSE", "After Cancel a new event MUST start a new burst, unless Cancel is "+
				"declared final; then nothing may fire again."),
			Ops:      ops,
			Declared: []string{"AfterCancel"},
			Absent:   noTrailing,
			About:    about,
			Sees:     (*exam).ofTrailing,
			Check:    judged((*exam).reuse),
		},
	}
}

// promisesNothing is why the return of Cancel does not exclude callbacks.
func promisesNothing(s *suite.Suite, tr *Traits) string {
	switch {
	case tr.CancelBarrier == NoBarrier:
		return "declared: NoBarrier"
	case tr.CancelBarrier == CommitBarrier && !s.Accepts(opReports):
		return "declared: CommitBarrier, but Cancel reports nothing; set CancelReports"
	}
	return ""
}

// cancelled returns the cancel that a fire disregards: what it fires for was
// pending when the cancel began, and the cancel had returned.
func (x *exam) cancelled(f *conformance.Fire) *conformance.Done {
	v := x.view()
	for _, k := range slices.Backward(v.ops) {
		if k.Op != verb.Cancel || k.Ended.Seq == 0 || k.Ended.Seq > f.Began.Seq {
			continue
		}
		c := v.newest(k.Began.Seq, edge.Far) // what it cancelled
		if c == nil || meanwhile(c, k.Began.Seq) || v.served(c, k.Began.Seq) != nil {
			continue // nothing was pending for certain
		}
		if own := v.byN[f.Value]; own != nil && x.traits.bearsNewest() {
			if own == c {
				return k
			}
		} else if !v.dueSince(k.Began.Seq, f) && !x.owed(f, k.Began.At) {
			return k
		}
	}
	return nil
}

// owed reports whether f may be the fire of a burst that was due at the instant at and
// waited for a running callback to end.
func (x *exam) owed(f *conformance.Fire, at time.Duration) bool {
	v := x.view()
	if v.running(at) == nil {
		return false
	}
	left := 0
	for _, b := range v.bursts {
		if b.endedBy == nil && b.due <= at {
			left++
		}
	}
	for _, g := range x.Fires {
		if g.Began.Seq < f.Began.Seq {
			left--
		}
	}
	return left > 0
}

func (x *exam) cancel() *suite.Violation {
	v := x.view()
	return x.eachFire(func(i int, f *conformance.Fire) *suite.Violation {
		k := x.cancelled(f)
		if k == nil || k.Racing && k.Began.At == f.Began.At && x.Order != inside.OrderStepFirst {
			return nil
		}
		c := v.newest(k.Began.Seq, edge.Far)
		if v.running(c.Began.At+v.wait) != nil && k.Began.At >= c.Began.At+v.wait && !k.OK {
			return nil // it was due already, behind a running callback
		}
		return x.told(f.Began.At, edge.Text("cancel at %s had discarded call %d", k.Began.At, c.N),
			"fired at %s, want no fire", f.Began.At)
	})
}

func (x *exam) barrier() *suite.Violation {
	commit := x.traits.CancelBarrier == CommitBarrier
	if commit && !x.configured() {
		if found := x.reportsFired(); found != nil {
			return found
		}
	}
	for i := range x.Fires {
		f := &x.Fires[i]
		k := x.excluded(i)
		if k == nil || commit && !k.OK {
			continue
		}
		why := "FinishBarrier is declared: nothing starts after it returns"
		if commit {
			why = "it had reported true, so nothing may run for what it cancelled"
		}
		found := x.told(f.Began.At, edge.Text("cancel had returned at %s, and %s", k.Ended.At, why),
			"a callback started at %s, after cancel had returned", f.Began.At)
		found.Chance = !commit && x.Order == inside.OrderSampled && k.Racing
		return found
	}
	return nil
}

// excluded returns the cancel after which fire i must not start, if that promised so.
func (x *exam) excluded(i int) *conformance.Done {
	f, by := &x.Fires[i], x.view().flush[i]
	switch {
	case x.byStop(f):
	case x.configured() && x.Schedule.Config.Edges == LeadingAndTrailing && x.traits.BothSingle == BothTwice:
		// Of an event that is to fire twice the second time may be all that was cancelled.
	case x.configured(), by != nil:
		return x.cancelledNewest(f, by)
	default:
		return x.cancelled(f)
	}
	return nil
}

// cancelledNewest returns the cancel before which a fire's own event was the newest, and had not
// fired. A flush that asked for the fire came before that cancel; it may be nil.
func (x *exam) cancelledNewest(f *conformance.Fire, flush *conformance.Done) *conformance.Done {
	v := x.view()
	own := v.byN[f.Value]
	if own == nil || !x.traits.bearsNewest() {
		return nil
	}
	for _, k := range slices.Backward(v.ops) {
		if k.Op != verb.Cancel || k.Ended.Seq == 0 || k.Ended.Seq > f.Began.Seq {
			continue
		}
		pending := v.newest(k.Began.Seq, edge.Far) == own && !meanwhile(own, k.Began.Seq)
		if pending && (flush == nil || flush.Began.Seq < k.Began.Seq) {
			return k
		}
	}
	return nil
}

// reportsFired finds a cancel that reported true though the newest event had fired.
func (x *exam) reportsFired() *suite.Violation {
	v := x.view()
	for _, k := range v.ops {
		c := v.newest(k.Began.Seq, edge.Far)
		if k.Op != verb.Cancel || !k.OK || c == nil || !x.traits.bearsNewest() || v.races(k.Began.At) {
			continue
		}
		if x.traits.Overlap == SerialReceiver && v.running(k.Began.At) != nil {
			continue // it may have cancelled a flush that the receiver had not taken
		}
		for _, f := range x.Fires {
			if f.Value == c.N && f.Began.Seq < k.Began.Seq {
				return x.told(k.Began.At,
					edge.Text("call %d, the newest, had fired at %s, and CommitBarrier is declared", c.N, f.Began.At),
					"cancel at %s reported true, want false", k.Began.At)
			}
		}
	}
	return nil
}

func (x *exam) reuse() *suite.Violation {
	v := x.view()
	if x.traits.AfterCancel == CancelFinal {
		return x.eachFire(func(_ int, f *conformance.Fire) *suite.Violation {
			k := v.lastOf(f.Began.Seq, verb.Cancel)
			own := v.byN[f.Value]
			if k == nil || own == nil || own.Began.Seq < k.Began.Seq {
				return nil
			}
			return x.told(f.Began.At, "cancel is declared final", "fired at %s for a call after cancel", f.Began.At)
		})
	}
	for _, b := range v.bursts {
		if k := v.lastOf(b.first.Began.Seq, verb.Cancel); k != nil && !x.fulfilled(b) {
			return x.told(b.due,
				edge.Text("call %d came after cancel at %s, as in a new debouncer", b.first.N, k.Began.At),
				"nothing fired for call %d, want a fire at %s", b.last.N, b.due)
		}
	}
	return nil
}
