package suite

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// active are the rules that judge traces of this implementation.
func (e *engine[T, E]) active() []*Rule[T, E] {
	var out []*Rule[T, E]
	for i := range e.rules {
		if r := &e.rules[i]; (r.Check != nil || r.Again != nil) && e.skip(r, e.traits, e.choices).why == "" {
			out = append(out, r)
		}
	}
	return out
}

// judge shows a run to every rule.
func (e *engine[T, E]) judge(active []*Rule[T, E], j Job, rec *Recording) {
	if rec.LeftOut != "" {
		if rec.LeftOut == polls {
			e.tooMuch(j.Schedule)
		}
		e.leave(active, rec.LeftOut, j.Family, j.Schedule)
		return
	}
	e.keepAtHand(j, rec)
	x := e.c.Exam(e.traits, rec, j)
	var broken []breach[T, E]
	for _, r := range active {
		if !r.about(j) || !r.sees(x) {
			continue
		}
		f := e.found(r.ID)
		if f.judged++; f.judged == 1 || j.text != "" && j.text == e.best[r.ID] {
			f.example = rec
		}
		if v := e.check(r, x); v != nil {
			broken = append(broken, breach[T, E]{r, v})
		}
	}
	if len(broken) > 0 && rec.Turned {
		if e.halts.turned++; e.halts.turned > mostTurned {
			e.over = "timers of no duration are armed without end, and each such run takes long"
		}
	}
	for _, b := range broken {
		b.v.Run = rec
		f, basic := e.found(b.rule.ID), hidden(b.rule, broken)
		switch {
		case basic != "":
			f.beyond = basic
		case b.v.Chance:
			f.chance(b.v, j)
		case doubtful(b.rule.ID, j, rec):
			e.doubts = append(e.doubts, doubt[T, E]{b.rule, b.v.Kind, j})
		default:
			e.keep(b.rule, f, b.v, j.Family)
		}
	}
}

// breach is a rule that a run breaks.
type breach[T, E any] struct {
	rule *Rule[T, E]
	v    *Violation
}

// hidden is the first of the rules that a run breaks beyond which what a rule finds in it says the same, "" if none is.
func hidden[T, E any](r *Rule[T, E], broken []breach[T, E]) string {
	for _, b := range broken {
		if slices.Contains(r.Beyond, b.rule.ID) {
			return b.rule.ID
		}
	}
	return ""
}

// keep keeps what a rule has found.
func (e *engine[T, E]) keep(r *Rule[T, E], f *finding, v *Violation, family string) {
	f.keep(v, family)
	if inside.Found != nil && r.Level != conformance.Provisional {
		inside.Found(r.ID)
	}
}

// check judges one run by one rule.
func (e *engine[T, E]) check(r *Rule[T, E], x E) *Violation {
	if r.Check != nil {
		v := r.Check(x)
		if v != nil && r.Owing != nil && !r.Owing(x, e.rerun) {
			return nil
		}
		if v != nil || r.Again == nil {
			return v
		}
	}
	return r.Again(x, e.rerun)
}

// rerun plays another schedule on a fresh instance, in the same bubble.
func (e *engine[T, E]) rerun(s conformance.Schedule) *Recording {
	var d Driver
	if e.Time == conformance.PackageTime {
		d = NewBubbleTime(s.Config)
	} else {
		d = NewFakeTime(s.Config.Start(), e.Bubble)
	}
	st := newStage(e.Suite, Job{Schedule: s}, d)
	e.c.Play(st)
	return st.Rec.finish()
}

// breaks reports whether one of the rules has been found broken so far.
func (e *engine[T, E]) breaks(rules []string) bool {
	return slices.ContainsFunc(rules, func(id string) bool { f := e.findings[id]; return f != nil && f.worst != nil })
}

// found returns what was found about a rule so far, and makes the entry if there is none.
func (e *engine[T, E]) found(rule string) *finding {
	if e.findings[rule] == nil {
		e.findings[rule] = &finding{}
	}
	return e.findings[rule]
}
