package clocktest_test

import (
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/zoo"
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
func TestSubsets(t *testing.T) {
	without := func(d zoo.Design) bool { return d.Spec.(clocktest.Spec).New == nil }
	all := slices.DeleteFunc(clock.Designs(), without)
	proof.Subsets(t, all, func(spec clocktest.Spec, take func(*clocktest.Funcs)) clocktest.Spec {
		inner := spec.New
		spec.New = func(env clocktest.Env) clocktest.Funcs {
			f := inner(env)
			take(&f)
			return f
		}
		return spec
	})
}
