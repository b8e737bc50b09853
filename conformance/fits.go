package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fits says of a run that breaks rule r which traits, if they were declared otherwise, would
// make it one that breaks no rule. Whether that is a mistake in the declaration or in the
// implementation only its author knows. Those under which r is still in force and holds are
// better than those that take it out of force; where what breaks it is not in the trace, only
// these can be told. A trait that can be observed counts only if it was: else any mistake
// with a payload would be none for those that declare no payload. BackRewind is none of
// them: it would explain any mistake about instants that go back.
func (c *contract) fits(r *rule, v *violation) string {
	switch tr := v.Trace; {
	case tr == nil || r.trace == nil || c.choices() == nil:
		return ""
	case tr.Refused != "" && (c.lim != nil || c.quo != nil), tr.Refused == "" && len(tr.Done) == 0:
		return "" // nothing was done, for whatever reason
	}
	_, blind := c.holdsWith("", nil, r, v.Trace)
	var held, freed []string
	try := func(t trait, value int, declare any, tr *Trace) {
		inForce, ok := c.holdsWith(t.name, declare, r, tr)
		if !ok || t.observe != nil && c.observed(t) != value {
			return
		}
		switch text := t.name + ": " + t.values[value-1]; {
		case !inForce:
			freed = append(freed, text)
		case !blind:
			held = append(held, text)
		}
	}
	for _, t := range c.traits {
		if t.name == "Edges" {
			c.otherEdges(v.Trace, func(e Edges, tr *Trace) { try(t, int(e), []Edges{e}, tr) })
			continue
		}
		for i, name := range t.values {
			if name != "BackRewind" {
				try(t, i+1, i+1, v.Trace)
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

// choices are the traits that fits can declare otherwise, as a pointer; nil if there are none.
func (c *contract) choices() any {
	switch {
	case c.deb != nil:
		return &c.deb.Traits
	case c.thr != nil:
		return &c.thr.Traits
	case c.lim != nil:
		return &c.lim.Traits
	case c.quo != nil:
		return &c.quo.Traits
	}
	return nil
}

// otherEdges calls f for each edge that is not declared, with the trace as if that had been
// configured.
func (c *contract) otherEdges(tr *Trace, f func(e Edges, tr *Trace)) {
	var has []Edges
	built := tr.Schedule.Config.Edges
	if c.deb != nil {
		has, built = c.deb.Traits.Edges, cmp.Or(built, c.deb.edges())
	} else {
		has, built = c.thr.Traits.Edges, cmp.Or(built, c.thr.edges())
	}
	for _, e := range []Edges{Trailing, Leading, LeadingAndTrailing} {
		if e != built && !slices.Contains(has, e) { // but made so all the same
			other := *tr
			other.Schedule.Config = other.Schedule.Config.without("edges").With("edges", e.String())
			f(e, &other)
		}
	}
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
	findings, searches, basics := c.findings, c.searches, c.basics
	defer func() { c.findings, c.searches, c.basics = findings, searches, basics }()
	// What else is broken is no excuse here.
	c.findings, c.searches, c.basics = map[string]*finding{}, map[string]int{}, maps.Clone(basics)
	if name == "" {
		return c.holds(r, tr)
	}
	field := reflect.ValueOf(c.choices()).Elem().FieldByName(name)
	was := reflect.ValueOf(field.Interface())
	defer func() { field.Set(was) }()
	field.Set(reflect.ValueOf(declare).Convert(field.Type()))
	return c.holds(r, tr)
}

// holds reports whether a run breaks no rule with the traits as they are now, and whether r
// is in force with them.
func (c *contract) holds(r *rule, tr *Trace) (inForce, ok bool) {
	j := job{schedule: tr.Schedule, order: tr.Order, family: c.replayed(tr.Schedule), look: true}
	x := &exam{Trace: tr, c: c, job: j, still: true}
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
