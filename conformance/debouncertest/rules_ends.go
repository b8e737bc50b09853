package debouncertest

import (
	"slices"

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
	i := slices.IndexFunc(x.Done, func(d conformance.Done) bool { return d.Op == verb.Stop })
	if i < 0 || x.Refused != "" {
		return nil
	}
	stop := &x.Done[i]
	if v := x.harmed(stop, x.Done[i+1:]); v != nil || stop.Ended.Seq == 0 || stop.Panic != "" || x.Stuck {
		return v
	}
	if v := x.firesAfter(stop); v != nil {
		return v
	}
	return breaks("DB-STOP")(x)
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
		if f.Began.Seq < stop.Ended.Seq || x.byStop(stop, f) || due && x.traits.StopBarrier == NoBarrier {
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

// byStop reports whether a Stop that flushes may have caused a fire.
func (x *exam) byStop(stop *conformance.Done, f *conformance.Fire) bool {
	at := stop.Began.At
	return x.traits.StopPending != StopDrops &&
		(f.Began.At == at || f.Began.Seq < stop.Ended.Seq || runs(at, x.Fires) && endsAt(f.Began.At, x.Fires))
}

// waitedAt reports whether a fire was due when stop came, and could not start because
// another callback was running.
func (x *exam) waitedAt(f *conformance.Fire, stop *conformance.Done) bool {
	at := stop.Began.At
	if x.traits.Overlap != Serial || !runs(at, x.Fires) || !endsAt(f.Began.At, x.Fires) {
		return false
	}
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Call && d.Began.Seq < stop.Began.Seq && (!x.traits.bearsNewest() || d.N == f.Value) &&
			(x.configured() || d.Began.At+x.Schedule.Config.Wait <= at) // by a bound it may be due sooner
	})
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
		return breaks("DB-CLOSE")(x)
	case x.traits.Payload == NoPayload:
		return nil // nobody can tell for which key a callback runs
	}
	return x.ofKeys(breaks("DB-CLOSE"))
}
