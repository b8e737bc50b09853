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
// leaves inconclusive the rules that it concerns, and no other schedules go unjudged for it
// but those that begin like it, until too many runs were given up.

// unfinished is what is said of a run that made no progress.
type unfinished struct {
	hang   *Hang
	what   string // in a few words
	blamed bool   // a rule is broken by it
}

// schedule is that of the run, "" if it has none.
func (u *unfinished) schedule() string {
	if len(u.hang.Job.Schedule.Steps) == 0 {
		return ""
	}
	return u.hang.Job.Schedule.String()
}

// How many runs are given up. What they hold stays in the process and makes each look at stacks slower, and
// one that nothing proves to be stuck has taken long and may go on to take a processor.
const (
	mostHangs  = 20  // in all, until nothing more is explored
	mostAlike  = 2   // of one family in one operation, until its schedules with that operation are not run
	mostDear   = 3   // that no look proved stuck, until no schedule with such an operation is run, nor any probe
	mostTurned = 100 // with timers for no time that come without end
)

// halts are the runs that made no progress.
type halts struct {
	n, dear int
	first   string // what the first one did for which no rule is blamed
	alike   map[alike]int
	shunned map[conformance.Op]bool // operations in which dear ones hung; "" stands for any
	begun   []string                // texts of schedules up to the step that did not come back
	turned  int
}

// alike is where a run hangs.
type alike struct {
	family string
	op     conformance.Op
}

// exhausted reports whether no more runs may be given up that take long.
func (h *halts) exhausted() bool { return h.dear >= mostDear }

// leave counts schedules as left out, and for each of the active rules those that concern it.
func (e *engine) leave(active []*law, why, family string, schedules ...conformance.Schedule) {
	if len(schedules) == 0 {
		return
	}
	e.left[why] += len(schedules)
	for _, r := range active {
		for _, s := range schedules {
			if r.about(Job{Schedule: s, Family: family}) {
				e.found(r.ID).left[why]++
			}
		}
	}
}

// hung judges a run that made no progress. It returns the jobs with which the family goes
// on.
func (e *engine) hung(f Family, jobs []Job, h *Hang) []Job {
	s, rest := h.Job.Schedule, jobs[h.at+1:]
	id := callsRule
	if s.Config.Inside != "" {
		id = "X-REENT"
	}
	if c, ok := e.c.of().(Hanging); ok {
		if rule, v, done := c.Hung(e.Suite, h); done {
			if v != nil {
				e.blame(cmp.Or(rule, id), f, h, v)
			} else {
				e.unfinish(h)
			}
			if e.CannotReenter {
				rest = e.without(reenters, deadlocks, f, rest)
			}
			return e.goOn(f, h, rest)
		}
	}
	if where := h.BlockedInCallback(); where != "" && s.Config.Inside != "" {
		e.CannotReenter = true
		because := "its goroutine is blocked, under its own callback: " + where
		if slices.ContainsFunc(e.choices, func(c Choice) bool { return c.Name == "Reentrancy" }) {
			because += "; if your documentation forbids callbacks to do this, declare Reentrancy: " +
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
	} else {
		e.unfinish(h)
	}
	return e.goOn(f, h, rest)
}

// goOn returns those of the jobs that are still run after a run that was given up.
func (e *engine) goOn(f Family, h *Hang, rest []Job) []Job {
	n, op := &e.halts, h.operation()
	n.n++
	n.alike[alike{f.Name, op}]++
	if h.dear {
		n.alike[alike{f.Name, op}] = mostAlike
		n.shunned[op] = true
	}
	if op != "" {
		s, end := h.Job.Schedule, h.open()+1
		n.begun = append(n.begun, conformance.Schedule{Config: s.Config, Steps: s.Steps[:end:end]}.String()+" | ")
	}
	rest = slices.DeleteFunc(slices.Clone(rest), func(j Job) bool { return j.text == h.Job.text })
	if n.n >= mostHangs || n.exhausted() && n.shunned[""] {
		e.over = cmp.Or(e.over, fmt.Sprintf("%d runs made no progress, the last because %s", n.n, e.inWords(h)))
	}
	return e.runnable(f, rest)
}

// runnable returns those of the jobs that nothing says will hang.
func (e *engine) runnable(f Family, jobs []Job) []Job {
	if e.over != "" {
		e.unreached(jobs)
		return nil
	}
	if e.halts.n == 0 {
		return jobs
	}
	jobs = e.without(e.halts.begins, beginsAlike, f, jobs)
	shunned := func(j Job) bool { return e.halts.shuns(f.Name, j.Schedule) }
	e.unreached(slices.DeleteFunc(slices.Clone(jobs), func(j Job) bool { return !shunned(j) }))
	return slices.DeleteFunc(jobs, shunned)
}

// hopeless reports whether what a probe does would hang, too.
func (e *engine) hopeless() bool { return e.over != "" || e.halts.exhausted() }

// begins reports whether a schedule begins like one that made no progress.
func (h *halts) begins(s conformance.Schedule) bool {
	text := s.String() + " | "
	return slices.ContainsFunc(h.begun, func(begun string) bool { return strings.HasPrefix(text, begun) })
}

// shuns reports whether schedules like this one have hung too often.
func (h *halts) shuns(family string, s conformance.Schedule) bool {
	if h.alike[alike{family, ""}] >= mostAlike {
		return true
	}
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return h.alike[alike{family, st.Op}] >= mostAlike || h.exhausted() && h.shunned[st.Op]
	})
}

// open is the number of the step that has not come back, negative if it is none of the schedule's.
func (h *Hang) open() int {
	return slices.IndexFunc(h.Job.Schedule.Steps, func(st conformance.Step) bool { return st.String() == h.Open })
}

// operation is that of the step that has not come back, "" if it is none of the schedule's.
func (h *Hang) operation() conformance.Op {
	if i := h.open(); i >= 0 {
		return h.Job.Schedule.Steps[i].Op
	}
	return ""
}

// Reasons to leave schedules out once a run has hung.
const (
	deadlocks      = "a method deadlocks when the callback calls it, so this would hang too"
	methodWaits    = "a method waits for a lock while the callback runs, which no driver can settle"
	timerFuncWaits = "a timer's function waits for a lock while the callback runs, which no driver can settle"
	beginsAlike    = "it begins like a schedule that made no progress"
)

// reenters reports whether a schedule hangs on an implementation which holds a lock while
// its callback runs.
func reenters(s conformance.Schedule) bool {
	return s.Config.Inside != "" || s.Config.Busy > 0 ||
		slices.ContainsFunc(s.Steps, func(s conformance.Step) bool { return s.In != 0 })
}

func isBusy(s conformance.Schedule) bool { return s.Config.Busy > 0 }

// without returns the jobs but those of one kind, which are left out.
func (e *engine) without(kind func(conformance.Schedule) bool, why string, f Family, jobs []Job) []Job {
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

// unfinish notes a run that made no progress and for which no rule can be blamed.
func (e *engine) unfinish(h *Hang) {
	u := e.given(h, false)
	for _, r := range e.active() {
		if r.about(h.Job) {
			f := e.found(r.ID)
			f.unfinished = append(f.unfinished, u)
		}
	}
}

// given notes a run that was given up, and returns what is said of it.
func (e *engine) given(h *Hang, blamed bool) *unfinished {
	u := &unfinished{h, e.inWords(h), blamed}
	if e.unfinished == nil || e.unfinished.blamed && !blamed {
		e.unfinished = u
	}
	if e.halts.first == "" && !blamed {
		e.halts.first = u.what
	}
	return u
}

// unreached notes the rules that the jobs would have concerned, which are not run.
func (e *engine) unreached(jobs []Job) {
	for _, r := range e.active() {
		if slices.ContainsFunc(jobs, r.about) {
			e.found(r.ID).unreached = true
		}
	}
}

// inWords says in a line what has not come back and what it does instead.
func (s *Suite) inWords(h *Hang) string {
	subject := "a run has not come to its end"
	if h.Open != "" {
		subject = h.Open + " has not come back"
	}
	locked, held, runs, outside := "", "", "", ""
	for _, g := range h.Goroutines {
		switch {
		case !g.Bubble && g.below(markOperation) < 0, g.forGood:
		case g.runs():
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
		return subject + ": it " + runsOn + ", in " + runs
	case locked != "" && held != "":
		return fmt.Sprintf("%s: %s, while %s: a goroutine that holds a lock while it waits keeps a bubble "+
			"from settling", subject, locked, held)
	case locked != "":
		return subject + ": " + locked
	case outside != "":
		return subject + ": " + outside + ", for something outside its bubble"
	}
	return subject
}

// at says what a goroutine waits for and where.
func (g Goroutine) at() string { return g.State + " in " + g.Function }

// waitsForCallback says that a method or, if no method does, a timer's function waits for a lock
// while a callback is running; "" if none does.
func (h *Hang) waitsForCallback() string {
	method, function, back := false, false, false
	for _, g := range h.Goroutines {
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

// whose is the run without progress that leaves a rule inconclusive, nil if that is none.
func (e *engine) whose(rule string) *unfinished {
	f := e.findings[rule]
	switch {
	case e.stalls[rule] != "":
		return nil
	case f != nil && len(f.unfinished) > 0:
		return f.unfinished[0]
	}
	return e.unfinished
}

// open is why a rule is left inconclusive, "" if it is not.
func (e *engine) open(rule string) string {
	switch f := e.found(rule); {
	case e.stalls[rule] != "":
		return e.stalls[rule]
	case len(f.unfinished) > 0:
		return f.unfinished[0].what
	case f.unreached:
		return cmp.Or(e.Ended(), "runs made no progress")
	}
	return ""
}

// runsOn is what a goroutine does that a look finds running.
const runsOn = "runs on and on"

// couldNot is the text of a rule that is left inconclusive.
func (e *engine) couldNot(id, law, why string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: could not be judged: %s\n", id, why)
	if law != "" {
		fmt.Fprintln(&b, law)
	}
	b.WriteString("This accuses nobody: a run made no progress, but nothing proves that it never would.\n")
	if e.profile.Asleep != "" && strings.Contains(e.Ended(), "holds a lock") {
		b.WriteString(e.profile.Asleep + "\n")
	}
	if strings.Contains(why, runsOn) {
		b.WriteString("If it waits for 0 again and again because less than a nanosecond is missing, nothing ends " +
			"that while time stands still: round the wait up. The rest is judged if Funcs leaves the operation out.\n")
	}
	u, replay := e.whose(id), ""
	if u != nil {
		if s := u.schedule(); s != "" {
			fmt.Fprintf(&b, "\n%s\n", s)
			replay = "replay: " + e.replay(id, &Violation{Run: Unrecorded(u.hang.Job)}) + "\n"
		}
		b.WriteString(e.stacksOnce(u.hang))
	}
	return b.String() + e.excuse(id) + replay
}

// aSchedule stands for the rule where a schedule is run alone.
const aSchedule = "the schedule"

// excuse says how to live with a rule that is left inconclusive.
func (e *engine) excuse(id string) string {
	for _, r := range e.rules { // of a schedule that is run alone, the first rule that it leaves inconclusive
		if f := e.findings[r.ID]; id == aSchedule && f != nil && len(f.unfinished) > 0 {
			id = r.ID
		}
	}
	f := e.findings[id]
	if f != nil && f.unreached {
		return "\nKnownFailing excuses single schedules, and others that concern the rule were not run.\n"
	}
	entries := []string{fmt.Sprintf("{Rule: %q, Inconclusive: true, Why: \"...\"}", id)}
	if f != nil && len(f.unfinished) > 0 && e.stalls[id] == "" {
		entries = nil
		for _, u := range f.unfinished {
			entries = append(entries,
				fmt.Sprintf("{Rule: %q, Schedule: %q, Inconclusive: true, Why: \"...\"}", id, u.schedule()))
		}
	}
	return fmt.Sprintf("\nto live with it: KnownFailing: []conformance.Known{%s}\n", strings.Join(entries, ", "))
}

// where says which schedule has left a rule inconclusive, "" if it was none.
func (e *engine) where(rule string) string {
	if u := e.whose(rule); u != nil && u.schedule() != "" {
		return "\non " + u.schedule()
	}
	return ""
}

// stacksOnce are the stacks of what hangs, for the first text that asks for them.
func (e *engine) stacksOnce(h *Hang) string {
	if e.told {
		return ""
	}
	e.told = true
	var b strings.Builder
	for _, g := range h.Goroutines {
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

// Lost returns what to say of an operation that waits for ever.
func (s *Suite) Lost(where string) *Violation {
	return &Violation{
		Headline: NeverReturned,
		Because:  "all other goroutines wait too, and none can unlock it: " + where,
	}
}

// Unrecorded stands for a run of which nothing was recorded that could be judged.
func Unrecorded(j Job) *Recording {
	return &Recording{Trace: conformance.Trace{Schedule: j.Schedule, Order: j.Order, LeftOut: "it was not recorded"}}
}

// blame notes that a run without progress breaks a rule: if it is in force, or else the first one that is.
func (e *engine) blame(id string, f Family, h *Hang, v *Violation) {
	e.given(h, true)
	if v.Run == nil {
		v.Run = Unrecorded(h.Job)
	}
	v.never = true
	find := e.found(e.inForce(id))
	find.judged++
	find.keep(v, f.Name)
}

// inForce is the rule, if it is in force, or else one that judges whatever no other does, or the first that is.
func (e *engine) inForce(id string) string {
	active := e.active()
	if len(active) == 0 || slices.ContainsFunc(active, func(r *law) bool { return r.ID == id }) {
		return id
	}
	i := slices.IndexFunc(active, func(r *law) bool { return r.Mixed })
	return active[max(0, i)].ID
}
