package concurrencytest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/zoo/concurrency"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, concurrencytest.Rules(), concurrency.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, concurrency.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, concurrency.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, concurrency.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, concurrency.Designs()) }

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, concurrency.Chosen) }
