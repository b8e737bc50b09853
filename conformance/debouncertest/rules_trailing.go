package debouncertest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// trailingLaws are the rules of the trailing edge, and of events that meet its deadline.
func trailingLaws() []rule {
	return onTrailing(
		rule{Rule: core("DB-QUIET", "A trailing fire MUST come no earlier than the wait after the newest event.")},
		rule{Rule: core("DB-EXACT", "On a fake clock a trailing fire MUST come exactly the wait after the "+
			"newest event, or when a callback that still runs returns.")},
		rule{Rule: core("DB-ONE", "A burst MUST fire at most once.")},
		rule{
			Rule: core("DB-LAST", "The callback MUST get the declared payload: that of the burst's newest "+
				"event, or of its first."),
			Declared: []string{"Payload"},
			Unless:   nameless,
		},
		rule{Rule: core("DB-LIVE", "When events stop and nothing discards them, the burst MUST fire, even if "+
			"they came while the callback ran.")},
		rule{Rule: core("DB-IDLE", "The callback MUST NOT run unless an event is pending.")},
		rule{
			Rule: core("DB-SUBSEQ", "The payloads fired MUST be a subsequence of the payloads called: "+
				"none invented, repeated or out of order."),
			Declared: []string{"Payload"},
			Unless:   nameless,
			Check:    (*exam).subsequence,
		},
		rule{Rule: core("DB-GAPRATE", "Two successive trailing fires MUST be at least the wait apart.")},
		rule{
			Rule: core("DB-TIE", "An event at exactly the deadline MUST either start a new burst, and the "+
				"old one fires, or join the old one: as declared, never both."),
			Declared: []string{"Tie"},
			About:    suite.Races(verb.Call),
		},
		rule{
			Rule: extended("DB-NOSTALE", "Once a call has returned, a callback for an older event "+
				"MUST NOT start within the wait."),
			Declared: []string{"StaleFire"},
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return suite.If(tr.StaleFire == StaleAllowed, "declared: StaleAllowed")
			},
			About: suite.Races(verb.Call),
		},
	)
}

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

// waitRules are those of a wait that is 0 or negative.
func waitRules() []rule {
	return onTrailing(
		rule{
			Rule: core("DB-ZERO", "With a wait of 0 every event MUST fire at its own instant, as declared, "+
				"unless the constructor refuses 0."),
			Declared: []string{"ZeroWait"},
			About: func(j suite.Job) bool {
				return j.Schedule.Config.Has("wait") && j.Schedule.Config.Wait == 0
			},
			Check: (*exam).zeroWait,
		},
		rule{
			Rule:     core("DB-NEG", "The constructor MUST refuse a negative wait, or take it as 0."),
			Declared: []string{"ZeroWait"},
			About:    func(j suite.Job) bool { return j.Schedule.Config.Wait < 0 },
			Check:    (*exam).negativeWait,
		},
	)
}

func (x *exam) zeroWait() *suite.Violation {
	want := x.traits.ZeroWait
	switch {
	case x.Schedule.Config.Wait != 0 || !x.Schedule.Config.Has("wait") || x.Stuck:
		return nil
	case x.Refused == "" && want == ZeroRefused:
		return x.told(0, "ZeroRefused is declared", "the constructor accepted a wait of 0")
	case x.Refused != "" && want != ZeroRefused:
		return x.told(0, "ZeroRefused is not declared", "the constructor refused a wait of 0: %s", x.Refused)
	}
	return breaks("DB-ZERO")(x)
}

func (x *exam) negativeWait() *suite.Violation {
	wait := x.Schedule.Config.Wait
	if wait < 0 && !x.Stuck && x.Refused == "" && x.traits.ZeroWait == ZeroRefused {
		return x.told(0, "ZeroRefused is declared", "the constructor accepted a wait of %s", wait)
	}
	return breaks("DB-NEG")(x)
}
