package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// tieRules are those of events that meet a deadline.
func tieRules() []rule {
	return onTrailing(
		rule{
			Rule: core("DB-TIE", "An event at exactly the deadline MUST either start a new burst, and the "+
				"old one fires, or join the old one: as declared, never both."),
			Declared: []string{"Tie"},
			About:    suite.Races(verb.Call),
			Check:    judged((*exam).tie),
		},
		rule{
			Rule: extended("DB-NOSTALE", "Once a call has returned, a callback for an older event "+
				"MUST NOT start within the wait."),
			Declared: []string{"StaleFire"},
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return suite.If(tr.StaleFire == StaleAllowed, "declared: StaleAllowed")
			},
			About: suite.Races(verb.Call),
			Check: judged((*exam).stale),
		},
	)
}

// ties calls f for each racing step of the given kind that met the deadline of a
// burst.
func (x *exam) ties(op conformance.Op, f func(d *conformance.Done, b *burst) *suite.Violation) *suite.Violation {
	v := x.view()
	for _, d := range v.ops {
		if d.Op != op || !d.Racing || d.Inside {
			continue
		}
		for _, b := range v.bursts {
			if b.open && b.due == d.Began.At && b.last.Began.Seq < d.Began.Seq {
				if v := f(d, b); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

func (x *exam) tie() *suite.Violation {
	v := x.view()
	return x.ties(verb.Call, func(d *conformance.Done, b *burst) *suite.Violation {
		n := 0
		for _, f := range x.Fires {
			if f.Began.At == b.due && f.Began.Seq > b.last.Began.Seq {
				n++
			}
		}
		busy := v.running(b.due) != nil
		because := edge.Text("call %d met the deadline of call %d", d.N, b.last.N)
		flushed := slices.ContainsFunc(v.ops, func(o *conformance.Done) bool {
			return o.Op != verb.Call && o.Began.At == b.due
		})
		switch {
		case n > 1 && !flushed:
			return x.told(b.due, because, "fired %d times at %s, want once at the most", n, b.due)
		case n == 0 && x.traits.Tie == FireFirst && !busy && !flushed:
			found := x.told(b.due, because+", and FireFirst is declared", "did not fire at %s", b.due)
			found.Chance = x.Order == inside.OrderSampled
			return found
		case n > 0 && x.traits.Tie == ResetFirst && x.Order.Certain() && !flushed:
			because += " and returned before the timer's function ran; ResetFirst is declared"
			return x.told(b.due, because,
				"fired at %s, want %s", b.due, d.Began.At+v.wait)
		}
		return nil
	})
}

func (x *exam) stale() *suite.Violation {
	v := x.view()
	return x.ties(verb.Call, func(d *conformance.Done, b *burst) *suite.Violation {
		i := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool {
			return f.Began.At == b.due && f.Began.Seq > d.Ended.Seq
		})
		if d.Ended.Seq == 0 || i < 0 || v.flush[i] != nil || x.byStop(&x.Fires[i]) {
			return nil
		}
		found := x.told(b.due, edge.Text("call %d had returned at %s, before the callback started", d.N, d.Ended.At),
			"fired at %s for an event that call %d had superseded, want %s", b.due, d.N, d.Began.At+v.wait)
		found.Chance = x.Order == inside.OrderSampled
		return found
	})
}

// lostMeeting finds a burst that never fired, as an operation that fires what is pending met its deadline: whichever
// went first, one of the two fires it.
func (x *exam) lostMeeting(op conformance.Op) *suite.Violation {
	v, cfg := x.view(), x.Schedule.Config
	return x.ties(op, func(d *conformance.Done, b *burst) *suite.Violation {
		other := func(o *conformance.Done) bool { return o != d && o.Began.At == b.due }
		fires := func(f conformance.Fire) bool { return f.Began.At == b.due && f.Began.Seq > b.last.Began.Seq }
		if cfg.Busy > 0 || d.Ended.Seq == 0 || x.silent(b.last.Began.Seq) ||
			slices.ContainsFunc(v.ops, other) || slices.ContainsFunc(x.Fires, fires) {
			return nil
		}
		return x.told(b.due, edge.Text("%s met the deadline of call %d, and neither fired it", op, b.last.N),
			"nothing fired at %s, want one fire", b.due)
	})
}
