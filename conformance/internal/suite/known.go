package suite

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
)

// checkKnown fails the test for entries of KnownFailing that can never match.
func (e *engine[T, E]) checkKnown() {
	e.T.Helper()
	seen := map[conformance.Known]bool{}
	for i, k := range e.about.Known {
		k.Why = "" // two entries that differ in it are one
		if why := e.wrong(k, seen); why != "" {
			e.T.Errorf("conformance: KnownFailing[%d]: %s", i, why)
		}
		seen[k] = true
	}
}

// wrong says why an entry, without its Why, can never match, or stands there twice; "" if it
// can.
func (e *engine[T, E]) wrong(k conformance.Known, seen map[conformance.Known]bool) string {
	if k.Schedule != "" {
		if _, err := conformance.ParseSchedule(k.Schedule); err != nil {
			return fmt.Sprintf("its Schedule is none: %v", err)
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
	i := slices.IndexFunc(e.rules, func(r Rule[T, E]) bool { return r.ID == id })
	if i < 0 {
		return fmt.Sprintf("there is no rule %q; the nearest is %s", id, e.nearest(id))
	}
	if k.Inconclusive && k.Schedule == "" && e.rules[i].Probe == nil {
		return "it needs a Schedule: an entry excuses one rule on one schedule"
	}
	if r := &e.rules[i]; (e.Bubble || e.Time == conformance.Explicit) && !raceDetector && !r.Live {
		if skip := e.skip(r, e.traits, e.choices); skip.why != "" {
			return fmt.Sprintf("%s is skipped here (%s), so that it can never fail: remove the entry", id, skip.why)
		}
	}
	return ""
}

// nearest is the rule whose id takes the fewest changes.
func (e *engine[T, E]) nearest(id string) string {
	best, least := "", -1
	for i := range e.rules {
		if d := distance(id, e.rules[i].ID); least < 0 || d < least {
			best, least = e.rules[i].ID, d
		}
	}
	return best
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
func (e *engine[T, E]) lacks(s conformance.Schedule) string {
	for _, st := range s.Steps {
		if st.Op == conformance.OpIdle || slices.Contains(e.profile.Anyhow, st.Op) {
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
