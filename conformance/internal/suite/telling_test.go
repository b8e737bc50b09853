package suite

import (
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance"
)

// What judges schedules tells more than what lets calls meet, and what is about one thing more than what
// is about any, however small the schedules that stand for these.
func TestTelling(t *testing.T) {
	failing := func(rule, schedule string, judged int) conformance.Verdict {
		return conformance.Verdict{Rule: rule, Level: conformance.Core, Status: conformance.Fail,
			Schedule: schedule, Judged: judged}
	}
	r := &conformance.Report{Verdicts: []conformance.Verdict{
		{Rule: "CANARY"}, {Rule: "TRAITS"},
		failing("meet", "call 1 @0", 1),
		failing("long", "call 1 @0 | call 2 @1s | call 3 @2s", 7),
		failing("any", "call 1 @0", 9),
		failing("often", "call 1 @0 | call 2 @1s", 9),
		failing("seldom", "call 1 @0 | call 2 @1s", 2),
		{Rule: "passes", Status: conformance.Pass},
	}}
	cause, also := telling(r, func(rule string) int { return map[string]int{"any": 1, "meet": 2}[rule] })
	if want := []string{"often", "long", "any", "meet"}; cause != "seldom" || !slices.Equal(also, want) {
		t.Errorf("telling = %q, %q, want seldom, %q", cause, also, want)
	}
}
