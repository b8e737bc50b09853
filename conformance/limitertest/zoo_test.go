package limitertest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/limitertest"
	"github.com/escapement-go/escapement/internal/zoo/limiter"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, limitertest.Rules(), limiter.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, limiter.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, limiter.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, limiter.Designs()) }

func TestDesigns_chosen(t *testing.T) { proof.Designs(t, limiter.Chosen(4)) }

func TestDesigns_chosenWaits(t *testing.T) { proof.Designs(t, limiter.ChosenWaits(1)) }
