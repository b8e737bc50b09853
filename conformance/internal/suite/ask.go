package suite

import "slices"

// ask looks for the decision that a broken rule comes to: one that is asked for, or one about a value that was
// assumed, where a weaker one explains all that the rule finds. It returns nil if there is none.
func (e *engine[T, E]) ask(r *Rule[T, E], v *Violation) *decision[T, E] {
	if !e.undeclared || e.replayed || r.Cause {
		return nil
	}
	if v.Run == nil {
		return e.askRuns(r, v)
	}
	here := job{Job: e.review(v.Run), rec: v.Run, observed: true} // which was seen often enough
	now := e.declaredNow()
	if v.never && (r.Check == nil || !e.breaksRule(r, here, now)) {
		return e.askHang(r, v)
	}
	if r.Check == nil || r.Again != nil && !e.breaksRule(r, here, now) { // reruns showed it
		return e.askRuns(r, v)
	}
	if d := e.explaining(r, here); d != nil && (r.Again == nil || !e.againBreaks(r, v.Run, e.with("", 0))) {
		d.free(r)
		return d
	}
	return e.doubt(r, here, v)
}

// askHang looks for a decision with whose value nobody would have seen a run that never ends: its rule is out of force
// then, or its schedule is not tried. No other value explains such a run, of which nothing was recorded.
func (e *engine[T, E]) askHang(r *Rule[T, E], v *Violation) *decision[T, E] {
	for _, d := range e.decisions {
		if d.value == 0 {
			continue
		}
		other := e.with(d.Name, d.value)
		back := e.declareFor(other)
		tried := e.tries(v.Run.Schedule)
		back()
		if !tried || !slices.Contains(other.judges, r) {
			d.free(r)
			return d
		}
	}
	return e.documentedDecision(r, v)
}

// explaining is a decision that is asked for and explains a run: the first that does by itself, or the first of all,
// if they do together. One that does not explain all that is at hand may explain this.
func (e *engine[T, E]) explaining(r *Rule[T, E], here job) (first *decision[T, E]) {
	if len(e.decisions) == 0 {
		return nil
	}
	seen, runs := e.with("", 0), append([]job{here}, e.atHand...)
	together := e.explains(r, here, seen)
	for _, d := range e.decisions {
		alone := e.compare([]job{here}, e.with(d.Name, d.strict()), seen, r) != nil
		switch {
		case alone && (together || d.value == 0 && e.keeps(r, runs, seen)):
			return d
		case together && first == nil && d.value != 0:
			first = d
		}
	}
	return first
}

// doubt makes a decision about a value that was assumed, if a weaker one explains a run. It returns nil if none does.
func (e *engine[T, E]) doubt(r *Rule[T, E], here job, v *Violation) *decision[T, E] {
	for i := range e.settled {
		s := &e.settled[i]
		if s.Declared != 0 || s.assumed == 0 || s.assumed != s.strict() || s.Sure && s.seen != 0 {
			continue
		}
		for _, weaker := range s.Order[1:] {
			if other := e.with(s.Name, weaker); e.explains(r, here, other) && e.refutes(s.Name, other, r) == nil {
				d := &decision[T, E]{settled: s, value: weaker, rule: r, run: v, frees: e.freed(e.with("", 0), other)}
				d.free(r)
				e.decisions = append(e.decisions, d)
				return d
			}
		}
	}
	return nil
}

// askRuns looks for a decision that is asked for and on which it depends what a rule finds by runs of its own,
// which are made again.
func (e *engine[T, E]) askRuns(r *Rule[T, E], v *Violation) *decision[T, E] {
	breaks := func(d declaration[T, E]) bool { return r.Probe != nil && e.probeBreaks(r, d) }
	tries := 1
	if r.Meets {
		tries = 3 // what goroutines do is chance
	}
	if r.Again != nil && v.Run != nil {
		breaks = func(d declaration[T, E]) bool { return e.againBreaks(r, v.Run, d) }
	}
	for _, d := range e.decisions {
		explains := d.value != 0
		for i := 0; i < tries && explains; i++ {
			explains = breaks(e.with(d.Name, d.strict())) && !breaks(e.with("", 0))
		}
		if explains {
			d.free(r)
			return d
		}
	}
	return e.documentedDecision(r, v)
}

// documentedDecision is one about a choice that only the documentation shows, and that takes the rule out of force,
// where no other is broken but those that it takes out of force as well.
func (e *engine[T, E]) documentedDecision(r *Rule[T, E], v *Violation) *decision[T, E] {
	if v.sequential {
		return nil // whatever it says of goroutines
	}
	for i := range e.settled {
		s := &e.settled[i]
		if s.Declared != 0 || !s.documented() || s.Set == nil {
			continue
		}
		frees := e.freed(e.declaredNow(), e.with(s.Name, 1))
		others := func(id string, _ *Violation) bool { return !slices.Contains(frees, id) }
		if !slices.Contains(frees, r.ID) || e.someBroken(others) {
			continue
		}
		if asked := e.decisionOn(s); asked != nil {
			return asked
		}
		d := &decision[T, E]{settled: s, value: 1, rule: r, run: v, frees: frees}
		e.decisions = append(e.decisions, d)
		return d
	}
	return nil
}

// againBreaks reports whether the schedule of a run breaks a rule that compares it with reruns, with other traits.
func (e *engine[T, E]) againBreaks(r *Rule[T, E], rec *Recording, d declaration[T, E]) (broken bool) {
	if e.skip(r, d.traits, d.choices).why != "" {
		return false
	}
	s := rec.Schedule
	jobs := []Job{{Schedule: s, Order: rec.Order, Family: e.familyOf(s), Look: true}}
	e.Run(jobs, func(j Job, rec *Recording) {
		x := e.c.Exam(d.traits, rec, j)
		broken = rec.LeftOut == "" && r.about(j) && r.sees(x) && e.check(r, x) != nil
	})
	return broken
}

// probeBreaks reports whether a rule is broken by runs of its own, with other traits.
func (e *engine[T, E]) probeBreaks(r *Rule[T, E], other declaration[T, E]) bool {
	defer e.declareFor(other)()
	if e.skip(r, other.traits, e.c.Table(e.Suite, e.c.Traits())).why != "" {
		return false
	}
	broken, _ := r.Probe(&Probe{Suite: e.Suite, rule: r.ID})
	return broken != nil
}
