package suite_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/synctestcompat"
)

// racing is an echo whose rule finds something in certain ones of the runs in which who waits
// for a timer has received its value.
type racing struct {
	echo
	finds func(run int) bool
	known []conformance.Known
}

func (r racing) Profile() suite.Profile {
	p := r.echo.Profile()
	p.Receivers, p.Known = true, r.known
	return p
}

func (r racing) Families(*suite.Suite) []suite.Family {
	s, err := conformance.ParseSchedule("call 1 @0 | call 2 @1s~")
	if err != nil {
		panic(err)
	}
	return []suite.Family{{Name: "races", Schedules: []conformance.Schedule{s}}}
}

func (r racing) Rules() []suite.Rule[*echoTraits, echoExam] {
	rules, run := r.echo.Rules(), 0
	rules[0].Check = func(x echoExam) *suite.Violation {
		if x.Order != inside.OrderReceived {
			return nil
		}
		if run++; !r.finds(run) {
			return nil
		}
		return suite.Broken(0, "", "found")
	}
	return rules
}

// A preemption can bring about once what is found in that order: it must come again. With the race detector the
// order is left out, and what is known to fail in it may pass.
func TestExamine_doubt(t *testing.T) {
	synctestcompat.Require(t)
	if suite.WithoutRaceDetector() == "" {
		known := []conformance.Known{{Rule: "EC-LATE", Schedule: "call 1 @0 | call 2 @1s~", Why: "known"}}
		always := racing{echoAfter(0), func(int) bool { return true }, known}
		v, _ := suite.Examine(t, always, inside.Options{}).Verdict("EC-LATE")
		if v.Status != conformance.KnownFail {
			t.Errorf("with the race detector: %s, want %s:\n%s", v.Status, conformance.KnownFail, v.Text)
		}
		return
	}
	for _, tt := range []struct {
		name  string
		finds func(run int) bool
		want  conformance.Status
	}{
		{"always", func(int) bool { return true }, conformance.Fail},
		{"but once", func(run int) bool { return run != 3 }, conformance.Fail},
		{"once", func(run int) bool { return run == 1 }, conformance.Pass},
		{"twice", func(run int) bool { return run <= 2 }, conformance.Pass},
	} {
		v, _ := suite.Examine(t, racing{echo: echoAfter(0), finds: tt.finds}, inside.Options{}).Verdict("EC-LATE")
		if v.Status != tt.want {
			t.Errorf("found %s: %s, want %s:\n%s", tt.name, v.Status, tt.want, v.Text)
		}
	}
}
