package proof

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// RoundTrip checks that what the subtest TRAITS prints can be pasted: each correct design is
// run without its traits, where nothing but TRAITS fails, save the rules in optOuts, and then
// with those that are printed, where nothing else fails at all. Where these are not its
// author's is listed in testdata/traits.txt, for which -update only observes. A few designs run
// with short schedules, and with ESCAPEMENT_PROVE=all all of them with all schedules.
func RoundTrip(t *testing.T, designs []zoo.Design, optOuts ...string) {
	t.Helper()
	synctestcompat.Require(t)
	all := prove.Reaches(prove.All) || *update
	every := 1
	if !all {
		every = max(1, len(designs)/prove.Number(3, 5, 5, 5))
	}
	differs := map[string]string{} // and the first design that shows it
	for i := 0; i < len(designs); i += every {
		t.Run(designs[i].Name, func(t *testing.T) { roundTrip(t, designs[i], differs, optOuts) })
	}
	goldenTraits(t, differs, all)
}

// roundTrip is RoundTrip for one design, whose differences it adds.
func roundTrip(t *testing.T, d zoo.Design, differs map[string]string, optOuts []string) {
	bare := withTraits(d.Spec, func(tr reflect.Value) { tr.SetZero() })
	faultless(t, d.Name+" without traits", bare, optOuts...)
	full := withTraits(bare, func(tr reflect.Value) {
		bare.Examine(t, inside.Options{FirstLook: soon, Pasted: func(c inside.Choice) {
			paste(tr.FieldByName(c.Name), c.Value)
		}})
		declared := reflect.ValueOf(d.Spec).FieldByName("Traits")
		for i := range tr.NumField() {
			got, want := tr.Field(i), declared.Field(i)
			how := fmt.Sprintf("%s: %v where %v is declared", tr.Type().Field(i).Name, got, want)
			if differs[how] == "" && !reflect.DeepEqual(got.Interface(), want.Interface()) {
				differs[how] = d.Name
			}
		}
	})
	faultless(t, d.Name+" with the traits that are printed", full)
}

// withTraits returns the spec with change done to its traits.
func withTraits(spec conformance.Spec, change func(tr reflect.Value)) conformance.Spec {
	changed := reflect.New(reflect.TypeOf(spec)).Elem()
	changed.Set(reflect.ValueOf(spec))
	change(changed.FieldByName("Traits"))
	return changed.Interface().(conformance.Spec)
}

// paste sets a field of traits to a value of its choice.
func paste(field reflect.Value, value int) {
	switch field.Kind() {
	case reflect.Bool:
		field.SetBool(value != 0)
	case reflect.Float32, reflect.Float64:
		field.SetFloat(float64(value))
	case reflect.Slice: // the only list is that of edges
		field.Set(reflect.ValueOf(edge.Listed(value)).Convert(field.Type()))
	default:
		field.SetInt(int64(value))
	}
}

// faultless checks that no rule accuses a correct design, but those that are named. Where
// some are, a choice not to allow something is undeclared, and runs need not come to an end.
func faultless(t *testing.T, name string, spec conformance.Spec, but ...string) {
	t.Helper()
	if *update {
		return
	}
	o := inside.Options{Shallow: true, FirstLook: soon}
	if !prove.Reaches(prove.All) {
		o.Unprobed, o.Keep = true, func(_ string, steps int) bool { return steps <= 2 }
	}
	for _, v := range spec.Examine(t, o).Verdicts {
		open := v.Status == conformance.Inconclusive && v.Level == conformance.Core && len(but) == 0
		fails := v.Status == conformance.Fail && v.Level != conformance.Provisional
		if (fails || open) && v.Rule != "TRAITS" && !slices.Contains(but, v.Rule) {
			t.Errorf("%s: %s\n%s", name, v.Rule, v.Text)
		}
		if v.Rule == "TRAITS" && len(but) == 0 && strings.Contains(v.Text, "With these, runs of this test break") {
			t.Errorf("%s: %s", name, v.Text)
		}
	}
}

// goldenTraits compares the differences between what is printed and what authors declare, each
// with a design that shows it, with testdata/traits.txt; all says that none were left out.
func goldenTraits(t *testing.T, differs map[string]string, all bool) {
	t.Helper()
	path := filepath.Join("testdata", "traits.txt")
	if *update {
		lines := []string{"# Made by: go test -run '^" + t.Name() + "$' -update"}
		for _, how := range slices.Sorted(maps.Keys(differs)) {
			lines = append(lines, how+": "+differs[how])
		}
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	known := string(text)
	for _, how := range slices.Sorted(maps.Keys(differs)) {
		if !strings.Contains(known, "\n"+how+": ") {
			t.Errorf("%s lacks this; if it is right, run with -update:\n%s: %s", path, how, differs[how])
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(known), "\n")[1:] {
		how, _, _ := strings.Cut(line, " is declared: ")
		if all && differs[how+" is declared"] == "" {
			t.Errorf("%s has a line that is no longer so; run with -update:\n%s", path, line)
		}
	}
}
