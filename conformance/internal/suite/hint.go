package suite

import (
	"fmt"
	"slices"
	"strings"
)

// hint says which choices, if they were declared otherwise, would make a run that breaks a
// rule one that breaks no rule. Only the author knows whether the declaration or the
// implementation is wrong. Choices with which the rule is in force and holds are preferred
// to those that take it out of force; where what breaks the rule is not in the trace, only
// the latter can be found. A choice that can be observed is offered only if the
// observation agrees: otherwise the declaration that nothing is to be judged would explain
// every failure.
func (e *engine[T, E]) hint(r *Rule[T, E], v *Violation) string {
	switch rec := v.Run; {
	case rec == nil || r.Check == nil && r.Again == nil:
		return ""
	case rec.Refused != "" && e.profile.Refusals, rec.Refused == "" && len(rec.Done) == 0:
		return "" // nothing was done, for whatever reason
	}
	_, blind := e.holds(r, e.traits, e.choices, v.Run)
	var held, freed []string
	for k, c := range e.choices {
		if c.Set == nil {
			continue
		}
		for i, name := range c.Values {
			if slices.Contains(c.Blind, name) {
				continue
			}
			rec, ok := v.Run, true
			if c.Alter != nil {
				if rec, ok = c.Alter(i+1, rec); !ok {
					continue
				}
			}
			t := *e.traits
			choices := e.c.Table(e.Suite, &t)
			choices[k].Set(i + 1)
			inForce, ok := e.holds(r, &t, e.c.Table(e.Suite, &t), rec)
			if !ok || c.Observe != nil && e.observe(c) != i+1 {
				continue
			}
			switch text := c.Name + ": " + name; {
			case !inForce:
				freed = append(freed, text)
			case !blind:
				held = append(held, text)
			}
		}
	}
	if len(held) == 0 {
		held = freed
	}
	if len(held) == 0 {
		return ""
	}
	return fmt.Sprintf("if it is documented so, declare %s: this run would break no rule then\n",
		strings.Join(held, " or "))
}

// hangs reports whether runs hang or leave goroutines behind.
func (e *engine[T, E]) hangs() bool {
	return e.unfinished != nil || e.over != "" || e.left[waitsForCallback] > 0 || e.cannotReenter || e.lab.leaks
}

// holds reports whether a run breaks no rule with the traits t, and whether r is in force
// with them. Nothing is run again for it.
func (e *engine[T, E]) holds(r *Rule[T, E], t *T, choices []Choice, rec *Recording) (inForce, ok bool) {
	j := Job{Schedule: rec.Schedule, Order: rec.Order, Family: e.familyOf(rec.Schedule), Look: true, Review: true}
	x := e.c.Exam(t, rec, j)
	judges := func(r *Rule[T, E]) bool {
		return (r.Check != nil || r.Again != nil) && e.skip(r, t, choices).why == "" &&
			(r.About == nil || r.About(j)) && (r.Sees == nil || r.Sees(x))
	}
	breaks := func(r *Rule[T, E]) bool { return r.Check != nil && r.Check(x) != nil }
	if inForce = judges(r); inForce && breaks(r) {
		return true, false
	}
	for i := range e.rules {
		if o := &e.rules[i]; judges(o) && breaks(o) {
			return inForce, false
		}
	}
	return inForce, true
}

// observe is what was observed of a choice with the traits as they are declared; 0 where
// runs hang, so that looking would take long.
func (e *engine[T, E]) observe(c Choice) int {
	if e.observed == nil {
		e.observed = map[string]int{}
	}
	if _, ok := e.observed[c.Name]; !ok && !e.hangs() {
		e.observed[c.Name] = c.Observe()
	}
	return e.observed[c.Name]
}
