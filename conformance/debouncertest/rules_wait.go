package debouncertest

import (
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

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
