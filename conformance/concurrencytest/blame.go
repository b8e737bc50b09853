package concurrencytest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// broken returns the rule that the first difference breaks: the first suspect that is in
// force.
func (x *exam) broken() string {
	v := x.view()
	if v.broken != "" {
		return v.broken
	}
	for _, id := range append(x.suspects(v), "CT-CONV") {
		if x.inForce(id) {
			v.broken = id
			break
		}
	}
	return v.broken
}

// suspects lists the rules that a difference may break, the likeliest first: those that
// what happened to the request shows beyond doubt; the rule of a simple mistake that
// explains the whole run; and then those of what happened at that instant or before it.
func (x *exam) suspects(v *view) []string {
	if certain := x.certain(v); certain != nil {
		return certain
	}
	if simple := x.explained(v); simple != "" {
		return []string{simple, "CT-WORK"}
	}
	return x.likely(v)
}

// came reports whether a request came in the group of the first difference.
func (v *view) came(r int) bool {
	return slices.ContainsFunc(v.steps, func(s conformance.Step) bool {
		return s.N == r && s.Op != conformance.OpResize && s.Op != conformance.OpRelease && s.Op != conformance.OpCancel
	})
}

// did reports whether an operation was done in the group of the first difference.
func (v *view) did(op conformance.Op) bool {
	return slices.ContainsFunc(v.steps, func(s conformance.Step) bool { return s.Op == op })
}

// certain lists the suspects that the fate of the request shows.
func (x *exam) certain(v *view) []string {
	r, want, got := v.first()
	q := v.model.demands[r]
	switch {
	case v.did(conformance.OpPanic) || v.did(conformance.OpExit):
		if v.model.fifo && !x.beside(0, func(m *model) { m.fifo = false }).differs {
			return []string{"CT-FIFO", "X-PANIC"} // the slot is back, and goes to another
		}
		return []string{"X-PANIC"}
	case q.gone:
		return []string{"CT-CTXPRE"}
	case want == fateTooBig || q.weight > v.wanted.limit:
		return []string{"CT-OVER"}
	case want == fateGone:
		return []string{"CT-CTX"}
	case want == fateLate && v.model.timeout == 0, v.model.timeout == 0 && got == fateFull && want == fateRuns:
		return []string{"CT-TIME0"}
	case want == fateLate:
		return []string{"CT-TIME"}
	case !v.came(r) && got == fateFull && (want == fateWaits || want == fateRuns): // it was told to give up
		return append(x.causes(v), "CT-TIME", "CT-WORK")
	case x.releasedNothing():
		return []string{"CT-OVERREL"}
	case want == fateRuns && got == fateWaits && v.neverRuns():
		return append([]string{"CT-HEAD"}, append(x.causes(v), "CT-WORK")...)
	}
	return nil
}

// neverRuns reports whether a request waits that asks for more than the limit.
func (v *view) neverRuns() bool {
	heavy := func(r int) bool { return v.model.demands[r].weight > v.wanted.limit }
	return slices.ContainsFunc(v.wanted.waiting(), heavy)
}

// explained returns the rule of the first simple mistake that, made in the model, leaves
// no difference from the run; "" if there is none.
func (x *exam) explained(v *view) string {
	for _, guess := range []struct {
		rule  string
		bias  int
		alter func(m *model)
	}{
		{"CT-LIMIT", 1, nil},
		{"CT-WORK", -1, nil},
		{"CT-REJECT", 0, func(m *model) { m.backlog++ }},
		{"CT-REJECT", 0, func(m *model) { m.backlog = max(m.backlog, 0) - 1 }},
		{"CT-REJECT", 0, func(m *model) { m.backlog = -1 }},
		{"CT-SEAT", 0, func(m *model) { m.seatKept = true }},
	} {
		if guess.rule == "CT-REJECT" && v.model.backlog < 0 || v.model.states[0].limit+guess.bias < 1 {
			continue
		}
		if !x.beside(guess.bias, guess.alter).differs {
			return guess.rule
		}
	}
	return ""
}

// likely lists the suspects if no simple mistake explains the run.
func (x *exam) likely(v *view) []string {
	r, want, got := v.first()
	came, causes := v.came(r), x.causes(v)
	switch {
	case got == fateRuns && v.used() > v.wanted.limit:
		if v.did(conformance.OpResize) {
			return []string{"CT-RESIZE"}
		}
		return append(causes, "CT-RELEASE", "CT-LIMIT")
	case got == fateRuns && (want == fateWaits || v.barged(r)):
		return append([]string{"CT-FIFO"}, append(causes, "CT-WORK")...)
	case want == fateRuns && !came:
		return v.overlooked(causes)
	case want == fateRuns && !slices.Contains(v.wanted.fates, fateLeft): // nothing was released
		return append(causes, "CT-WORK")
	case want == fateRuns:
		return append(causes, "CT-RELEASE", "CT-WORK")
	case want == fateWaits && came:
		return append(v.whoKeptPlaces(), append(causes, "CT-REJECT")...)
	}
	return append(causes, "CT-REJECT", "CT-WORK")
}

// overlooked lists the suspects if a request waits that should run.
func (v *view) overlooked(causes []string) []string {
	switch leaves := v.events || v.did(conformance.OpCancel); {
	case leaves && v.did(conformance.OpRelease): // the slot is lost that came free as another gave up
		return append([]string{"CT-TIE", "CT-HEAD"}, causes...)
	case leaves || len(v.model.dropped) > 0:
		return append([]string{"CT-HEAD"}, causes...)
	case v.did(conformance.OpResize):
		return []string{"CT-RESIZE"}
	}
	return append([]string{"CT-WORK"}, causes...)
}

// barged reports whether request r is a try that got free slots, though others wait for more.
func (v *view) barged(r int) bool {
	return v.model.demands[r].try && len(v.wanted.queue) > 0 && v.used() <= v.wanted.limit
}

// whoKeptPlaces lists the rules of those requests that may not have given back their place
// in the backlog, if one is missing.
func (v *view) whoKeptPlaces() []string {
	var out []string
	for r, f := range v.wanted.fates {
		switch {
		case f == fateGone && !v.model.demands[r].gone:
			out = append(out, "CT-CTX")
		case f == fateLate:
			out = append(out, "CT-TIME")
		case v.waited(r):
			out = append(out, "CT-SEAT")
		}
	}
	return out
}

// causes lists the rules that may have been broken earlier without showing.
func (x *exam) causes(v *view) []string {
	var out []string
	has := func(ops ...conformance.Op) bool { return suite.Has(ops...)(suite.Job{Schedule: x.Schedule}) }
	left := func(f fate) bool { return slices.Contains(v.wanted.fates, f) }
	if x.releasedNothing() {
		out = append(out, "CT-OVERREL")
	}
	if has(conformance.OpPanic, conformance.OpExit) {
		out = append(out, "X-PANIC")
	}
	if slices.ContainsFunc(v.model.demands, func(q demand) bool { return q.gone }) {
		out = append(out, "CT-CTXPRE")
	}
	if x.Schedule.RacingSteps() > 0 && (cancels(x.Schedule) || v.model.timeout == suite.Wait) {
		out = append(out, "CT-TIE")
	}
	if has(conformance.OpResize) {
		out = append(out, "CT-RESIZE")
	}
	if slices.ContainsFunc(v.model.demands, func(q demand) bool { return q.weight > v.wanted.limit }) {
		out = append(out, "CT-HEAD", "CT-OVER")
	}
	if left(fateGone) || left(fateLate) && v.model.timeout > 0 {
		out = append(out, "CT-NOGHOST")
	}
	return out
}

// difference makes a violation of the first difference.
func (x *exam) difference() *suite.Violation {
	v := x.view()
	r, want, got := v.first()
	words := map[fate]string{fateWaits: "waits", fateRuns: "runs", fateFull: "is rejected"}
	wants := map[fate]string{fateWaits: "it to wait", fateRuns: "it to run", fateFull: "it to be rejected"}
	id := v.tr.requests[r].id
	out := suite.Broken(v.at, x.because(v),
		"request %d %s at %s, want %s", id, words[got], timeline.Duration(v.at), wants[want.outside()])
	out.Lanes = v.lanes()
	if name := x.declaredSo(v); name != "" {
		out.Because += "; " + name + " is declared"
	}
	if own := firstOwn(x.Schedule.Steps); id >= own {
		out.Because += "; " + cameLast(own)
	} else if v.after {
		out.Because += "; " + lastly
	}
	return out
}

// lastly is what comes of a run after the last step of its schedule.
const lastly = "after the last step the suite releases all that runs"

// cameLast says where requests come from that the schedule does not name.
func cameLast(own int) string {
	return fmt.Sprintf("%s, and requests from %d on come", lastly, own)
}

// because says why something else should have happened to the request of the first
// difference.
func (x *exam) because(v *view) string {
	r, want, got := v.first()
	q, wanted, backlog, waiting := v.tr.requests[r], v.wanted, v.model.backlog, len(v.wanted.queue)
	switch {
	case v.model.demands[r].gone && x.traits.Context == ContextHonoured:
		return "its context was done before it came; where that may be, if it need not wait, declare ContextEndsWait"
	case v.model.demands[r].gone:
		return "its context was done before it came"
	case want == fateGone:
		return "its context is done"
	case want == fateLate:
		return fmt.Sprintf("it came at %s and the timeout is %s",
			timeline.Duration(q.arrived.At), timeline.Duration(v.model.timeout))
	case want == fateTooBig:
		return fmt.Sprintf("it asks for %d slots of %d", q.weight, wanted.limit)
	case got == fateRuns && v.barged(r):
		return fmt.Sprintf("%d of %d slots are taken and %d wait, whom a try must not overtake",
			wanted.used, wanted.limit, waiting)
	case want == fateFull:
		return v.full(r)
	case want == fateRuns:
		return fmt.Sprintf("it is its turn, and with it no more than %d of %d slots are taken",
			wanted.used, wanted.limit)
	case got == fateRuns && v.used() > wanted.limit:
		return fmt.Sprintf("with it %d slots are taken, of %d", v.used(), wanted.limit)
	case got == fateFull && !v.came(r) && v.model.timeout > 0:
		return fmt.Sprintf("it came at %s, and the timeout of %s ends at %s", timeline.Duration(q.arrived.At),
			timeline.Duration(v.model.timeout), timeline.Duration(q.arrived.At+v.model.timeout))
	case got == fateFull && !v.came(r):
		return "nothing ends its wait"
	case got == fateFull && backlog >= 0:
		return fmt.Sprintf("with it no more than %d of %d places in the backlog are taken", waiting, backlog)
	}
	return fmt.Sprintf("%d of %d slots are taken, and it is not its turn", wanted.used, wanted.limit)
}

// full says why there is no room for request r.
func (v *view) full(r int) string {
	q, s := v.model.demands[r], v.wanted
	text := fmt.Sprintf("%d of %d slots are taken", s.used, s.limit)
	if q.weight > 1 {
		text = fmt.Sprintf("it asks for %d, %s", q.weight, text)
	}
	kept := 0
	for _, k := range s.kept {
		if k && v.model.seatKept {
			kept++
		}
	}
	switch {
	case q.try:
		return text + ", and a try does not wait"
	case kept > 0:
		return fmt.Sprintf("%s, and of %d places in the backlog %d by who waits and %d by who runs",
			text, v.model.backlog, len(s.queue), kept)
	}
	return fmt.Sprintf("%s and %d of %d places in the backlog", text, len(s.queue), v.model.backlog)
}

// declaredSo names the declared choice without which there would be no first difference,
// "" if there is none.
func (x *exam) declaredSo(v *view) string {
	named := func(values []string, declared int) string { return append([]string{""}, values...)[declared] }
	r, want, got := v.first()
	switch q, rule := v.model.demands[r], x.broken(); {
	case rule == "CT-FIFO":
		return named(orders, int(x.declared.Fair))
	case rule == "CT-SEAT", want == fateFull && v.model.seatKept:
		return named(seats, int(x.declared.SeatHeld))
	case q.gone, want == fateFull && q.try: // the request has said so
	case want == fateGone:
		return named(contexts, int(x.declared.Context))
	case want == fateLate:
		return named(timeouts, int(x.declared.Timeout))
	case q.weight > v.wanted.limit:
		return named(oversizes, int(x.declared.Oversize))
	case want == fateFull, got == fateFull && v.model.backlog < 0:
		return named(backlogs, int(x.declared.Backlog))
	}
	return ""
}
