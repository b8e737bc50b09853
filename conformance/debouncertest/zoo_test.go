package debouncertest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/debouncertest"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/zoo/debouncer"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, debouncertest.Rules(), debouncer.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, debouncer.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, debouncer.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, debouncer.Designs()) }

func TestDesigns_chosen(t *testing.T) { proof.Designs(t, debouncer.Chosen(4)) }
