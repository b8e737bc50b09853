package debouncertest

import (
	"cmp"

	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// keyRules are those of keys and instances, each of which is a debouncer of its own.
func keyRules() []rule {
	const untold = "declared: NoPayload, so nobody can tell for which key a callback runs"
	return []rule{
		{
			Rule:   extended("DB-KEY", "Each key MUST have a wait of its own."),
			Absent: noTrailing,
			Unless: func(s *suite.Suite, tr *Traits) string {
				return cmp.Or(
					suite.If(!s.Accepts(opKeys), "the implementation has no "+string(opKeys)),
					suite.If(tr.Payload == NoPayload, untold),
				)
			},
			About:  suite.InFamily(suite.Keys),
			Beyond: laws,
			Check:  (*exam).eachKey,
		},
		{
			Rule:     core("X-ISO", "Instances MUST NOT share state."),
			Declared: []string{"Payload"},
			Unless: func(s *suite.Suite, tr *Traits) string {
				return suite.If(s.Accepts(opKeys) && tr.Payload == NoPayload, untold)
			},
			About:  suite.InFamily(suite.Instances),
			Beyond: laws,
			Check:  (*exam).eachKey,
		},
	}
}

// eachKey judges what each key, or each instance, did for itself.
func (x *exam) eachKey() *suite.Violation {
	if x.Refused != "" || x.Stuck {
		return nil
	}
	checks := []func(*exam) *suite.Violation{(*exam).quiet, (*exam).exact, (*exam).once, (*exam).payload, (*exam).live}
	if x.configured() {
		checks = []func(*exam) *suite.Violation{func(x *exam) *suite.Violation { return x.difference().Violation }}
	}
	for key := 1; key <= edge.LastKey(x.Schedule); key++ {
		own := &exam{Recording: edge.OfKey(x.Recording, key), traits: x.traits, stops: x.stops}
		for _, check := range checks {
			if v := check(own); v != nil {
				v.Headline = text("key %d: %s", key, v.Headline)
				return v
			}
		}
	}
	return nil
}
