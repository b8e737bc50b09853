package proof

import (
	"os"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Reported explores each mutant to the end, and its report goes to the file that
// ESCAPEMENT_REPORT names, under the mutant's name. Each has a process of its own: what one
// leaves behind would slow down all that come after it. Those that hang are left out, as
// each would wait for the watchdog; hangs.golden has what they are told.
func Reported(t *testing.T, all []zoo.Mutant) {
	t.Helper()
	if os.Getenv("ESCAPEMENT_REPORT") == "" {
		t.Skip("set ESCAPEMENT_REPORT: it takes minutes, and TestMutants judges the same")
	}
	synctestcompat.Require(t)
	which := os.Getenv(process)
	for _, m := range all {
		if m.Hangs || m.Rule == "X-RACE" {
			continue
		}
		switch which {
		case m.Name:
			report(t, m)
		case "":
			if out, err := alone(t, m.Name); err != nil {
				t.Errorf("%s: %v\n%s", m.Name, err, out)
			}
		}
	}
}

// report explores a mutant to the end, which writes the report.
func report(t *testing.T, m zoo.Mutant) {
	t.Helper()
	r := m.Spec.Examine(t, inside.Options{Name: m.Name, Keep: explored(m, "")})
	if v, _ := r.Verdict(m.Rule); v.Status != conformance.Fail {
		t.Errorf("%s is not caught by %s: %s", m.Name, m.Rule, v.Status)
	}
}

// OnlyFails checks that of all rules one fails, and no other: what is one mistake is one finding.
// Schedules of more than three steps are left out.
func OnlyFails(t *testing.T, spec conformance.Spec, rule string) {
	t.Helper()
	short := func(_ string, steps int) bool { return steps <= 3 }
	for _, v := range spec.Examine(t, inside.Options{Keep: short}).Verdicts {
		if failed := v.Status == conformance.Fail; failed != (v.Rule == rule) {
			t.Errorf("%s: %s: %s", v.Rule, v.Status, v.Text)
		}
	}
}
