package proof

import (
	"reflect"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// Pasted checks that who pastes what TRAITS prints misses no bug: each mutant of a design is
// caught by its rule with the traits that are printed for that design, and with those of its
// author where TRAITS leaves a choice open. Mutants whose design is not listed are counted, and
// those that are named need not be caught. ESCAPEMENT_PROVE=1 runs it for each second mutant.
func Pasted(t *testing.T, designs []zoo.Design, mutants []zoo.Mutant, missed ...string) {
	t.Helper()
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	if testing.Short() {
		t.Skip("with -short some schedules that catch a mutant are left out")
	}
	known := map[string]bool{}
	for _, name := range missed {
		known[name] = true
	}
	steps := recordedSteps(t)
	printed := map[string]map[string]int{} // by design
	judged, caught, orphans := 0, 0, 0
	every := prove.Number(1, 1, 2, 1)
	for i, m := range mutants {
		if i%every != 0 || m.Hangs || m.Rule == "X-RACE" || m.Rule == "TRAITS" || raceDetector && m.Chance {
			continue
		}
		d, ok := designOf(m, designs)
		if !ok {
			orphans++
			continue
		}
		if printed[d.Name] == nil {
			printed[d.Name] = printedFor(t, d)
		}
		m.Spec = withTraits(m.Spec, func(tr reflect.Value) {
			for choice, value := range printed[d.Name] {
				if value != 0 {
					paste(tr.FieldByName(choice), value)
				}
			}
		})
		judged++
		short := m
		if n := steps[m.Name]; n > 0 && m.Steps == 0 {
			short.Steps = n
		}
		row := try(t, short, optionsOf(short))
		if row.family == "" && !known[m.Name] { // its schedule was made smaller than any that is explored
			row = try(t, m, optionsOf(m))
		}
		switch {
		case row.family != "":
			caught++
		case !known[m.Name]:
			t.Errorf("%s is not caught by %s with the traits that are printed for %s", m.Name, m.Rule, d.Name)
		}
	}
	t.Logf("%d of %d mutants are caught with pasted traits; %d have no design in the list", caught, judged, orphans)
	if judged == 0 {
		t.Error("no mutant has a design in the list")
	}
}

// designOf is the design that a mutant is one mistake away from: the one with the same traits
// and time whose name is that of the mutant without its mistake, which is the longest that fits.
func designOf(m zoo.Mutant, designs []zoo.Design) (found zoo.Design, ok bool) {
	mine, longest := reflect.ValueOf(m.Spec), -1
	name := mine.FieldByName("Name").String()
	for _, d := range designs {
		its := reflect.ValueOf(d.Spec)
		base := its.FieldByName("Name").String()
		same := its.FieldByName("Time").Equal(mine.FieldByName("Time")) &&
			reflect.DeepEqual(its.FieldByName("Traits").Interface(), mine.FieldByName("Traits").Interface())
		if same && strings.HasPrefix(name, base) && len(base) > longest {
			found, longest = d, len(base)
		}
	}
	return found, longest >= 0
}

// printedFor is what TRAITS prints for a design without traits, by choice.
func printedFor(t *testing.T, d zoo.Design) map[string]int {
	t.Helper()
	values := map[string]int{}
	var bare conformance.Spec = withTraits(d.Spec, func(tr reflect.Value) { tr.SetZero() })
	bare.Examine(t, inside.Options{FirstLook: soon, Pasted: func(choice string, value int) { values[choice] = value }})
	return values
}
