package debouncertest

import (
	"cmp"
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
		onEdges(extended("DB-LEAD", "On the leading edge the very first event MUST fire at its own "+
			"instant, with its own payload."),
			leading),
		onEdges(extended("DB-LEAD1", "Only the first event of a burst may fire on the leading edge; a "+
			"burst lasts until the wait has passed since its newest event."),
			leading),
		onEdges(extended("DB-REARM", "Once the wait has passed without an event, the next one MUST fire "+
			"on the leading edge again, whatever came before."),
			leading),
		onEdges(extended("DB-LEADONLY", "With the leading edge alone nothing may fire on the trailing edge."),
			without(Leading)),
		onEdges(extended("DB-BOTH1", "With both edges a burst of one event MUST fire once, or twice, "+
			"as declared."),
			without(LeadingAndTrailing), "BothSingle"),
		onEdges(extended("DB-BOTHN", "With both edges a burst of several events MUST also fire on the "+
			"trailing edge, once, with the declared payload."),
			without(LeadingAndTrailing), "BothSingle", "Payload"),
	}
}

// boundRules are those of a bound on the wait, and of bursts that hold a bounded number of events.
func boundRules() []rule {
	full := onEdges(extended("DB-FULL", "A burst of k events MUST fire at once, or when another event comes, as "+
		"declared. A smaller burst MUST fire as if there were no k."),
		noTrailing, "Full")
	full.About = func(j suite.Job) bool { return j.Schedule.Config.Has("k") }
	return []rule{
		onEdges(extended("DB-MAX", "With a bound on the wait, pending events MUST fire when the first of "+
			"them is as old as the bound: without another event, or with the next one, as declared."),
			nil, "MaxWait"),
		onEdges(extended("DB-MAXNE", "The bound MUST NOT cut a wait short: nothing may fire before the "+
			"wait has passed since the newest event, or the bound since the first pending one."),
			nil, "MaxWait"),
		onEdges(extended("DB-MAXTAIL", "With a bound on the wait, events MUST still fire a wait after the "+
			"newest, even after the bound has fired."),
			nil, "MaxWait"),
		onEdges(extended("DB-MAXPAY", "When the bound fires, it MUST carry the declared payload of the "+
			"events up to that instant."),
			nil, "Payload", "MaxWait"),
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
	}
}

// onEdges makes a rule of edges and bounds.
func onEdges(r conformance.Rule, absent func(*suite.Suite, *Traits) string, declared ...string) rule {
	return rule{Rule: r, Absent: absent, Declared: declared, Sees: (*exam).ofEdges}
}

// waitedInVain finds an event that the wait alone should have fired, whatever came before, or the last one if callbacks
// take time: that is certain where the model is in doubt.
func (x *exam) waitedInVain() []edge.Finding {
	cfg, steps := x.Schedule.Config, x.Schedule.Steps
	if !x.configured() || cfg.Edges == NoEdges || cfg.Edges == Leading || cfg.Inside != "" || !x.traits.bearsNewest() {
		return nil
	}
	for i, s := range steps {
		if s.Op == verb.Stop || s.Op == verb.Cancel && !x.traits.AfterCancel.usable() || s.Op == verb.Close {
			return nil
		}
		due, last := suite.Sum(s.At, cfg.Wait), i+1 == len(steps)
		if cfg.Busy > 0 {
			due = x.End
		}
		superseded := !last && (cfg.Busy > 0 || steps[i+1].At <= due)
		if s.Op != verb.Call || superseded || due > x.End || x.firedBy(s.N, due) {
			continue
		}
		rule := suite.If(cfg.Has("maxwait"), "DB-MAXTAIL")
		w := &edge.Fire{At: due, Value: s.N, Kind: edge.Trailing}
		v := x.terms().Difference(x.Recording, rule, nil, w, nil, due)
		v.Lanes = []suite.Lane{x.Got()}
		return []edge.Finding{{Rule: cmp.Or(rule, "DB-BOTHN"), Violation: v}}
	}
	return nil
}

// firedBy reports whether something fired with a payload up to an instant.
func (x *exam) firedBy(v int, at time.Duration) bool {
	return slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool { return f.Value == v && f.Began.At <= at })
}
