package concurrencytest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, concurrencytest.Rules(), concurrency.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, concurrency.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, concurrency.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, concurrency.Mutants()) }

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, concurrency.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, append(concurrency.Designs(), concurrency.Chosen(8)...))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, concurrency.Chosen) }

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, concurrency.Designs()) }

// Each two guards and outcomes of the model meet in some run.
func TestCoverage(t *testing.T) {
	proof.Coverage(t, concurrency.Designs(), concurrency.Mutants())
}

// Who holds a lock while it waits is told what to declare, and is judged then.
func TestUnfinished_asleepWithALock(t *testing.T) {
	prove.Require(t, prove.Suite)
	proof.Asleep(t, concurrency.UndeclaredAsleep)
}

// The rest leaves goroutines, of which each makes every later look at the stacks slower.

func TestDesigns(t *testing.T) { proof.Designs(t, concurrency.Designs()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, concurrency.Designs(), concurrency.Mutants()) }
