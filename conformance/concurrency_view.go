package conformance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// concurrencyView is a run beside the model, up to the first difference.
type concurrencyView struct {
	tr    *concurrencyTrace
	model *concurrencyModel

	// differs says that no state of the model is what was observed. Then at is the
	// instant, steps what was done there, and wanted the nearest legal state.
	differs bool
	at      time.Duration
	steps   []Step
	events  bool // something was due at that instant as well
	wanted  *concurrencyState
	seen    []fate

	broken string // the rule that the difference breaks, once it is known

	// hooks is the first instant at which the hook had been called too often or not
	// often enough, -1 if there is none.
	hooks                time.Duration
	hookCalls, hookLeast int
}

// conView returns the view of a run, built once.
func (x *exam) conView() *concurrencyView {
	if x.conc == nil {
		x.conc = newConcurrencyView(x.Trace, x.c.con, 0, nil)
	}
	return x.conc
}

// newConcurrencyView compares a run with the model. bias is added to the limits, and
// alter changes the model beforehand.
func newConcurrencyView(tr *Trace, spec *ConcurrencySpec, bias int, alter func(m *concurrencyModel)) *concurrencyView {
	cfg := spec.config(tr.Schedule.Config, nil)
	cfg.Limit += bias
	v := &concurrencyView{tr: tr.conc, model: newConcurrencyModel(cfg, spec.Traits), hooks: -1}
	v.model.bias = bias
	if alter != nil {
		alter(v.model)
	}
	gone := map[int]bool{}
	for _, g := range v.tr.groups {
		if g.settled.Seq == 0 {
			return v // the run got stuck here
		}
		if !v.model.pass(g.at, !g.racing, func(at time.Duration) bool {
			v.steps, v.events = nil, true
			seq := math.MaxInt
			if at == g.at {
				seq = g.began.Seq
			}
			return v.compare(at, seq)
		}) {
			return v
		}
		var events []concurrencyEvent
		if g.racing {
			events = v.model.dueAt(g.at)
		}
		v.steps, v.events = nil, len(events) > 0
		for _, s := range g.steps {
			st := s.Step
			switch {
			case st.Op == OpCancel && s.request < 0:
				gone[st.N] = true
				continue
			case st.Op == OpRelease && s.request < 0 && spec.Traits.OverRelease == OverReleaseIgnored:
				continue
			case st.Op == OpRelease && s.request < 0:
				return v
			case st.Op == OpAcquire || st.Op == OpTry || st.Op == OpDo:
				q := modelRequest{weight: max(1, st.K), at: g.at, try: st.Op == OpTry, gone: gone[st.N], handler: v.tr.requests[s.request].handler}
				if st.D > 0 {
					q.expires = g.at + st.D
				}
				v.model.add(q)
			}
			if st.Op != OpResize {
				st.N = s.request
			}
			v.steps = append(v.steps, st)
		}
		v.model.group(v.steps, events)
		if !v.compare(g.at, g.settled.Seq) {
			return v
		}
		if v.hooks < 0 && spec.Traits.Hook == HookOnce {
			v.countHooks(g)
		}
	}
	return v
}

// observed is what was seen of request r by the point that is seq at the instant at.
func (t *concurrencyTrace) observed(r int, at time.Duration, seq int) fate {
	q := t.requests[r]
	switch {
	case q.decided.Seq == 0 || q.decided.At > at || q.decided.At == at && q.decided.Seq > seq:
		return fateWaits
	case q.admitted:
		return fateRuns
	}
	return fateFull
}

// compare keeps the states that are what was observed, and reports whether there
// are any. What was decided earlier than this instant must have been seen before.
func (v *concurrencyView) compare(at time.Duration, seq int) bool {
	seen := make([]fate, len(v.model.requests))
	for r := range seen {
		seen[r] = v.tr.observed(r, at, seq)
		if before := r < len(v.seen) && v.seen[r] != fateWaits; !before && seen[r] != fateWaits && v.tr.requests[r].decided.At < at {
			return v.difference(v.tr.requests[r].decided.At, seen, func(s *concurrencyState) *concurrencyState {
				c := s.clone()
				for o := range c.fates { // as they were before this instant
					if o >= len(v.seen) || v.seen[o] == fateWaits {
						c.fates[o] = fateWaits
					}
				}
				return c
			})
		}
	}
	var legal []*concurrencyState
	for _, s := range v.model.states {
		if v.mismatches(s, seen) == 0 {
			legal = append(legal, s)
		}
	}
	if len(legal) == 0 {
		return v.difference(at, seen, func(s *concurrencyState) *concurrencyState { return s })
	}
	v.model.states, v.seen = legal, seen
	return true
}

func (v *concurrencyView) difference(at time.Duration, seen []fate, wanted func(s *concurrencyState) *concurrencyState) bool {
	nearest := slices.MinFunc(v.model.states, func(a, b *concurrencyState) int {
		return cmp.Compare(v.mismatches(a, seen), v.mismatches(b, seen))
	})
	v.differs, v.at, v.wanted, v.seen = true, at, wanted(nearest), seen
	return false
}

func (v *concurrencyView) mismatches(s *concurrencyState, seen []fate) int {
	n := 0
	for r, f := range s.fates {
		if f.outside() != seen[r] {
			n++
		}
	}
	return n
}

// countHooks compares the calls of the hook with what was rejected. Whether a
// request that went by itself was rejected is a matter of taste.
func (v *concurrencyView) countHooks(g *concurrencyGroup) {
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
			case fateFull, fateLate:
				if !v.model.requests[r].try {
					least++
				}
				most++
			case fateGone, fateTooBig:
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

// first is the request whose fate is not what it should be, and what it should be.
// Of several the one that is admitted against the law comes first.
func (v *concurrencyView) first() (r int, want, got fate) {
	first := -1
	for r, f := range v.wanted.fates {
		if f.outside() != v.seen[r] && (first < 0 || v.seen[r] == fateRuns && v.seen[first] != fateRuns) {
			first = r
		}
	}
	return first, v.wanted.fates[first], v.seen[first]
}

// waited reports whether request r was admitted by what came after it.
func (v *concurrencyView) waited(r int) bool {
	q := v.tr.requests[r]
	return slices.ContainsFunc(v.tr.groups, func(g *concurrencyGroup) bool {
		return q.admitted && g.settled.Seq > q.arrived.Seq && g.settled.Seq < q.decided.Seq
	})
}

// used is how many slots are taken, as far as is seen.
func (v *concurrencyView) used() int {
	n := 0
	for r, f := range v.seen {
		if f == fateRuns && v.wanted.fates[r] != fateLeft {
			n += v.model.requests[r].weight
		}
	}
	return n
}

// lanes show who was let in (+), who was not (x) and, at the first difference, who
// waits (w).
func (v *concurrencyView) lanes() []lane {
	want, got := lane{name: "want"}, lane{name: "got"}
	sign := map[fate]string{fateRuns: "+", fateFull: "x", fateWaits: "w"}
	put := func(l *lane, at time.Duration, r int, f fate) {
		l.marks = append(l.marks, laneMark{at, fmt.Sprint(v.tr.requests[r].id, sign[f.outside()])})
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
	return []lane{want, got}
}
