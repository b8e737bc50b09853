package suite

import (
	"cmp"
	"slices"

	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// A decision is asked of the author where a run refutes the value of a trait that is assumed: the weaker value
// would explain the run, and so might a mistake. Until it is taken nothing is judged that depends on it.

// keptOfEach is how many runs of each family a weaker value has to explain.
const keptOfEach = 200

// keepAtHand keeps a run to judge it with other traits, where some are undeclared.
func (e *engine) keepAtHand(j Job, rec *Recording) {
	if !e.undeclared {
		return
	}
	if e.keptBy[j.Family]++; e.keptBy[j.Family] <= keptOfEach {
		j.Review = true
		e.atHand = append(e.atHand, job{Job: j, rec: rec})
	}
}

// decision is one that is asked for.
type decision struct {
	*settled
	value int  // the weaker value; 0 if none fits what was seen
	rule  *law // that breaks with the strict one, nil if no run at hand shows it
	run   *Violation
	frees []string // the rules that the weaker value takes out of force, or that await the decision
	// clash is what the weaker value does not explain, nil if it explains all that is at hand. If the rule is broken
	// with the strict value, too, the weaker one is offered nevertheless.
	clash *breach
}

// free adds a rule to those that depend on the decision.
func (d *decision) free(r *law) {
	if !slices.Contains(d.frees, r.ID) {
		d.frees = append(d.frees, r.ID)
	}
}

// with is the declaration in which all that was observed counts, but for one choice, which has another value.
func (e *engine) with(choice string, value int) declaration {
	t := e.c.complete()
	for i, c := range e.c.table(e.Suite, t)[:len(e.settled)] { // of none nothing was observed
		switch s := e.settled[i]; {
		case c.Set == nil:
		case s.Name == choice:
			c.Set(value)
		case s.seen != 0:
			c.Set(s.seen)
		}
	}
	return e.declaring(t)
}

// finds is what a rule finds in a run that was made before, nil if nothing, or what may be chance: of runs by which
// something was observed, it was seen often enough.
func (e *engine) finds(r *law, x any, run job) *Violation {
	if !r.about(run.Job) || !r.sees(x) {
		return nil
	}
	var v *Violation
	if run.fresh {
		v = e.check(r, x)
	} else {
		v = r.Check(x)
	}
	if v == nil || !run.observed && (v.Chance || doubtful(r.ID, run.Job, run.rec)) {
		return nil
	}
	v.Run = run.rec
	return v
}

// compare looks for the smallest of some runs that breaks a rule with one declaration and does not with another. It is
// one of the rules in only, or of all of them.
func (e *engine) compare(
	runs []job, with, without declaration, only ...*law,
) (least *breach) {
	rules := with.judges
	if len(only) > 0 {
		rules = slices.DeleteFunc(slices.Clone(rules), func(r *law) bool { return !slices.Contains(only, r) })
	}
	for _, run := range runs {
		s := run.rec.Schedule
		if least != nil && s.Compare(least.found.Run.Schedule) >= 0 || run.rec.LeftOut != "" {
			continue
		}
		if run.rec.Refused != "" && e.profile.Refusals {
			continue
		}
		x, other := e.c.exam(with.traits, run.rec, run.Job), e.c.exam(without.traits, run.rec, run.Job)
		for _, r := range rules {
			v, judged := e.finds(r, x, run), slices.Contains(without.judges, r)
			if v == nil || judged && (r.Again != nil && !run.fresh || e.finds(r, other, run) != nil) {
				continue // or only reruns would tell
			}
			least = &breach{r, v}
			break
		}
	}
	return least
}

// runsFor are the runs by which a choice was observed, and those that were made for rules.
func (e *engine) runsFor(s *settled) []job {
	runs := slices.Clone(s.tried)
	for i := range runs {
		runs[i].Family, runs[i].Review = e.familyOf(runs[i].rec.Schedule), true
	}
	return append(runs, e.atHand...)
}

// surely are runs of which nothing counts that may be chance.
func surely(runs []job) []job {
	runs = slices.Clone(runs)
	for i := range runs {
		runs[i].observed = false
	}
	return runs
}

// decide lists the decisions that are asked for: where a weaker value was observed.
func (e *engine) decide() (all []*decision) {
	e.awaits = map[string]string{}
	seen, now := e.with("", 0), e.declaredNow()
	for i := range e.settled {
		s := &e.settled[i]
		if !s.open() {
			continue
		}
		d := &decision{settled: s, value: s.seen}
		strict, open, runs := e.with(s.Name, s.strict()), e.with(s.Name, 0), e.runsFor(s)
		least := e.compare(surely(runs), strict, seen) // which a replay shows, too
		if least == nil {
			least = e.compare(runs, strict, seen)
		}
		if least != nil {
			d.rule, d.run = least.rule, least.found
		}
		if d.clash = e.compare(runs, seen, strict); d.clash == nil {
			d.clash = e.refutes(s.Name, seen)
		}
		if d.clash != nil && e.broken(d.clash.rule.ID) == nil {
			d.value = 0
		}
		if e.optional && d.value == 0 {
			s.seen, s.assumed = 0, 0
			continue
		}
		d.frees = e.freed(strict, seen)
		for _, id := range e.freed(strict, now) {
			e.awaits[id] = cmp.Or(e.awaits[id], s.Name)
		}
		for _, decided := range []declaration{strict, seen} {
			for _, id := range e.freed(decided, open) { // for this alone
				e.awaits[id] = s.Name
			}
		}
		all = append(all, d)
	}
	for _, d := range all {
		if slices.ContainsFunc(all, func(o *decision) bool { return e.clashes(o, d) }) {
			d.value, d.clash = d.seen, nil
		}
	}
	return all
}

// insistOn reports whether there are new choices of which no value explains what was seen: a rule is broken whichever
// is declared. So that it is told which, they are to have the value that was observed, if fewer rules are broken with
// it than with the strict one, or else that. Where none was observed it is the one with which fewest are broken.
func (e *engine) insistOn() (some bool) {
	for _, d := range e.decisions {
		if d.value != 0 || d.rule == nil || d.strict() == 0 || d.optional() || e.insists[d.Name] != 0 {
			continue
		}
		e.insists[d.Name], some = d.strict(), true
		runs := e.runsFor(d.settled)
		if c := d.clash; c != nil {
			runs = append(runs, job{Job: e.review(c.found.Run), rec: c.found.Run, observed: true})
		}
		if e.breaksOf(runs, e.with("", 0)) < e.breaksOf(runs, e.with(d.Name, d.strict())) {
			e.insists[d.Name] = d.seen
		}
		if d.clash != nil && !e.tries(d.clash.found.Run.Schedule) { // it waits for what else was seen
			for _, other := range e.decisions {
				e.insists[other.Name] = cmp.Or(e.insists[other.Name], other.seen)
			}
		}
	}
	for i := range e.settled {
		if s := &e.settled[i]; s.missing() && s.seen == 0 && s.assumed == 0 {
			e.insists[s.Name] = e.leastBroken(s)
			some = some || e.insists[s.Name] != 0
		}
	}
	return some
}

// leastBroken is the value of a choice with which fewest of the rules are broken that wait for it, 0 if none is broken
// with one of them.
func (e *engine) leastBroken(s *settled) (value int) {
	runs, least := e.runsFor(s), len(e.rules)+1
	for v := range len(s.Values) {
		if !s.named(v + 1) {
			continue
		}
		d := e.with(s.Name, v+1)
		waiting := e.freed(d, e.with(s.Name, 0))
		other := func(r *law) bool { return !slices.Contains(waiting, r.ID) }
		d.judges = slices.DeleteFunc(slices.Clone(d.judges), other)
		switch n := e.breaksOf(runs, d); {
		case n == 0:
			return 0
		case n < least:
			value, least = v+1, n
		}
	}
	return value
}

// breaksOf is how many rules some runs break with a declaration.
func (e *engine) breaksOf(runs []job, d declaration) (n int) {
	for _, r := range d.judges {
		n += Number(slices.ContainsFunc(runs, func(run job) bool { return e.foundWith(r, run, d) != nil }))
	}
	return n
}

// clashes reports whether what the value of a decision does not explain is a matter of another one, whose values do not
// explain it either: its rule is in force only with that.
func (e *engine) clashes(with, d *decision) bool {
	if with.value != 0 || d.value != 0 || with.clash == nil || d.clash == nil || with.clash.rule != d.clash.rule {
		return false
	}
	rests := func(o *decision) bool {
		return slices.Contains(e.freed(e.with(o.Name, o.strict()), e.with(o.Name, 0)), d.clash.rule.ID)
	}
	return rests(with) && !rests(d)
}

// refutes looks for what refutes a declaration on schedules, or by rules, that wait for one of its choices, or by rules
// that it is to explain: these are run for it. It returns the smallest of the first family that has any.
func (e *engine) refutes(
	choice string, d declaration, explained ...*law,
) (least *breach) {
	if e.hangs() {
		return nil
	}
	open := e.with(choice, 0)
	waiting := slices.Clone(d.judges)
	waiting = slices.DeleteFunc(waiting, func(r *law) bool { return slices.Contains(open.judges, r) })
	defer e.declareFor(d)()
	d, open = e.declaring(d.traits), e.declaring(open.traits) // as the operations are now
	explained = slices.DeleteFunc(explained, func(r *law) bool { return !slices.Contains(d.judges, r) })
	asked := slices.Concat(waiting, explained)
	sampled := ""
	e.try(triedOfEach, func(j Job) bool {
		if !e.wanted(j.Family, j.Schedule) {
			return false
		}
		again := j.text == sampled // one sample is enough
		if j.Order == inside.OrderSampled {
			sampled = j.text
		}
		concerns := func(r *law) bool { return r.about(j) }
		return !again && (!e.families[j.Family] || slices.ContainsFunc(asked, concerns))
	}, func(run job) (more bool) {
		rules := waiting
		if !e.families[run.Family] {
			rules = nil // all of them
		}
		run.fresh = true
		found := e.compare([]job{run}, d, open, rules...)
		for _, r := range explained {
			if found != nil {
				break
			}
			if v := e.foundWith(r, run, d); v != nil {
				found = &breach{r, v}
			}
		}
		if found != nil && (least == nil || found.found.Run.Schedule.Compare(least.found.Run.Schedule) < 0) {
			least = found
		}
		return least == nil
	})
	return least
}

// triedOfEach is how many schedules of each family are run to refute a value, before it is offered.
const triedOfEach = 500

// declareFor declares otherwise until what it returns is called.
func (e *engine) declareFor(d declaration) (back func()) {
	now := e.c.complete()
	e.declare(d.traits)
	return func() { e.declare(now) }
}

// freed lists the rules that are in force with one declaration and not with another.
func (e *engine) freed(with, without declaration) (ids []string) {
	for _, r := range e.rules {
		here := skip(e.Suite, r, with.traits, with.choices).why == ""
		if here && skip(e.Suite, r, without.traits, without.choices).why != "" {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// explains reports whether with other traits a rule is not broken by the run that breaks it, nor by any at hand,
// and none of these breaks a rule that it does not break as things are.
func (e *engine) explains(r *law, here job, other declaration) bool {
	now := e.declaredNow()
	return e.explainsAll(r, []job{here}, other, now) && e.explainsAll(r, e.atHand, other, now) // most by the first
}

// explainsAll is explains for some runs.
func (e *engine) explainsAll(r *law, runs []job, other, now declaration) bool {
	return e.keeps(r, runs, other) && e.compare(runs, other, now) == nil
}

// keeps reports whether with other traits a rule is broken by none of some runs.
func (e *engine) keeps(r *law, runs []job, other declaration) bool {
	breaks := func(run job) bool { return e.foundWith(r, run, other) != nil }
	return !slices.Contains(other.judges, r) || !slices.ContainsFunc(runs, breaks)
}

// foundWith is what a rule finds with a declaration in a run that was made before, nil if nothing.
func (e *engine) foundWith(r *law, run job, d declaration) *Violation {
	if run.rec.LeftOut != "" {
		return nil
	}
	return e.finds(r, e.c.exam(d.traits, run.rec, run.Job), run)
}
