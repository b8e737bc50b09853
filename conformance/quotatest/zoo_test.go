package quotatest_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/internal/zoo/quota"
)

func TestMutants(t *testing.T) { proof.Mutants(t, quotatest.Rules(), quota.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, quota.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, quota.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, quota.Designs()) }

func TestDesigns_chosen(t *testing.T) { proof.Designs(t, quota.Chosen(4)) }

// What TRAITS observes is what correct designs declare, so that a stranger can paste it.
func TestTraits(t *testing.T) { proof.Observed(t, quota.Designs()) }
