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

// difference compares a run with the model, in each reading of what is configured.
func (x *exam) difference() *edge.Finding {
	if x.found != nil {
		return x.found
	}
	x.found = &edge.Finding{}
	if !x.modelled() {
		return x.found
	}
	var plain *edge.Finding
	for _, r := range readings(x.Schedule.Config) {
		found := x.compared(r)
		if found.Violation == nil {
			return x.found
		}
		if plain == nil {
			plain = found
		}
	}
	x.found = plain
	x.boundLeads(plain)
	return x.found
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

// compared compares the run with the model on every path, and returns the first difference on
// the one that explains most of the run, unless one of them leads to all of it.
func (x *exam) compared(r reading) *edge.Finding {
	var nearest *edge.Finding
	payload := cmp.Or(x.traits.Payload, NoPayload)
	if x.models(r, func(m model) bool {
		found := edge.Compare(x.Recording, m.Model, payload, x.terms())
		if found.Violation == nil {
			return true
		}
		// The wrong instant is nearer than the wrong payload.
		if nearest == nil || found.At > nearest.At || found.At == nearest.At && nearest.Rule == "DB-MAXPAY" {
			nearest = found
		}
		return false
	}) {
		return &edge.Finding{}
	}
	return nearest
}

// terms are those of a debouncer.
func (x *exam) terms() edge.Terms {
	return edge.Terms{
		Rule: x.edgeRule, Because: x.edgeBecause,
		Fired: "fired", Of: suite.If(cmp.Or(x.traits.Payload, NoPayload) != NoPayload, "the value of call"),
	}
}

// edgeRule is the rule that a difference at the i-th fire breaks.
func (x *exam) edgeRule(want []edge.Fire, i int, got *conformance.Fire) string {
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
	flushed := x.flushRule(want, i, got)
	switch missing := edge.Missing(want, i, got); {
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
	case edge.Leading:
		return edge.Text("call %d at %s is the first of its burst", w.Value, at)
	case edge.Bound:
		return edge.Text("the first pending event came at %s, and the bound is %s", at-cfg.MaxWait, cfg.MaxWait)
	case edge.Brought:
		return edge.Text("more than the bound of %s has passed since the first pending event, so call %d fires: "+
			"MaxWaitOnCall is declared",
			cfg.MaxWait, w.Value)
	case edge.Trailing:
		return edge.Text("the newest event came at %s, and the wait is %s", at-cfg.Wait, cfg.Wait)
	case edge.Flushed:
		return edge.Text("flush at %s fires what is pending", at)
	case edge.Filled:
		return edge.Text("the burst was full with %d", cfg.K)
	}
	return ""
}
