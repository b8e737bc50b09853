package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
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
	because := text("stop at %s had ended the debouncer", stop.At)
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
	return x.told(stop.Began.At, text("call %d at %s was pending, and StopFlushes is declared", c.N, c.Began.At),
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
		because := text("stop had returned at %s", stop.Ended.At)
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
