package proof

import (
	"os"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Races checks that the race detector reports the mutants of X-RACE. They fail whatever
// test runs them, so each runs in a process of its own.
func Races(t *testing.T, all []zoo.Mutant) {
	t.Helper()
	if !raceDetector {
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
	if !raceDetector {
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
	if !raceDetector {
		t.Skip("data races show only with -race")
	}
	none := func(string, int) bool { return false }
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) { d.Spec.Examine(t, inside.Options{Until: "X-RACE", Live: true, Keep: none}) })
	}
}
