package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// Where traits are undeclared TRAITS prints what a few runs showed. The runs that were made for other
// rules may show that it is not so, and whoever pastes it should not learn that only then.

// keptOfEach is how many runs of each family are kept for that.
const keptOfEach = 500

// handy is a run that was judged by the rules that are in force without the undeclared traits.
type handy struct {
	job Job
	rec *Recording
}

// keepAtHand keeps a run, where traits are undeclared.
func (e *engine[T, E]) keepAtHand(j Job, rec *Recording) {
	if !e.undeclared {
		return
	}
	if e.keptBy == nil {
		e.keptBy = map[string]int{}
	}
	if e.keptBy[j.Family]++; e.keptBy[j.Family] <= keptOfEach {
		j.Review = true
		e.atHand = append(e.atHand, handy{j, rec})
	}
}

// refuted is a rule that runs at hand break with the traits that are to be pasted, on the smallest schedule.
type refuted[T, E any] struct {
	rule     *Rule[T, E]
	schedule conformance.Schedule // without steps until one is found
}

// refutes lists the rules that would fail with the traits t, and do not without.
func (e *engine[T, E]) refutes(t *T) []refuted[T, E] {
	choices := e.c.Table(e.Suite, t)
	var all []refuted[T, E]
	for i := range e.rules {
		r := &e.rules[i]
		if r.Check == nil || e.breaks([]string{r.ID}) || e.skip(r, t, choices).why != "" || len(r.Beyond) > 0 {
			continue // what is beyond others shows what these show
		}
		all = append(all, refuted[T, E]{rule: r})
	}
	narrow, narrows := e.c.(Narrowing[T])
	for _, run := range e.atHand {
		if narrows && !narrow.Takes(t, run.rec.Schedule) {
			continue
		}
		x := e.c.Exam(t, run.rec, run.job)
		for i := range all {
			all[i].look(x, run)
		}
	}
	return slices.DeleteFunc(all, func(r refuted[T, E]) bool { return r.schedule.Steps == nil })
}

// look judges a run that is smaller than what has been found.
func (r *refuted[T, E]) look(x E, run handy) {
	s := run.rec.Schedule
	if r.schedule.Steps != nil && s.Compare(r.schedule) >= 0 || !r.rule.about(run.job) || !r.rule.sees(x) {
		return
	}
	if v := r.rule.Check(x); v != nil && !v.Chance && !doubtful(r.rule.ID, run.job, run.rec) {
		r.schedule = s
	}
}

// refutation says which rules would fail with the traits t, "" if none would.
func (e *engine[T, E]) refutation(t *T) string {
	all := e.refutes(t)
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.rule.ID
	}
	fmt.Fprintf(&b, "\nWith these, runs of this test break %s: where that is no bug, one of the choices is another.\n",
		strings.Join(ids, ", "))
	for _, r := range all[:min(len(all), mostKinds)] {
		fmt.Fprintf(&b, "\t%s%s on %s\n", r.rule.ID, e.dependent(r.rule), r.schedule)
	}
	return b.String()
}

// dependent names the traits on which a rule depends that are undeclared.
func (e *engine[T, E]) dependent(r *Rule[T, E]) string {
	var names []string
	for _, c := range e.choices {
		if c.Declared == 0 && slices.Contains(r.Declared, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
