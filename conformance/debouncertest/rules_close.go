package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

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
		return x.told(end.At, text("call %d at %s was pending", last.N, last.At),
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
			return x.told(f.Began.At, text("call %d at %s was due when the input ended", c.N, c.At),
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
		return x.told(end.At, text("call %d at %s was pending", c.N, c.At),
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
