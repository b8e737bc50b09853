package suite_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// longEcho explores one long schedule.
type longEcho struct{ echo }

func (longEcho) Families(*suite.Suite) []suite.Family {
	var s conformance.Schedule
	for i := range 40 {
		at := time.Duration(i) * time.Minute
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Call, N: i + 1, At: at})
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
	r := suite.Examine(t, third, inside.Options{})
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
	v, _ := suite.Examine(t, openEcho{echoAfter(time.Second)}, inside.Options{}).Verdict("TRAITS")
	const want = `TRAITS: undeclared; 1 decision is open: Loud; nothing tells Patience
Correct implementations differ in these choices.
These values held in every run, or were observed where no value is stricter:
check that each is what you mean, and paste them.

	Traits: echotest.Traits{
		// Patience: no run tells, so choose one of
		// Patience: echotest.Patient, // it waits
		// Patience: echotest.Hasty, // it does not
		// Loud: true, // decision 1: only if your documentation says so
		Kept: echotest.B,
	},

Decision 1. Loud: true, only if your documentation says so. Otherwise this is a mistake.
`
	if v.Text != want {
		t.Errorf("TRAITS says\n%s, want\n%s", v.Text, want)
	}
}

// strictEcho has a strict choice, of which a value is observed.
type strictEcho struct {
	echo
	seen     int
	declared *echoTraits
}

func (c strictEcho) Traits() (declared, complete *echoTraits) { return c.declared, c.declared }

func (c strictEcho) Table(s *suite.Suite, t *echoTraits) []suite.Choice {
	all := c.echo.Table(s, t)
	all[0].Order, all[0].Means = suite.Ranked(2), []string{"a second", "any time"}
	all[0].Observe = func() int { return c.seen }
	return all
}

// A decision is asked for where a run refutes the strict value, whether the weaker one was observed or a rule that
// would hold with it fails; where nothing refutes it, it is assumed.
func TestExamine_decisions(t *testing.T) {
	for _, tt := range []struct {
		name      string
		after     time.Duration
		seen      int
		want      conformance.Status
		decisions int
	}{
		{"the weaker value is observed", 2 * time.Second, 2, conformance.Undecided, 1},
		{"the weaker value would explain what a rule finds", 2 * time.Second, 1, conformance.Undecided, 1},
		{"nothing is observed, and a rule fails", 2 * time.Second, 0, conformance.Undecided, 1},
		{"the strict value holds", time.Second, 1, conformance.Pass, 0},
		{"nothing refutes the strict value", time.Second, 0, conformance.Pass, 0},
	} {
		r := suite.Examine(t, strictEcho{echoAfter(tt.after), tt.seen, &echoTraits{}}, inside.Options{})
		if v, _ := r.Verdict("EC-LATE"); v.Status != tt.want || len(r.Decisions) != tt.decisions {
			t.Errorf("%s: EC-LATE %s, want %s; %d decisions, want %d",
				tt.name, v.Status, tt.want, len(r.Decisions), tt.decisions)
			continue
		}
		v, _ := r.Verdict("TRAITS")
		if v.Status != conformance.Undecided {
			t.Errorf("%s: TRAITS %s, want undecided", tt.name, v.Status)
		}
		// What only waits for a decision is not undeclared, and there is nothing else to paste.
		pastes := strings.Contains(v.Text, "undeclared") && strings.Contains(v.Text, "Traits{")
		if tt.decisions+suite.Number(pastes) != 1 {
			t.Errorf("%s: TRAITS has a literal to paste: %t:\n%s", tt.name, pastes, v.Text)
		}
		for _, d := range r.Decisions {
			got := []string{d.Trait, d.Value, d.Strict, d.Rule, d.Schedule}
			want := []string{"Patience", "echotest.Hasty", "echotest.Patient", "EC-LATE", "call 1 @0"}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the decision is %q, want %q", tt.name, got, want)
			}
		}
	}
}
