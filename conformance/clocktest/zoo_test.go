package clocktest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/zoo/clock"
)

func TestMutants(t *testing.T) { proof.Mutants(t, clocktest.Rules(), clock.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, clock.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, clock.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, clock.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, clock.Designs()) }

// What TRAITS observes is what correct clocks declare, so that a stranger can paste it.
func TestTraits(t *testing.T) { proof.Observed(t, clock.Designs()) }

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, clock.Designs()) }
