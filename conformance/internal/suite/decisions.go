package suite

import (
	"cmp"
	"slices"
)

// A decision is asked of the author where a run refutes the value of a trait that is assumed: the weaker value
// would explain the run, and so might a mistake. Until it is taken nothing is judged that depends on it.

// keptOfEach is how many runs of each family a weaker value has to explain.
const keptOfEach = 200

// keepAtHand keeps a run to judge it with other traits, where some are undeclared.
func (e *engine[T, E]) keepAtHand(j Job, rec *Recording) {
	if !e.undeclared {
		return
	}
	if e.keptBy == nil {
		e.keptBy = map[string]int{}
	}
	if e.keptBy[j.Family]++; e.keptBy[j.Family] <= keptOfEach {
		j.Review = true
		e.atHand = append(e.atHand, job{j, rec})
	}
}

// decision is one that is asked for.
type decision[T, E any] struct {
	*settled
	value int         // the weaker value; 0 if none fits what was seen
	rule  *Rule[T, E] // that breaks with the strict one, nil if no run at hand shows it
	run   *Violation
	frees []string // the rules that the weaker value takes out of force, or that await the decision
	// clash is what the weaker value does not explain, nil if it explains all that is at hand.
	clash *refutation[T, E]
}

// refutation is a run that breaks a rule with some traits.
type refutation[T, E any] struct {
	rule  *Rule[T, E]
	found *Violation
}

// with is the declaration in which all that was observed counts, but for one choice, which has another value.
func (e *engine[T, E]) with(choice string, value int) declaration[T] {
	t := e.c.Traits()
	for i := range e.settled {
		c := e.c.Table(e.Suite, t)[i]
		switch s := e.settled[i]; {
		case c.Set == nil:
		case s.Name == choice:
			c.Set(value)
		case s.seen != 0:
			c.Set(s.seen)
		}
	}
	return declaration[T]{t, e.c.Table(e.Suite, t)}
}

// judges lists the rules that would judge runs with a declaration.
func (e *engine[T, E]) judges(d declaration[T]) (rules []*Rule[T, E]) {
	for i := range e.rules {
		if r := &e.rules[i]; r.Check != nil && e.skip(r, d.traits, d.choices).why == "" {
			rules = append(rules, r)
		}
	}
	return rules
}

// finds is what a rule finds in a run that was made before, nil if nothing, or what may be chance.
func (e *engine[T, E]) finds(r *Rule[T, E], x E, run job) *Violation {
	if !r.about(run.Job) || !r.sees(x) {
		return nil
	}
	v := r.Check(x)
	if v == nil || v.Chance || doubtful(r.ID, run.Job, run.rec) {
		return nil
	}
	v.Run = run.rec
	return v
}

// compare looks for the smallest of some runs that breaks a rule with one declaration and does not with another. It is
// one of the rules in only, or of all of them.
func (e *engine[T, E]) compare(
	runs []job, with, without declaration[T], only ...*Rule[T, E],
) (least *refutation[T, E]) {
	rules := e.judges(with)
	if len(only) > 0 {
		rules = slices.DeleteFunc(rules, func(r *Rule[T, E]) bool { return !slices.Contains(only, r) })
	}
	others := e.judges(without)
	narrow, narrows := e.c.(Narrowing[T])
	for _, run := range runs {
		s := run.rec.Schedule
		if least != nil && s.Compare(least.found.Run.Schedule) >= 0 || run.rec.LeftOut != "" {
			continue
		}
		if run.rec.Refused != "" && e.profile.Refusals ||
			narrows && !(narrow.Takes(with.traits, s) && narrow.Takes(without.traits, s)) {
			continue
		}
		x, other := e.c.Exam(with.traits, run.rec, run.Job), e.c.Exam(without.traits, run.rec, run.Job)
		for _, r := range rules {
			v := e.finds(r, x, run)
			if v == nil || slices.Contains(others, r) && e.finds(r, other, run) != nil {
				continue
			}
			least = &refutation[T, E]{r, v}
			break
		}
	}
	return least
}

// runsFor are the runs by which a choice was observed, and those that were made for rules.
func (e *engine[T, E]) runsFor(s *settled) []job {
	runs := slices.Clone(s.tried)
	for i := range runs {
		runs[i].Family, runs[i].Review = e.familyOf(runs[i].rec.Schedule), true
	}
	return append(runs, e.atHand...)
}

// decide lists the decisions that are asked for: where a weaker value was observed.
func (e *engine[T, E]) decide() (all []*decision[T, E]) {
	e.awaits = map[string]string{}
	seen := e.with("", 0)
	for i := range e.settled {
		s := &e.settled[i]
		if s.Declared != 0 || !s.weak(s.seen) {
			continue
		}
		d := &decision[T, E]{settled: s, value: s.seen}
		strict, runs := e.with(s.Name, s.strict()), e.runsFor(s)
		if least := e.compare(runs, strict, seen); least != nil {
			d.rule, d.run = least.rule, least.found
		}
		if d.clash = e.compare(runs, seen, strict); d.clash != nil && e.breaks([]string{d.clash.rule.ID}) {
			d.clash = nil // that is broken anyway
		}
		if d.clash != nil {
			d.value = 0
		}
		d.frees = e.freed(strict, seen)
		for _, id := range e.freed(strict, declaration[T]{e.traits, e.choices}) {
			e.awaits[id] = cmp.Or(e.awaits[id], s.Name)
		}
		for _, decided := range []declaration[T]{strict, seen} {
			for _, id := range e.freed(decided, e.with(s.Name, 0)) { // for this alone
				e.awaits[id] = s.Name
			}
		}
		all = append(all, d)
	}
	return all
}

// freed lists the rules that are in force with one declaration and not with another.
func (e *engine[T, E]) freed(with, without declaration[T]) (ids []string) {
	for i := range e.rules {
		r := &e.rules[i]
		if e.skip(r, with.traits, with.choices).why == "" && e.skip(r, without.traits, without.choices).why != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// excuse looks for the decision that a broken rule comes to: one that is asked for, or one about a value that was
// assumed, where a weaker one explains all that the rule finds. It returns nil if there is none.
func (e *engine[T, E]) excuse(r *Rule[T, E], v *Violation) *decision[T, E] {
	if !e.undeclared || r.Check == nil || v.Run == nil || r.Cause {
		return nil
	}
	s := v.Run.Schedule
	here := job{Job{Schedule: s, Order: v.Run.Order, Family: e.familyOf(s), Look: true, Review: true}, v.Run}
	for _, d := range e.decisions {
		seen, strict := e.with("", 0), e.with(d.Name, d.strict())
		explains := e.explains
		if d.clash != nil { // it explains this, though not all
			explains = e.keeps
		}
		if e.compare([]job{here}, strict, seen, r) != nil && explains(r, here, seen) {
			d.frees = append(d.frees, r.ID)
			return d
		}
	}
	for i := range e.settled {
		s := &e.settled[i]
		if s.Declared != 0 || s.assumed == 0 || s.assumed != s.strict() || s.Sure && s.seen != 0 {
			continue
		}
		for _, weaker := range s.Order[1:] {
			if other := e.with(s.Name, weaker); e.explains(r, here, other) {
				d := &decision[T, E]{settled: s, value: weaker, rule: r, run: v, frees: e.freed(e.with("", 0), other)}
				if !slices.Contains(d.frees, r.ID) {
					d.frees = append(d.frees, r.ID)
				}
				e.decisions = append(e.decisions, d)
				return d
			}
		}
	}
	return nil
}

// explains reports whether with other traits a rule is not broken by the run that breaks it, nor by any at hand,
// and none of these breaks a rule that it does not break as things are.
func (e *engine[T, E]) explains(r *Rule[T, E], here job, other declaration[T]) bool {
	now := declaration[T]{e.traits, e.choices}
	for _, runs := range [][]job{{here}, e.atHand} { // most are told by the first
		if e.compare(runs, other, now) != nil {
			return false
		}
	}
	return e.keeps(r, here, other)
}

// keeps reports whether with other traits a rule is not broken by the run that breaks it, nor by any at hand.
func (e *engine[T, E]) keeps(r *Rule[T, E], here job, other declaration[T]) bool {
	breaks := func(run job) bool { return e.breaksRule(r, run, other) }
	return !slices.Contains(e.judges(other), r) || !breaks(here) && !slices.ContainsFunc(e.atHand, breaks)
}

// breaksRule reports whether a run that was made before breaks a rule.
func (e *engine[T, E]) breaksRule(r *Rule[T, E], run job, d declaration[T]) bool {
	return run.rec.LeftOut == "" && e.finds(r, e.c.Exam(d.traits, run.rec, run.Job), run) != nil
}
