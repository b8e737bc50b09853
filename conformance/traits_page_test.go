package conformance_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/synctestcompat"
)

const traitsHead = `<!-- Made by: go test ./conformance -run '^TestTraits_areDocumented$' -update -->

# Traits

A trait is a choice on which correct implementations differ. Declared traits hold. The suite settles the others before
it explores, and the subtest TRAITS prints them, to be pasted.

- **strict**: the first value, under which most rules apply, is assumed until a run refutes it. A later value is then a
  decision for the author, with the smallest run that refutes the first: the behaviour is documented, or a mistake. A
  value marked * is not weaker, only different, and is assumed if it is observed; rules that make no sense with it, as
  those of payloads without one, are skipped. A trait that is true or undeclared is strict, too:
  undeclared is assumed.
- **nominal**: no value is stricter. The observed one is assumed.
- **number**: exact is assumed. A measured number is a hint in a decision, and never a declaration.

Traits in *italics* need no declaration. While others are undeclared they are tried, too, and what is observed is
assumed. Once all other traits are declared, rules that depend on undeclared *italic* traits are skipped, and only what
a weaker value would excuse is asked for.
`

// TRAITS.md is made from the choices of the contracts, of which some are fit for bubbles only.
func TestTraits_areDocumented(t *testing.T) {
	synctestcompat.Require(t)
	var b strings.Builder
	b.WriteString(traitsHead)
	count := 0
	for _, c := range contracts() {
		fmt.Fprintf(&b, "\n## %s\n\n| trait | kind | values |\n|---|---|---|\n", title(c.kind))
		c.mutants[0].Spec.Examine(t, inside.Options{Listed: func(tr inside.Trait) {
			count++
			name := tr.Name
			if tr.Optional {
				name = "*" + name + "*"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", name, tr.Kind, values(tr))
			if len(tr.Means) == 0 {
				t.Errorf("%s of %s: nothing says what it means", tr.Name, c.pkg)
			}
		}})
	}
	fmt.Fprintf(&b, "\n%d traits.\n", count)
	if *update {
		if err := os.WriteFile("TRAITS.md", []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("TRAITS.md"); err != nil || string(got) != b.String() {
		t.Errorf("TRAITS.md is not what the choices say (%v); run with -update", err)
	}
}

// values are those of a trait, in their order, with what they mean.
func values(tr inside.Trait) string {
	if len(tr.Values) == 0 {
		if tr.Kind == "number" {
			return "0 is exact; else: " + strings.Join(tr.Means, "")
		}
		if tr.Name == "Fields" { // a set of bits
			return "undeclared; any sum of `FieldRetry`, `FieldReset`, `FieldRemaining`" + meaning(tr.Means, 0)
		}
		return "undeclared, true" + meaning(tr.Means, 0)
	}
	var out []string
	list := func(i int, mark string) {
		name := tr.Values[i][strings.LastIndexAny(tr.Values[i], ".{")+1:]
		out = append(out, "`"+strings.TrimSuffix(name, "}")+"`"+mark+meaning(tr.Means, i))
	}
	for _, v := range tr.Order {
		if v == 0 {
			out = append(out, "undeclared")
			continue
		}
		list(v-1, "")
	}
	for i, name := range tr.Values {
		if name != "" && !slices.Contains(tr.Order, i+1) {
			list(i, map[bool]string{true: "*"}[len(tr.Order) > 0])
		}
	}
	return strings.Join(out, "; ")
}

// meaning is what a value means, in parentheses.
func meaning(means []string, i int) string {
	if i >= len(means) {
		return ""
	}
	return " (" + means[i] + ")"
}
