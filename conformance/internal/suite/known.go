package suite

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

// checkKnown fails the test for entries of KnownFailing that can never match.
func (e *engine) checkKnown() {
	e.T.Helper()
	seen := map[conformance.Known]bool{}
	for i, k := range e.profile.Known {
		k.Why = "" // two entries that differ in it are one
		if why := e.wrong(k, seen); why != "" {
			e.T.Errorf("conformance: KnownFailing[%d]: %s", i, why)
		}
		seen[k] = true
	}
}

// wrong says why an entry, without its Why, can never match, or stands there twice; "" if it
// can.
func (e *engine) wrong(k conformance.Known, seen map[conformance.Known]bool) string {
	if k.Schedule != "" {
		if _, err := conformance.ParseSchedule(k.Schedule); err != nil {
			return fmt.Sprintf("its Schedule is invalid: %v", err)
		}
	}
	id := k.Rule
	if seen[k] {
		return fmt.Sprintf("%s is listed twice", id)
	}
	switch {
	case id == "":
		return "it needs a Rule: an entry excuses one rule on one schedule"
	case id == "CANARY" && k.Inconclusive:
		return ""
	}
	r := e.rule(id)
	if r == nil {
		return fmt.Sprintf("there is no rule %q; the nearest is %s", id, e.nearest(id))
	}
	if k.Inconclusive && k.Schedule == "" && r.Probe == nil {
		return "it needs a Schedule: an entry excuses one rule on one schedule"
	}
	if (e.Bubble || e.Time == conformance.Explicit) && !RaceDetector && !r.Live {
		if skip := skip(e.Suite, r, e.traits, e.choices); skip.why != "" {
			return fmt.Sprintf("%s is skipped here (%s), so that it can never fail: remove the entry", id, skip.why)
		}
	}
	return ""
}

// nearest is the rule whose id takes the fewest changes.
func (e *engine) nearest(id string) string {
	return slices.MinFunc(e.rules, func(a, b *law) int { return distance(id, a.ID) - distance(id, b.ID) }).ID
}

// distance is the number of letters that must be put in, left out or replaced to make one
// word of another.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			next := min(row[j], row[j+1]) + 1
			if a[i] == b[j] {
				next = min(next, diagonal)
			} else {
				next = min(next, diagonal+1)
			}
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}

// lacks says which operation of a schedule the contract or the implementation has not, "" if it has all.
func (e *engine) lacks(s conformance.Schedule) string {
	for _, st := range s.Steps {
		if st.Op == verb.Idle || slices.Contains(e.profile.Anyhow, st.Op) {
			continue
		}
		need := e.needed(st)
		switch has, known := e.ops[need]; {
		case !known:
			return fmt.Sprintf("the contract of a %s has no %s: %s", e.profile.Kind, st.Op, s)
		case !has:
			return fmt.Sprintf("the implementation has no %s: %s", need, s)
		}
	}
	return ""
}

// tries is how often the schedule of a known failure is run again before the rule is said
// to pass: whether it fails may be chance, such as the order in which goroutines run.
const tries = 100

// insist runs the schedule of a known failure again if the exploration did not find that
// failure, and reports whether it then fails. A schedule that the exploration does not
// have, because random schedules found it, counts only if the exploration finds nothing.
func (e *engine) insist(v *conformance.Verdict) bool {
	for _, k := range e.profile.Known {
		judged := v.Status == conformance.Pass || v.Status == conformance.Fail
		if k.Rule != v.Rule || !judged || v.Schedule == k.Schedule {
			continue
		}
		s, err := conformance.ParseSchedule(k.Schedule)
		if err != nil || k.Schedule == "" || v.Status == conformance.Fail && !e.schedules[k.Schedule] {
			continue // a probe's, or one that is no longer the smallest
		}
		if e.repeats(v.Rule, e.found(v.Rule), s) {
			return true
		}
	}
	return false
}

// stillBreaks reports whether a rule is still broken on the schedule of an entry.
func (e *engine) stillBreaks(rule string, k conformance.Known) bool {
	s, err := conformance.ParseSchedule(k.Schedule)
	return err == nil && e.lacks(s) == "" && e.repeats(rule, newFinding(), s)
}

// repeats runs a schedule up to tries times, and reports whether it broke the rule, of which f was found before. Other
// rules do not count.
func (e *engine) repeats(rule string, f *finding, s conformance.Schedule) bool {
	all := e.findings
	e.findings = map[string]*finding{rule: f}
	defer func() { e.findings = all }()
	for range tries {
		e.explore(Family{Name: e.familyOf(s), Schedules: []conformance.Schedule{s}})
		if f.settleChances(); f.worst != nil && f.worst.Run.Schedule.String() == s.String() {
			return true
		}
	}
	return false
}

// applyKnown compares a verdict with what is known to fail.
func (e *engine) applyKnown(r *law, v *conformance.Verdict) {
	for _, k := range e.profile.Known {
		switch {
		case k.Rule != v.Rule || k.Inconclusive || !judged(v):
		case v.Status == conformance.Fail && v.Schedule == k.Schedule:
			v.Status, v.Reason = conformance.KnownFail, k.Why
		case v.Status == conformance.Fail && e.randomNext() && races(k) && larger(v.Schedule, k.Schedule):
			v.Status, v.Reason = conformance.KnownFail, k.Why+" (with the race detector, on a larger schedule)"
		case v.Status == conformance.Fail && !k.Strict && larger(k.Schedule, v.Schedule) && e.stillBreaks(v.Rule, k):
			v.Status = conformance.KnownFail
			v.Reason = k.Why + " (now on a smaller schedule, too: update the entry)"
		case v.Status == conformance.Fail:
			v.Text = fmt.Sprintf("known to fail on %q, but now the smallest failing schedule is another one:\n%s",
				k.Schedule, v.Text)
			v.Reason += " (not the known failure)"
		case v.Status == conformance.Pass && e.byChance(r, k):
			v.Status, v.Reason = conformance.KnownFail, k.Why+" (by chance: not seen in this run)"
		case v.Status == conformance.Pass && !e.doable(k):
			v.Status, v.Reason = conformance.KnownFail, k.Why+" (its schedule cannot be run here)"
		case v.Status == conformance.Pass:
			v.Status, v.Reason = conformance.Fail, "it is listed in KnownFailing but passes: remove the entry"
			v.Text = v.Rule + ": " + v.Reason
		}
	}
}

// doable reports whether the implementation has the operations of a known failure here: without bubbles
// some are left out.
func (e *engine) doable(k conformance.Known) bool {
	s, err := conformance.ParseSchedule(k.Schedule)
	cannot := func(st conformance.Step) bool { return !e.runs(st) }
	return e.Bubble || err != nil || !slices.ContainsFunc(s.Steps, cannot)
}

// byChance reports whether a known failure may not show in a run: it is one of calls that
// meet at one instant, or of an order of timers and steps that only chance brings about.
func (e *engine) byChance(r *law, k conformance.Known) bool {
	if k.Schedule == "" {
		return r.Meets
	}
	return races(k) && (e.Time == conformance.PackageTime || e.randomNext())
}

// races reports whether the schedule of a known failure has racing steps.
func races(k conformance.Known) bool {
	s, err := conformance.ParseSchedule(k.Schedule)
	return err == nil && s.RacingSteps() > 0
}

// larger reports whether a schedule comes after another.
func larger(a, b string) bool {
	s, err := conformance.ParseSchedule(a)
	t, other := conformance.ParseSchedule(b)
	return err == nil && other == nil && s.Compare(t) > 0
}

// judged reports whether a rule was judged.
func judged(v *conformance.Verdict) bool {
	return v.Status != conformance.Skip && v.Status != conformance.Undecided && v.Status != conformance.Inconclusive
}
