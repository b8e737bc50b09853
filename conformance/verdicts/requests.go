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
		if a.lets(m) || a.c.pkg == "limitertest" && takesAmount(m) && !a.outlasts(m) {
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
	atOnce = regexp.MustCompile(`(?i)(without|never|not|n't) (block|wait|sleep)`)
)

// lets reports whether a method says that its caller may go on, and does not merely predict it. One that has a context
// must say so itself.
func (a *adapter) lets(m *types.Func) bool {
	said := a.saidAtOnce(m)
	found := truths.FindStringSubmatch(said)
	switch plain(m.Signature()) {
	case " -> bool", "time.Time -> bool":
	case "context.Context -> bool":
		if found == nil || a.outlasts(m) {
			return false
		}
	default:
		return false
	}
	return !dry.MatchString(said) && (ready.MatchString(m.Name()) || found != nil && approval.MatchString(found[1]) &&
		!denial.MatchString(found[1]) && !negation.MatchString(found[1]))
}

// outlasts reports whether a method that has a context may wait for as long as that lasts, as its comment says.
func (a *adapter) outlasts(m *types.Func) bool {
	return slices.Contains(kindsOf(m.Signature().Params()), context) && waiting.MatchString(a.saidAtOnce(m))
}

// saidAtOnce is the comment on a method without the words that it waits for nothing.
func (a *adapter) saidAtOnce(m *types.Func) string {
	return atOnce.ReplaceAllString(a.comment(m.Name()), "")
}
