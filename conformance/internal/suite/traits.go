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
	// Needless says that the implementation lacks what it is about; nil means that
	// nobody need declare it.
	Needless func() bool
	// Observe tries the implementation; 0 means that nothing fits. It is nil where nothing
	// shows the choice.
	Observe func() int
	// Set declares another value; nil where no other can explain a run.
	Set func(value int)
	// Alter returns a run as if it had been configured for that value, where the choice is
	// one of the configuration too, and whether there is such a run.
	Alter func(value int, rec *Recording) (*Recording, bool)
	// Blind are values that would explain anything, and so explain nothing.
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
	// absent says that there is nothing that the rule is about, so that it does not count
	// as core.
	absent bool
}

// lacking begins the reason to skip a rule of an operation that is not there.
const lacking = "the implementation has no "

// skip says why a rule is not in force with the traits t, of which choices are the table.
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

// InForce reports whether a rule of the contract judges a run with the traits t: for a
// contract in which one difference may be about several rules.
func InForce[T, E any](s *Suite, c Contract[T, E], t *T, j Job, id string) bool {
	rules := c.Rules()
	i := slices.IndexFunc(rules, func(r Rule[T, E]) bool { return r.ID == id })
	return i >= 0 && skip(s, &rules[i], t, c.Table(s, t)).why == "" && (rules[i].About == nil || rules[i].About(j))
}
