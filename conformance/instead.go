package conformance

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// instead says which other declarations of one trait would make a trace that breaks the
// rule break none, to lead whoever has declared what the implementation does not do.
// BackRewind is none of them: it would explain any mistake about instants that go back.
func (c *contract) instead(r *rule, tr *Trace) string {
	if tr == nil || tr.Refused != "" || r.trace == nil || c.lim == nil && c.quo == nil {
		return ""
	}
	// What another run of the implementation has shown cannot be judged again.
	blind := r.trace(&exam{Trace: tr, c: c.redeclared("", 0), job: job{schedule: tr.Schedule, order: tr.Order}, still: true}) == nil
	var fit []string
	for _, t := range c.traits {
		if t.declared == 0 || t.needless() {
			continue
		}
		var names []string
		for i, name := range t.values {
			if i+1 != t.declared && name != "BackRewind" && c.redeclared(t.name, i+1).explains(r, tr, blind) {
				names = append(names, name)
			}
		}
		if len(names) > 0 {
			fit = append(fit, strings.Join(names, " or ")+" were declared, not "+t.values[t.declared-1])
		}
	}
	return strings.Join(fit, "; or if ")
}

// redeclared is a contract for a look at traces, with another value of one trait.
func (c *contract) redeclared(trait string, value int) *contract {
	other := *c
	other.searches, other.basics = map[string]int{}, maps.Clone(c.basics)
	set := func(traits any) {
		if trait != "" {
			reflect.ValueOf(traits).Elem().FieldByName(trait).SetInt(int64(value))
		}
	}
	if c.lim != nil {
		spec := *c.lim
		set(&spec.Traits)
		other.lim, other.traits = &spec, spec.Traits.table(&other)
	} else {
		spec := *c.quo
		set(&spec.Traits)
		other.quo, other.traits = &spec, spec.Traits.table(&other)
	}
	return &other
}

// explains reports whether the trace breaks no rule under these declarations, and the rule
// in question is one that can be judged, or that they take out of force.
func (c *contract) explains(r *rule, tr *Trace, blind bool) bool {
	j := job{schedule: tr.Schedule, order: tr.Order}
	return !slices.ContainsFunc(c.rules, func(o rule) bool {
		if o.trace == nil || !c.concerned(o.ID, j) {
			return o.ID == r.ID
		}
		why := ""
		if o.skip != nil {
			why = o.skip(c)
		}
		if o.ID == r.ID && (why == "" && blind || why != "" && !strings.HasPrefix(why, "declared: ")) {
			return true
		}
		return why == "" && o.trace(&exam{Trace: tr, c: c, job: j, still: true}) != nil
	})
}
