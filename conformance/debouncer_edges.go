package conformance

import (
	"fmt"
	"slices"
	"time"
)

// edgeFire is a fire of a debouncer with a leading edge or a bound on its wait.
type edgeFire struct {
	at    time.Duration
	value int
	kind  string // leading, trailing, bound, brought or flush
	burst int    // the number of its burst
	size  int    // the number of events in that burst by then
}

// brought is the kind of a fire that an event brings which comes after the bound. It may be
// for that event, or for those before it.
const brought = "brought"

// edgeFinding is the first difference between what such a debouncer should have
// done and what it did, and the rule that it breaks.
type edgeFinding struct {
	rule string
	v    *violation
}

// edgeModel is what must fire in a schedule, and up to which instant that is certain: an
// event at the very instant of a deadline, or soon after a cancel or flush within a
// burst, is dealt with in more than one way.
type edgeModel struct {
	want    []edgeFire
	certain time.Duration
	// pending says what each query must answer, by the point where it began.
	pending map[int]bool
}

// edgeModel works it out. With both edges the bound may count from the first event that
// has not fired, or, if fromLead, from the leading fire of the burst.
func (x *exam) edgeModel(fromLead bool) edgeModel {
	cfg := x.Schedule.Config
	traits := x.c.deb.Traits
	edges := cfg.Edges
	if edges == 0 {
		edges = Trailing
	}
	m := edgeModel{certain: far, pending: map[int]bool{}}
	bounded := cfg.has("maxwait")
	var (
		pending     bool
		value       int
		first, last time.Duration         // the first event that has not fired, and the newest
		cut         = time.Duration(-far) // the newest cancel or flush
		burst, size int
		inBurst     bool
	)
	onCall := bounded && traits.MaxWait == MaxWaitOnCall
	deadline := func() (time.Duration, string) {
		if bounded && !onCall && first+cfg.MaxWait < last+cfg.Wait {
			return first + cfg.MaxWait, "bound"
		}
		return last + cfg.Wait, "trailing"
	}
	doubt := func(at time.Duration) {
		m.certain = min(m.certain, at)
	}
	fire := func(at time.Duration, kind string) {
		m.want = append(m.want, edgeFire{at, value, kind, burst, size})
		pending = false
		if bounded && traits.MaxWait != MaxWaitFromFirst && kind != "trailing" {
			doubt(at + 1) // what the next bound counts from
		}
	}
	pass := func(to time.Duration) {
		if !pending {
			return
		}
		if at, kind := deadline(); at <= to {
			fire(at, kind)
		}
	}
	for _, s := range x.Done {
		if edges == NoEdges {
			m.pending[s.Began.Seq] = false
			continue
		}
		now := s.Began.At
		if at, _ := deadline(); pending && at == now && !s.Inside {
			doubt(now) // within a callback it has gone
		}
		pass(now)
		switch s.Op {
		case OpCall:
			quiet := !inBurst || now > max(last, cut)+cfg.Wait
			if inBurst && edges != Trailing && !quiet && (now >= last+cfg.Wait || cut >= last) {
				doubt(now)
			}
			if quiet || now >= last+cfg.Wait {
				burst, size = burst+1, 0
			}
			inBurst, last = true, now
			size++
			if edges&Leading != 0 && size == 1 {
				m.want = append(m.want, edgeFire{now, s.N, "leading", burst, size})
				first = now
				if edges&Trailing == 0 || traits.BothSingle != BothTwice {
					continue
				}
			}
			if edges&Trailing == 0 {
				continue
			}
			if !pending && !(fromLead && edges&Leading != 0 && size == 2) {
				first = now
			}
			if !pending || traits.Payload != FirstPayload {
				value = s.N
			}
			pending = true
			if onCall && now >= first+cfg.MaxWait {
				if now == first+cfg.MaxWait {
					doubt(now)
				}
				fire(now, brought)
			}
		case OpPending:
			switch {
			case edges == Leading && size > 1: // events that nothing will fire for
			case edges == LeadingAndTrailing && traits.BothSingle == BothTwice:
			default:
				m.pending[s.Began.Seq] = pending
			}
		case OpCancel:
			pending, cut = false, now
			if traits.AfterCancel == CancelReusable {
				inBurst = false
			}
			if traits.AfterCancel == 0 {
				doubt(now + 1)
			}
			if !traits.AfterCancel.usable() {
				return m // nothing counts any more
			}
		case OpStop:
			switch {
			case traits.StopPending == StopFlushes && pending:
				fire(now, "flush")
			case traits.StopPending == 0:
				doubt(now)
			}
			return m
		case OpClose:
			switch {
			case !pending || traits.CloseFlush == CloseDrops:
			case traits.CloseFlush == CloseAtDeadline:
				pass(far)
			default:
				fire(now, "flush")
			}
			return m
		case OpFlush:
			if pending {
				fire(now, "flush")
			}
			cut = now
		}
	}
	pass(far)
	return m
}

// edgeDifference compares a run with the model. How long callbacks run is nothing that it
// knows of.
func (x *exam) edgeDifference() *edgeFinding {
	cfg, traits := x.Schedule.Config, x.c.deb.Traits
	switch {
	case x.edge != nil:
	case cfg.Busy > 0, cfg.Inside != "" && traits.BothSingle == BothTwice && cfg.Edges == LeadingAndTrailing:
		x.edge = &edgeFinding{}
	default:
		find := func(fromLead bool) *edgeFinding {
			m := x.edgeModel(fromLead)
			return x.findEdge(m.want, m.certain, traits.Payload, x.edgeRule)
		}
		x.edge = find(false)
		if x.edge.v != nil && cfg.has("maxwait") && cfg.Edges == LeadingAndTrailing && find(true).v == nil {
			x.edge = &edgeFinding{}
		}
	}
	return x.edge
}

// findEdge compares the fires of a run with those of a model, of which those from an
// instant on are uncertain, and lets rule name the first difference.
func (x *exam) findEdge(want []edgeFire, certain time.Duration, payload Payload, rule func(want []edgeFire, i int, g *Fire) string) *edgeFinding {
	if x.Refused != "" || x.Stuck || x.xReent() != nil {
		return &edgeFinding{} // for X-CALLS and X-REENT
	}
	for i := 0; i < max(len(want), len(x.Fires)); i++ {
		var w *edgeFire
		var g *Fire
		at := certain // the earlier of the two is what differs; if it is in doubt, so is the rest
		if i < len(want) {
			w = &want[i]
			at = min(at, w.at)
		}
		if i < len(x.Fires) {
			g = &x.Fires[i]
			at = min(at, g.Began.At)
		}
		if w != nil && g != nil && w.at == g.Began.At && (w.value == g.Value || payload == NoPayload || w.kind == brought) {
			continue
		}
		if at >= certain {
			break
		}
		return &edgeFinding{rule(want, i, g), x.edgeViolation(want, w, g, at)}
	}
	return &edgeFinding{}
}

// edgeRule is the rule that a difference at the i-th fire breaks.
func (x *exam) edgeRule(want []edgeFire, i int, g *Fire) string {
	var w *edgeFire
	if i < len(want) {
		w = &want[i]
	}
	missing := w != nil && (g == nil || g.Began.At >= w.at)
	at := time.Duration(far) // of what differs
	if w != nil {
		at = w.at
	}
	if g != nil {
		at = min(at, g.Began.At)
	}
	for _, d := range x.Done {
		switch {
		case d.Op == OpClose:
			return "DB-CLOSE"
		case d.Op == OpStop && d.Began.At <= at:
			return "DB-STOP"
		}
	}
	if x.Schedule.Config.Edges == NoEdges {
		return "DB-NONE"
	}
	if x.Schedule.Config.has("maxwait") {
		switch {
		case missing && g != nil && g.Began.At == w.at:
			return "DB-MAXPAY"
		case !missing:
			return "DB-MAXNE"
		case w.kind == "bound", w.kind == brought:
			return "DB-MAX"
		}
		return "DB-MAXTAIL"
	}
	switch {
	case missing && w.kind == "leading" && w.burst == 1:
		return "DB-LEAD"
	case missing && w.kind == "leading":
		return "DB-REARM"
	case missing && w.size == 1:
		return "DB-BOTH1"
	case missing:
		return "DB-BOTHN"
	}
	for _, s := range x.Schedule.Steps {
		if s.Op == OpCall && s.At == g.Began.At {
			return "DB-LEAD1" // at an event that is not the first of its burst
		}
	}
	switch {
	case x.Schedule.Config.Edges == Leading:
		return "DB-LEADONLY"
	case i > 0 && want[i-1].kind == "leading" && want[i-1].size == 1 && x.calls(want[i-1].at, g.Began.At) == 0:
		return "DB-BOTH1"
	}
	return "DB-BOTHN"
}

// calls counts the events after from, up to and including to.
func (x *exam) calls(from, to time.Duration) int {
	n := 0
	for _, s := range x.Schedule.Steps {
		if s.Op == OpCall && s.At > from && s.At <= to {
			n++
		}
	}
	return n
}

func (x *exam) edgeViolation(want []edgeFire, w *edgeFire, g *Fire, at time.Duration) *violation {
	v := &violation{At: at}
	switch {
	case w == nil && g == nil: // the caller says it
	case w == nil:
		v.Headline = fmt.Sprintf("fired %d at %s, want nothing more", g.Value, duration(g.Began.At))
	case g == nil:
		v.Headline = fmt.Sprintf("nothing fired, want %d at %s", w.value, duration(w.at))
	default:
		v.Headline = fmt.Sprintf("fired %d at %s, want %d at %s", g.Value, duration(g.Began.At), w.value, duration(w.at))
	}
	cfg := x.Schedule.Config
	if cfg.has("interval") {
		v.Because = x.intervalBecause(want, w, at)
	} else if w != nil {
		switch w.kind {
		case "leading":
			v.Because = fmt.Sprintf("call %d at %s is the first of its burst", w.value, duration(w.at))
		case "bound":
			v.Because = fmt.Sprintf("the first event that has not fired came at %s, and the bound is %s", duration(w.at-cfg.MaxWait), duration(cfg.MaxWait))
		case brought:
			v.Because = fmt.Sprintf("more than the bound of %s has passed since the first event that has not fired, so that call %d fires: MaxWaitOnCall is declared", duration(cfg.MaxWait), w.value)
		case "trailing":
			v.Because = fmt.Sprintf("the newest event came at %s, and the wait is %s", duration(w.at-cfg.Wait), duration(cfg.Wait))
		case "flush":
			v.Because = fmt.Sprintf("flush at %s fires what is pending", duration(w.at))
		}
	}
	shown, got := lane{name: "want"}, lane{name: "got"}
	for _, f := range want {
		shown.marks = append(shown.marks, laneMark{f.at, fireMark(f.value)})
	}
	for _, f := range x.Fires {
		got.marks = append(got.marks, laneMark{f.Began.At, fireMark(f.Value)})
	}
	v.Lanes = []lane{shown, got}
	return v
}

// edgeCheck is the check of one of these rules.
func edgeCheck(id string) func(x *exam) *violation {
	return func(x *exam) *violation {
		if d := x.edgeDifference(); d.rule == id {
			return d.v
		}
		bounded := x.Schedule.Config.has("maxwait")
		switch {
		case x.Refused != "" || x.Stuck || x.xReent() != nil:
		case x.Schedule.Config.Busy > 0:
			return x.edgeBusy(id)
		case x.Schedule.Config.Inside != "":
		case id == "DB-LEAD1":
			return x.leadsWithin()
		case id == "DB-MAXNE" && bounded && x.Schedule.renewed() != nil:
			return x.firesRenewed()
		case id == "DB-MAXTAIL" && bounded, id == "DB-BOTHN" && !bounded:
			return x.tailLost()
		}
		return nil
	}
}

// edgeRules are the rules of the leading edge and of the bound. They judge the
// schedules that configure one of the two, and no other rule of the debouncer does.
var edgeRules = map[string]func(t DebounceTraits) string{
	"DB-LEAD":     needsEdge(Leading, LeadingAndTrailing),
	"DB-LEAD1":    needsEdge(Leading, LeadingAndTrailing),
	"DB-REARM":    needsEdge(Leading, LeadingAndTrailing),
	"DB-LEADONLY": needsEdge(Leading),
	"DB-BOTH1":    needsEdge(LeadingAndTrailing),
	"DB-BOTHN":    needsEdge(LeadingAndTrailing),
	"DB-MAX":      needsBound,
	"DB-MAXNE":    needsBound,
	"DB-MAXTAIL":  needsBound,
	"DB-MAXPAY":   needsBound,
	"DB-NONE":     needsEdge(NoEdges),
}

func needsEdge(which ...Edges) func(t DebounceTraits) string {
	return func(t DebounceTraits) string {
		for _, e := range which {
			for _, has := range t.Edges {
				if e == has {
					return ""
				}
			}
		}
		return noSuchEdge
	}
}

func needsBound(t DebounceTraits) string {
	return undeclared(t.MaxWait == 0, "MaxWait")
}

// tailLost finds an event that the wait alone should have fired, whatever came before. It
// looks where the model is in doubt, too.
func (x *exam) tailLost() *violation {
	if e := x.Schedule.Config.Edges; e == NoEdges || e == Leading || !x.c.deb.Traits.Payload.ofNewest() {
		return nil
	}
	steps := x.Schedule.Steps
	for i, s := range steps {
		if s.Op == OpStop || s.Op == OpCancel && !x.c.deb.Traits.AfterCancel.usable() {
			return nil
		}
		due := s.At + x.Schedule.Config.Wait
		if s.Op != OpCall || i+1 < len(steps) && steps[i+1].At <= due || due > x.End {
			continue
		}
		if !slices.ContainsFunc(x.Fires, func(f Fire) bool { return f.Value == s.N && f.Began.At <= due }) {
			return x.edgeViolation(nil, &edgeFire{at: due, value: s.N, kind: "trailing"}, nil, due)
		}
	}
	return nil
}

// firesRenewed finds an event behind a cancel that fired at its own instant, as if the bound
// counted from what was cancelled.
func (x *exam) firesRenewed() *violation {
	call := x.Schedule.renewed()
	if x.c.deb.Traits.AfterCancel != CancelReusable || !x.c.deb.Traits.Payload.ofNewest() {
		return nil
	}
	for _, f := range x.Fires {
		if f.Value == call.N && f.Began.At == call.At {
			v := x.edgeViolation(nil, nil, &f, f.Began.At)
			v.Because = fmt.Sprintf("cancel at %s had discarded what came before call %d", duration(call.At), call.N)
			return v
		}
	}
	return nil
}

// leadsWithin finds an event that fired at its own instant, less than the wait after the
// one before it. It looks where the model is in doubt, too.
func (x *exam) leadsWithin() *violation {
	if cfg := x.Schedule.Config; cfg.Edges&Leading == 0 || cfg.has("maxwait") || x.c.deb.Traits.Payload == NoPayload {
		return nil
	}
	var before *Done
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op != OpCall {
			if d.Op != OpPending {
				before = nil
			}
			continue
		}
		for _, f := range x.Fires {
			asked := slices.ContainsFunc(x.Done, func(o Done) bool { // to fire now
				return o.Began.At == d.Began.At && (o.Op == OpFlush || o.Op == OpStop || o.Op == OpClose)
			})
			if before != nil && !asked && f.Value == d.N && f.Began.At == d.Began.At && d.Began.At-before.Began.At < x.Schedule.Config.Wait {
				v := x.edgeViolation(nil, nil, &f, f.Began.At)
				v.Because = fmt.Sprintf("call %d at %s is of the same burst", before.N, duration(before.Began.At))
				return v
			}
		}
		before = d
	}
	return nil
}

// edgeBusy judges what a callback that takes time leaves certain: an event that none ran
// within the wait before fires at once, and what came last on the trailing edge fires.
func (x *exam) edgeBusy(id string) *violation {
	cfg, traits := x.Schedule.Config, x.c.deb.Traits
	if !traits.Payload.ofNewest() || cfg.has("maxwait") {
		return nil
	}
	fired := func(n int, at time.Duration) bool {
		return slices.ContainsFunc(x.Fires, func(f Fire) bool { return f.Value == n && f.Began.At <= at })
	}
	for i, s := range x.Schedule.Steps {
		if s.Op != OpCall {
			return nil
		}
		since := time.Duration(-far)
		if i > 0 {
			since = x.Schedule.Steps[i-1].At
		}
		for _, f := range x.Fires {
			if f.Began.At < s.At && (f.Ended.Seq == 0 || f.Ended.At > since) {
				since = max(since, f.Ended.At)
				if f.Ended.Seq == 0 {
					since = far
				}
			}
		}
		if (id == "DB-LEAD" && i == 0 || id == "DB-REARM" && i > 0 && since < s.At-cfg.Wait) && !fired(s.N, s.At) {
			return x.edgeViolation(nil, &edgeFire{at: s.At, value: s.N, kind: "leading"}, nil, s.At)
		}
		if id == "DB-BOTHN" && cfg.Edges == LeadingAndTrailing && i == len(x.Schedule.Steps)-1 && !fired(s.N, x.End) {
			return x.edgeViolation(nil, &edgeFire{at: s.At + cfg.Wait, value: s.N, kind: "trailing"}, nil, s.At+cfg.Wait)
		}
	}
	return nil
}
