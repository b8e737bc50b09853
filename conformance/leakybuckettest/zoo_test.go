package leakybuckettest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/conformance/leakybuckettest"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/leakybucket"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) {
	proof.Mutants(t, leakybuckettest.Rules(), leakybucket.Mutants())
}

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, leakybucket.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, leakybucket.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, leakybucket.Mutants()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, leakybucket.Designs(), leakybucket.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, leakybucket.Designs()) }

func TestDesigns_together(t *testing.T) {
	proof.Together(t, append(leakybucket.Designs(), leakybucket.Chosen(8)...))
}

func TestDesigns_chosen(t *testing.T) { proof.Chosen(t, leakybucket.Chosen) }

// What TRAITS observes is what correct designs declare, so that a stranger can paste it.
func TestTraits(t *testing.T) { proof.Observed(t, leakybucket.Designs()) }

// Without declarations nobody is accused, and TRAITS prints what was seen.
func TestTraits_undeclared(t *testing.T) {
	synctestcompat.Require(t)
	for name, head := range map[string]string{
		"zoo bucket Injected": "HeadAtOnce", "zoo periods Injected": "HeadWaits", "zoo ticker Injected": "HeadOnGrid",
	} {
		spec := design(t, name)
		spec.Traits = leakybuckettest.Traits{}
		short := func(_ string, steps int) bool { return steps <= 3 }
		for _, v := range spec.Examine(t, inside.Options{Keep: short}).Verdicts {
			if failed := v.Status == conformance.Fail; failed != (v.Rule == "TRAITS") {
				t.Errorf("%s: %s: %s: %s", name, v.Rule, v.Status, v.Text)
			}
			line := "Head: leakybuckettest." + head + ", // observed"
			if v.Rule == "TRAITS" && !strings.Contains(v.Text, line) {
				t.Errorf("%s: TRAITS does not print %q:\n%s", name, line, v.Text)
			}
		}
	}
}

// design is the correct design of that name.
func design(t *testing.T, name string) leakybuckettest.Spec {
	t.Helper()
	for _, d := range leakybucket.Designs() {
		if d.Name == name {
			return d.Spec.(leakybuckettest.Spec)
		}
	}
	t.Fatalf("there is no design %q", name)
	return leakybuckettest.Spec{}
}

// Who holds a lock while it sleeps is told what to declare, and is judged then.
func TestUnfinished_asleepWithALock(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		t.Run(source.String(), func(t *testing.T) {
			proof.Unfinished(t, leakybucket.UndeclaredAsleep(source), "Traits{LocksAsleep: true}")
		})
	}
}

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, leakybucket.Designs()) }

// What TRAITS prints can be pasted. Without traits, who holds a lock while it sleeps is not
// judged at all.
func TestRoundTrip(t *testing.T) {
	proof.RoundTrip(t, slices.DeleteFunc(leakybucket.Designs(), func(d zoo.Design) bool {
		return d.Spec.(leakybuckettest.Spec).Traits.LocksAsleep
	}))
}

// It prints that somebody holds a lock while it sleeps, too.
func TestTraits_asleep(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		spec := leakybucket.UndeclaredAsleep(source)
		spec.Traits = leakybuckettest.Traits{}
		got := map[string]int{}
		spec.Examine(t, inside.Options{FirstLook: time.Millisecond, Pasted: func(c inside.Choice) {
			got[c.Name] = c.Value
		}})
		if want := map[string]int{"LocksAsleep": 1, "Head": 1, "Unbounded": 1}; !maps.Equal(got, want) {
			t.Errorf("%v: printed %v, want %v", source, got, want)
		}
	}
}

// A bucket that never sees time pass is told so, and no rule accuses it.
func TestCanary_seesThatTimePasses(t *testing.T) {
	synctestcompat.Require(t)
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		r := leakybucket.Blind(source).Examine(t, inside.Options{})
		canary, _ := r.Verdict("CANARY")
		if n := r.Count(conformance.Fail); n != 1 || !strings.Contains(canary.Text,
			"does not see that time has passed") {
			t.Errorf("%v: %d rules fail, want CANARY: %s", source, n, canary.Text)
		}
	}
}
