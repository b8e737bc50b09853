package conformance

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// quotaView is a trace beside the model that fits it best.
type quotaView struct {
	steps []quotaStep
	bad   int          // the first step that is decided otherwise, -1 if none is
	rule  string       // that it breaks
	also  []*quotaView // that agree as well: where windows begin is not settled yet
}

// quotaStep is a request and the model just before it.
type quotaStep struct {
	*Done
	model       quotaModel
	fits, clear bool
	murky       bool // it hangs on the grain in which window something before it was
}

// counted is the model just after the request.
func (s quotaStep) counted() *quotaModel {
	m := s.model
	m.past = slices.Clone(m.past)
	m.add(s.At, s.N, s.OK)
	return &m
}

func (v *quotaView) because(s quotaStep) string {
	room, _ := s.model.room(s.At).Float64()
	return fmt.Sprintf("there was room for %s of %d", trimFloat(max(0, room)), s.model.limit)
}

// full is the most that can be granted at once.
func (x *exam) full() int {
	if x.c.quo.Kind == GCRA {
		return x.Schedule.Config.Burst
	}
	return x.Schedule.Config.Rate.Events
}

// inOrder reports whether no instant is before another that came earlier.
func (x *exam) inOrder() bool {
	return slices.IsSortedFunc(x.Schedule.Steps, func(a, b Step) int { return int(min(1, max(-1, a.At-b.At))) })
}

// fit reports whether the model can judge the trace: made of what makes sense, not stuck,
// without a panic, in order.
func (x *exam) fit() bool { return x.countable() && x.inOrder() }

// countable is fit in any order.
func (x *exam) countable() bool {
	return !x.c.oddQuota(x.Schedule.Config) && x.Refused == "" && !x.Stuck && !slices.ContainsFunc(x.Done, func(d Done) bool { return d.Panic != "" })
}

// ordinary is fit, and nothing but requests that could be granted.
func (x *exam) ordinary() bool {
	return x.fit() && !slices.ContainsFunc(x.Done, func(d Done) bool { return d.Op != OpAllow || d.N < 1 || d.N > x.full() })
}

// opens reports whether it asks for what cannot be granted, or for nothing, before it
// asks again later: even that may open a window.
func (x *exam) opens() bool {
	return x.c.quo.Traits.Align == AlignFirstUse && len(x.Done) > 0 && x.asks(func(d Done) bool {
		return d.Op == OpAllow && (d.N < 1 || d.N > x.full()) && d.At < x.Done[len(x.Done)-1].At
	})
}

// answerable is fit, and whatever else was asked for was not granted.
func (x *exam) answerable() bool {
	return x.fit() && !x.opens() && !slices.ContainsFunc(x.Done, func(d Done) bool {
		return d.N < 0 || d.N > x.full() && (d.OK || x.c.quo.Traits.Denied == DeniedCounted)
	})
}

// quotaView builds the view once; nil if the model cannot judge the trace.
func (x *exam) quotaView() *quotaView {
	if x.quota != nil || !x.answerable() || len(x.Done) == 0 {
		return x.quota
	}
	tr := x.c.quo.Traits
	for _, anchor := range x.anchors(tr) {
		switch v := x.compare(tr, anchor); {
		case x.quota == nil || x.quota.bad >= 0 && (v.bad < 0 || v.bad > x.quota.bad):
			x.quota = v
		case v.bad < 0:
			x.quota.also = append(x.quota.also, v)
		}
	}
	if x.quota.bad >= 0 {
		x.quota.rule = x.lawOf(x.quota)
	}
	return x.quota
}

// anchors are where the first window may begin, as the traits leave it open whether
// the limiter's constructor begins one.
func (x *exam) anchors(tr QuotaTraits) []beginning {
	kind := x.c.quo.Kind
	switch {
	case tr.Align == AlignFirstUse && kind == FixedWindow:
		return []beginning{{at: never}, {at: 0}}
	case tr.Align != AlignCreation:
		return []beginning{{}}
	}
	out := []beginning{{}}
	for _, d := range x.Done {
		if at := (beginning{at: d.At}); !slices.Contains(out, at) {
			out = append(out, at)
		}
		if d.Op == OpAllow && d.N >= 1 && d.N <= x.full() {
			break // the others may be no first use
		}
	}
	if tr.Edge == EdgeClosed && kind == FixedWindow {
		for _, b := range slices.Clone(out) {
			out = append(out, beginning{b.at, true})
		}
	}
	return out
}

// compare follows the trace with the model of some traits. The model counts what was
// really granted, so that each decision is judged on its own.
func (x *exam) compare(tr QuotaTraits, first beginning) *quotaView {
	v := &quotaView{bad: -1}
	m := newQuotaModel(x.c.quo.Kind, x.Schedule.Config, tr, first)
	murky := time.Duration(math.MinInt64) // until when it is
	for i := range x.Done {
		s := quotaStep{Done: &x.Done[i], model: *m}
		s.fits, s.clear = m.fits(s.At, s.N, tr.Grain)
		if s.murky = s.At < murky; s.murky {
			s.clear = false
		}
		if s.clear && s.fits != s.OK && v.bad < 0 && s.Op == OpAllow && s.N >= 1 && s.N <= x.full() {
			v.bad = i
		}
		v.steps = append(v.steps, s)
		if s.Op == OpAllow && s.N > 0 && (s.OK || m.counted) && m.torn(s.At, tr.Grain) {
			murky = m.settled(s.At, tr.Grain)
		}
		m.add(s.At, s.N, s.OK)
	}
	return v
}

// lawOf is the law that the first difference breaks.
func (x *exam) lawOf(v *quotaView) string {
	s := v.steps[v.bad]
	tr := x.c.quo.Traits
	// agrees reports whether another declaration would explain all up to here.
	agrees := func(change func(*QuotaTraits)) bool {
		other := tr
		change(&other)
		return slices.ContainsFunc(x.anchors(other), func(first beginning) bool {
			w := x.compare(other, first)
			return w.bad < 0 || w.bad > v.bad
		})
	}
	flip := func(tr *QuotaTraits) { tr.Edge = EdgeHalfOpen + EdgeClosed - tr.Edge }
	switch x.c.quo.Kind {
	case SlidingLog:
		switch {
		case agrees(flip):
			return "SW-EXP"
		case agrees(func(tr *QuotaTraits) { tr.Denied = DeniedFree + DeniedCounted - tr.Denied }):
			return "SW-DENYCOUNT"
		case s.OK:
			return "SW-ANY"
		}
		return "SW-WORK"
	case SlidingCounter:
		switch {
		case agrees(func(tr *QuotaTraits) { tr.Align = AlignEpoch + AlignCreation - tr.Align }):
			return "SC-FIRST"
		case s.model.limit == 1:
			return "SC-N1"
		}
		return "SC-APPROX"
	case FixedWindow:
		switch {
		case agrees(flip):
			return "FW-EDGE"
		case s.OK:
			return "FW-ALIGNED"
		case whole(s.model.room(s.At)) == s.model.limit:
			return "FW-NOEXTEND"
		}
		return "FW-HIT"
	}
	last := s.model.past
	switch {
	case s.At == x.Done[0].At:
		return "GC-BURST"
	case s.OK && (len(last) == 0 || s.At == last[len(last)-1].at || s.At-last[len(last)-1].at >= time.Duration(s.model.limit)*s.model.t):
		return "GC-TAT"
	}
	return "GC-EQUIV"
}

// reply makes a violation with the lanes of a quota.
func (x *exam) reply(at time.Duration, because, headline string, args ...any) *violation {
	want, got := lane{name: "want"}, lane{name: "got"}
	yes := map[bool]string{true: "y", false: "n"}
	v := x.quotaView()
	for i, d := range x.Done {
		if d.Op != OpAllow {
			continue
		}
		got.marks = append(got.marks, laneMark{d.At, yes[d.OK]})
		if v != nil {
			mark := yes[v.steps[i].fits]
			if !v.steps[i].clear {
				mark = "?" // either
			}
			want.marks = append(want.marks, laneMark{d.At, mark})
		}
	}
	lanes := []lane{got}
	if v != nil {
		lanes = []lane{want, got}
	}
	return &violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at, Lanes: lanes}
}
