package concurrencytest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	*trace
	traits   *Traits
	declared Traits // as the spec has them
	// inForce reports whether a rule judges this run, so that a difference may break it.
	inForce func(rule string) bool
	seen    *view
}

// Exam puts a trace in the terms of a concurrency limiter.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, j suite.Job) *exam {
	return &exam{
		Recording: rec, trace: rec.Detail.(*trace), traits: tr, declared: c.spec.Traits,
		inForce: func(rule string) bool { return suite.InForce(c.suite, c, tr, j, rule) },
	}
}

// like returns another run in the same terms.
func (x *exam) like(rec *suite.Recording) *exam {
	return &exam{Recording: rec, trace: rec.Detail.(*trace), traits: x.traits, declared: x.declared, inForce: x.inForce}
}

// view is a run beside the model, up to the first difference.
type view struct {
	tr    *trace
	model *model

	// differs says that what was observed fits no state of the model. Then at is the
	// instant, steps are what was done there, and wanted is the legal state that is
	// nearest.
	differs bool
	at      time.Duration
	steps   []conformance.Step
	events  bool // something was due at that instant as well
	after   bool // the schedule was over
	wanted  *state
	seen    []fate

	broken string // the rule that the difference breaks, when it is known

	// heavy is the group in which a limit was lowered below the weight of who waits and is not rejected
	// by that, or to 0, from which on the model knows nothing; nil if there is none.
	heavy *group

	// hooks is the first instant at which the hook had been called too often or not often
	// enough, -1 if there is none.
	hooks                time.Duration
	hookCalls, hookLeast int
}

// view is the run beside the model, compared once.
func (x *exam) view() *view {
	if x.seen == nil {
		x.seen = x.beside(0, nil)
	}
	return x.seen
}

// beside compares the run with the model. Bias is added to the limits, and alter changes the
// model beforehand, to see whether that explains a run.
func (x *exam) beside(bias int, alter func(m *model)) *view {
	cfg := x.traits.config(x.Schedule.Config, nil)
	cfg.Limit += bias
	v := &view{tr: x.trace, model: newModel(cfg, x.traits), hooks: -1}
	v.model.bias = bias
	if alter != nil {
		alter(v.model)
	}
	gone := map[int]bool{}
	for _, g := range x.groups {
		if g.settled.Seq == 0 {
			return v // the run got stuck here
		}
		v.after = x.isOver(g)
		if !v.model.pass(g.at, !g.racing, func(at time.Duration) bool { return v.untouched(g, at) }) {
			return v
		}
		var events []event
		if g.racing {
			events = v.model.dueAt(g.at)
		}
		v.events = len(events) > 0
		if !v.take(g, x.traits, gone) {
			return v
		}
		v.model.group(v.steps, events)
		if !v.compare(g.at, g.settled.Seq) {
			return v
		}
		if hook := x.traits.Hook; v.hooks < 0 && (hook == HookOnce || hook == HookFits) {
			v.countHooks(g, hook)
		}
	}
	return v
}

// isOver reports whether the schedule was over when a group began.
func (t *trace) isOver(g *group) bool { return t.drained.Seq != 0 && g.began.Seq > t.drained.Seq }

// untouched compares what was observed just before a group is done.
func (v *view) untouched(g *group, at time.Duration) bool {
	v.steps, v.events = nil, true
	seq := math.MaxInt
	if at == g.at {
		seq = g.began.Seq
	}
	return v.compare(at, seq)
}

// take shows the steps of a group to the model, where requests are numbered as they come.
// It reports false if nothing can be judged any more: a request that waits and is more than the
// limit before a resize, or after it, may be rejected, or go on to wait. If all of those are seen to be
// rejected, who comes behind them is judged. Gone are the requests whose contexts were cancelled
// before they came.
func (v *view) take(g *group, tr *Traits, gone map[int]bool) bool {
	v.steps, v.model.dropped = nil, nil
	for _, s := range g.steps {
		st := s.Step
		if tr.OneAtATime && comes(st.Op) {
			st.K = 0
		}
		switch {
		case st.Op == conformance.OpCancel && s.request < 0:
			gone[st.N] = true
			continue
		case s.releasesNothing() && tr.OverRelease == OverReleaseIgnored:
			continue
		case s.releasesNothing():
			return false
		case s.unclear():
			return false
		case st.Op == conformance.OpResize && (st.N == 0 || !v.drops(g, st.N)):
			v.heavy = g
			return false
		case comes(st.Op):
			v.model.add(demanded(st, g.at, gone[st.N], v.tr.requests[s.request].handler))
		}
		if st.Op != conformance.OpResize {
			st.N = s.request
		}
		v.steps = append(v.steps, st)
	}
	return true
}

// drops reports whether every request that waits and is more than the limit to which a group
// resizes is rejected by then, and notes that in the model.
func (v *view) drops(g *group, limit int) bool {
	heavy, ok := v.model.newlyHeavy(limit)
	v.model.dropped = append(v.model.dropped, heavy...)
	return ok && !slices.ContainsFunc(heavy, func(r int) bool {
		return v.tr.observed(r, g.at, g.settled.Seq) != fateFull
	})
}

// observed returns the fate of request r as it was seen up to the point seq, at the
// instant at.
func (t *trace) observed(r int, at time.Duration, seq int) fate {
	q := t.requests[r]
	switch {
	case q.decided.Seq == 0 || q.decided.At > at || q.decided.At == at && q.decided.Seq > seq:
		return fateWaits
	case q.admitted:
		return fateRuns
	}
	return fateFull
}

// compare keeps the states that fit what was observed, and reports whether there are any.
// What was decided before this instant must have been seen before it.
func (v *view) compare(at time.Duration, seq int) bool {
	seen := make([]fate, len(v.model.demands))
	for r := range seen {
		seen[r] = v.tr.observed(r, at, seq)
		before := r < len(v.seen) && v.seen[r] != fateWaits
		if decided := v.tr.requests[r].decided.At; !before && seen[r] != fateWaits && decided < at {
			return v.difference(decided, seen, v.asBefore)
		}
	}
	var legal []*state
	for _, s := range v.model.states {
		if mismatches(s, seen) == 0 {
			legal = append(legal, s)
		}
	}
	if len(legal) == 0 {
		return v.difference(at, seen, func(s *state) *state { return s })
	}
	v.model.states, v.seen = legal, seen
	return true
}

// asBefore returns a state in which the requests that were seen to wait still wait.
func (v *view) asBefore(s *state) *state {
	c := s.clone()
	for r := range c.fates {
		if r >= len(v.seen) || v.seen[r] == fateWaits {
			c.fates[r] = fateWaits
		}
	}
	return c
}

func (v *view) difference(at time.Duration, seen []fate, wanted func(s *state) *state) bool {
	nearest := slices.MinFunc(v.model.states, func(a, b *state) int {
		return cmp.Or(
			cmp.Compare(mismatches(a, seen), mismatches(b, seen)),
			cmp.Compare(denied(a, seen), denied(b, seen)))
	})
	v.wanted = wanted(nearest)
	v.differs, v.at, v.seen = true, at, seen
	return false
}

// mismatches counts the requests whose fate was seen to be another than in s.
func mismatches(s *state, seen []fate) int {
	n := 0
	for r, f := range s.fates {
		if f.outside() != seen[r] {
			n++
		}
	}
	return n
}

// denied counts the answers that are others than in s: what was answered is believed sooner than that
// somebody has to wait.
func denied(s *state, seen []fate) int {
	n := 0
	for r, f := range s.fates {
		if seen[r] != fateWaits && f.outside() != seen[r] {
			n++
		}
	}
	return n
}

// countHooks compares the number of calls of the hook with that of rejections. It is left
// open whether the hook is called for a try and for a request whose context is done.
func (v *view) countHooks(g *group, hook Hook) {
	calls := 0
	for _, h := range v.tr.hooks {
		if h.Seq < g.settled.Seq {
			calls++
		}
	}
	for _, s := range v.model.states {
		least, most := 0, 0
		for r, f := range s.fates {
			switch f {
			case fateFull, fateLate, fateTooBig:
				if !v.model.demands[r].try && (f != fateTooBig || hook == HookOnce) {
					least++
				}
				most++
			case fateGone:
				most++
			}
		}
		if calls >= least && calls <= most {
			return
		}
		v.hookLeast = least
	}
	v.hooks, v.hookCalls = g.at, calls
}

// first returns the request whose fate differs from that in the nearest state, and both
// fates. If there are several, one that should not have been admitted comes first.
func (v *view) first() (r int, want, got fate) {
	first := -1
	for r, f := range v.wanted.fates {
		if f.outside() != v.seen[r] && (first < 0 || v.seen[r] == fateRuns && v.seen[first] != fateRuns) {
			first = r
		}
	}
	return first, v.wanted.fates[first], v.seen[first]
}

// waited reports whether request r waited before it was admitted.
func (v *view) waited(r int) bool {
	q := v.tr.requests[r]
	return slices.ContainsFunc(v.tr.groups, func(g *group) bool {
		return q.admitted && g.settled.Seq > q.arrived.Seq && g.settled.Seq < q.decided.Seq
	})
}

// used returns how many slots are taken, as far as was seen.
func (v *view) used() int {
	n := 0
	for r, f := range v.seen {
		if f == fateRuns && v.wanted.fates[r] != fateLeft {
			n += v.model.demands[r].weight
		}
	}
	return n
}

// endLane is the lane of what the suite does after the last step.
const endLane = "end"

// lanes show which requests were admitted (+) or rejected (x), and at the first difference
// which wait (w).
func (v *view) lanes() []suite.Lane {
	want, got := suite.Lane{Name: "want"}, suite.Lane{Name: "got"}
	sign := map[fate]string{fateRuns: "+", fateFull: "x", fateWaits: "w"}
	put := func(l *suite.Lane, at time.Duration, r int, f fate) {
		l.Marks = append(l.Marks, suite.Mark{At: at, Text: fmt.Sprint(v.tr.requests[r].id, sign[f.outside()])})
	}
	for r, seen := range v.seen {
		wanted, at := v.wanted.fates[r].outside(), v.at
		if seen != fateWaits {
			at = v.tr.requests[r].decided.At
		}
		switch {
		case wanted != seen:
			put(&want, v.at, r, wanted)
			put(&got, at, r, seen)
		case seen != fateWaits:
			put(&want, at, r, seen)
			put(&got, at, r, seen)
		}
	}
	out := []suite.Lane{want, got}
	if v.after {
		end := suite.Lane{Name: endLane, Marks: []suite.Mark{{At: v.tr.drained.At, Text: "all"}}}
		out = slices.Insert(out, 0, end)
	}
	return out
}
