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
	kind  string // leading, trailing, bound or flush
	burst int    // the number of its burst
	size  int    // the number of events in that burst by then
}

// edgeFinding is the first difference between what such a debouncer should have
// done and what it did, and the rule that it breaks.
type edgeFinding struct {
	rule string
	v    *violation
}

// edgeModel says what must fire in a schedule of settled steps, and up to which
// instant that is certain: an event at the very instant of a deadline, or soon after
// a cancel or flush within a burst, is dealt with in more than one way.
func (x *exam) edgeModel() (want []edgeFire, certain time.Duration) {
	cfg := x.Schedule.Config
	traits := x.c.deb.Traits
	edges := cfg.Edges
	if edges == 0 {
		edges = Trailing
	}
	if edges == NoEdges {
		return nil, far
	}
	bounded := cfg.has("maxwait")
	var (
		pending     bool
		value       int
		first, last time.Duration // the first event that has not fired, and the newest
		cut         time.Duration // the newest cancel or flush
		burst, size int
		inBurst     bool
	)
	deadline := func() (time.Duration, string) {
		if bounded && first+cfg.MaxWait < last+cfg.Wait {
			return first + cfg.MaxWait, "bound"
		}
		return last + cfg.Wait, "trailing"
	}
	certain = far
	doubt := func(at time.Duration) {
		certain = min(certain, at)
	}
	pass := func(to time.Duration) {
		if !pending {
			return
		}
		at, kind := deadline()
		if at > to {
			return
		}
		want = append(want, edgeFire{at, value, kind, burst, size})
		pending = false
		if kind == "bound" && traits.MaxWait == MaxWaitFromFire {
			doubt(at + 1)
		}
	}
	for _, s := range x.Schedule.Steps {
		if at, _ := deadline(); pending && at == s.At {
			doubt(s.At)
		}
		pass(s.At)
		switch s.Op {
		case OpCall:
			quiet := !inBurst || s.At > max(last, cut)+cfg.Wait
			if inBurst && edges != Trailing && !quiet && (s.At >= last+cfg.Wait || cut >= last) {
				doubt(s.At)
			}
			if quiet || s.At >= last+cfg.Wait {
				burst, size = burst+1, 0
			}
			inBurst, last = true, s.At
			size++
			if edges&Leading != 0 && size == 1 {
				want = append(want, edgeFire{s.At, s.N, "leading", burst, size})
				if edges&Trailing == 0 || traits.BothSingle != BothTwice {
					continue
				}
			}
			if edges&Trailing == 0 {
				continue
			}
			if !pending {
				first = s.At
			}
			if !pending || traits.Payload != FirstPayload {
				value = s.N
			}
			pending = true
		case OpCancel:
			pending, cut = false, s.At
			if traits.AfterCancel == CancelReusable {
				inBurst = false
			}
			if traits.AfterCancel == CancelFinal {
				return want, certain // nothing counts any more
			}
		case OpStop:
			if traits.StopPending != StopDrops {
				doubt(s.At)
			}
			return want, certain
		case OpFlush:
			if pending {
				want = append(want, edgeFire{s.At, value, "flush", burst, size})
				if bounded && traits.MaxWait == MaxWaitFromFire {
					doubt(s.At + 1)
				}
			}
			pending, cut = false, s.At
		}
	}
	pass(far)
	return want, certain
}

// edgeDifference compares a run with the model.
func (x *exam) edgeDifference() *edgeFinding {
	if x.edge == nil {
		want, certain := x.edgeModel()
		x.edge = x.findEdge(want, certain, x.c.deb.Traits.Payload, x.edgeRule)
	}
	return x.edge
}

// findEdge compares the fires of a run with those of a model, of which those from an
// instant on are uncertain, and lets rule name the first difference.
func (x *exam) findEdge(want []edgeFire, certain time.Duration, payload Payload, rule func(want []edgeFire, i int, g *Fire) string) *edgeFinding {
	if x.Refused != "" || x.Stuck {
		return &edgeFinding{} // for X-CALLS
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
		if w != nil && g != nil && w.at == g.Began.At && (w.value == g.Value || payload == NoPayload) {
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
	if x.Schedule.Config.Edges == NoEdges {
		return "DB-NONE"
	}
	if x.Schedule.Config.has("maxwait") {
		switch {
		case missing && g != nil && g.Began.At == w.at:
			return "DB-MAXPAY"
		case !missing:
			return "DB-MAXNE"
		case w.kind == "bound":
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
		if id == "DB-MAXTAIL" {
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
	switch t.MaxWait {
	case 0:
		return "no MaxWait is declared"
	case MaxWaitOnCall:
		return "declared: MaxWaitOnCall"
	}
	return ""
}

// edgeFamilies are the schedules of the leading edge and of the bound. A leading
// debouncer may go by timestamps, so that no gap is exactly the wait.
func edgeFamilies(c *contract, ops []Op) []family {
	var out []family
	few := []Op{OpCall}
	for _, op := range ops {
		if op == OpCancel && c.deb.Traits.AfterCancel != CancelFinal || op == OpFlush {
			few = append(few, op)
		}
	}
	for _, e := range c.deb.Traits.Edges {
		if e == Trailing {
			continue
		}
		cfg := Config{}.With("wait", "100ms").With("edges", e.String())
		out = append(out,
			family{name: "edges " + e.String(), schedules: enumerate(cfg, []Op{OpCall}, []time.Duration{0, 1, wait / 2, wait - 1, wait + 1, 3 * wait}, 5)},
			family{name: "edges " + e.String() + " cut", schedules: enumerate(cfg, few, []time.Duration{1, wait / 2, wait + 1, 3 * wait}, 4)})
	}
	if c.deb.Traits.MaxWait != 0 && needsEdge(NoEdges)(c.deb.Traits) == "" {
		cfg := Config{}.With("wait", "100ms").With("maxwait", "250ms").With("edges", NoEdges.String())
		out = append(out, family{name: "edges none bound", schedules: enumerate(cfg, []Op{OpCall}, []time.Duration{1, wait - 1, wait + 1}, 4)})
	}
	if c.deb.Traits.MaxWait != 0 && needsEdge(Trailing)(c.deb.Traits) == "" {
		for _, bound := range []string{"250ms", "100ms"} {
			cfg := Config{}.With("wait", "100ms").With("maxwait", bound)
			out = append(out,
				family{name: "bound " + bound, schedules: enumerate(cfg, []Op{OpCall}, []time.Duration{0, 1, wait * 6 / 10, wait - 1, wait + 1}, 6)},
				family{name: "bound " + bound + " cut", schedules: enumerate(cfg, few, []time.Duration{1, wait * 7 / 10, wait - 1, wait + 1}, 4)})
		}
	}
	return out
}

// tailLost finds an event that the wait alone should have fired, whatever the bound
// did before. It looks where the model is in doubt, too.
func (x *exam) tailLost() *violation {
	if cfg := x.Schedule.Config; x.Refused != "" || x.Stuck || !cfg.has("maxwait") || cfg.Edges == NoEdges || !x.c.deb.Traits.Payload.ofNewest() {
		return nil
	}
	steps := x.Schedule.Steps
	for i, s := range steps {
		if s.Op == OpStop || s.Op == OpCancel && x.c.deb.Traits.AfterCancel == CancelFinal {
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
