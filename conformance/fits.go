package conformance

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// fits says of a run that breaks rule r which traits, if they were declared otherwise, would
// make it one that breaks no rule. Whether that is a mistake in the declaration or in the
// implementation only its author knows. Those under which r is still in force and holds are
// better than those that take it out of force. A trait that can be observed counts only if
// it was: else any mistake with a payload would be none for those that declare no payload.
func (c *contract) fits(r *rule, v *violation) string {
	if v.Trace == nil || r.trace == nil || c.deb == nil && c.thr == nil {
		return ""
	}
	if _, ok := c.holdsWith("", nil, r, v.Trace); ok {
		return "" // what breaks it is not in the trace
	}
	var held, freed []string
	try := func(t trait, value int, declare any, tr *Trace) {
		inForce, ok := c.holdsWith(t.name, declare, r, tr)
		if !ok || t.observe != nil && c.observed(t) != value {
			return
		}
		if text := t.name + ": " + t.values[value-1]; inForce {
			held = append(held, text)
		} else {
			freed = append(freed, text)
		}
	}
	var has []Edges
	built := v.Trace.Schedule.Config.Edges
	if c.deb != nil {
		has, built = c.deb.Traits.Edges, cmp.Or(built, c.deb.edges())
	} else {
		has, built = c.thr.Traits.Edges, cmp.Or(built, c.thr.edges())
	}
	for _, t := range c.traits {
		if t.name != "Edges" {
			for i := 1; i <= len(t.values); i++ {
				try(t, i, i, v.Trace)
			}
			continue
		}
		for _, e := range []Edges{Trailing, Leading, LeadingAndTrailing} {
			if e != built && !slices.Contains(has, e) { // but made so all the same
				other := *v.Trace
				other.Schedule.Config = other.Schedule.Config.without("edges").With("edges", e.String())
				try(t, int(e), []Edges{e}, &other)
			}
		}
	}
	if len(held) == 0 {
		held = freed
	}
	if len(held) == 0 {
		return ""
	}
	return fmt.Sprintf("if it is documented so, declare %s: this run would break no rule then\n", strings.Join(held, " or "))
}

// observed is what was observed of a trait with the traits as they are declared; 0 where
// runs hang, so that looking would take long.
func (c *contract) observed(t trait) int {
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	if _, ok := c.seen[t.name]; !ok && !c.hangs() {
		c.seen[t.name] = t.observe()
	}
	return c.seen[t.name]
}

// hangs reports whether runs hang or leave goroutines behind.
func (c *contract) hangs() bool {
	for _, why := range c.stopped {
		if strings.Contains(why, "hung") || strings.Contains(why, "no driver can settle") {
			return true
		}
	}
	return c.reentryHangs || c.lab.leaks
}

// holdsWith is holds where the trait of that name, if one is named, is declared so.
func (c *contract) holdsWith(name string, declare any, r *rule, tr *Trace) (inForce, ok bool) {
	findings := c.findings
	defer func() { c.findings = findings }()
	c.findings = map[string]*finding{} // what else is broken is no excuse here
	if name == "" {
		return c.holds(r, tr)
	}
	var traits any
	if c.deb != nil {
		traits = &c.deb.Traits
	} else {
		traits = &c.thr.Traits
	}
	field := reflect.ValueOf(traits).Elem().FieldByName(name)
	was := reflect.ValueOf(field.Interface())
	defer func() { field.Set(was) }()
	field.Set(reflect.ValueOf(declare).Convert(field.Type()))
	return c.holds(r, tr)
}

// holds reports whether a run breaks no rule with the traits as they are now, and whether r
// is in force with them.
func (c *contract) holds(r *rule, tr *Trace) (inForce, ok bool) {
	j := job{schedule: tr.Schedule, order: tr.Order, family: c.replayed(tr.Schedule), look: true}
	x := &exam{Trace: tr, c: c, job: j}
	judges := func(r *rule) bool {
		return r.trace != nil && (r.skip == nil || r.skip(c) == "") && c.concerned(r.ID, j)
	}
	if inForce = judges(r); inForce && r.trace(x) != nil {
		return true, false
	}
	for i := range c.rules {
		if o := &c.rules[i]; judges(o) && o.trace(x) != nil {
			return inForce, false
		}
	}
	return inForce, true
}
