package suite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// longEcho explores one long schedule.
type longEcho struct{ echo }

func (longEcho) Families(*suite.Suite) []suite.Family {
	var s conformance.Schedule
	for i := range 40 {
		at := time.Duration(i) * time.Minute
		s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpCall, N: i + 1, At: at})
	}
	return []suite.Family{{Name: "long", Schedules: []conformance.Schedule{s}}}
}

// A schedule that was thought of, and not enumerated, is shown only as far as it is needed.
func TestExamine_smallestSchedule(t *testing.T) {
	third := longEcho{echo{func(env conformance.Env, fire func(int)) func(int) {
		calls := 0
		return func(v int) {
			if calls++; calls%3 != 0 {
				env.Clock.AfterFunc(time.Second, func() { fire(v) })
			}
		}
	}}}
	r := suite.Examine(t, about, third, inside.Options{})
	v, _ := r.Verdict("EC-LATE")
	if want := "call 1 @0 | call 2 @1m | call 3 @2m"; v.Schedule != want {
		t.Errorf("EC-LATE: the smallest schedule is %q, want %q", v.Schedule, want)
	}
	if r.Runs != 1 || r.Schedules != 1 {
		t.Errorf("%d schedules and %d runs are counted, want what was explored: 1 and 1", r.Schedules, r.Runs)
	}
}

// openEcho has a choice that no schedule can tell, one that is a flag and one that is not
// declared and not seen.
type openEcho struct{ echo }

func (openEcho) Table(*suite.Suite, *echoTraits) []suite.Choice {
	return []suite.Choice{
		{Name: "Patience", Values: []string{"Patient", "Hasty"}, Needless: suite.Always,
			Means: []string{"it waits", "it does not"}},
		{Name: "Loud", Literal: suite.Flag, Observe: func() int { return 1 }, Set: func(int) {}},
		{Name: "Quiet", Literal: suite.Flag, Observe: func() int { return 0 }, Set: func(int) {}},
		{Name: "Kept", Declared: 2, Values: []string{"A", "B"}},
	}
}

func TestExamine_traitsToPaste(t *testing.T) {
	v, _ := suite.Examine(t, about, openEcho{echoAfter(time.Second)}, inside.Options{}).Verdict("TRAITS")
	const want = `	Traits: echotest.Traits{
		// Patience: no schedule can tell, so choose one of
		// Patience: echotest.Patient, // it waits
		// Patience: echotest.Hasty, // it does not
		Loud: true, // observed
		Kept: echotest.B,
	},
`
	if !strings.HasSuffix(v.Text, want) {
		t.Errorf("TRAITS ends otherwise than\n%s:\n%s", want, v.Text)
	}
}
