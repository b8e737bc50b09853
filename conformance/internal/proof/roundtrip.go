package proof

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// RoundTrip checks that what the subtest TRAITS prints can be pasted: each correct design is
// run without its traits, where nothing but TRAITS fails, save the rules in optOuts, and then
// with those that are printed, where nothing else fails at all. Where these are not its
// author's is listed in testdata/traits.txt. Each design runs with one of its ways to take
// time and short schedules, or with all of both if ESCAPEMENT_PROVE=1 is set.
func RoundTrip(t *testing.T, designs []zoo.Design, optOuts ...string) {
	t.Helper()
	synctestcompat.Require(t)
	all := prove.Reaches(prove.Suite) || *update
	chosen, differs := once(designs), map[string][]string{}
	for i, d := range designs {
		if !chosen[i] && !all {
			continue
		}
		bare := withTraits(d.Spec, func(tr reflect.Value) { tr.SetZero() })
		faultless(t, d.Name+" without traits", bare, optOuts...)
		full := withTraits(bare, func(tr reflect.Value) {
			bare.Examine(t, inside.Options{FirstLook: soon, Pasted: func(choice string, value int) {
				paste(tr.FieldByName(choice), value)
			}})
			declared := reflect.ValueOf(d.Spec).FieldByName("Traits")
			for i := range tr.NumField() {
				if got, want := tr.Field(i), declared.Field(i); !reflect.DeepEqual(got.Interface(), want.Interface()) {
					how := fmt.Sprintf("%s: %v where %v is declared", tr.Type().Field(i).Name, got, want)
					differs[how] = append(differs[how], d.Name)
				}
			}
		})
		faultless(t, d.Name+" with the traits that are printed", full)
	}
	goldenTraits(t, differs, all)
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
	default:
		field.SetInt(int64(value))
	}
}

// faultless checks that no rule accuses a correct design, but those that are named.
func faultless(t *testing.T, name string, spec conformance.Spec, but ...string) {
	t.Helper()
	short := func(_ string, steps int) bool { return steps <= 2 }
	o := inside.Options{FirstLook: soon, Shallow: true, Unprobed: true, Keep: short}
	if prove.Reaches(prove.Suite) {
		o = inside.Options{FirstLook: soon, Shallow: true}
	}
	for _, v := range spec.Examine(t, o).Verdicts {
		accuses := v.Status == conformance.Fail || v.Status == conformance.Inconclusive && v.Level == conformance.Core
		if accuses && v.Level != conformance.Provisional && v.Rule != "TRAITS" && !slices.Contains(but, v.Rule) {
			t.Errorf("%s: %s\n%s", name, v.Rule, v.Text)
		}
	}
}

// goldenTraits compares the differences between what is printed and what authors declare, each
// with the designs that show it, with testdata/traits.txt; all says that none were left out.
func goldenTraits(t *testing.T, differs map[string][]string, all bool) {
	t.Helper()
	path := filepath.Join("testdata", "traits.txt")
	var lines []string
	for how, names := range differs {
		for _, name := range names {
			lines = append(lines, how+": "+name)
		}
	}
	slices.Sort(lines)
	head := "# Made by: go test -run '^" + t.Name() + "$' -update"
	if *update {
		text := strings.Join(append([]string{head}, lines...), "\n") + "\n"
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	for _, line := range lines {
		if !slices.Contains(known, line) {
			t.Errorf("%s lacks this line; if it is right, run with -update:\n%s", path, line)
		}
	}
	for _, line := range known {
		if all && !slices.Contains(lines, line) {
			t.Errorf("%s has a line that is no longer so; run with -update:\n%s", path, line)
		}
	}
}
