package debouncertest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// boundRules are those of a bound on the wait.
func boundRules() []rule {
	bounded := []string{"MaxWait"}
	return []rule{
		{
			Rule: extended("DB-MAX", "With a bound on the wait, pending events MUST fire when the first of "+
				"them is as old as the bound: without another event, or with the next one, as declared."),
			Declared: bounded,
			Sees:     (*exam).ofEdges,
			Check:    differs("DB-MAX", nil, nil),
		},
		{
			Rule: extended("DB-MAXNE", "The bound MUST NOT cut a wait short: nothing may fire before the "+
				"wait has passed since the newest event, or the bound since the first pending one."),
			Declared: bounded,
			Sees:     (*exam).ofEdges,
			Check:    differs("DB-MAXNE", nil, nil),
		},
		{
			Rule: extended("DB-MAXTAIL", "With a bound on the wait, events MUST still fire a wait after the "+
				"newest, even after the bound has fired."),
			Declared: bounded,
			Sees:     (*exam).ofEdges,
			Check:    differs("DB-MAXTAIL", nil, (*exam).tailLostInBound),
		},
		{
			Rule: extended("DB-MAXPAY", "When the bound fires, it MUST carry the declared payload of the "+
				"events up to that instant."),
			Declared: []string{"Payload", "MaxWait"},
			Sees:     (*exam).ofEdges,
			Check:    differs("DB-MAXPAY", nil, nil),
		},
	}
}

// fullRule is that of bursts that hold a bounded number of events.
func fullRule() rule {
	return rule{
		Rule: extended("DB-FULL", "A burst of k events MUST fire at once, or when another event comes, as "+
			"declared. A smaller burst MUST fire as if there were no k."),
		Declared: []string{"Full"},
		Absent:   noTrailing,
		About:    func(j suite.Job) bool { return j.Schedule.Config.Has("k") },
		Sees:     (*exam).ofEdges,
		Check:    differs("DB-FULL", nil, nil),
	}
}
