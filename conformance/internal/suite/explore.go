package suite

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// explore runs a family and judges it by all rules.
func (e *engine) explore(f Family) {
	if f.Skip != "" {
		e.givenUp[f.Name] = f.Skip
		e.leave(e.active(), f.Skip, f.Name, f.Schedules...)
		return
	}
	e.families[f.Name] = true
	jobs := e.runsOf(f)
	for _, j := range jobs {
		e.schedules[j.text] = true
	}
	if e.CannotReenter {
		jobs = e.without(reenters, deadlocks, f, jobs)
	}
	jobs = e.runnable(f, jobs)
	if e.lab.leaks && len(jobs) > fewer {
		// What blocks in a bubble for ever stays, and makes each look at the stacks
		// slower.
		e.Inexact = fmt.Sprintf("each run leaves goroutines behind, "+
			"so that only the first %d runs of each family were made", fewer)
		var out []conformance.Schedule
		for _, j := range jobs[fewer:] {
			out = append(out, j.Schedule)
		}
		e.leave(e.active(), e.Inexact, f.Name, out...)
		jobs = jobs[:fewer]
	}
	judge := e.judge(e.active())
	defer OneProcessor()()
	defer e.settleDoubts()
	for len(jobs) > 0 {
		noticed := e.lab.leaving != nil
		h := e.lab.run(jobs, judge)
		if e.lab.leaving != nil && !noticed && !f.Look {
			e.lookAgain(e.lab.leaving)
		}
		if h == nil {
			return
		}
		jobs = e.hung(f, jobs, h)
	}
}

// leakRule judges the runs that look for what they leave behind.
const leakRule = "X-LEAK"

// lookAgain finds jobs that leave goroutines behind, among those of a bubble in which some
// were left, and runs them once more with time to end.
func (e *engine) lookAgain(jobs []Job) {
	rule := slices.DeleteFunc(e.active(), func(r *law) bool { return r.ID != leakRule })
	const most = 8 // each look at what is left takes longer than the one before it
	for range most {
		if len(rule) == 0 || len(jobs) == 0 || e.broken(leakRule) != nil {
			return
		}
		i := sort.Search(len(jobs), func(i int) bool { return e.leaveSomething(jobs[:i+1]) })
		if i == len(jobs) {
			break
		}
		again := jobs[i]
		again.Look, again.Family = true, Leaks
		e.lab.run([]Job{again}, e.judge(rule))
		jobs = jobs[i+1:]
	}
	if e.broken(leakRule) == nil {
		e.notLeft = "goroutines were left when a bubble ended, but none by a run that had time to end"
	}
}

// leaveSomething reports whether goroutines are left in a bubble in which the jobs run.
func (e *engine) leaveSomething(jobs []Job) bool {
	l := *e.lab
	l.leaks = false
	l.run(jobs, func(Job, *Recording) {})
	return l.leaks
}

// runsOf are the runs of a family.
func (e *engine) runsOf(f Family) []Job {
	jobs := make([]Job, 0, len(f.Schedules))
	for _, s := range f.Schedules {
		text := s.String()
		for _, o := range e.orders(s) {
			jobs = append(jobs, Job{Schedule: s, Order: o, Family: f.Name, Look: f.Look, text: text})
		}
	}
	return jobs
}

// orders lists the orders in which a schedule is run.
func (e *engine) orders(s conformance.Schedule) []inside.Order {
	if o, ok := e.c.of().(Orderly); ok {
		return o.Orders(e.Suite, s)
	}
	switch {
	case s.RacingSteps() == 0:
		return []inside.Order{inside.OrderSettled}
	case e.Time == conformance.PackageTime:
		return slices.Repeat([]inside.Order{inside.OrderSampled}, Samples)
	case !e.Bubble &&
		slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return st.Racing && !st.Op.Counts() }):
		// Without a bubble nobody can tell a step that waits for what is held from one that
		// is still running.
		return []inside.Order{inside.OrderStepFirst, inside.OrderFireFirst}
	}
	out := []inside.Order{inside.OrderStepFirst, inside.OrderHeld, inside.OrderFireFirst}
	if e.Bubble && e.profile.Receivers && !e.randomNext() {
		out = append(out, inside.OrderReceived)
	}
	return out
}

// randomNext says that [inside.OrderReceived] is not run, as nobody can say which goroutine is the next: with
// the race detector the runtime draws it.
func (e *engine) randomNext() bool { return RaceDetector && e.profile.Receivers }

// tries reports whether the suite tries a schedule by itself, or may draw it.
func (e *engine) tries(s conformance.Schedule) bool {
	if d, ok := e.c.of().(Drawing); ok && d.Fits(e.Suite, s) {
		return true
	}
	text := s.String()
	is := func(other conformance.Schedule) bool { return other.String() == text }
	return slices.ContainsFunc(e.c.Families(e.Suite), func(f Family) bool {
		return slices.ContainsFunc(f.made().Schedules, is)
	})
}

// observes reports whether the suite tries a schedule to observe a choice.
func (e *engine) observes(s conformance.Schedule) bool {
	text := s.String()
	same := func(j job) bool { return j.rec.Schedule.String() == text }
	return slices.ContainsFunc(e.settled, func(s settled) bool {
		return s.telling == text || slices.ContainsFunc(s.tried, same)
	})
}

// anyConfig stands for all configurations in what was polled.
const anyConfig = "any"

// tooMuch notes that the time in a schedule of a configuration takes too long.
func (e *engine) tooMuch(config string, s conformance.Schedule) {
	d := span(s)
	if least, ok := e.polled[config]; !ok || d < least {
		e.polled[config] = d
	}
}

// span is how long the steps of a schedule take.
func span(s conformance.Schedule) (d time.Duration) {
	for _, st := range s.Steps {
		d = max(d, st.At)
	}
	return d
}

// tooLong says why a schedule is not run, as one that is no longer was left out, or was the last of this length;
// "" if it is run.
func (e *engine) tooLong(j Job) string {
	if len(e.polled) == 0 {
		return ""
	}
	long := func(config string) bool {
		least, ok := e.polled[config]
		return ok && span(j.Schedule) >= least
	}
	return If(long(anyConfig) || long(j.Schedule.Config.String()), polls)
}
