package leakybuckettest_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo/leakybucket"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, leakybuckettest.Rules(), leakybucket.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, leakybucket.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, leakybucket.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, leakybucket.Mutants()) }

// A choice that is left out excuses nothing.
func TestLeftOut(t *testing.T) { proof.LeftOut(t, leakybucket.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, append(leakybucket.Designs(), leakybucket.Chosen(8)...))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, leakybucket.Chosen) }

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, leakybucket.Designs()) }

// A bucket that never sees time pass is told so, and no rule accuses it.
func TestCanary_seesThatTimePasses(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		r := leakybucket.Blind(source).Examine(t, inside.Options{})
		canary, _ := r.Verdict("CANARY")
		if n := r.Count(conformance.Fail); n != 1 || !strings.Contains(canary.Text,
			"none left within 5s") {
			t.Errorf("%v: %d rules fail, want CANARY: %s", source, n, canary.Text)
		}
	}
}

// Who holds a lock while it sleeps is told what to declare, and is judged then.
func TestUnfinished_asleepWithALock(t *testing.T) { proof.Asleep(t, leakybucket.UndeclaredAsleep) }

// The rest leaves goroutines, of which each makes every later look at the stacks slower.

func TestDesigns(t *testing.T) { proof.Designs(t, leakybucket.Designs()) }

// It prints that somebody holds a lock while it sleeps, too.
func TestTraits_asleep(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		spec := leakybucket.UndeclaredAsleep(source)
		spec.Traits = leakybuckettest.Traits{}
		got := map[string]int{}
		none := func(string, int) bool { return false }
		o := inside.Options{FirstLook: time.Millisecond, Keep: none, Unprobed: true}
		o.Settled = func(c inside.Choice) {
			if c.Value != 0 {
				got[c.Name] = c.Value
			}
		}
		spec.Examine(t, o)
		if want := map[string]int{"HoldsLockWhileWaiting": 1, "FirstItem": 1, "Unbounded": 1}; !maps.Equal(got, want) {
			t.Errorf("%v: printed %v, want %v", source, got, want)
		}
	}
}

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, leakybucket.Designs(), leakybucket.Mutants()) }
