package batchtest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/batchtest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/zoo/batch"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) { proof.Mutants(t, batchtest.Rules(), batch.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, batch.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, batch.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, batch.Mutants()) }

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, batch.Designs()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, batch.Designs(), batch.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, batch.Designs()) }

// An implementation is not accused for what it cannot do, on an injected clock, as time does not change what it can.
func TestSubsets(t *testing.T) {
	all := batch.Designs()
	proof.Subsets(t, all[:len(all)/2])
}

// Each two guards and outcomes of the model meet in some run.
func TestCoverage(t *testing.T) { proof.Coverage(t, batch.Designs(), batch.Mutants()) }

// Where steps race, several orders are right: the one that keeps to what was seen for longest says what is wrong.
func TestRun_racing(t *testing.T) {
	synctestcompat.Require(t)
	t.Setenv("ESCAPEMENT_SCHEDULE", "size=2 delay=100ms | put 1 @0 | put 2 @100ms~ | put 3 @100ms~")
	for _, m := range batch.Mutants() {
		if m.Name != "no delay after a full batch" {
			continue
		}
		r := m.Spec.Examine(t, inside.Options{})
		full, _ := r.Verdict("BT-REARM")
		meet, _ := r.Verdict("BT-MEET")
		if full.Status != conformance.Fail || meet.Status == conformance.Fail {
			t.Errorf("BT-REARM: %s %s, BT-MEET: %s %s", full.Status, full.Reason, meet.Status, meet.Reason)
		}
	}
}
