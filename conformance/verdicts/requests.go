package main

import (
	"go/types"
	"regexp"
	"slices"
)

// requests is the only method that can be a request, as its signature and its name or comment tell, where no method has
// a name that is known.
func (a *adapter) requests() []string {
	for _, o := range a.c.operations {
		if slices.Contains(a.c.must, o.field) && a.has(o.methods...) {
			return nil
		}
	}
	var found []string
	for m := range a.methods() {
		if a.lets(m) || a.c.pkg == "limitertest" && takesAmount(m) {
			found = append(found, m.Name())
		}
	}
	if len(found) != 1 || a.c.pkg != "limitertest" && a.c.pkg != "throttletest" {
		return nil
	}
	return found
}

// takesAmount reports whether a method takes a number and grants or refuses it, or says how many it added.
func takesAmount(m *types.Func) bool {
	sig := m.Type().(*types.Signature)
	params, results := kindsOf(sig.Params()), kindsOf(sig.Results())
	answers := []kind{boolean, failure, map[bool]kind{true: count}[m.Name() == "Add"]}
	return len(results) == 1 && results[0] != none && slices.Contains(answers, results[0]) && !sig.Variadic() &&
		(slices.Contains(params, count) || slices.Contains(params, perSec)) && !others.MatchString(m.Name())
}

var (
	others = regexp.MustCompile(`^(Set|Stop|Close|Re[^q]|Give|Put|Cancel|Update|Wait|Sleep|Is|Has|Would|Can)`)
	ready  = regexp.MustCompile(`(?i)^(ready|(may|can|should)_?(run|go|pass|proceed|fire)?)$`)
	dry    = regexp.MustCompile(`(?i)\b(would|without)\b`)
)

// lets reports whether a method says that its caller may go on, and does not merely predict it.
func (a *adapter) lets(m *types.Func) bool {
	signature, said := plain(m.Type().(*types.Signature)), a.comment(m.Name())
	if signature != " -> bool" && signature != "time.Time -> bool" || dry.MatchString(said) {
		return false
	}
	found := truths.FindStringSubmatch(said)
	return ready.MatchString(m.Name()) || found != nil && approval.MatchString(found[1]) &&
		!denial.MatchString(found[1]) && !negation.MatchString(found[1])
}
