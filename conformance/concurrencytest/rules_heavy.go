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
// waiting. So the model stops there. What is judged still is that it does not run, that nobody waits
// for it when it has gone, and that whoever rejects one such request keeps nobody waiting for another.

// heavily is a run from such a step on, as it looks when a group has settled.
type heavily struct {
	*group
	limit, most, used int        // most is the highest limit of the group
	admitted          []*request // since the group before
	waiting           []*request // in the order in which they came
	refuses           *request   // who waited for more than the limit, and was rejected for that, if anybody was
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
		h.group, h.most, h.admitted, h.waiting, h.refuses = g, h.limit, nil, nil, nil
		for _, s := range g.steps {
			switch {
			case s.releasesNothing(), s.unclear():
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
			case h.refused(q):
				h.refuses = q
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
		because := fmt.Sprintf("with it %d slots are taken, of %d", h.used, h.most)
		if h.most == 0 {
			because += "; where a limit of 0 means something else, Resize panics"
		}
		if own := firstOwn(x.Schedule.Steps); h.admitted[0].id >= own {
			because += "; " + cameLast(own)
		}
		return suite.Broken(h.at, because,
			"request %d runs at %s, want it to wait or be rejected", h.admitted[0].id, timeline.Duration(h.at))
	})
}

// refused reports whether a request was rejected in this group that waited before, and asks for more than
// the limit, where nothing else can have ended its wait.
func (h *heavily) refused(q *request) bool {
	cancels := func(s *step) bool { return s.Op == conformance.OpCancel }
	return !h.racing && q.arrived.Seq < h.began.Seq && q.decided.Seq > h.began.Seq && !q.admitted &&
		q.weight > h.limit && !slices.ContainsFunc(h.steps, cancels)
}

// heavies is what is known of the requests that wait, or have waited, for more than the limit.
type heavies struct {
	fifo    bool
	single  bool
	heavy   map[*request]bool     // ever while they waited
	tooMuch map[*request]bool     // already when they came, so that a higher limit may come too late
	spared  map[*request]*request // who was next too when another was rejected, and that other
}

// note learns from a group.
func (k *heavies) note(h *heavily) {
	for _, q := range h.waiting {
		k.heavy[q] = k.heavy[q] || q.weight > h.limit
		k.tooMuch[q] = k.tooMuch[q] || q.weight > h.limit && q.arrived.Seq > h.began.Seq && !k.single
	}
	if h.refuses == nil {
		return
	}
	first := slices.IndexFunc(h.waiting, func(q *request) bool { return q.weight <= h.limit })
	switch {
	case first < 0:
		first = len(h.waiting)
	case !k.fifo: // it may have been the turn of a light one
		return
	}
	for _, q := range h.waiting[:first] {
		k.spared[q] = h.refuses
	}
}

// next lists those who may be the next to run, among whom are none that should have been rejected as
// another was.
func (k *heavies) next(h *heavily) []*request {
	next := slices.DeleteFunc(slices.Clone(h.waiting), func(q *request) bool {
		return k.spared[q] != nil && q.weight > h.limit
	})
	if k.fifo {
		next = next[:min(1, len(next))]
	}
	return next
}

// before says who has kept a request waiting, "" if nobody has who asked for too much.
func (k *heavies) before(q *request, all []*request) (why string) {
	for _, o := range all {
		switch gone := k.heavy[o] && o.arrived.Seq < q.arrived.Seq; {
		case gone && k.spared[o] != nil:
			return fmt.Sprintf("request %d asks for more than the limit, for which request %d was rejected",
				o.id, k.spared[o].id)
		case gone:
			why = fmt.Sprintf("request %d has gone", o.id)
		}
	}
	return why
}

// held finds requests that wait though they are next, and fit, and returns the rule that this breaks:
// whether somebody who asked for too much had been before them tells.
func (x *exam) held() (rule string, v *suite.Violation) {
	known := heavies{
		fifo: x.traits.Fair == FairFIFO, single: x.traits.OneAtATime,
		heavy: map[*request]bool{}, tooMuch: map[*request]bool{}, spared: map[*request]*request{},
	}
	v = x.eachHeavy(func(h *heavily) *suite.Violation {
		known.note(h)
		next := known.next(h)
		stays := func(q *request) bool { return known.tooMuch[q] || q.weight > h.limit-h.used }
		if len(next) == 0 || slices.ContainsFunc(next, stays) {
			return nil
		}
		rule = "CT-HEAD"
		why := known.before(next[0], x.requests)
		switch {
		case known.heavy[next[0]]:
			rule, why = "CT-RESIZE", "the limit was too low for it, and no longer is"
		case why == "":
			rule, why = "CT-WORK", "nobody is before it"
		}
		because := fmt.Sprintf("%d of %d slots are taken, and %s", h.used, h.limit, why)
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
