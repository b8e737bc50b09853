package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
)

// Choice is one trait of a contract, in the terms of the subtest TRAITS.
type Choice struct {
	// Name is that of the field of the contract's traits.
	Name string
	// Declared is the value that is declared, counted from 1; 0 is none. Of a trait that is
	// a number it is that number, of one that is true or false 1 or 0.
	Declared int
	// Values are the names of the values, in the order of the constants, for the literal;
	// nil for traits that are no list of constants. Means says in a few words what each of
	// them means, for those that cannot be observed. A choice that nobody need declare, with no
	// Observe, has Means if only the documentation shows it: the condition, as in "only if".
	Values, Means []string
	// Literal writes a value where it has no name; see [Flag].
	Literal func(value int) string
	// Needless reports whether the implementation lacks what the choice is about, so that
	// it need not be declared; nil is for choices that never need be.
	Needless func() bool
	// Observe tries the implementation and returns the value that fits, 0 if none does or
	// none can be told. It is nil for choices that cannot be observed.
	Observe func() int
	// Set declares another value.
	Set func(value int)
	// Apart says that another value is never offered as an explanation of a failure.
	Apart bool
	// Alter is for choices that a schedule can configure too: it returns a run as if it
	// had been configured with that value, and false if that cannot be.
	Alter func(value int, rec *Recording) (*Recording, bool)
	// Blind are values with which nearly nothing is judged, so that they are never offered
	// as an explanation.
	Blind []string
}

// Flag writes the value of a choice that is true or not declared.
func Flag(int) string { return "true" }

// optional reports whether nobody need declare the choice.
func (c Choice) optional() bool { return c.Needless == nil }

// number reports whether the values of the choice are numbers, and can be observed.
func (c Choice) number() bool { return c.Values == nil && c.Literal != nil && c.Observe != nil }

// needless reports whether the choice need not be declared.
func (c Choice) needless() bool { return c.optional() || c.Needless() }

// documented reports whether the choice is one that only the documentation of an implementation
// shows, and that few make.
func (c Choice) documented() bool { return c.optional() && c.Observe == nil && len(c.Means) > 0 }

// pointless reports whether the implementation lacks what the choice is about.
func (c Choice) pointless() bool { return !c.optional() && c.Needless() }

// Always is the Needless of a choice that everybody must declare.
func Always() bool { return false }

// missing reports whether the choice must be declared, and is not.
func (c Choice) missing() bool { return c.Declared == 0 && !c.needless() }

// named reports whether a value can be written.
func (c Choice) named(value int) bool {
	return value > 0 && (c.Literal != nil || value <= len(c.Values))
}

// pasted is a choice as TRAITS prints it, to be pasted.
type pasted struct {
	Choice
	value    int // 0 if it is left open
	observed bool
}

// pasted lists the choices as they are to be declared: what is declared stays, and the rest is
// observed. What is observed counts in the choices that come after it.
func (e *engine[T, E]) pasted() (all []pasted, t *T) {
	t = e.c.Traits()
	for i := range e.c.Table(e.Suite, t) {
		c := e.c.Table(e.Suite, t)[i]
		p := pasted{Choice: c, value: c.Declared}
		switch {
		case c.Declared != 0:
		case c.pointless():
			continue
		case c.Observe != nil:
			p.observed = true
			if p.value = c.Observe(); !c.named(p.value) {
				p.value = 0
			} else if c.Set != nil {
				c.Set(p.value)
			}
		}
		if p.value != 0 || !c.optional() || c.documented() {
			all = append(all, p)
		}
	}
	return all, t
}

// write writes the choice as a field of a literal of the package's traits.
func (p pasted) write(b *strings.Builder, pkg string) {
	switch {
	case p.value == 0 && p.documented():
		fmt.Fprintf(b, "\t\t// %s: %s, // only if %s\n", p.Name, p.literal(1, pkg), p.Means[0])
		return
	case p.value == 0 && p.observed:
		fmt.Fprintf(b, "\t\t// %s: what was observed does not tell, so choose one of\n", p.Name)
	case p.value == 0:
		fmt.Fprintf(b, "\t\t// %s: no schedule can tell, so choose one of\n", p.Name)
	default:
		note := ""
		if p.observed {
			note = " // observed"
		}
		fmt.Fprintf(b, "\t\t%s: %s,%s\n", p.Name, p.literal(p.value, pkg), note)
		return
	}
	for i := range p.Values {
		means := ""
		if i < len(p.Means) {
			means = " // " + p.Means[i]
		}
		fmt.Fprintf(b, "\t\t// %s: %s,%s\n", p.Name, p.literal(i+1, pkg), means)
	}
}

// literal is a value of the choice as Go has it.
func (c Choice) literal(value int, pkg string) string {
	if c.Literal != nil {
		return c.Literal(value)
	}
	if name := c.Values[value-1]; strings.Contains(name, ".") {
		return name
	}
	return pkg + "." + c.Values[value-1]
}

// other says which other contract fits better, "" if none does.
func (e *engine[T, E]) other() string {
	if c, ok := e.c.(Related); ok && !e.hangs() {
		return c.Other(e.Suite)
	}
	return ""
}

// checkTraits is the subtest TRAITS.
func (e *engine[T, E]) checkTraits() conformance.Verdict {
	v := conformance.Verdict{Rule: "TRAITS", Level: conformance.Core, Status: conformance.Pass, Judged: 1}
	if !e.undeclared {
		return v
	}
	var missing []string
	var fields strings.Builder
	all, t := e.pasted()
	for _, p := range all {
		if p.Declared == 0 && !p.optional() {
			missing = append(missing, p.Name)
		}
		p.write(&fields, e.profile.Package)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "TRAITS: undeclared: %s\n", strings.Join(missing, ", "))
	b.WriteString("Correct implementations differ in these choices, " +
		"so the rules that depend on them are skipped until\n" +
		"you declare yours. This is what was observed; check that each is what you mean, and paste it:\n\n")
	fmt.Fprintf(&b, "\tTraits: %s.Traits{\n%s\t},\n", e.profile.Package, fields.String())
	b.WriteString(e.refutation(t))
	if why := e.other(); why != "" {
		fmt.Fprintf(&b, "\n%s\n", why)
	}
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
	return i >= 0 && skip(s, &rules[i], t, c.Table(s, t)).why == "" && rules[i].about(j)
}
