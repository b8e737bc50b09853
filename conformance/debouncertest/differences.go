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

// explained says what is wrong where a run leaves a path, and before.
func (x *exam) explained(m *state) []edge.Finding {
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
	by := x.newestBefore(got)
	rules, because := m.rulesOf(want, i, got)
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
	if rules[0] == "DB-MAXNE" && m.edges == LeadingAndTrailing && x.traits.bearsNewest() && by.Op == verb.Call &&
		by.N == got.Value {
		v.Because = edge.Text("call %d is not the first of its burst, which a fire of the bound does not end; ",
			got.Value) + v.Because
	}
	if x.Schedule.Config.Busy > 0 && x.traits.Overlap == SerialReceiver {
		v.Because += "; the wait of events during a callback counts from its end, as SerialReceiver is declared"
	}
	out := slices.DeleteFunc(m.marks, func(f edge.Finding) bool { return f.At >= m.wrongAt })
	for _, rule := range rules {
		out = append(out, edge.Finding{Rule: rule, Violation: v})
	}
	return out
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

// rulesOf are the rules that a difference at the i-th fire breaks, the plainest first, and why nothing had to fire
// there, where the rule does not say. Where nothing is configured they are those of the trailing edge alone.
func (m *state) rulesOf(want []edge.Fire, i int, got *conformance.Fire) (rules []string, because string) {
	x, cfg, missing := m.x, m.cfg, edge.Missing(want, i, got)
	ended, flushed := x.endRule(want, i, got), x.flushRule(want, i, got)
	switch negative := x.Schedule.Config.Wait < 0; {
	case ended == "DB-STOP" && !missing:
		return []string{ended}, x.stoppedBecause(x.newest(got.Began.Seq, verb.Stop), got.Began.Seq)
	case ended != "":
		return []string{ended}, ""
	case m.edges == NoEdges:
		return []string{"DB-NONE"}, "no edge is configured"
	case m.plain && negative:
		return []string{"DB-NEG"}, ""
	case m.plain && cfg.Wait == 0:
		return []string{"DB-ZERO"}, ""
	case flushed == "DB-FLUSH0":
		return []string{flushed}, edge.Text("nothing was pending for the flush at %s", got.Began.At)
	case flushed != "":
		return []string{flushed}, ""
	case m.plain && missing:
		return x.missingRules(&want[i], got)
	case m.plain:
		return x.unwantedRules(want, i, got)
	case cfg.Has("k"):
		return []string{"DB-FULL"}, ""
	case cfg.Has("maxwait") && missing:
		return []string{missingInBound(&want[i], got)}, ""
	case cfg.Has("maxwait"):
		return []string{"DB-MAXNE"}, ""
	case missing:
		return []string{missingEdge(&want[i])}, ""
	}
	return []string{x.unwanted(want, i, got.Began.At)}, ""
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

// missingRules are those that a fire breaks that did not come, came late, or with another payload.
func (x *exam) missingRules(w *edge.Fire, got *conformance.Fire) (rules []string, because string) {
	c := x.called(w.Value)
	late := got != nil && !slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Call && d.Began.Seq > c.Began.Seq && d.Began.Seq < got.Began.Seq
	})
	switch cancel := x.newest(c.Began.Seq, verb.Cancel); {
	case got != nil && got.Began.At == w.At:
		return []string{"DB-LAST"}, ""
	case x.races(w.At, verb.Flush): // whichever of the two went first, one fires it
		return []string{"DB-FLUSH"}, ""
	case late:
		return []string{"DB-EXACT"}, ""
	case cancel != nil:
		return []string{"DB-LIVE", "DB-REUSE"}, edge.Text(
			"call %d at %s came after the cancel at %s, and the wait is %s",
			c.N, c.Began.At, cancel.Began.At, x.Schedule.Config.Wait)
	}
	return []string{"DB-LIVE"}, ""
}

// unwantedRules are those that the i-th fire breaks, which nothing wanted at that instant, and why nothing did.
func (x *exam) unwantedRules(want []edge.Fire, i int, got *conformance.Fire) (rules []string, because string) {
	c, cancel := x.newest(got.Began.Seq, verb.Call), x.newest(got.Began.Seq, verb.Cancel)
	switch by, due := x.discarded(got); {
	case c == nil:
		return []string{"DB-IDLE"}, "no event had come"
	case by != nil:
		return []string{"DB-CANCEL"}, edge.Text("cancel at %s had discarded call %d", by.Began.At, due.N)
	case i < len(want) && want[i].First <= c.Began.At: // it is for an event that had come
		return x.earlyRules(want, i, c)
	case cancel != nil && cancel.Began.Seq > c.Began.Seq:
		return []string{"DB-CANCEL"}, edge.Text("cancel at %s had discarded call %d", cancel.Began.At, c.N)
	case cancel != nil && x.traits.AfterCancel == CancelFinal:
		return []string{"DB-REUSE"}, "cancel is declared final"
	case x.races(got.Began.At, verb.Call):
		return []string{"DB-TIE"}, edge.Text("call %d met the deadline, at which one burst fires at the most", c.N)
	case i == 0:
		return []string{"DB-IDLE"}, "the events that had come no longer counted"
	}
	return []string{"DB-IDLE"}, edge.Text("the last event, call %d, had fired at %s", c.N, x.Fires[i-1].Began.At)
}

// earlyRules are those that the i-th fire breaks, as it came too early after a call, and why it did.
func (x *exam) earlyRules(want []edge.Fire, i int, c *conformance.Done) (rules []string, because string) {
	at, wait := x.Fires[i].Began.At, x.Schedule.Config.Wait
	rules, because = []string{"DB-QUIET"}, edge.Text("call %d at %s restarts the %s wait", c.N, c.Began.At, wait)
	if x.traits.StaleFire == StaleForbidden && x.races(at, verb.Call) && c.Ended.Seq < x.Fires[i].Began.Seq {
		rules = append(rules, "DB-NOSTALE")
		because += ", and had returned before the callback started"
	}
	if i+1 < len(x.Fires) && x.Fires[i+1].Began.At == want[i].At {
		rules = append(rules, "DB-ONE")
		because += edge.Text("; the same burst fires again at %s", want[i].At)
	}
	if i > 0 && want[i-1].Kind == edge.Trailing && at-want[i-1].At < wait {
		rules = append(rules, "DB-GAPRATE")
		because += edge.Text("; the fire before it came at %s", want[i-1].At)
	}
	return rules, because
}

// discarded are the cancel and the event that was due when something fired, which may be for it; nil if there is none.
func (x *exam) discarded(got *conformance.Fire) (cancel, c *conformance.Done) {
	if cancel = x.newest(got.Began.Seq, verb.Cancel); cancel == nil {
		return nil, nil
	}
	c = x.newest(cancel.Began.Seq, verb.Call)
	if c == nil || c.Began.At+x.Schedule.Config.Wait != got.Began.At || x.traits.bearsNewest() && got.Value != c.N {
		return nil, nil
	}
	return cancel, c
}

// flushRule is the rule about Flush that a difference at the i-th fire breaks, where an edge or a
// bound is configured; "" if a flush does not explain it.
func (x *exam) flushRule(want []edge.Fire, i int, got *conformance.Fire) string {
	missing, by := edge.Missing(want, i, got), x.newestBefore(got)
	switch {
	case missing && (want[i].Kind == edge.Flushed || x.leadsAfterFlush(want, &want[i])):
		return "DB-FLUSH"
	case got == nil || missing && got.Began.At > want[i].At:
		return ""
	case by.Op == verb.Flush && i > 0 && x.Fires[i-1].Began.Seq > by.Began.Seq:
		return "DB-FLUSH" // it fires once more
	case by.Op == verb.Flush:
		return "DB-FLUSH0"
	case by.Op == verb.Call && x.traits.AfterFlush == FlushKeepsBurst && !missing &&
		x.soonAfterFlush(want, i, got.Began.At):
		return "DB-FLUSH"
	}
	return ""
}

// newestBefore is what was done last before a fire, at its instant.
func (x *exam) newestBefore(f *conformance.Fire) (newest conformance.Done) {
	for _, d := range x.Done {
		if f != nil && d.Began.At == f.Began.At && d.Began.Seq < f.Began.Seq && d.Op != verb.Pending {
			newest = d
		}
	}
	return newest
}

// soonAfterFlush reports whether the last fire before the i-th is that of a flush, and an instant
// less than the wait after it.
func (x *exam) soonAfterFlush(want []edge.Fire, i int, at time.Duration) bool {
	return i > 0 && want[i-1].Kind == edge.Flushed && at-want[i-1].At < x.Schedule.Config.Wait
}

// leadsAfterFlush reports whether w leads because a flush has ended the burst, as is declared.
func (x *exam) leadsAfterFlush(want []edge.Fire, w *edge.Fire) bool {
	i := slices.IndexFunc(want, func(f edge.Fire) bool { return f.At == w.At && f.Value == w.Value })
	return w.Kind == edge.Leading && x.traits.AfterFlush == FlushEndsBurst && x.soonAfterFlush(want, i, w.At)
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
