package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// A schedule is judged; or left out, for a reason that is known before it is run or that
// its own recording gives; or unfinished. What is left out is counted. What is unfinished
// ends the exploration and leaves inconclusive every rule that it concerns.

// unfinished is what is said of a run that made no progress, and for which no rule can be
// blamed.
type unfinished struct {
	hang *Hang
	what string // in a few words
}

// leave counts schedules as left out, and for each of the active rules those that concern it.
func (e *engine[T, E]) leave(active []*Rule[T, E], why, family string, schedules ...conformance.Schedule) {
	if len(schedules) == 0 {
		return
	}
	e.left[why] += len(schedules)
	for _, r := range active {
		for _, s := range schedules {
			if r.about(Job{Schedule: s, Family: family}) {
				e.found(r.ID).leave(why)
			}
		}
	}
}

// leave counts a schedule as left out.
func (f *finding) leave(why string) {
	if f.left == nil {
		f.left = map[string]int{}
	}
	f.left[why]++
}

// hung judges a run that made no progress. It returns the jobs with which the family goes
// on.
func (e *engine[T, E]) hung(f Family, jobs []Job, h *Hang) []Job {
	s, rest := h.Job.Schedule, jobs[h.at+1:]
	id := callsRule
	if s.Config.Inside != "" {
		id = "X-REENT"
	}
	if c, ok := e.c.(Hanging); ok {
		if rule, v, done := c.Hung(e.Suite, h); done {
			if v != nil {
				e.blame(cmp.Or(rule, id), f, h, v)
			} else {
				e.unfinish(h)
				rest = jobs[h.at:] // it has judged nothing itself
			}
			if e.cannotReenter {
				rest = e.without(reenters, deadlocks, f, rest)
			}
			return e.unreached(rest)
		}
	}
	if where := h.BlockedInCallback(); where != "" && s.Config.Inside != "" {
		e.cannotReenter = true
		because := "its goroutine is blocked, under its own callback: " + where
		if slices.ContainsFunc(e.choices, func(c Choice) bool { return c.Name == "Reentrancy" }) {
			because += "; if it is documented that callbacks must not do this, declare Reentrancy: " +
				e.profile.Package + ".ReentrancyForbidden"
		}
		e.blame(id, f, h, &Violation{
			Headline: fmt.Sprintf("%s called from the callback never returned", s.Config.Inside),
			Because:  because,
		})
		return e.without(reenters, deadlocks, f, rest)
	}
	if why := h.waitsForCallback(); why != "" && s.Config.Busy > 0 {
		// Whether a method or a timer's function may wait for a running callback is a choice.
		e.leave(e.active(), why, f.Name, s)
		return e.without(isBusy, why, f, rest)
	}
	if where := e.WaitsForEver(h); where != "" {
		v := e.Lost(where)
		if h.Panicked != "" {
			v.Because += "; before that, " + h.Panicked
		}
		e.blame(id, f, h, v)
		return e.unreached(rest)
	}
	e.unfinish(h)
	e.unreached(jobs[h.at:])
	return nil
}

// Reasons to leave schedules out once a run has hung.
const (
	deadlocks      = "a method deadlocks when the callback calls it, so this would hang too"
	methodWaits    = "a method waits for a lock while the callback runs, which no driver can settle"
	timerFuncWaits = "a timer's function waits for a lock while the callback runs, which no driver can settle"
)

// reenters reports whether a schedule hangs on an implementation which holds a lock while
// its callback runs.
func reenters(s conformance.Schedule) bool {
	return s.Config.Inside != "" || s.Config.Busy > 0 ||
		slices.ContainsFunc(s.Steps, func(s conformance.Step) bool { return s.In != 0 })
}

func isBusy(s conformance.Schedule) bool { return s.Config.Busy > 0 }

// without returns the jobs but those of one kind, which are left out.
func (e *engine[T, E]) without(kind func(conformance.Schedule) bool, why string, f Family, jobs []Job) []Job {
	var kept []Job
	var out []conformance.Schedule
	for _, j := range jobs {
		if !kind(j.Schedule) {
			kept = append(kept, j)
		} else if n := len(out); n == 0 || out[n-1].String() != j.Schedule.String() {
			out = append(out, j.Schedule)
		}
	}
	e.leave(e.active(), why, f.Name, out...)
	return kept
}

// unfinish ends the exploration with a run that made no progress.
func (e *engine[T, E]) unfinish(h *Hang) {
	e.unfinished = &unfinished{h, e.inWords(h)}
	e.over = e.unfinished.what
}

// unreached notes the rules that the jobs would have concerned. None is left to run, if the
// exploration is over.
func (e *engine[T, E]) unreached(jobs []Job) []Job {
	if e.over == "" {
		return jobs
	}
	for _, r := range e.active() {
		if slices.ContainsFunc(jobs, r.about) {
			e.found(r.ID).unfinished = true
		}
	}
	return nil
}

// inWords says in a line what has not come back and what it does instead.
func (s *Suite) inWords(h *Hang) string {
	subject := "a run has not come to its end"
	if h.Open != "" {
		subject = h.Open + " has not come back"
	}
	locked, held, runs, outside := "", "", "", ""
	for _, g := range h.Goroutines() {
		switch {
		case !g.Bubble && g.below(markOperation) < 0, g.forGood:
		case g.State == "running" || g.State == "runnable":
			runs = cmp.Or(runs, g.Function)
		case isLocked(g.Waiting):
			locked = cmp.Or(locked, g.at())
		case !g.Bubble || !g.Durable:
			outside = cmp.Or(outside, g.at())
		case s.foreign(g.Stack):
			held = cmp.Or(held, g.at())
		}
	}
	switch {
	case runs != "":
		return subject + ": it runs on and on, in " + runs
	case locked != "" && held != "":
		return fmt.Sprintf("%s: %s, while %s: whoever holds a lock while it waits for its time "+
			"keeps a bubble from settling", subject, locked, held)
	case locked != "":
		return subject + ": " + locked
	case outside != "":
		return subject + ": " + outside + ", for what its bubble cannot bring"
	}
	return subject
}

// at says what a goroutine waits for and where.
func (g Goroutine) at() string { return g.State + " in " + g.Function }

// waitsForCallback says that a method or, if no method does, a timer's function waits for a lock
// while a callback is running; "" if none does.
func (h *Hang) waitsForCallback() string {
	method, function, back := false, false, false
	for _, g := range h.Goroutines() {
		switch {
		case g.below(markCallback) >= 0:
			back = true
		case !isLocked(g.Waiting):
		case g.below(markOperation) >= 0:
			method = true
		default:
			function = function || g.Bubble
		}
	}
	switch {
	case back && method:
		return methodWaits
	case back && function:
		return timerFuncWaits
	}
	return ""
}

// couldNot is the text of a rule that is left inconclusive.
func (e *engine[T, E]) couldNot(id, law, why string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: could not be judged: %s\n", id, why)
	if law != "" {
		fmt.Fprintln(&b, law)
	}
	b.WriteString("This accuses nobody: a run made no progress, and nothing proves that it never will.\n")
	known := fmt.Sprintf("{Rule: %q, Inconclusive: true, Why: \"...\"}", id)
	replay := ""
	if u := e.unfinished; u != nil && e.stalls[id] == "" {
		if e.profile.Asleep != "" && strings.Contains(u.what, "holds a lock") {
			b.WriteString(e.profile.Asleep + "\n")
		}
		if s := u.hang.Job.Schedule; len(s.Steps) > 0 {
			fmt.Fprintf(&b, "\n%s\n", s)
			known = fmt.Sprintf("{Schedule: %q, Inconclusive: true, Why: \"...\"}", s)
			replay = fmt.Sprintf("replay: ESCAPEMENT_SCHEDULE=%s go test -run %s %s\n",
				quoted(s.String()), quoted(e.pattern(id)), cmp.Or(e.pkg, callerPackage()))
		}
		b.WriteString(e.stacksOnce())
	}
	fmt.Fprintf(&b, "\nto live with it: KnownFailing: []conformance.Known{%s}\n", known)
	return b.String() + replay
}

// where says which schedule has left a rule inconclusive, "" if it was none.
func (e *engine[T, E]) where(rule string) string {
	if e.unfinished == nil || e.stalls[rule] != "" || len(e.unfinished.hang.Job.Schedule.Steps) == 0 {
		return ""
	}
	return fmt.Sprintf("\non %s", e.unfinished.hang.Job.Schedule)
}

// stacksOnce are the stacks of what hangs, for the first text that asks for them.
func (e *engine[T, E]) stacksOnce() string {
	if e.told {
		return ""
	}
	e.told = true
	var b strings.Builder
	for _, g := range e.unfinished.hang.Goroutines() {
		if e.foreign(g.Stack) && (g.Bubble || g.below(markOperation) >= 0) && !waitsForTests(g.Stack) {
			fmt.Fprintf(&b, "\n%s (%s)\n%s\n", brief(g.Waiting), g.Place, indented(g.Stack))
		}
	}
	return b.String()
}

// indented is the inner part of a stack.
func indented(stack string) string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	return "\t" + strings.Join(lines[:min(len(lines), 12)], "\n\t")
}

// CannotReenter tells the suite that a method called from the callback blocks for good.
func (s *Suite) CannotReenter() { s.cannotReenter = true }

// Lost ends the exploration and returns what to say of an operation that waits for ever.
func (s *Suite) Lost(where string) *Violation {
	s.over = NeverReturned
	return &Violation{
		Headline: NeverReturned,
		Because:  "all else waits too, and nobody is there to unlock it: " + where,
	}
}

// blame notes that a run without progress breaks a rule.
func (e *engine[T, E]) blame(id string, f Family, h *Hang, v *Violation) {
	if v.Run == nil {
		v.Run = &Recording{Trace: conformance.Trace{Schedule: h.Job.Schedule, Order: h.Job.Order}}
	}
	find := e.found(id)
	find.judged++
	find.keep(v, f.Name)
}
