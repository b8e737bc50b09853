package concurrencytest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// onlyReturns lets no rule but X-CALLS judge schedules with a limit below 0, after which nothing is known but
// whether the call has returned. If it has not, no other rule is left open by that.
func onlyReturns(rules []suite.Rule[Traits, *exam]) []suite.Rule[Traits, *exam] {
	for i := range rules {
		if rules[i].ID == "X-CALLS" {
			continue
		}
		about := rules[i].About
		rules[i].About = func(j suite.Job) bool {
			return !negative(j.Schedule) && (about == nil || about(j))
		}
	}
	return rules
}

// negative reports whether a schedule has a limit below 0.
func negative(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == conformance.OpResize && st.N < 0
	})
}

// unclear reports whether it is open what the limit was in the end.
func (x *exam) unclear() bool {
	return slices.ContainsFunc(x.groups, func(g *group) bool { return slices.ContainsFunc(g.steps, (*step).unclear) })
}
