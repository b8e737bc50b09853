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

// stopRule is that of Stop.
func stopRule() rule {
	return rule{
		Rule: core("DB-STOP", "After Stop nothing may fire; Stop MUST be idempotent, "+
			"and a call after it MUST be harmless."),
		Ops:      []conformance.Op{verb.Stop},
		Declared: []string{"StopPending"},
		About:    suite.Has(verb.Stop),
		Sees:     (*exam).ofAnyEdge,
		Check:    (*exam).stop,
	}
}

func (x *exam) stop() *suite.Violation {
	if x.Refused != "" {
		return nil
	}
	if x.configured() {
		if v := x.difference().Breaks("DB-STOP"); v != nil {
			return v
		}
	}
	i := slices.IndexFunc(x.Done, func(d conformance.Done) bool { return d.Op == verb.Stop })
	if i < 0 {
		return nil
	}
	stop := &x.Done[i]
	if v := x.harmed(stop, x.Done[i+1:]); v != nil || stop.Ended.Seq == 0 || stop.Panic != "" || x.Stuck {
		return v
	}
	if v := x.unflushed(stop); v != nil {
		return v
	}
	return x.firesAfter(stop)
}

// harmed finds an operation that panicked or did not return because the debouncer had been
// stopped.
func (x *exam) harmed(stop *conformance.Done, after []conformance.Done) *suite.Violation {
	because := edge.Text("stop at %s had ended the debouncer", stop.At)
	for _, d := range after {
		switch {
		case d.Inside:
		case d.Panic != "":
			return x.told(d.At, because, "%s after stop panicked: %s", d.Op, d.Panic)
		case d.Ended.Seq == 0 && x.Schedule.Config.Inside == "":
			return x.told(d.At, because, "%s after stop never returned", d.Op)
		}
	}
	return nil
}

// unflushed finds an event that was pending and did not fire, where Stop is declared to
// fire it.
func (x *exam) unflushed(stop *conformance.Done) *suite.Violation {
	if !x.judgeable() || x.configured() || x.traits.StopPending != StopFlushes || stop.Inside {
		return nil
	}
	if found := x.lostMeeting(verb.Stop); found != nil || x.unsure(stop.Began.At) || x.silent(stop.Began.Seq) {
		return found
	}
	c := x.pendingAt(stop.Began.Seq)
	fired := slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
		return f.Began.Seq > stop.Began.Seq && x.byStop(&f)
	})
	if c == nil || fired {
		return nil
	}
	return x.told(stop.Began.At, edge.Text("call %d at %s was pending, and StopFlushes is declared", c.N, c.Began.At),
		"stop at %s fired nothing, want a fire at once", stop.Began.At)
}

// firesAfter finds a callback that started after Stop had returned.
func (x *exam) firesAfter(stop *conformance.Done) *suite.Violation {
	for i := range x.Fires {
		f := &x.Fires[i]
		if x.sawFire(stop, f) {
			const because = "StopDrops is declared; if your documentation says that Stop fires pending " +
				"events, declare StopPending: StopFlushes"
			return x.told(f.Began.At, because,
				"fired at %s, while stop was waiting since %s", f.Began.At, stop.Began.At)
		}
		due := stop.Racing && f.Began.At == stop.Began.At || x.waitedAt(f, stop)
		if f.Began.Seq < stop.Ended.Seq || x.byStop(f) || due && x.traits.StopBarrier == NoBarrier {
			continue
		}
		because := edge.Text("stop had returned at %s", stop.Ended.At)
		if due {
			because += "; if your documentation lets due callbacks still start then, declare StopBarrier: NoBarrier"
		}
		if x.calledBetween(stop, f) {
			because += "; if your documentation says that calls work again after it, this is Funcs.Cancel"
		}
		found := x.told(f.Began.At, because, "fired at %s, after stop", f.Began.At)
		// At the instant of a racing stop it may have been decided before.
		found.Chance = x.Order == inside.OrderSampled && stop.Racing && f.Began.At == stop.Began.At
		return found
	}
	return nil
}

// calledBetween reports whether a call came after stop and before f.
func (x *exam) calledBetween(stop *conformance.Done, f *conformance.Fire) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op.Counts() && d.Began.Seq > stop.Ended.Seq && d.Began.Seq < f.Began.Seq
	})
}

// sawFire reports whether Stop, which is declared to discard what is pending, waited until that
// fired. Where callbacks take time or call the debouncer, it may have waited for one of those.
func (x *exam) sawFire(stop *conformance.Done, f *conformance.Fire) bool {
	cfg := x.Schedule.Config
	return x.traits.StopPending == StopDrops && cfg.Busy == 0 && cfg.Inside == "" &&
		f.Began.Seq < stop.Ended.Seq && f.Began.At > stop.Began.At
}

// waitedAt reports whether a fire was due when stop came, and could not start because
// another callback was running.
func (x *exam) waitedAt(f *conformance.Fire, stop *conformance.Done) bool {
	v := x.view()
	if x.traits.Overlap != Serial || v.running(stop.Began.At) == nil || !x.endsAt(f.Began.At, f) {
		return false
	}
	c := v.byN[f.Value]
	if !v.bearsNewest || c == nil {
		c = v.newest(stop.Began.Seq, stop.Began.At-v.wait+1)
	}
	return c != nil && c.Began.Seq < stop.Began.Seq &&
		(x.configured() || c.Began.At+v.wait <= stop.Began.At) // by a bound it may be due sooner
}

// closeRule is that of the end of the input.
func closeRule() rule {
	return rule{
		Rule: extended("DB-CLOSE", "When the input ends, pending events MUST fire at once, at their deadline "+
			"or not at all, as declared, and nothing more."),
		Ops:      []conformance.Op{verb.Close},
		Declared: []string{"CloseFlush"},
		About:    suite.Steps(verb.Close),
		Beyond:   laws,
		Check:    (*exam).close,
	}
}

// close judges the end of the input, of each key if there are any.
func (x *exam) close() *suite.Violation {
	switch {
	case !edge.HasKeys(x.Schedule):
		return x.closeOne()
	case x.traits.Payload == NoPayload:
		return nil // nobody can tell for which key a callback runs
	}
	return x.ofKeys((*exam).closeOne)
}

// closeOne judges the end of the input of one debouncer.
func (x *exam) closeOne() *suite.Violation {
	if !x.judgeable() {
		return nil
	}
	i := slices.IndexFunc(x.Done, func(d conformance.Done) bool { return d.Op == verb.Close })
	if i < 0 {
		return nil
	}
	end := &x.Done[i]
	// What callbacks call when the input has ended, or just before, may count or not.
	late := slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Call && d.Inside &&
			(d.Began.Seq > end.Began.Seq || end.Racing && d.Began.At == end.At)
	})
	switch {
	case x.configured() && late:
		return nil
	case x.configured():
		return x.difference().Breaks("DB-CLOSE")
	case x.Schedule.Config.Busy > 0:
		return x.closeBehind(end)
	case x.silent(end.Began.Seq):
		return nil
	case end.Racing || x.view().races(end.At):
		return x.closeMet(end, late)
	}
	return x.closeApart(end, late)
}

// closeApart judges an end of the input that meets nothing. Late says that a callback called then.
func (x *exam) closeApart(end *conformance.Done, late bool) *suite.Violation {
	due, last := time.Duration(-1), x.pendingAt(end.Began.Seq)
	if last != nil && last.At+x.view().wait > end.At {
		due = last.At + x.view().wait
	}
	for i, f := range x.Fires {
		if f.Began.Seq < end.Began.Seq {
			continue
		}
		at := f.Began.At
		switch how := x.traits.CloseFlush; {
		case due < 0:
			return x.told(at, "nothing was pending when the input ended", "fired at %s, want nothing more", at)
		case how == CloseDrops:
			return x.told(at, "CloseDrops is declared", "fired at %s, after the input had ended at %s", at, end.At)
		case how == CloseFires && at != end.At:
			return x.told(at, "CloseFires is declared", "fired at %s, want %s, when the input ended", at, end.At)
		case how == CloseAtDeadline && at != due:
			return x.told(at, "CloseAtDeadline is declared", "fired at %s, want %s", at, due)
		case i+1 < len(x.Fires) && !late:
			again := x.Fires[i+1].Began.At
			return x.told(again, "one event was pending when the input ended", "fired again at %s", again)
		}
		return nil
	}
	if due >= 0 && x.traits.CloseFlush != CloseDrops {
		return x.told(end.At, edge.Text("call %d at %s was pending", last.N, last.At),
			"nothing fired for call %d after the input had ended at %s", last.N, end.At)
	}
	return nil
}

// closeMet judges an end of the input that may meet a deadline. The newest event fires once at the
// instant at which it was due, whichever came first. Where the end drops it, it need not fire.
func (x *exam) closeMet(end *conformance.Done, late bool) *suite.Violation {
	v, at := x.view(), end.At
	c := v.newest(end.Began.Seq, at)
	k := v.lastOf(end.Began.Seq, verb.Cancel, verb.Flush)
	if c == nil || c.At+v.wait != at || k != nil && k.Began.Seq > c.Began.Seq || v.races(at) {
		return nil
	}
	fires := 0
	for i := range x.Fires {
		f := &x.Fires[i]
		if f.Began.Seq < c.Began.Seq || f.Began.At < at {
			continue
		}
		if fires++; (fires > 1 || f.Began.At > at) && !late {
			return x.told(f.Began.At, edge.Text("call %d at %s was due when the input ended", c.N, c.At),
				"fired at %s, want one fire at %s", f.Began.At, at)
		}
	}
	if fires > 0 || x.traits.CloseFlush == CloseDrops {
		return nil
	}
	return x.told(at, "it was due when the input ended, and must fire in either order",
		"nothing fired for call %d, want a fire at %s", c.N, at)
}

// closeBehind judges an end of the input that comes while a callback may run. What was due by then
// may be decided already.
func (x *exam) closeBehind(end *conformance.Done) *suite.Violation {
	v := x.view() // v.ops has no close
	c := v.newest(end.Began.Seq, end.At+1)
	other := func(d *conformance.Done) bool { return d.Op != verb.Call }
	judged := x.traits.Overlap == Serial || x.traits.Overlap == Parallel
	if c == nil || !v.bearsNewest || !judged || slices.ContainsFunc(v.ops, other) {
		return nil
	}
	due := c.At + v.wait
	i := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool { return f.Value == c.N })
	switch how := x.traits.CloseFlush; {
	case i >= 0 && x.Fires[i].Began.Seq < end.Began.Seq: // it had fired
	case how == CloseDrops && (due <= end.At || i < 0):
	case how == CloseDrops:
		return x.told(x.Fires[i].Began.At, "CloseDrops is declared",
			"fired at %s, after the input had ended at %s", x.Fires[i].Began.At, end.At)
	case i < 0:
		return x.told(end.At, edge.Text("call %d at %s was pending", c.N, c.At),
			"nothing fired for call %d after the input had ended at %s, while a callback ran", c.N, end.At)
	default:
		if how == CloseFires {
			due = min(due, end.At)
		}
		return x.closeLate(&x.Fires[i], due)
	}
	return nil
}

// closeLate finds that the fire for the last event of the input, which had to come at an instant,
// came at another, though no callback held it up.
func (x *exam) closeLate(f *conformance.Fire, want time.Duration) *suite.Violation {
	held := x.traits.Overlap == Serial && x.view().inRow(want, f)
	if f.Began.At == want || held {
		return nil
	}
	return x.told(f.Began.At, "the input had ended; only a running callback may delay pending events then",
		"fired at %s, want %s", f.Began.At, want)
}
