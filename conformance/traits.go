package conformance

import (
	"fmt"
	"strings"
)

// trait is one choice of a contract, in the terms of the subtest TRAITS.
type trait struct {
	name     string
	declared int
	// names of the values, in the order of the constants, for the literal.
	values []string
	// needless says that the implementation lacks the operation it is about.
	needless func() bool
	// observe tries the implementation; 0 means that nothing fits. It is nil if nobody need
	// declare the trait.
	observe func() int
}

// optional is a trait that nobody need declare.
func optional(name string, declared int, values ...string) trait {
	return trait{name, declared, values, func() bool { return true }, nil}
}

// checkTraits is the subtest TRAITS.
func (c *contract) checkTraits() Verdict {
	v := Verdict{Rule: "TRAITS", Level: Core, Status: Pass, Judged: 1}
	var missing []string
	for _, tr := range c.traits {
		if tr.declared == 0 && !tr.needless() {
			missing = append(missing, tr.name)
		}
	}
	if len(missing) == 0 {
		return v
	}
	kind := map[string]string{
		"debouncer": "DebounceTraits", "throttle": "ThrottleTraits", "limiter": "LimiterTraits", "leaky bucket": "LeakyBucketTraits",
		"quota": "QuotaTraits", "concurrency": "ConcurrencyTraits", "clock": "ClockTraits",
	}[c.kind]
	var b strings.Builder
	fmt.Fprintf(&b, "TRAITS: undeclared: %s\n", strings.Join(missing, ", "))
	b.WriteString("Correct implementations differ in these choices, so the rules that depend on them are skipped until\n" +
		"you declare yours. This is what was observed; check that each is what you mean, and paste it:\n\n")
	fmt.Fprintf(&b, "\tTraits: conformance.%s{\n", kind)
	for _, tr := range c.traits {
		if tr.needless() {
			continue
		}
		value, note := tr.declared, ""
		if value == 0 {
			value, note = tr.observe(), " // observed"
		}
		if value < 1 || value > len(tr.values) {
			fmt.Fprintf(&b, "\t\t// %s: nothing that was observed fits one of %s\n", tr.name, strings.Join(tr.values, ", "))
			continue
		}
		name := tr.values[value-1]
		if !strings.Contains(name, ".") {
			name = "conformance." + name
		}
		fmt.Fprintf(&b, "\t\t%s: %s,%s\n", tr.name, name, note)
	}
	b.WriteString("\t},\n")
	v.Status, v.Reason, v.Text = Fail, "undeclared: "+strings.Join(missing, ", "), b.String()
	return v
}

// declared reports whether a trait was declared.
func (c *contract) declared(name string) bool {
	for _, tr := range c.traits {
		if tr.name == name {
			return tr.declared != 0
		}
	}
	return false
}

// lacking begins the reason to skip a rule of an operation that is not there. A
// limiter need not have them all to have a whole verdict.
const lacking = "the implementation has no "

// needs makes a rule's skip function: the operations it is about must be there and
// the traits it depends on declared.
func needs(ops []Op, traits ...string) func(c *contract) string {
	return func(c *contract) string {
		for _, op := range ops {
			if !c.accepts(op) {
				return lacking + string(op)
			}
		}
		for _, name := range traits {
			if !c.declared(name) {
				return "trait " + name + " is undeclared"
			}
		}
		return ""
	}
}
