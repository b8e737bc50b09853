package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// edgeRules are those of the leading edge, alone or with the trailing one.
func edgeRules() []rule {
	leading := without(Leading, LeadingAndTrailing)
	return []rule{
		compared(extended("DB-LEAD", "On the leading edge the very first event MUST fire at its own "+
			"instant, with its own payload."),
			leading, (*exam).firstLost, nil),
		compared(extended("DB-LEAD1", "Only the first event of a burst may fire on the leading edge; a "+
			"burst lasts until the wait has passed since its newest event."),
			leading, nil, (*exam).leadsWithin),
		compared(extended("DB-REARM", "Once the wait has passed without an event, the next one MUST fire "+
			"on the leading edge again, whatever came before."),
			leading, (*exam).laterLost, (*exam).laterLost),
		compared(extended("DB-LEADONLY", "With the leading edge alone nothing may fire on the trailing edge."),
			without(Leading), nil, nil),
		compared(extended("DB-BOTH1", "With both edges a burst of one event MUST fire once, or twice, "+
			"as declared."),
			without(LeadingAndTrailing), nil, nil, "BothSingle"),
		compared(extended("DB-BOTHN", "With both edges a burst of several events MUST also fire on the "+
			"trailing edge, once, with the declared payload."),
			without(LeadingAndTrailing), (*exam).lastLost, waitedInVain(false), "BothSingle", "Payload"),
	}
}

// boundRules are those of a bound on the wait, and of bursts that hold a bounded number of events.
func boundRules() []rule {
	bound := func(r conformance.Rule, doubtful func(x *exam) *suite.Violation) rule {
		return compared(r, nil, nil, doubtful, "MaxWait")
	}
	full := compared(extended("DB-FULL", "A burst of k events MUST fire at once, or when another event comes, as "+
		"declared. A smaller burst MUST fire as if there were no k."),
		noTrailing, nil, nil, "Full")
	full.About = func(j suite.Job) bool { return j.Schedule.Config.Has("k") }
	return []rule{
		bound(extended("DB-MAX", "With a bound on the wait, pending events MUST fire when the first of "+
			"them is as old as the bound: without another event, or with the next one, as declared."), nil),
		bound(extended("DB-MAXNE", "The bound MUST NOT cut a wait short: nothing may fire before the "+
			"wait has passed since the newest event, or the bound since the first pending one."), nil),
		bound(extended("DB-MAXTAIL", "With a bound on the wait, events MUST still fire a wait after the "+
			"newest, even after the bound has fired."), waitedInVain(true)),
		compared(extended("DB-MAXPAY", "When the bound fires, it MUST carry the declared payload of the "+
			"events up to that instant."),
			nil, nil, nil, "Payload", "MaxWait"),
		full,
	}
}

// noEdgeRule is that of a debouncer that fires on no edge.
func noEdgeRule() rule {
	return rule{
		Rule: extended("DB-NONE", "Without any edge nothing may fire, not even by a bound, unless the "+
			"constructor refuses that."),
		Absent: without(NoEdges),
		About:  func(j suite.Job) bool { return j.Schedule.Config.Edges == NoEdges },
		Check:  differs("DB-NONE", nil, nil),
	}
}

// compared makes a rule of edges and bounds, which judges by differs.
func compared(r conformance.Rule, absent func(*suite.Suite, *Traits) string,
	busy, doubtful func(x *exam) *suite.Violation, declared ...string) rule {
	return rule{Rule: r, Absent: absent, Declared: declared, Sees: (*exam).ofEdges,
		Check: differs(r.ID, busy, doubtful)}
}

// differs makes the Check of a rule of edges and bounds: it reports the first difference
// between a run and the model if that breaks the rule. Otherwise busy judges what is
// certain although callbacks take time, and doubtful what is certain although the model is
// in doubt; either may be nil.
func differs(id string, busy, doubtful func(x *exam) *suite.Violation) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		v := breaks(id)(x)
		cfg := x.Schedule.Config
		switch {
		case v != nil, x.Refused != "", x.Stuck, edge.Reentered(x.Recording) != nil:
			return v
		case cfg.Busy > 0 && busy != nil:
			return busy(x)
		case cfg.Busy == 0 && cfg.Inside == "" && doubtful != nil:
			return doubtful(x)
		}
		return nil
	}
}

// lost makes the violation that an event did not fire at an instant, whatever else is wanted.
func (x *exam) lost(value int, at time.Duration, kind edge.Kind) *suite.Violation {
	v := x.terms().Difference(x.Recording, "", nil, &edge.Fire{At: at, Value: value, Kind: kind}, nil, at)
	v.Lanes = []suite.Lane{x.Got()}
	return v
}

// early makes the violation that an event fired at its own instant, whatever else is wanted.
func (x *exam) early(f *conformance.Fire, because string, args ...any) *suite.Violation {
	v := x.terms().Difference(x.Recording, "", nil, nil, f, f.Began.At)
	v.Headline = edge.Text("%s at %s, the instant of the call, want it after the wait",
		x.terms().Event(f.Value), f.Began.At)
	v.Because, v.Lanes = edge.Text(because, args...), []suite.Lane{x.Got()}
	return v
}

// waitedInVain finds an event that the wait alone should have fired, whatever came before, where there is a bound, or
// where there is none.
func waitedInVain(bounded bool) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		cfg := x.Schedule.Config
		if cfg.Has("maxwait") != bounded || cfg.Edges == NoEdges || cfg.Edges == Leading || !x.traits.bearsNewest() {
			return nil
		}
		steps := x.Schedule.Steps
		for i, s := range steps {
			if s.Op == verb.Stop || s.Op == verb.Cancel && !x.traits.AfterCancel.usable() {
				return nil
			}
			due := suite.Sum(s.At, cfg.Wait)
			if s.Op != verb.Call || i+1 < len(steps) && steps[i+1].At <= due || due > x.End {
				continue
			}
			if !x.firedBy(s.N, due) {
				return x.lost(s.N, due, edge.Trailing)
			}
		}
		return nil
	}
}

// firedBy reports whether something fired with a payload up to an instant.
func (x *exam) firedBy(v int, at time.Duration) bool {
	return slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool { return f.Value == v && f.Began.At <= at })
}

// leadsWithin finds an event that fired at its own instant, less than the wait after the
// one before it.
func (x *exam) leadsWithin() *suite.Violation {
	cfg := x.Schedule.Config
	if cfg.Edges&Leading == 0 || cfg.Has("maxwait") || x.traits.Payload == NoPayload {
		return nil
	}
	var before *conformance.Done
	for i := range x.Done {
		switch d := &x.Done[i]; d.Op {
		case verb.Call:
			if before != nil && d.Began.At-before.Began.At < cfg.Wait && !x.toldToFire(d.Began.At) {
				if f := x.firedAt(d.N, d.Began.At); f != nil {
					return x.early(f, "call %d at %s is of the same burst", before.N, before.Began.At)
				}
			}
			before = d
		case verb.Pending:
		default:
			before = nil
		}
	}
	return nil
}

// toldToFire reports whether a step of that instant may fire what is pending.
func (x *exam) toldToFire(at time.Duration) bool {
	asks := []conformance.Op{verb.Flush, verb.Stop, verb.Close}
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Began.At == at && slices.Contains(asks, d.Op)
	})
}

// firedAt returns what fired with a payload at an instant.
func (x *exam) firedAt(v int, at time.Duration) *conformance.Fire {
	for i := range x.Fires {
		if f := &x.Fires[i]; f.Value == v && f.Began.At == at {
			return f
		}
	}
	return nil
}

// Two things are certain although callbacks take time: on the leading edge an event fires
// at once if within the wait, and the bound, before it no event came and no callback ran; and
// on the trailing edge the last event fires. The first is certain although the bound's fires are not.

// callsAlone returns the calls with which the schedule begins, if callbacks take time in
// this run and the two things are certain.
func (x *exam) callsAlone() (calls []conformance.Step) {
	for _, s := range x.Schedule.Steps {
		if s.Op != verb.Call || !x.traits.bearsNewest() {
			break
		}
		calls = append(calls, s)
	}
	return calls
}

// firstLost finds a first event that did not fire.
func (x *exam) firstLost() *suite.Violation {
	calls := x.callsAlone()
	if len(calls) == 0 || x.Schedule.Config.Edges&Leading == 0 || x.firedBy(calls[0].N, calls[0].At) {
		return nil
	}
	return x.lost(calls[0].N, calls[0].At, edge.Leading)
}

// laterLost finds a later event that should have led.
func (x *exam) laterLost() *suite.Violation {
	if x.Schedule.Config.Edges&Leading == 0 {
		return nil
	}
	calls, silence := x.callsAlone(), suite.Sum(x.Schedule.Config.Wait, x.Schedule.Config.MaxWait)
	for i, s := range calls {
		if i > 0 && x.quietSince(calls[i-1].At, s.At) < s.At-silence && !x.firedBy(s.N, s.At) {
			return x.lost(s.N, s.At, edge.Leading)
		}
	}
	return nil
}

// quietSince returns the instant, not before from, since which no callback was running up
// to at; it lies in the far future if one still runs.
func (x *exam) quietSince(from, at time.Duration) time.Duration {
	since := from
	for _, f := range x.Fires {
		switch {
		case f.Began.At >= at:
		case f.Ended.Seq == 0:
			since = edge.Far
		default:
			since = max(since, f.Ended.At)
		}
	}
	return since
}

// lastLost finds a last event that did not fire on the trailing edge.
func (x *exam) lastLost() *suite.Violation {
	cfg, calls := x.Schedule.Config, x.callsAlone()
	if cfg.Edges != LeadingAndTrailing || len(calls) == 0 || len(calls) < len(x.Schedule.Steps) {
		return nil
	}
	if last := calls[len(calls)-1]; !x.firedBy(last.N, x.End) {
		return x.lost(last.N, last.At+cfg.Wait, edge.Trailing)
	}
	return nil
}
