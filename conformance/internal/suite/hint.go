package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// hint says which choices, if they were declared otherwise, would make a run that breaks a
// rule one that breaks no rule. Only the author knows whether the declaration or the
// implementation is wrong, so that it must explain all that a decision would have to: the runs
// at hand, too. Choices with which the rule is in force and holds are preferred to those that
// take it out of force; where what breaks the rule is not in the trace, only the latter can be
// found. What is observed to be as it is declared is not offered otherwise: or else the
// declaration that nothing is to be judged would explain every failure.
func (e *engine) hint(r *law, v *Violation) string {
	switch rec := v.Run; {
	case rec == nil || r.probes() || e.explained:
		return ""
	case rec.Refused != "" && e.profile.Refusals, rec.Refused == "" && len(rec.Done) == 0:
		return "" // nothing was done, for whatever reason
	}
	_, blind := e.holds(r, e.declaredNow(), v.Run)
	var held, freed []string
	for _, o := range e.others() {
		inForce, ok := e.holdsWith(r, v.Run, o)
		if !ok || !e.plausible(o) || !e.survives(r, o) {
			continue
		}
		switch text := e.choices[o.choice].Name + ": " + o.name; {
		case !inForce:
			freed = append(freed, text)
		case !blind:
			held = append(held, text)
		}
	}
	if len(held) == 0 {
		held = freed
	}
	if len(held) == 0 {
		return ""
	}
	return fmt.Sprintf("If your documentation says so, declare %s; this run is then correct.\n",
		strings.Join(held, " or "))
}

// survives reports whether a choice, declared otherwise, explains all runs at hand. Where a schedule can configure it
// they say nothing.
func (e *engine) survives(r *law, o otherwise) bool {
	if e.choices[o.choice].Alter != nil {
		return true
	}
	e.fetch()
	return e.explainsAll(r, e.atHand, e.declared(o), e.declaredNow())
}

// fetchedOfEach is how many runs of each family are made to judge them with other traits, where none are at hand.
const fetchedOfEach = 40

// fetch makes some runs, where none are at hand.
func (e *engine) fetch() {
	if e.undeclared || len(e.atHand) > 0 || e.hangs() {
		return
	}
	all := func(Job) bool { return true }
	e.try(fetchedOfEach, all, func(run job) (more bool) {
		e.atHand = append(e.atHand, run)
		return true
	})
}

// try makes those of the first runs of each family, none of which is judged, and no other family if see has said so.
func (e *engine) try(most int, these func(Job) bool, see func(run job) (more bool)) {
	defer e.aside()()
	for _, f := range e.c.Families(e.Suite) {
		if f.Skip != "" {
			continue
		}
		f = f.made()
		f.Schedules = spread(f.Schedules, most)
		jobs := slices.DeleteFunc(e.runsOf(f), func(j Job) bool { return !these(j) })
		more := true
		hang := e.lab.run(jobs, func(j Job, rec *Recording) {
			j.Review = true
			more = see(job{Job: j, rec: rec}) && more
		})
		if hang != nil || !more {
			return
		}
	}
}

// spread returns so many schedules at the most: the first of them, which are the smallest, and some of the others.
func spread(all []conformance.Schedule, most int) []conformance.Schedule {
	if len(all) <= most {
		return all
	}
	out := slices.Clone(all[:most/2])
	rest := all[most/2:]
	for i := range most - most/2 {
		out = append(out, rest[i*len(rest)/(most-most/2)])
	}
	return out
}

// otherwise is a choice, by number, that is declared otherwise.
type otherwise struct {
	choice, value int
	name          string
}

// others lists what may be declared instead of what is. Of a number that is not declared it is what
// was observed.
func (e *engine) others() (all []otherwise) {
	for k, c := range e.choices {
		if c.Set == nil || c.Apart || c.Declared == 0 && c.pointless() {
			continue
		}
		for i, name := range c.Values {
			if i+1 != c.Declared && !slices.Contains(c.Blind, name) {
				all = append(all, otherwise{k, i + 1, name})
			}
		}
		if c.number() && c.Declared == 0 {
			if seen := e.observe(c); c.named(seen) {
				all = append(all, otherwise{k, seen, c.Literal(seen)})
			}
		}
	}
	return all
}

// holdsWith is holds with a choice declared otherwise.
func (e *engine) holdsWith(r *law, rec *Recording, o otherwise) (inForce, ok bool) {
	if alter := e.choices[o.choice].Alter; alter != nil {
		if rec, ok = alter(o.value, rec); !ok {
			return false, false
		}
	}
	return e.holds(r, e.declared(o), rec)
}

// declaration is what would be declared, with the rules that then judge traces.
type declaration struct {
	traits  any
	choices []Choice
	judges  []*law
}

// declaring is the declaration of some traits.
func (e *engine) declaring(t any) declaration {
	d := declaration{traits: t, choices: e.c.table(e.Suite, t)}
	d.judges = e.which(func(r *law) bool { return r.Check != nil && skip(e.Suite, r, t, d.choices).why == "" })
	return d
}

// declaredNow is the declaration that judges what is explored.
func (e *engine) declaredNow() declaration { return e.declaring(e.traits) }

// declared is the declaration with a choice otherwise, made once for all the runs that are asked about it.
func (e *engine) declared(o otherwise) declaration {
	if d, ok := e.otherwise[o]; ok {
		return d
	}
	t := e.c.complete()
	e.c.table(e.Suite, t)[o.choice].Set(o.value)
	d := e.declaring(t)
	e.otherwise[o] = d
	return d
}

// plausible reports whether a choice was observed to be made otherwise, where it can be observed: what is declared
// otherwise only because of a run that breaks a rule would excuse any mistake.
func (e *engine) plausible(o otherwise) bool {
	c := e.choices[o.choice]
	return c.Observe == nil || e.observe(c) == o.value
}

// hangs reports whether runs hang or leave goroutines behind.
func (e *engine) hangs() bool {
	return e.unfinished != nil || e.over != "" || e.left[methodWaits]+e.left[timerFuncWaits] > 0 ||
		e.CannotReenter || e.lab.leaks
}

// review is a run that was made before, to be judged once more.
func (e *engine) review(rec *Recording) Job {
	s := rec.Schedule
	return Job{Schedule: s, Order: rec.Order, Family: e.familyOf(s), Look: true, Review: true}
}

// holds reports whether a run breaks no rule with a declaration, and whether r is in force
// with it. Nothing is run again for it.
func (e *engine) holds(r *law, d declaration, rec *Recording) (inForce, ok bool) {
	run := job{Job: e.review(rec), rec: rec, observed: true}
	x := e.c.exam(d.traits, rec, run.Job)
	breaks := func(r *law) bool { return e.finds(r, x, run) != nil }
	inForce = skip(e.Suite, r, d.traits, d.choices).why == "" && r.about(run.Job) && r.sees(x)
	return inForce, !slices.ContainsFunc(d.judges, breaks)
}

// observe is what was observed of a choice with the traits as they are declared; 0 where
// runs hang, so that looking would take long.
func (e *engine) observe(c Choice) int {
	if _, ok := e.observed[c.Name]; !ok && !e.hangs() {
		e.observed[c.Name] = c.Observe()
	}
	return e.observed[c.Name]
}

// ask looks for the decision that a broken rule comes to: one that is asked for, or one about a value that was
// assumed, where a weaker one explains all that the rule finds. It returns nil if there is none.
func (e *engine) ask(r *law, v *Violation) *decision {
	if !e.undeclared || e.replayed || r.Cause {
		return nil
	}
	if v.Run == nil {
		return e.askRuns(r, v)
	}
	here := job{Job: e.review(v.Run), rec: v.Run, observed: true} // which was seen often enough
	now := e.declaredNow()
	if v.never && (r.Check == nil || e.foundWith(r, here, now) == nil) {
		return e.askHang(r, v)
	}
	if r.Check == nil || r.Again != nil && e.foundWith(r, here, now) == nil { // reruns showed it
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
func (e *engine) askHang(r *law, v *Violation) *decision {
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
func (e *engine) explaining(r *law, here job) (first *decision) {
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
func (e *engine) doubt(r *law, here job, v *Violation) *decision {
	for i := range e.settled {
		s := &e.settled[i]
		if s.Declared != 0 || s.assumed == 0 || s.assumed != s.strict() || s.Sure && s.seen != 0 {
			continue
		}
		for _, weaker := range s.Order[1:] {
			if other := e.with(s.Name, weaker); e.explains(r, here, other) && e.refutes(s.Name, other, r) == nil {
				d := &decision{settled: s, value: weaker, rule: r, run: v, frees: e.freed(e.with("", 0), other)}
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
func (e *engine) askRuns(r *law, v *Violation) *decision {
	breaks := func(d declaration) bool { return r.Probe != nil && e.probeBreaks(r, d) }
	tries := 1
	if r.Meets {
		tries = 3 // what goroutines do is chance
	}
	if r.Again != nil && v.Run != nil {
		breaks = func(d declaration) bool { return e.againBreaks(r, v.Run, d) }
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
func (e *engine) documentedDecision(r *law, v *Violation) *decision {
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
		d := &decision{settled: s, value: 1, rule: r, run: v, frees: frees}
		e.decisions = append(e.decisions, d)
		return d
	}
	return nil
}

// againBreaks reports whether the schedule of a run breaks a rule that compares it with reruns, with other traits.
func (e *engine) againBreaks(r *law, rec *Recording, d declaration) (broken bool) {
	if skip(e.Suite, r, d.traits, d.choices).why != "" {
		return false
	}
	s := rec.Schedule
	jobs := []Job{{Schedule: s, Order: rec.Order, Family: e.familyOf(s), Look: true}}
	e.Run(jobs, func(j Job, rec *Recording) {
		broken = e.foundWith(r, job{Job: j, rec: rec, observed: true, fresh: true}, d) != nil
	})
	return broken
}

// probeBreaks reports whether a rule is broken by runs of its own, with other traits.
func (e *engine) probeBreaks(r *law, other declaration) bool {
	defer e.declareFor(other)()
	if skip(e.Suite, r, other.traits, e.c.table(e.Suite, e.c.complete())).why != "" {
		return false
	}
	broken, _ := r.Probe(&Probe{Suite: e.Suite, rule: r.ID})
	return broken != nil
}
