package clocktest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/proof"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/internal/zoo/clock"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestMutants(t *testing.T) { proof.Mutants(t, clocktest.Rules(), clock.Mutants()) }

func TestMutants_thatHang(t *testing.T) { proof.Hangs(t, clock.Mutants()) }

func TestMutants_thatRace(t *testing.T) { proof.Races(t, clock.Mutants()) }

func TestMutants_reported(t *testing.T) { proof.Reported(t, clock.Mutants()) }

// Who declares nothing is told of each mistake, and no correct design is accused.
func TestFirstRuns(t *testing.T) { proof.FirstRuns(t, clock.Designs(), clock.Mutants()) }

func TestDesigns(t *testing.T) { proof.Designs(t, clock.Designs()) }

func TestDesigns_together(t *testing.T) { proof.Together(t, clock.Designs()) }

// An implementation is not accused for what it cannot do.
func TestSubsets(t *testing.T) { proof.Subsets(t, clock.Designs()) }

// That functions run on the goroutine that advances is asked of whoever declares nothing, and no rule accuses
// meanwhile.
func TestTraits_decisions(t *testing.T) {
	synctestcompat.Require(t)
	designs := clock.Designs()
	i := slices.IndexFunc(designs, func(d zoo.Design) bool { return d.Name == "zoo plain clock" })
	spec := designs[i].Spec.(clocktest.Spec)
	spec.Traits = clocktest.Traits{}
	r := spec.Examine(t, inside.Options{Unprobed: true})
	var asked []string
	for _, d := range r.Decisions {
		asked = append(asked, d.Trait+": "+d.Value+" ("+d.Means+")")
	}
	want := []string{
		"Waits: clocktest.WaitsForFunctions (Advance waits for functions only)",
		"OnAdvance: true (functions run on the goroutine that advances the clock, so they must not sleep)",
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked are %q, want %q", asked, want)
	}
	for _, v := range r.Verdicts {
		if v.Status == conformance.Fail {
			t.Errorf("%s: %s", v.Rule, v.Text)
		}
	}
}

// A clock whose functions run on the goroutine that advances is told what to declare.
func TestHint_onAdvance(t *testing.T) {
	synctestcompat.Require(t)
	designs := clock.Designs()
	i := slices.IndexFunc(designs, func(d zoo.Design) bool { return d.Name == "zoo plain clock" })
	spec := designs[i].Spec.(clocktest.Spec)
	spec.Traits.OnAdvance = false
	r := spec.Examine(t, inside.Options{Until: "CK-REENT", Unprobed: true})
	if v, _ := r.Verdict("CK-REENT"); !strings.Contains(v.Text, "declare OnAdvance: true") {
		t.Errorf("CK-REENT does not say what to declare:\n%s", v.Text)
	}
}

// A clock without functions is not asked what it waits for, and is judged: also by a schedule that is run alone.
func TestWaits_withoutFunctions(t *testing.T) {
	synctestcompat.Require(t)
	spec := mutant(t, "waits under its lock for room in a channel").Spec.(clocktest.Spec)
	inner := spec.New
	spec.Traits = clocktest.Traits{}
	spec.New = func(env clocktest.Env) clocktest.Funcs {
		f := inner(env)
		f.AfterFunc = nil
		return f
	}
	t.Setenv("ESCAPEMENT_SCHEDULE", "ticker 1 1s @0 | idle 2s")
	r := spec.Examine(t, inside.Options{FirstLook: time.Millisecond})
	if v, _ := r.Verdict("CK-DIFF"); v.Status != conformance.Fail || !strings.Contains(v.Text, "never returned") {
		t.Errorf("CK-DIFF is %s: %s", v.Status, v.Reason)
	}
}

// mutant returns the one with a name.
func mutant(t *testing.T, name string) zoo.Mutant {
	t.Helper()
	all := clock.Mutants()
	i := slices.IndexFunc(all, func(m zoo.Mutant) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("there is no mutant %q", name)
	}
	return all[i]
}
