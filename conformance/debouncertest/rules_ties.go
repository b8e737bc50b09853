package debouncertest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// tieRules are those of events that meet a deadline.
func tieRules() []rule {
	return onTrailing(
		rule{
			Rule: core("DB-TIE", "An event at exactly the deadline MUST either start a new burst, and the "+
				"old one fires, or join the old one: as declared, never both."),
			Declared: []string{"Tie"},
			About:    suite.Races(verb.Call),
			Check:    breaks("DB-TIE"),
		},
		rule{
			Rule: extended("DB-NOSTALE", "Once a call has returned, a callback for an older event "+
				"MUST NOT start within the wait."),
			Declared: []string{"StaleFire"},
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return suite.If(tr.StaleFire == StaleAllowed, "declared: StaleAllowed")
			},
			About: suite.Races(verb.Call),
			Check: breaks("DB-NOSTALE"),
		},
	)
}
