package proof

import (
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

// Subsets checks that a correct design is not accused for what it cannot do: with each of
// its operations alone, with all but one, or with any subset if ESCAPEMENT_PROVE=all is set.
// Schedules are short, and it is the last design only unless ESCAPEMENT_PROVE=1 is set.
// Designs whose spec has no New are left out.
func Subsets(t *testing.T, designs []zoo.Design) {
	t.Helper()
	synctestcompat.Require(t)
	o := inside.Options{Unprobed: true, Keep: func(_ string, steps int) bool { return steps <= 2 }}
	if prove.Reaches(prove.All) {
		o.Unprobed, o.Keep = false, func(_ string, steps int) bool { return steps <= 3 }
	}
	designs = slices.DeleteFunc(designs, func(d zoo.Design) bool {
		return reflect.ValueOf(d.Spec).FieldByName("New").IsNil()
	})
	if !prove.Reaches(prove.Suite) && len(designs) > 0 {
		designs = designs[len(designs)-1:]
	}
	judged := 0
	every := prove.Number(1, 1, 4, 1) // of four designs that follow each other, each is run with others
	for i, d := range designs {
		n := 0
		without(d.Spec, func(f reflect.Value) { n = len(operations(f)) }).Examine(t, inside.Options{
			Keep: func(string, int) bool { return false },
		})
		for j, keep := range subsets(n) {
			if (i+j)%every != 0 {
				continue
			}
			var names []string
			r := without(d.Spec, func(f reflect.Value) { names = reduce(f, keep) }).Examine(t, o)
			judged += r.Count(conformance.Pass)
			for _, v := range r.Verdicts {
				if accuses(v) {
					t.Errorf("%s with %v only: %s", d.Name, names, v.Text)
				}
			}
		}
	}
	if judged == 0 {
		t.Error("nothing was judged")
	}
}

// without returns the spec with take done to the struct of operations that its New makes.
func without(spec conformance.Spec, take func(f reflect.Value)) conformance.Spec {
	return changed(spec, "New", func(field reflect.Value) {
		inner := reflect.ValueOf(field.Interface())
		field.Set(reflect.MakeFunc(field.Type(), func(args []reflect.Value) []reflect.Value {
			f := reflect.New(field.Type().Out(0)).Elem()
			f.Set(inner.Call(args)[0])
			take(f)
			return []reflect.Value{f}
		}))
	})
}

// accuses reports whether a verdict says more than that something is lacking. What has no
// Stop any more may leave its goroutines behind, and that is no mistake of the suite.
func accuses(v conformance.Verdict) bool {
	switch v.Rule {
	case "X-LEAK":
		return false
	case "CANARY":
		return v.Status == conformance.Fail && !strings.HasPrefix(v.Reason, "New returned no")
	}
	return v.Status == conformance.Fail || v.Status == conformance.Inconclusive
}

// operations are the fields of a struct that are functions and not nil.
func operations(f reflect.Value) (fields []reflect.StructField) {
	for i := range f.NumField() {
		if f.Field(i).Kind() == reflect.Func && !f.Field(i).IsNil() {
			fields = append(fields, f.Type().Field(i))
		}
	}
	return fields
}

// reduce leaves the operations whose bits are set, and returns their names.
func reduce(f reflect.Value, keep uint) (names []string) {
	for i, field := range operations(f) {
		if keep>>i&1 == 1 {
			names = append(names, field.Name)
		} else {
			f.FieldByIndex(field.Index).SetZero()
		}
	}
	return names
}

// subsets are those of n operations that are tried.
func subsets(n int) (out []uint) {
	all := uint(1)<<n - 1
	if prove.Reaches(prove.All) {
		for keep := uint(1); keep <= all; keep++ {
			out = append(out, keep)
		}
		return out
	}
	for i := range n {
		out = append(out, 1<<i, all&^(1<<i))
	}
	return append(out, all)
}
