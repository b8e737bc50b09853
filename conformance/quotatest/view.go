package quotatest

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits *Traits
	kind   Kind
	source TimeSource
	job    suite.Job
	seen   *view
}

// Exam puts a trace in the terms of a quota.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, j suite.Job) *exam {
	return &exam{Recording: suite.AsBegun(rec), traits: tr, kind: c.spec.Kind, source: c.spec.Time, job: j}
}

// view is a trace and the model that agrees with it for the most steps.
type view struct {
	steps []step
	bad   int    // the first step that is decided otherwise, -1 if none is
	law   string // the rule that it breaks
	// also are the views with other models that agree with the whole trace, because it
	// does not show where windows begin.
	also []*view
}

// step is a step that was done, and the model just before it.
type step struct {
	*conformance.Done
	model       model
	fits, clear bool
	// ambiguous says that, because of the grain, an earlier request may count in one of
	// two windows, and that this matters to the decision.
	ambiguous bool
	// old says that the step came at an instant before that of the model.
	old bool
}

// after returns the model just after the step.
func (s step) after() *model { return s.afterAt(s.At) }

// afterAt returns the model just after the step, if the limiter took its instant for at.
func (s step) afterAt(at time.Duration) *model {
	m := s.model
	m.past = slices.Clone(m.past)
	m.add(at, s.N, s.OK)
	return &m
}

// because says why a request should have been decided otherwise.
func (s step) because() string {
	exact := new(big.Rat).SetFrac(s.model.room(s.At), s.model.parts())
	room, _ := exact.Float64()
	text := fmt.Sprintf("%.10g", max(0, room))
	if room > 0 && !exact.IsInt() && !strings.Contains(text, ".") { // it is not that whole number
		text = fmt.Sprintf("%.16g", room)
	}
	of := map[bool]string{true: "burst", false: "limit"}[s.model.kind == GCRA]
	were := map[bool]string{true: "was", false: "were"}[text == "1"]
	return fmt.Sprintf("%s of the %s of %d %s left", text, of, s.model.limit, were)
}

// full is the most that can be granted at once.
func full(kind Kind, cfg conformance.Config) int {
	if kind == GCRA {
		return cfg.Burst
	}
	return cfg.Rate.Events
}

// grain is how exact the limiter is.
func (x *exam) grain() time.Duration { return x.grainOf(x.traits) }

// grainOf is how exact the limiter is with these traits: an interval of GCRA that is no whole number of
// nanoseconds, or of what the limiter counts in, may be cut or rounded up, once for each event.
func (x *exam) grainOf(tr *Traits) time.Duration {
	grain, unit := tr.grain(x.Schedule.Config), max(1, tr.Resolution)
	if x.kind != GCRA || x.Schedule.Config.Rate.Exact() {
		return grain
	}
	for _, s := range x.Schedule.Steps {
		if s.Op == verb.Allow && s.N <= x.full() {
			grain += time.Duration(max(0, s.N)) * unit
		}
	}
	return grain
}

// full is the most that can be granted at once.
func (x *exam) full() int { return full(x.kind, x.Schedule.Config) }

// inOrder reports whether no instant is before another that came earlier.
func (x *exam) inOrder() bool { return !suite.GoesBack(x.Schedule) }

// usual reports whether a step asks for a number that can be granted.
func (x *exam) usual(d conformance.Done) bool {
	return d.Op == verb.Allow && d.N >= 1 && d.N <= x.full()
}

// asks reports whether one of the steps is such a step.
func (x *exam) asks(which func(d conformance.Done) bool) bool {
	return slices.ContainsFunc(x.Done, which)
}

// complete reports whether the configuration makes sense and each step has an answer.
func (x *exam) complete() bool {
	return !mayRefuse(x.kind, x.Schedule.Config) && x.Refused == "" && !x.Stuck &&
		!x.asks(func(d conformance.Done) bool { return d.Panic != "" })
}

// judgeable reports whether the trace is one that a model can judge: complete and in order.
func (x *exam) judgeable() bool { return x.complete() && x.inOrder() }

// ordinary reports whether the trace is judgeable and all its requests are for numbers
// that can be granted.
func (x *exam) ordinary() bool {
	return x.judgeable() && !x.asks(func(d conformance.Done) bool { return d.Op != verb.Fault && !x.usual(d) })
}

// failed reports whether an answer was an error.
func (x *exam) failed() bool {
	return x.asks(func(d conformance.Done) bool { return d.Answer.Err != nil })
}

// opensUnusually reports whether a request for nothing, or for more than can be granted,
// may have begun a window, because windows begin with requests and others come later.
func (x *exam) opensUnusually() bool {
	return x.traits.Align == AlignFirstUse && len(x.Done) > 0 && x.asks(func(d conformance.Done) bool {
		return d.Op == verb.Allow && !x.usual(d) && d.At < x.Done[len(x.Done)-1].At
	})
}

// answerable reports whether the trace is judgeable and every request that counts is for a
// number that can be granted.
func (x *exam) answerable() bool {
	return x.judgeable() && !x.opensUnusually() && !x.asks(func(d conformance.Done) bool {
		return d.N < 0 || d.N > x.full() && (d.OK || x.traits.CountDenied == DeniedCounted)
	})
}

// view returns the trace with its model, built once; nil if no model can judge the trace.
func (x *exam) view() *view {
	if x.seen != nil || !x.answerable() || len(x.Done) == 0 {
		return x.seen
	}
	for _, first := range x.origins(x.traits) {
		switch v := x.compare(x.traits, first); {
		case x.seen == nil || x.seen.bad >= 0 && (v.bad < 0 || v.bad > x.seen.bad):
			x.seen = v
		case v.bad < 0:
			x.seen.also = append(x.seen.also, v)
		}
	}
	if x.seen.bad >= 0 {
		x.seen.law = x.lawOf(x.seen)
	}
	return x.seen
}

// origins lists where the first window may begin: with the constructor or with a request,
// which the traits leave open.
func (x *exam) origins(tr *Traits) []origin {
	switch {
	case tr.Align == AlignFirstUse && x.kind == FixedWindow:
		return []origin{{at: never}, {at: 0}}
	case tr.Align != AlignCreation:
		return []origin{{}}
	}
	out := []origin{{}}
	for _, d := range x.Done {
		if at := (origin{at: d.At}); !slices.Contains(out, at) {
			out = append(out, at)
		}
		if x.usual(d) {
			break // earlier requests may or may not begin a window
		}
	}
	if tr.Edge == EdgeClosed && x.kind == FixedWindow {
		for _, o := range slices.Clone(out) {
			out = append(out, origin{o.at, true})
		}
	}
	return out
}

// compare follows the trace with a model of the traits tr. The model counts what was
// really granted, so that each decision is judged on its own.
func (x *exam) compare(tr *Traits, first origin) *view {
	v, grain := &view{bad: -1}, x.grainOf(tr)
	m := newModel(x.kind, x.Schedule.Config, tr, first)
	all := newModel(x.kind, x.Schedule.Config, tr, first) // counts requests whose answers were errors too
	ambiguous := time.Duration(math.MinInt64)             // until then
	faults := x.asks(func(d conformance.Done) bool { return d.Op == verb.Fault })
	for i := range x.Done {
		s := step{Done: &x.Done[i], model: *m}
		s.fits, s.clear = m.fits(s.At, s.N, grain)
		lost := len(all.past) > len(m.past)
		s.ambiguous = s.At < ambiguous || lost && (m.align == AlignFirstUse || m.room(s.At).Cmp(all.room(s.At)) != 0)
		failed := faults && s.Answer.Err != nil // without a fault an error is a decision like others
		s.clear = s.clear && !s.ambiguous && !failed
		if s.Op == verb.Fault { // which is no request
			v.steps = append(v.steps, s)
			continue
		}
		if s.clear && s.fits != s.OK && v.bad < 0 && x.usual(*s.Done) {
			v.bad = i
		}
		v.steps = append(v.steps, s)
		if s.Op == verb.Allow && s.N > 0 && (s.OK || m.counted) && m.straddles(s.At, grain) {
			ambiguous = m.indifferent(s.At, grain)
		}
		if all.add(s.At, s.N, s.OK || failed); !failed {
			m.add(s.At, s.N, s.OK)
		}
	}
	return v
}

// lawOf returns the law that the first difference breaks.
func (x *exam) lawOf(v *view) string {
	s := v.steps[v.bad]
	// agrees reports whether another declaration explains the trace up to here.
	agrees := func(change func(*Traits)) bool {
		other := *x.traits
		change(&other)
		return slices.ContainsFunc(x.origins(&other), func(first origin) bool {
			w := x.compare(&other, first)
			return w.bad < 0 || w.bad > v.bad
		})
	}
	otherEdge := func(tr *Traits) { tr.Edge = EdgeHalfOpen + EdgeClosed - tr.Edge }
	switch x.kind {
	case SlidingLog:
		switch {
		case agrees(otherEdge):
			return "SW-EXP"
		case agrees(func(tr *Traits) { tr.CountDenied = DeniedFree + DeniedCounted - tr.CountDenied }):
			return "SW-DENYCOUNT"
		case s.OK:
			return "SW-ANY"
		}
		return "SW-WORK"
	case SlidingCounter:
		switch {
		case slices.ContainsFunc([]Align{AlignEpoch, AlignUnix, AlignCreation}, func(a Align) bool {
			return agrees(func(tr *Traits) { tr.Align = a }) // it does not with what is declared
		}):
			return "SC-FIRST"
		case s.model.limit == 1:
			return "SC-N1"
		}
		return "SC-APPROX"
	case FixedWindow:
		switch left, _ := s.model.whole(s.model.room(s.At)); {
		case agrees(otherEdge):
			return "FW-EDGE"
		case s.OK:
			return "FW-ALIGNED"
		case left == s.model.limit:
			return "FW-NOEXTEND"
		}
		return "FW-HIT"
	}
	past := s.model.past
	switch {
	case s.At == x.Done[0].At:
		return "GC-BURST"
	case s.OK && (len(past) == 0 || s.At == past[len(past)-1].at ||
		s.At-past[len(past)-1].at >= time.Duration(s.model.limit)*s.model.interval):
		return "GC-TAT"
	}
	return "GC-EQUIV"
}

// broken makes a violation with the lanes of a quota: what the model grants, and what was. Its headline has the error
// of the request, if there is one.
func (x *exam) broken(at time.Duration, because, headline string, args ...any) *suite.Violation {
	out := suite.Broken(at, because, headline, args...)
	for _, d := range x.Done {
		if d.At == at && d.Answer.Err != nil && !strings.Contains(because, d.Answer.Err.Error()) {
			out.Headline += fmt.Sprintf(" (its error is %q)", d.Answer.Err)
			break
		}
	}
	got := suite.Lane{Name: "got", Marks: suite.Answers(verb.Allow)(x.Recording)}
	v := x.view()
	if v == nil {
		out.Lanes = []suite.Lane{got}
		return out
	}
	want := suite.Lane{Name: "want"}
	for i, d := range x.Done {
		if d.Op != verb.Allow {
			continue
		}
		mark := suite.Granted[v.steps[i].fits]
		if !v.steps[i].clear {
			mark = "?" // either
		}
		want.Marks = append(want.Marks, suite.Mark{At: d.At, Text: mark})
	}
	out.Lanes = append(v.windows(), want, got)
	return out
}

// windows is the lane of the windows that the requests are in, as far as they begin or end while
// the limiter is in use; none if it has none.
func (v *view) windows() []suite.Lane {
	var begin, end []time.Duration
	last := v.steps[len(v.steps)-1].At
	for _, s := range v.steps {
		start, ok := s.model.begins(s.At)
		if !ok || s.Op != verb.Allow || s.model.align == AlignFirstUse && start == s.At && !s.OK {
			continue
		}
		begin, end = append(begin, start), append(end, start+s.model.window)
	}
	at := slices.Concat(begin, end)
	slices.Sort(at)
	lane := suite.Lane{Name: inside.LaneWindow}
	for _, at := range slices.Compact(at) {
		mark := "["
		switch {
		case at < 0 || at > last:
			continue
		case !slices.Contains(begin, at):
			mark = ")"
		case slices.Contains(end, at):
			mark = ")["
		}
		lane.Marks = append(lane.Marks, suite.Mark{At: at, Text: mark})
	}
	if lane.Marks == nil {
		return nil
	}
	return []suite.Lane{lane}
}
