package suite_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// luckyEcho has a choice that a short run tells by chance, by which it is observed, and a longer one whenever it is
// made.
type luckyEcho struct{ strictEcho }

func (c luckyEcho) Table(s *suite.Suite, t *echoTraits) []suite.Choice {
	all := c.strictEcho.Table(s, t)
	all[0].Observe = func() int {
		s.TryText("call 1 @0~", inside.OrderSettled)
		return c.seen
	}
	return all
}

func (luckyEcho) Families(*suite.Suite) []suite.Family {
	return []suite.Family{{Name: "two calls", Schedules: suite.ParseAll("call 1 @0 | call 2 @1ns")}}
}

func (c luckyEcho) Rules() []suite.Rule[*echoTraits, echoExam] {
	rules := c.echo.Rules()
	late := rules[0].Check
	rules[0].Check = func(x echoExam) *suite.Violation {
		v := late(x)
		if v != nil {
			v.Chance = x.Schedule.RacingSteps() > 0
		}
		return v
	}
	return rules
}

// Of the runs that tell a choice, a decision shows one that a replay shows again.
func TestExamine_decisionThatIsNoChance(t *testing.T) {
	r := suite.Examine(t, luckyEcho{strictEcho{echoAfter(2), 2, &echoTraits{}}}, inside.Options{})
	const want = "call 1 @0 | call 2 @1ns"
	if len(r.Decisions) != 1 || r.Decisions[0].Schedule != want {
		t.Errorf("decisions %+v, want one that shows %s; %s", r.Decisions, want, r)
	}
}
