package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// undeclared is what TRAITS says: a literal to paste, with what was assumed, and the decisions.
type undeclared struct {
	pkg       string
	fields    strings.Builder // of the literal
	below     strings.Builder // the decisions
	unseen    strings.Builder // what was built and not shown
	pasted    []string        // the fields that are to be pasted and are not declared
	open      []string        // choices that nothing tells
	decisions []conformance.Decision
}

// undecided is what TRAITS says where traits are undeclared.
func (e *engine) undecided() (reason, text string, decisions []conformance.Decision) {
	u := &undeclared{pkg: e.profile.Package}
	for i := range e.settled {
		s := &e.settled[i]
		if d := e.decisionOn(s); d != nil {
			u.decide(s, d.value, e.asked(d))
			continue
		}
		u.field(s, e.failsWith(s))
		if s.Shown != nil && s.Declared == 0 {
			if why := s.Shown(); why != "" {
				fmt.Fprintf(&u.unseen, "\n%s: %s\n", s.Name, why)
				if tell := e.options.Unseen; tell != nil {
					tell(s.Name)
				}
			}
		}
	}
	if e.optional {
		u.pasted, u.open = nil, nil // which nobody must declare
	}
	reason = u.reason()
	var b strings.Builder
	fmt.Fprintf(&b, "TRAITS: %s\n", reason)
	if len(u.pasted)+len(u.open) > 0 {
		b.WriteString("Correct implementations differ in these choices.\n" +
			"These values held in every run, or were observed where no value is stricter:\n" +
			"check that each is what you mean, and paste them.\n\n")
		fmt.Fprintf(&b, "\tTraits: %s.Traits{\n%s\t},\n", u.pkg, u.fields.String())
	}
	b.WriteString(u.below.String())
	if u.unseen.Len() > 0 {
		b.WriteString("\nNot seen in any run:\n" + u.unseen.String())
	}
	if why := e.other(); why != "" {
		fmt.Fprintf(&b, "\n%s\n", why)
	}
	return reason, b.String(), u.decisions
}

// reason says what is undeclared in a line.
func (u *undeclared) reason() string {
	var why, names []string
	const named = 3
	switch n := len(u.pasted); {
	case n > named:
		why = append(why, fmt.Sprintf("%d choices are undeclared", n))
	case n == 0 && len(u.open) > 0:
		why = append(why, "undeclared")
	case n > 0:
		why = append(why, "undeclared: "+strings.Join(u.pasted, ", "))
	}
	for _, d := range u.decisions {
		names = append(names, d.Trait)
	}
	switch n := len(names); {
	case n == 1:
		why = append(why, "1 decision is open: "+names[0])
	case n > 1:
		why = append(why, fmt.Sprintf("%d decisions are open: %s", n, strings.Join(names, ", ")))
	}
	if len(u.open) > 0 {
		why = append(why, "nothing tells "+strings.Join(u.open, ", "))
	}
	return strings.Join(why, "; ")
}

// failsWith is a rule about a choice that fails, so that the value which is assumed is none to paste, "" if none does.
func (e *engine) failsWith(s *settled) string {
	if s.Declared != 0 || s.assumed == 0 || s.Set == nil {
		return ""
	}
	waiting := e.freed(e.with(s.Name, s.assumed), e.with(s.Name, 0))
	if i := slices.IndexFunc(waiting, func(id string) bool { return e.broken(id) != nil }); i >= 0 {
		return waiting[i]
	}
	return ""
}

// field writes a choice that is declared, assumed or left open.
func (u *undeclared) field(s *settled, fails string) {
	line := func(comment string, value int, note string) {
		if note != "" {
			note = " // " + note
		}
		fmt.Fprintf(&u.fields, "\t\t%s%s: %s,%s\n", comment, s.Name, s.literal(value, u.pkg), note)
	}
	broken := s.assumed != 0 && s.seen == 0 && fails != ""
	unexplained := broken && s.strict() == 0
	if s.Declared == 0 && s.assumed != 0 && !unexplained {
		u.pasted = append(u.pasted, s.Name)
	}
	switch {
	case s.Declared != 0:
		line("", s.Declared, "")
	case unexplained:
		u.open = append(u.open, s.Name)
		line("// ", s.assumed, "no value explains what was seen, and with this "+fails+" fails: "+s.means(s.assumed))
	case broken:
		line("", s.assumed, "assumed, and broken: "+fails+" fails; "+s.means(s.assumed))
	case s.assumed != 0 && s.seen == 0:
		line("", s.assumed, "no run refuted it: "+s.means(s.assumed))
	case s.assumed != 0:
		line("", s.assumed, strings.TrimSuffix("observed: "+s.means(s.assumed), ": "))
	case s.pointless():
	case s.documented():
		line("// ", 1, "only if "+s.Means[0])
	case !s.optional():
		u.open = append(u.open, s.Name)
		fmt.Fprintf(&u.fields, "\t\t// %s: no run tells, so choose one of\n", s.Name)
		for i := range s.Values {
			if s.named(i + 1) {
				line("// ", i+1, s.means(i+1))
			}
		}
	}
}

// decide writes a choice about which a decision is asked for.
func (u *undeclared) decide(s *settled, value int, d conformance.Decision) {
	u.decisions = append(u.decisions, d)
	n := len(u.decisions)
	field := fmt.Sprintf("%s: decision %d: no value explains what was seen", s.Name, n)
	if value != 0 {
		fails := If(s.strict() == 0 && d.Rule != "", "; without it "+d.Rule+" fails") // once all others are declared
		field = fmt.Sprintf("%s: %s, // decision %d: only if your documentation says so%s", s.Name, d.Value, n, fails)
	}
	fmt.Fprintf(&u.fields, "\t\t// %s\n", field)
	fmt.Fprintf(&u.below, "\nDecision %d. %s", n, d.Text)
}

// decisionOn is the decision about a choice, nil if none is asked for.
func (e *engine) decisionOn(s *settled) *decision {
	for _, d := range e.decisions {
		if d.settled == s {
			return d
		}
	}
	return nil
}

// asked is a decision in the terms of the report.
func (e *engine) asked(d *decision) conformance.Decision {
	pkg := e.profile.Package
	if tell := e.options.Decided; tell != nil {
		tell(inside.Choice{Name: d.Name, Value: d.value, Strict: d.strict(), Decision: true})
	}
	out := conformance.Decision{Trait: d.Name, Means: d.means(d.value), Frees: d.frees}
	strict := d.Name + " undeclared"
	if d.strict() != 0 {
		out.Strict = d.literal(d.strict(), pkg)
		strict = out.Strict
	}
	var b strings.Builder
	shown, what := d.shown()
	if d.value != 0 {
		out.Value = d.literal(d.value, pkg)
		fmt.Fprintf(&b, "%s: %s", d.Name, out.Value)
		if out.Means != "" {
			fmt.Fprintf(&b, " (%s)", out.Means)
		}
		b.WriteString(", only if your documentation says so. Otherwise this is a mistake")
		b.WriteString(cmp.Or(If(d.run != nil || shown != "", ":\n"), ".\n"))
	} else {
		fmt.Fprintf(&b, "%s: no value explains what was seen.\n", d.Name)
	}
	if d.run != nil {
		var v conformance.Verdict
		explained := e.explained
		e.explained = true // nothing else is offered instead
		e.explain(d.rule, &v, d.run)
		e.explained = explained
		out.Rule, out.Headline = d.rule.ID, d.run.Headline
		if d.run.Run != nil { // a probe has none
			out.Schedule = d.run.Run.Schedule.String()
		}
		out.Because, out.Interleaving, out.Picture, out.Replay = v.Because, v.Interleaving, v.Picture, v.Replay
		fmt.Fprintf(&b, "%s is refuted by %s", strict, v.Text)
	} else {
		out.Schedule = shown
	}
	if shown != "" && (d.run == nil || d.telling != "") {
		fmt.Fprintf(&b, "seen in %s%s\n", shown, what)
	}
	if c := d.clash; c != nil {
		out.Unexplained = fmt.Sprintf("%s was observed, but does not explain %s: %s",
			d.literal(d.seen, pkg), c.found.Run.Schedule, c.found.Headline)
		b.WriteString(out.Unexplained + "\n")
		if d.value != 0 {
			fmt.Fprintf(&b, "%s fails, too: one mistake may be behind both.\n", c.rule.ID)
		}
	}
	if d.run != nil && d.number() && len(d.tried) > 0 {
		fmt.Fprintf(&b, "%s was measured in runs such as %s\n", d.literal(d.seen, pkg), d.tried[0].rec.Schedule)
	}
	if len(d.frees) > 0 {
		rules := strings.Join(d.frees, ", ")
		fmt.Fprintf(&b, "%s: %s\n", cmp.Or(If(d.value != 0, "It turns off"), "Not judged until it is declared"), rules)
	}
	out.Text = b.String()
	return out
}
