package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// Choice is one trait of a contract, in the terms of the subtest TRAITS.
type Choice struct {
	Name string
	// Declared is the value that is declared, counted from 1; 0 is none.
	Declared int
	// Values are the names of the values, in the order of the constants, for the literal.
	Values []string
	// Needless reports whether the implementation lacks what the choice is about, so that
	// it need not be declared; nil is for choices that never need be.
	Needless func() bool
	// Observe tries the implementation and returns the value that fits, 0 if none does. It
	// is nil for choices that cannot be observed.
	Observe func() int
	// Set declares another value. It is nil where another value is never offered as an
	// explanation.
	Set func(value int)
	// Alter is for choices that a schedule can configure too: it returns a run as if it
	// had been configured with that value, and false if that cannot be.
	Alter func(value int, rec *Recording) (*Recording, bool)
	// Blind are values with which nearly nothing is judged, so that they are never offered
	// as an explanation.
	Blind []string
}

// needless reports whether the choice need not be declared.
func (c Choice) needless() bool { return c.Needless == nil || c.Needless() }

// Always is the Needless of a choice that everybody must declare.
func Always() bool { return false }

// checkTraits is the subtest TRAITS.
func (e *engine[T, E]) checkTraits() conformance.Verdict {
	v := conformance.Verdict{Rule: "TRAITS", Level: conformance.Core, Status: conformance.Pass, Judged: 1}
	var missing []string
	for _, c := range e.choices {
		if c.Declared == 0 && !c.needless() {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) == 0 {
		return v
	}
	var b strings.Builder
	fmt.Fprintf(&b, "TRAITS: undeclared: %s\n", strings.Join(missing, ", "))
	b.WriteString("Correct implementations differ in these choices, " +
		"so the rules that depend on them are skipped until\n" +
		"you declare yours. This is what was observed; check that each is what you mean, and paste it:\n\n")
	fmt.Fprintf(&b, "\tTraits: %s.Traits{\n", e.profile.Package)
	for _, c := range e.choices {
		if c.needless() {
			continue
		}
		value, note := c.Declared, ""
		if value == 0 {
			value, note = c.Observe(), " // observed"
		}
		if value < 1 || value > len(c.Values) {
			fmt.Fprintf(&b, "\t\t// %s: nothing that was observed fits one of %s\n",
				c.Name, strings.Join(c.Values, ", "))
			continue
		}
		name := c.Values[value-1]
		if !strings.Contains(name, ".") {
			name = e.profile.Package + "." + name
		}
		fmt.Fprintf(&b, "\t\t%s: %s,%s\n", c.Name, name, note)
	}
	b.WriteString("\t},\n")
	v.Status, v.Reason, v.Text = conformance.Fail, "undeclared: "+strings.Join(missing, ", "), b.String()
	return v
}

// skipped is why a rule is not in force.
type skipped struct {
	why string
	// absent says that the implementation has nothing that the rule is about, so that the
	// rule does not count as core.
	absent bool
}

// lacking begins the reason why the rules of an operation that is nil are skipped.
const lacking = "the implementation has no "

// skip returns why a rule is not in force with the traits t, whose table is choices.
func (e *engine[T, E]) skip(r *Rule[T, E], t *T, choices []Choice) skipped {
	return skip(e.Suite, r, t, choices)
}

func skip[T, E any](s *Suite, r *Rule[T, E], t *T, choices []Choice) skipped {
	if r.Absent != nil {
		if why := r.Absent(s, t); why != "" {
			return skipped{why, true}
		}
	}
	for _, op := range r.Ops {
		if !s.Accepts(op) {
			return skipped{lacking + string(op), s.profile.Spares}
		}
	}
	for _, name := range r.Declared {
		declared := func(c Choice) bool { return c.Name == name && c.Declared != 0 }
		if !slices.ContainsFunc(choices, declared) {
			return skipped{"trait " + name + " is undeclared", false}
		}
	}
	if r.Unless != nil {
		if why := r.Unless(s, t); why != "" {
			return skipped{why, false}
		}
	}
	return skipped{}
}

// InForce reports whether a rule of the contract judges a run with the traits t. It is for
// contracts that compare runs with a model, where a difference may break one rule or
// another.
func InForce[T, E any](s *Suite, c Contract[T, E], t *T, j Job, id string) bool {
	rules := c.Rules()
	i := slices.IndexFunc(rules, func(r Rule[T, E]) bool { return r.ID == id })
	return i >= 0 && skip(s, &rules[i], t, c.Table(s, t)).why == "" && (rules[i].About == nil || rules[i].About(j))
}
