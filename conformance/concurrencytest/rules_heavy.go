package concurrencytest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// A limit that is lowered below the weight of one who waits leaves open what becomes of that
// request: it may be rejected, then or later, or wait for a higher limit, and keep those behind it
// waiting. So the model stops there. What is judged still is that it does not run, and that nobody waits
// for it when it has gone.

// heavily is a run from such a step on, as it looks when a group has settled.
type heavily struct {
	*group
	limit, most, used int        // most is the highest limit of the group
	admitted          []*request // since the group before
	waiting           []*request // in the order in which they came
}

// eachHeavy calls look for each group from the step on that left the model, until look finds something.
func (x *exam) eachHeavy(look func(h *heavily) *suite.Violation) *suite.Violation {
	if x.Refused != "" || x.Stuck || x.view().differs || x.view().heavy == nil {
		return nil
	}
	h := &heavily{limit: x.Schedule.Config.Limit}
	before, from := 0, false
	for _, g := range x.groups {
		if g.settled.Seq == 0 {
			return nil
		}
		h.group, h.most, h.admitted, h.waiting = g, h.limit, nil, nil
		for _, s := range g.steps {
			switch {
			case s.releasesNothing():
				return nil // what follows is not judged
			case s.Op == conformance.OpResize:
				h.limit = s.N
				h.most = max(h.most, h.limit)
			case s.gives():
				h.used -= x.requests[s.request].weight
			}
		}
		for _, q := range x.requests {
			switch decided := q.decided.Seq > 0 && q.decided.Seq <= g.settled.Seq; {
			case q.arrived.Seq > g.settled.Seq:
			case !decided:
				h.waiting = append(h.waiting, q)
			case q.admitted && q.decided.Seq > before:
				h.admitted = append(h.admitted, q)
				h.used += q.weight
			}
		}
		before, from = g.settled.Seq, from || g == x.view().heavy
		if v := look(h); from && v != nil {
			return v
		}
	}
	return nil
}

// gives reports whether the step gives slots back that its request holds.
func (s *step) gives() bool {
	return s.request >= 0 && slices.Contains([]conformance.Op{
		conformance.OpRelease, conformance.OpPanic, conformance.OpExit,
	}, s.Op)
}

// overfull finds requests that got slots though more than the limit are taken then.
func (x *exam) overfull() *suite.Violation {
	return x.eachHeavy(func(h *heavily) *suite.Violation {
		if len(h.admitted) == 0 || h.used <= h.most {
			return nil
		}
		return suite.Broken(h.at, fmt.Sprintf("with it %d slots are taken, of %d", h.used, h.most),
			"request %d runs at %s, want it to wait or be rejected", h.admitted[0].id, timeline.Duration(h.at))
	})
}

// held finds requests that wait though they are next, and fit, and returns the rule that this breaks:
// whether somebody who asked for too much had been before them tells.
func (x *exam) held() (rule string, v *suite.Violation) {
	tooMuch := map[*request]bool{}
	v = x.eachHeavy(func(h *heavily) *suite.Violation {
		for _, q := range h.waiting {
			tooMuch[q] = tooMuch[q] || q.weight > h.limit
		}
		next := h.waiting
		if x.traits.Fair == FairFIFO {
			next = next[:min(1, len(next))]
		}
		stays := func(q *request) bool { return tooMuch[q] || q.weight > h.limit-h.used }
		if len(next) == 0 || slices.ContainsFunc(next, stays) {
			return nil
		}
		rule = "CT-WORK"
		because := fmt.Sprintf("%d of %d slots are taken, and nobody is before it", h.used, h.limit)
		for _, q := range x.requests {
			if tooMuch[q] && q.arrived.Seq < next[0].arrived.Seq {
				rule = "CT-HEAD"
				because = fmt.Sprintf("%d of %d slots are taken, and request %d has gone", h.used, h.limit, q.id)
			}
		}
		if h.began.Seq > x.drained.Seq {
			because += "; behind the schedule what runs is released, and then what waits gives up"
		}
		return suite.Broken(h.at, because,
			"request %d waits at %s, want it to run", next[0].id, timeline.Duration(h.at))
	})
	return rule, v
}

// heldBy finds such requests if they break the rule.
func (x *exam) heldBy(rule string) *suite.Violation {
	if breaks, v := x.held(); breaks == rule {
		return v
	}
	return nil
}
