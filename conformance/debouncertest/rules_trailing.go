package debouncertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// trailingLaws are the rules of the trailing edge.
func trailingLaws() []rule {
	return onTrailing(
		law(core("DB-QUIET", "A trailing fire MUST come no earlier than the wait after the newest event.")),
		law(core("DB-EXACT", "On a fake clock a trailing fire MUST come exactly the wait after the "+
			"newest event, or when a callback that still runs returns.")),
		law(core("DB-ONE", "A burst MUST fire at most once.")),
		rule{
			Rule: core("DB-LAST", "The callback MUST get the declared payload: that of the burst's newest "+
				"event, or of its first."),
			Declared: []string{"Payload"},
			Unless:   nameless,
			Check:    breaks("DB-LAST"),
		},
		law(core("DB-LIVE", "When events stop and nothing discards them, the burst MUST fire, even if "+
			"they came while the callback ran.")),
		law(core("DB-IDLE", "The callback MUST NOT run unless an event is pending.")),
		rule{
			Rule: core("DB-SUBSEQ", "The payloads fired MUST be a subsequence of the payloads called: "+
				"none invented, repeated or out of order."),
			Declared: []string{"Payload"},
			Unless:   nameless,
			Check:    (*exam).subsequence,
		},
		law(core("DB-GAPRATE", "Two successive trailing fires MUST be at least the wait apart.")),
	)
}

// law is a rule of what the model is followed by.
func law(r conformance.Rule) rule { return rule{Rule: r, Check: breaks(r.ID)} }

// onTrailing makes the rules ones of the trailing edge alone.
func onTrailing(rules ...rule) []rule {
	for i := range rules {
		rules[i].Absent, rules[i].Sees = noTrailing, (*exam).ofTrailing
	}
	return rules
}

// nameless is why payloads cannot be judged.
func nameless(_ *suite.Suite, tr *Traits) string {
	return suite.If(tr.Payload == NoPayload, "declared: NoPayload")
}

func (x *exam) subsequence() *suite.Violation {
	if x.Refused != "" {
		return nil
	}
	last := 0
	for _, f := range x.Fires {
		own := x.called(f.Value)
		switch {
		case own == nil || own.Began.Seq > f.Began.Seq:
			return x.told(f.Began.At, "payloads must come from calls",
				"fired with payload %d, which no call had", f.Value)
		case own.Began.Seq <= last:
			return x.told(f.Began.At, "each event may be fired once, and not after a newer one",
				"fired with payload %d again or out of order", f.Value)
		}
		last = own.Began.Seq
	}
	return nil
}
