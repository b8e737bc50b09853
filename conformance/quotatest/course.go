package quotatest

import (
	"cmp"
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
	taken  []*course // the courses of the run, made once
	best   *course   // the one that agrees with it for the most steps
}

// Exam puts a trace in the terms of a quota.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	return &exam{Recording: suite.AsBegun(rec), traits: tr, kind: c.spec.Kind, source: c.spec.Time}
}

// other is the exam of another run of the same limiter.
func (x *exam) other(rec *suite.Recording) *exam {
	return &exam{Recording: rec, traits: x.traits, kind: x.kind, source: x.source}
}

// course is one that a correct limiter may have taken in a run: the model, and where the run differs from it.
type course struct {
	steps []step
	bad   int    // the first step that is decided otherwise, -1 if none is
	law   string // the rule that it breaks
}

// step is a step that was done, and the model just before it.
type step struct {
	*conformance.Done
	// at is the instant that the limiter counts it from: that of the step, or a newer one.
	at          time.Duration
	model       model
	fits, clear bool
	// ambiguous says that, because of the grain, an earlier request may count in one of
	// two windows, and that this matters to the decision.
	ambiguous bool
}

// after returns the model just after the step, if the limiter took its instant for at.
func (s *step) after(at time.Duration) *model {
	m := s.model
	m.past = slices.Clone(m.past)
	m.add(at, s.N, s.OK)
	return &m
}

// because says why a request should have been decided otherwise.
func (s *step) because() string {
	exact := new(big.Rat).SetFrac(s.model.room(s.at), s.model.parts)
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

// grain is how exact the limiter is in this run.
func (x *exam) grain() time.Duration { return x.traits.grain(x.kind, x.Schedule) }

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

// counts reports whether denied requests count.
func (x *exam) counts() bool { return x.traits.CountDenied == DeniedCounted }

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

// course returns the course that agrees with the run for the most steps; nil if instants go back, or no model can judge
// the run.
func (x *exam) course() *course {
	if x.best != nil || !x.answerable() || len(x.Done) == 0 {
		return x.best
	}
	x.taken = x.courses(x.traits)
	x.best = slices.MaxFunc(x.taken, func(a, b *course) int { return cmp.Compare(uint(a.bad), uint(b.bad)) })
	if x.best.bad >= 0 {
		x.best.law = x.lawOf(x.best)
	}
	return x.best
}

// back are the courses of a run whose instants go back. Who counts what is denied may leave out what is old.
func (x *exam) back() []*course {
	if x.taken == nil {
		tr := *x.traits
		tr.CountDenied = DeniedFree
		x.taken = x.courses(&tr)
	}
	return x.taken
}

// agreeing are the courses by which answers are judged: those that agree with the whole run, or else the one that does
// for the most steps. If instants go back there must be one course: what an answer at an old instant counts from is
// left open, and whether a look, or what was denied, has begun a window.
func (x *exam) agreeing() []*course {
	if v := x.course(); v != nil && v.bad >= 0 {
		return []*course{v}
	} else if v != nil {
		return slices.DeleteFunc(slices.Clone(x.taken), func(c *course) bool { return c.bad >= 0 })
	}
	clamps := x.traits.BackTime == BackClamp && !x.counts() && x.complete() && !x.inOrder()
	beyond := func(d conformance.Done) bool { return d.N < 0 || d.N > x.full() }
	if !clamps || x.asks(beyond) || len(x.back()) != 1 || x.back()[0].bad >= 0 { // or RL-PAST judges it
		return nil
	}
	return x.back()
}

// courses are those that a correct limiter with traits may take: one for each reading of its instants, and each
// instant at which the first window may begin.
func (x *exam) courses(tr *Traits) (all []*course) {
	for _, at := range x.readings() {
		for _, first := range x.origins(tr, at) {
			all = append(all, x.follow(tr, first, at))
		}
	}
	return all
}

// readings lists the instants that the steps may count from: the newest so far, to which what is granted, and each sort
// of what takes nothing, has moved the limiter, or not. In the first all steps have.
func (x *exam) readings() (out [][]time.Duration) {
	var sorts []func(d conformance.Done) bool
	if !x.inOrder() {
		sorts = slices.DeleteFunc([]func(d conformance.Done) bool{
			func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK && d.N <= x.full() },
			func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK && d.N > x.full() },
			func(d conformance.Done) bool { return d.Op != verb.Allow },
		}, func(is func(d conformance.Done) bool) bool { return !x.asks(is) })
	}
	for without := range 1 << len(sorts) {
		at, newest := make([]time.Duration, len(x.Done)), time.Duration(math.MinInt64)
		for i, d := range x.Done {
			at[i] = max(d.At, newest)
			of := slices.IndexFunc(sorts, func(is func(d conformance.Done) bool) bool { return is(d) })
			if of < 0 || without&(1<<of) == 0 {
				newest = at[i]
			}
		}
		if !slices.ContainsFunc(out, func(other []time.Duration) bool { return slices.Equal(at, other) }) {
			out = append(out, at)
		}
	}
	return out
}

// origins lists where the first window may begin: with the constructor or with a request,
// which the traits leave open.
func (x *exam) origins(tr *Traits, at []time.Duration) []origin {
	switch {
	case tr.Align == AlignFirstUse && x.kind == FixedWindow:
		return []origin{{at: never}, {at: 0}}
	case tr.Align != AlignCreation:
		return []origin{{}}
	}
	out := []origin{{}}
	for i, d := range x.Done {
		if at := (origin{at: at[i]}); !slices.Contains(out, at) {
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

// follow follows the run with a model. The model counts what was really granted, so that each decision is judged on
// its own.
func (x *exam) follow(tr *Traits, first origin, at []time.Duration) *course {
	v, grain := &course{bad: -1, steps: make([]step, len(x.Done))}, tr.grain(x.kind, x.Schedule)
	m := newModel(x.kind, x.Schedule.Config, tr, first)
	all := newModel(x.kind, x.Schedule.Config, tr, first) // counts requests whose answers were errors too
	ambiguous := time.Duration(math.MinInt64)             // until then
	faults := x.asks(func(d conformance.Done) bool { return d.Op == verb.Fault })
	for i := range x.Done {
		s := &v.steps[i]
		*s = step{Done: &x.Done[i], at: at[i], model: *m}
		s.fits, s.clear = m.fits(s.at, s.N, grain)
		lost := len(all.past) > len(m.past)
		s.ambiguous = s.at < ambiguous || lost && (m.align == AlignFirstUse || m.room(s.at).Cmp(all.room(s.at)) != 0)
		failed := faults && s.Answer.Err != nil // without a fault an error is a decision like others
		s.clear = s.clear && !s.ambiguous && !failed
		if s.Op == verb.Fault { // which is no request
			continue
		}
		if s.clear && s.fits != s.OK && v.bad < 0 && x.usual(*s.Done) {
			v.bad = i
		}
		if s.Op == verb.Allow && s.N > 0 && (s.OK || m.counted) && m.straddles(s.at, grain) {
			ambiguous = m.indifferent(s.at, grain)
		}
		if all.add(s.at, s.N, s.OK || failed); !failed {
			m.add(s.at, s.N, s.OK)
		}
	}
	return v
}

// lawOf returns the law that the first difference breaks.
func (x *exam) lawOf(v *course) string {
	s := v.steps[v.bad]
	// explained reports whether another declaration explains the run up to here.
	explained := func(change func(*Traits)) bool {
		other := *x.traits
		change(&other)
		return slices.ContainsFunc(x.courses(&other), func(w *course) bool { return w.bad < 0 || w.bad > v.bad })
	}
	otherEdge := func(tr *Traits) { tr.Edge = EdgeHalfOpen + EdgeClosed - tr.Edge }
	otherDenied := func(tr *Traits) { tr.CountDenied = DeniedFree + DeniedCounted - tr.CountDenied }
	elsewhere := func(a Align) bool { // it does not with what is declared
		return explained(func(tr *Traits) { tr.Align = a })
	}
	switch left, _ := s.model.whole(s.model.room(s.at)); {
	case x.kind == SlidingLog && explained(otherEdge):
		return "SW-EXP"
	case x.kind == SlidingLog && explained(otherDenied):
		return "SW-DENYCOUNT"
	case x.kind == SlidingLog && s.OK:
		return "SW-ANY"
	case x.kind == SlidingLog:
		return "SW-WORK"
	case x.kind == SlidingCounter && slices.ContainsFunc([]Align{AlignEpoch, AlignUnix, AlignCreation}, elsewhere):
		return "SC-FIRST"
	case x.kind == SlidingCounter && s.model.limit == 1:
		return "SC-N1"
	case x.kind == SlidingCounter:
		return "SC-APPROX"
	case x.kind == FixedWindow && explained(otherEdge):
		return "FW-EDGE"
	case x.kind == FixedWindow && s.OK:
		return "FW-ALIGNED"
	case x.kind == FixedWindow && left == s.model.limit:
		return "FW-NOEXTEND"
	case x.kind == FixedWindow:
		return "FW-HIT"
	case s.at == x.Done[0].At:
		return "GC-BURST"
	case s.OK && s.model.rested(s.at):
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
	v := x.course()
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
func (v *course) windows() []suite.Lane {
	var begin, end []time.Duration
	last := v.steps[len(v.steps)-1].At
	for _, s := range v.steps {
		start := s.model.begins(s.At)
		if s.model.align == 0 || s.Op != verb.Allow || s.model.align == AlignFirstUse && start == s.At && !s.OK {
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
