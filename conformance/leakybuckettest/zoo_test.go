package leakybuckettest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo/leakybucket"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, leakybuckettest.Rules(), leakybucket.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, leakybucket.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, leakybucket.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, leakybucket.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, leakybucket.Designs()) }

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, leakybucket.Chosen) }
