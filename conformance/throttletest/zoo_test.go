package throttletest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo/throttle"
)

func TestMutants(t *testing.T) { proof.Mutants(t, throttletest.Rules(), throttle.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, throttle.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, throttle.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, throttle.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, throttle.Designs()) }

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, throttle.Chosen) }
