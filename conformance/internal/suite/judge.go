package suite

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// active are the rules that judge traces of this implementation.
func (e *engine) active() []*law {
	return e.which(func(r *law) bool {
		return !r.probes() && skip(e.Suite, r, e.traits, e.choices).why == ""
	})
}

// judge returns what shows a run to every one of the rules. What they have found is looked up once.
func (e *engine) judge(active []*law) func(j Job, rec *Recording) {
	found := make([]*finding, len(active))
	return func(j Job, rec *Recording) { e.judged(active, found, j, rec) }
}

func (e *engine) judged(active []*law, found []*finding, j Job, rec *Recording) {
	if rec.LeftOut != "" {
		if rec.LeftOut == polls {
			e.tooMuch(j.Schedule.Config.String(), j.Schedule)
		}
		e.leave(active, rec.LeftOut, j.Family, j.Schedule)
		return
	}
	if e.woke += rec.wakes; e.woke > enough && rec.wakes > oftenWoke {
		e.tooMuch(anyConfig, j.Schedule)
	}
	e.keepAtHand(j, rec)
	x := e.c.exam(e.traits, rec, j)
	var broken []breach
	for i, r := range active {
		if !r.about(j) || !r.sees(x) {
			continue
		}
		if found[i] == nil {
			found[i] = e.found(r.ID)
		}
		f := found[i]
		if f.judged++; f.judged == 1 || j.text != "" && j.text == e.best[r.ID] {
			f.example = rec
		}
		if v := e.check(r, x); v != nil {
			broken = append(broken, breach{r, v})
		}
	}
	if len(broken) > 0 && rec.Turned {
		if e.halts.turned++; e.halts.turned > mostTurned {
			e.over = "timers of no duration are armed without end, and each such run takes long"
		}
	}
	for _, b := range broken {
		b.found.Run = rec
		f, basic := e.found(b.rule.ID), hidden(b.rule, broken)
		switch {
		case basic != "":
			f.beyond = basic
		case b.found.Chance:
			f.chance(b.found, j)
		case doubtful(b.rule.ID, j, rec):
			e.doubts = append(e.doubts, doubt{b.rule, b.found.Kind, j})
		default:
			e.keep(b.rule, f, b.found, j.Family)
		}
	}
}

// breach is a rule that a run breaks, perhaps only with some traits.
type breach struct {
	rule  *law
	found *Violation
}

// hidden is the first of the rules that a run breaks beyond which what a rule finds in it says the same, "" if none is.
func hidden(r *law, broken []breach) string {
	for _, b := range broken {
		if slices.Contains(r.Beyond, b.rule.ID) {
			return b.rule.ID
		}
	}
	return ""
}

// keep keeps what a rule has found.
func (e *engine) keep(r *law, f *finding, v *Violation, family string) {
	f.keep(v, family)
	if inside.Found != nil && r.Level != conformance.Provisional {
		inside.Found(r.ID)
	}
}

// check judges one run by one rule.
func (e *engine) check(r *law, x any) *Violation {
	if r.Check != nil {
		v := r.Check(x)
		if v != nil && r.Owing != nil && !r.Owing(x, e.Rerun) {
			return nil
		}
		if v != nil || r.Again == nil {
			return v
		}
	}
	return r.Again(x, e.Rerun)
}

// broken is what has broken a rule so far, nil if nothing has.
func (e *engine) broken(rule string) *Violation {
	if f := e.findings[rule]; f != nil {
		return f.worst
	}
	return nil
}

// someBroken reports whether a rule has been broken so far in a way that is like this.
func (e *engine) someBroken(like func(id string, v *Violation) bool) bool {
	for id, f := range e.findings {
		if f.worst != nil && like(id, f.worst) {
			return true
		}
	}
	return false
}

// found returns what was found about a rule so far, and makes the entry if there is none.
func (e *engine) found(rule string) *finding {
	if e.findings[rule] == nil {
		e.findings[rule] = newFinding()
	}
	return e.findings[rule]
}

// doubt is a finding in [inside.OrderReceived]. The driver brings that order about by being next on the one
// processor, so that a preemption at the wrong moment lets what the timer has woken decide first and be
// overtaken before its callback starts, which is legal. It counts only if the same run shows it again.
type doubt struct {
	rule *law
	kind string
	job  Job
}

// again is how often the run of a doubt is repeated, and confirming how many of these runs must show it: a select may
// take one way as well as the other, a preemption comes in less than one run in a thousand.
const again, confirming = 20, 2

// doubtful reports whether a finding is to be confirmed. What is left behind, and what never came back, is no
// matter of order.
func doubtful(rule string, j Job, rec *Recording) bool {
	return j.Order == inside.OrderReceived && rule != leakRule && !rec.Stuck
}

// settleDoubts runs again what showed a doubt, the smallest schedule first, until one of its rule and kind is
// confirmed.
func (e *engine) settleDoubts() {
	defer e.aside()()
	doubts := e.doubts
	e.doubts = nil
	slices.SortStableFunc(doubts, func(a, b doubt) int { return a.job.Schedule.Compare(b.job.Schedule) })
	for _, d := range doubts {
		f := e.found(d.rule.ID)
		if !f.smaller(d.kind, d.job.Schedule) {
			continue
		}
		v, h := e.confirmed(d)
		if h != nil {
			return // what hangs has been found, or will be, by a run that is not repeated
		}
		if v != nil {
			e.keep(d.rule, f, v, d.job.Family)
		}
	}
}

// confirmed returns what a doubt's rule finds in it again, nil if that is not often enough.
func (e *engine) confirmed(d doubt) (v *Violation, h *Hang) {
	found, h := e.repeated(d.rule, d.job, again)
	found = slices.DeleteFunc(found, func(v *Violation) bool { return v.Kind != d.kind })
	if len(found) >= confirming {
		v = found[len(found)-1]
	}
	return v, h
}

// repeated is what a rule finds in n more runs of a job.
func (e *engine) repeated(r *law, j Job, n int) (found []*Violation, h *Hang) {
	j.Review = true
	h = e.lab.run(slices.Repeat([]Job{j}, n), func(j Job, rec *Recording) {
		if rec.LeftOut != "" {
			return
		}
		if v := e.check(r, e.c.exam(e.traits, rec, j)); v != nil {
			v.Run = rec
			found = append(found, v)
		}
	})
	return found, h
}

// repeats is how often a run that breaks a rule is repeated, to see whether it always does.
const repeats = 10

// replays is how often a replay runs a schedule, as its goroutines may go on in another order. Where steps race that
// order is one of several, and on package time each run is many.
func (e *engine) replays(s conformance.Schedule) int {
	switch racing := s.RacingSteps() > 0; {
	case !e.Bubble, len(s.Steps) > tooLong, racing && e.Time == conformance.PackageTime:
		return 1
	case racing:
		return 4 * repeats
	}
	return repeats
}

// wavers reports whether the run that broke a rule does not always break it.
func (e *engine) wavers(r *law, f *finding) bool {
	v := f.worst
	if r.Check == nil || v.Run == nil || v.Run.Stuck || v.Chance || v.interleaving != "" || v.never || !e.Bubble ||
		f.family == Leaks || len(v.Run.Schedule.Steps) > tooLong || v.Run.Order == inside.OrderSampled || e.hangs() {
		return false
	}
	defer e.aside()()
	found, h := e.repeated(r, Job{Schedule: v.Run.Schedule, Order: v.Run.Order, Family: f.family}, repeats)
	return h == nil && len(found) < repeats
}
