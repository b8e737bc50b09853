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

// explained says what is wrong where a run leaves a path.
func (x *exam) explained(m *state) (out []edge.Finding) {
	var w *edge.Fire
	var got *conformance.Fire
	i, want := m.checked, slices.Concat(m.Want, m.line)
	if at, kind := m.deadline(); m.waits {
		want = append(want, m.what(max(at, m.wrongAt), kind))
	}
	if i < len(want) {
		w = &want[i]
	}
	if i < len(x.Fires) {
		got = &x.Fires[i]
	}
	rules, because := []string{""}, ""
	if m.plain {
		rules, because = x.trailingRules(want, i, got)
	} else {
		rules[0] = x.edgeRule(want, i, got)
	}
	terms := x.terms()
	switch {
	case got == nil || terms.Of == "":
	case m.plain && (w == nil || w.Value == got.Value): // which event it is for goes without saying
		terms.Of = ""
	case x.called(got.Value) == nil:
		terms.Of = "payload"
	}
	v := terms.Difference(x.Recording, rules[0], want, w, got, m.wrongAt)
	v.Because = cmp.Or(because, v.Because)
	if x.Schedule.Config.Busy > 0 && x.traits.Overlap == SerialReceiver {
		v.Because += "; the wait of events during a callback counts from its end, as SerialReceiver is declared"
	}
	for _, rule := range rules {
		out = append(out, edge.Finding{Rule: rule, Violation: v})
	}
	x.boundLeads(&out[0])
	return out
}

// boundLeads says of an event that fired at its own instant behind a fire of the bound, within its burst, that this
// is what is wrong.
func (x *exam) boundLeads(found *edge.Finding) {
	if found.Rule != "DB-MAXNE" || x.Schedule.Config.Edges != LeadingAndTrailing || !x.traits.bearsNewest() {
		return
	}
	for i, f := range x.Fires {
		if f.Began.At != found.At || i == 0 || edge.Calls(x.Schedule, x.Fires[i-1].Began.At, f.Began.At) == 0 {
			continue
		}
		if slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
			return s.Op == verb.Call && s.N == f.Value && s.At == f.Began.At
		}) {
			found.Because = edge.Text("call %d is not the first of its burst, which a fire of the bound does not end; ",
				f.Value) + found.Because
			return
		}
	}
}

// terms are those of a debouncer.
func (x *exam) terms() edge.Terms {
	return edge.Terms{
		Because: x.edgeBecause,
		Fired:   "fired", Of: suite.If(cmp.Or(x.traits.Payload, NoPayload) != NoPayload, "the value of call"),
	}
}

// endRule is the rule about the end of the debouncer that a difference at the i-th fire breaks, if there is one.
func (x *exam) endRule(want []edge.Fire, i int, got *conformance.Fire) string {
	at := time.Duration(edge.Far) // the instant of the difference
	if i < len(want) {
		at = want[i].At
	}
	if got != nil {
		at = min(at, got.Began.At)
	}
	for _, d := range x.Done {
		switch {
		case d.Op == verb.Close:
			return "DB-CLOSE"
		case d.Op == verb.Stop && d.Began.At <= at && (got == nil || d.Began.Seq < got.Began.Seq):
			return "DB-STOP"
		}
	}
	return ""
}

// edgeRule is the rule that a difference at the i-th fire breaks, where an edge or a bound is configured.
func (x *exam) edgeRule(want []edge.Fire, i int, got *conformance.Fire) string {
	ended, flushed := x.endRule(want, i, got), x.flushRule(want, i, got)
	switch missing := edge.Missing(want, i, got); {
	case ended != "":
		return ended
	case x.Schedule.Config.Edges == NoEdges:
		return "DB-NONE"
	case flushed != "":
		return flushed
	case x.Schedule.Config.Has("k"):
		return "DB-FULL"
	case x.Schedule.Config.Has("maxwait") && missing:
		return missingInBound(&want[i], got)
	case x.Schedule.Config.Has("maxwait"):
		return "DB-MAXNE"
	case missing:
		return missingEdge(&want[i])
	}
	return x.unwanted(want, i, got.Began.At)
}

// missingInBound is the rule that says that w must fire, where there is a bound.
func missingInBound(w *edge.Fire, got *conformance.Fire) string {
	switch {
	case w.Kind == edge.Leading:
		return missingEdge(w)
	case got != nil && got.Began.At == w.At:
		return "DB-MAXPAY"
	case w.Kind == edge.Bound, w.Kind == edge.Brought:
		return "DB-MAX"
	}
	return "DB-MAXTAIL"
}

// missingEdge is the rule that says that w must fire, where there is none.
func missingEdge(w *edge.Fire) string {
	switch {
	case w.Kind == edge.Leading && w.Burst == 1:
		return "DB-LEAD"
	case w.Kind == edge.Leading:
		return "DB-REARM"
	case w.Size == 1:
		return "DB-BOTH1"
	}
	return "DB-BOTHN"
}

// unwanted is the rule that the i-th fire breaks, which nothing wanted at that instant.
func (x *exam) unwanted(want []edge.Fire, i int, at time.Duration) string {
	for _, s := range x.Schedule.Steps {
		if s.Op == verb.Call && s.At == at {
			return "DB-LEAD1" // at an event that is not the first of its burst
		}
	}
	if x.Schedule.Config.Edges == Leading {
		return "DB-LEADONLY"
	}
	if i > 0 && want[i-1].Kind == edge.Leading && want[i-1].Size == 1 && edge.Calls(x.Schedule, want[i-1].At, at) == 0 {
		return "DB-BOTH1"
	}
	return "DB-BOTHN"
}

// edgeBecause says why w must fire, or if it is nil why nothing must.
func (x *exam) edgeBecause(rule string, want []edge.Fire, w *edge.Fire, at time.Duration) string {
	if w == nil {
		return x.quietBecause(rule, want, at)
	}
	cfg := x.Schedule.Config
	why := x.decidedBecause(w, w.At-w.Behind)
	if x.leadsAfterFlush(want, w) {
		why += ": the flush before it has fired, and FlushEndsBurst is declared"
	}
	if w.Behind > 0 {
		why += edge.Text("; the callback before it ends at %s", w.At)
	}
	if shortBound(cfg) {
		why += edge.Text("; taking a bound shorter than the wait as the wait, %s, does not explain the run either",
			cfg.Wait)
	}
	return why
}

// quietBecause says why nothing must fire at an instant, where that breaks a rule.
func (x *exam) quietBecause(rule string, want []edge.Fire, at time.Duration) string {
	switch {
	case rule == "DB-NONE":
		return "no edge is configured"
	case len(want) == 0:
	case rule == "DB-LEAD1":
		calls := slices.DeleteFunc(slices.Clone(x.Schedule.Steps), func(s conformance.Step) bool {
			return s.Op != verb.Call || s.At > at
		})
		if n := len(calls); n > 1 {
			return edge.Text("call %d came %s after call %d, within the burst",
				calls[n-1].N, at-calls[n-2].At, calls[n-2].N)
		}
	case rule == "DB-LEADONLY":
		return edge.Text("of a burst only the first event fires, here call %d", want[len(want)-1].Value)
	case rule == "DB-BOTH1":
		return edge.Text("call %d, the only one of its burst, had fired", want[len(want)-1].Value)
	}
	return ""
}

// decidedBecause says why w had to fire at an instant, if no callback held it up.
func (x *exam) decidedBecause(w *edge.Fire, at time.Duration) string {
	cfg := x.Schedule.Config
	switch w.Kind {
	case edge.Trailing:
		if cfg.Wait <= 0 {
			return edge.Text("with a wait of %s each event is a burst of its own", cfg.Wait)
		}
		return edge.Text("the newest event came at %s, and the wait is %s", at-cfg.Wait, cfg.Wait)
	case edge.Leading:
		return edge.Text("call %d at %s is the first of its burst", w.Value, at)
	case edge.Bound:
		return edge.Text("the first pending event came at %s, and the bound is %s", at-cfg.MaxWait, cfg.MaxWait)
	case edge.Brought:
		return edge.Text("more than the bound of %s has passed since the first pending event, so call %d fires: "+
			"MaxWaitOnCall is declared",
			cfg.MaxWait, w.Value)
	case edge.Flushed:
		for _, op := range []conformance.Op{verb.Stop, verb.Close} {
			if slices.ContainsFunc(x.Done, func(d conformance.Done) bool { return d.Op == op && d.Began.At == at }) {
				return edge.Text("%s at %s fires what is pending, as declared", op, at)
			}
		}
		return edge.Text("flush at %s fires what is pending", at)
	case edge.Filled:
		return edge.Text("the burst was full with %d", cfg.K)
	}
	return ""
}
