package proof

import (
	"reflect"
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/internal/zoo"
	"github.com/escapement-go/escapement/synctestcompat"
)

// LeftOut checks that a choice which need not be declared excuses nothing by being left out: of each such trait, a
// correct design that declares a weaker value is run without it. It is asked for it, or breaks a rule, unless it keeps
// what the strict value demands, too.
func LeftOut(t *testing.T, designs []zoo.Design) {
	t.Helper()
	synctestcompat.Require(t)
	prove.Require(t, prove.Suite)
	tried := map[string]bool{}
	for _, d := range designs {
		if given(d.Spec) {
			continue
		}
		for name, strict := range weaklyDeclared(t, d.Spec) {
			if tried[name] {
				continue
			}
			tried[name] = true
			t.Run(name, func(t *testing.T) {
				if !red(t, d.Spec, name, 0) && red(t, d.Spec, name, strict) {
					t.Errorf("%s is not asked for %s, which excuses it", d.Name, name)
				}
			})
		}
	}
}

// red reports whether a rule fails, or a decision is asked, where a spec has another value of a trait.
func red(t *testing.T, spec conformance.Spec, trait string, value int) bool {
	other := withTraits(spec, func(tr reflect.Value) { tr.FieldByName(trait).SetInt(int64(value)) })
	r := other.Examine(t, inside.Options{Most: 200})
	return len(r.Decisions) > 0 || slices.ContainsFunc(r.Verdicts, failed)
}

// weaklyDeclared are the traits that nobody need declare, and of which a spec declares a weaker value, with the strict
// one.
func weaklyDeclared(t *testing.T, spec conformance.Spec) map[string]int {
	strict, declared := map[string]int{}, reflect.ValueOf(spec).FieldByName("Traits")
	spec.Examine(t, inside.Options{Listed: func(tr inside.Trait) {
		field := declared.FieldByName(tr.Name)
		if tr.Optional && len(tr.Order) > 0 && tr.Order[0] != 0 && field.CanInt() &&
			slices.Index(tr.Order, int(field.Int())) > 0 {
			strict[tr.Name] = tr.Order[0]
		}
	}})
	return strict
}
