package proof

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Races checks that the race detector reports the mutants of X-RACE. They fail whatever
// test runs them, so each runs in a process of its own.
func Races(t *testing.T, all []zoo.Mutant) {
	t.Helper()
	if !suite.RaceDetector {
		t.Skip("data races show only with -race")
	}
	synctestcompat.Require(t)
	for _, m := range all {
		if m.Rule != "X-RACE" {
			continue
		}
		if os.Getenv(process) == m.Name {
			m.Spec.Examine(t, inside.Options{Until: m.Rule, Live: true, Keep: func(string, int) bool { return false }})
			return
		}
		if out, err := alone(t, m.Name); err == nil || !strings.Contains(out, "DATA RACE") {
			t.Errorf("%s: the race was not reported: %v\n%s", m.Name, err, out)
		}
	}
}

// RacesElsewhere checks that X-RACE fails, too, where only another rule makes the calls that race.
func RacesElsewhere(t *testing.T, spec conformance.Spec) {
	t.Helper()
	if !suite.RaceDetector {
		t.Skip("data races show only with -race")
	}
	synctestcompat.Require(t)
	if os.Getenv(process) != "" {
		spec.Run(t)
		return
	}
	if out, err := alone(t, t.Name()); err == nil || !strings.Contains(out, "--- FAIL: "+t.Name()+"/X-RACE") {
		t.Errorf("X-RACE did not fail: %v\n%s", err, out)
	}
}

// Together checks that the race detector finds nothing in correct designs, each with every way to take time:
// all operations are used at once, and no schedules are run.
func Together(t *testing.T, all []zoo.Design) {
	t.Helper()
	if !suite.RaceDetector {
		t.Skip("data races show only with -race")
	}
	none := func(string, int) bool { return false }
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) { d.Spec.Examine(t, inside.Options{Until: "X-RACE", Live: true, Keep: none}) })
	}
}

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

// alone runs the test in a process of its own, for one mutant.
func alone(t *testing.T, mutant string) (out string, err error) {
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), process+"="+mutant)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// process names the mutant that this process runs, where each needs one of its own.
const process = "ESCAPEMENT_MUTANT"
