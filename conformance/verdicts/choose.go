package main

import (
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// choice is a contract that a type may keep, and the Kind where it is that of a quota.
type choice struct {
	c    *contract
	kind string
}

func (c choice) String() string {
	if c.kind != "" {
		return c.c.pkg + ", as a " + c.kind
	}
	return c.c.pkg
}

// signs are what signatures tell, whatever the names of types. The first that holds counts.
var signs = []struct {
	holds     func(a *adapter) bool
	contracts []string
}{
	{(*adapter).isClock, []string{"clocktest"}},
	{func(a *adapter) bool {
		return a.middleware() != "" && a.given(duration) && !a.isGiven(timeouts)
	}, []string{"quotatest"}},
	{func(a *adapter) bool { return a.middleware() != "" && a.given(count) }, []string{"concurrencytest"}},
	{(*adapter).hasSlots, []string{"concurrencytest"}},
	{(*adapter).admits, []string{"concurrencytest"}},
	{func(a *adapter) bool { return a.gathers() && a.isNamed(debounces) }, []string{"debouncertest", "batchtest"}},
	{(*adapter).gathers, []string{"batchtest"}},
	{func(a *adapter) bool { // what is put into it goes to a callback, one by one
		single := func(item types.Type) bool { return isSlice(item) == nil }
		return a.isNamed(queues) && a.has(puts...) && a.calls(single)
	}, []string{"leakybuckettest", "throttletest"}},
	{(*adapter).paces, []string{"throttletest", "debouncertest"}},
	{(*adapter).answers, []string{"quotatest"}},
	{func(a *adapter) bool { return a.decision() != nil && a.given(perSec) }, []string{"limitertest"}},
	{func(a *adapter) bool { return a.counts() && a.isNamed(buckets) }, []string{"limitertest"}},
	{(*adapter).counts, []string{"quotatest", "limitertest"}},
	{(*adapter).spaces, []string{"limitertest"}},
}

var (
	debounces = regexp.MustCompile(`(?i)debounc|coalesc`)
	buckets   = regexp.MustCompile(`(?i)bucket|gcra`)
	slots     = regexp.MustCompile(`(?i)limit|concurren|inflight|slots|backlog|queue|workers|parallel`)
	timeouts  = regexp.MustCompile(`(?i)timeout|wait|patience`)
	queues    = regexp.MustCompile(`(?i)bucket|queue|leak|pace|shap|drip|limit`)
)

// choices are the contracts that a type may keep: the one asked for; or those that signatures tell; or those whose
// names are its, then its package's; or what can be done with it.
func (a *adapter) choices(asked string) []choice {
	var found []string
	if asked != "" {
		found = []string{asked}
	}
	for _, s := range signs {
		if found == nil && s.holds(a) {
			found = s.contracts
		}
	}
	if found == nil {
		found = a.byNames()
	}
	if found == nil {
		found = a.byOperations()
	}
	var out []choice
	for _, pkg := range found {
		kinds := []string{""}
		if pkg == "quotatest" {
			kinds = a.algorithms()
		}
		for _, c := range known {
			for _, kind := range kinds {
				if c.pkg == pkg {
					out = append(out, choice{c, kind})
				}
			}
		}
	}
	return out
}

// names are those of what is judged, from the nearest to the farthest.
func (a *adapter) names() []string {
	names := []string{a.name}
	if n := named(a.subject); n != nil {
		names = append(names, n.Name())
	}
	if a.maker != nil {
		names = append(names, a.maker.Name())
	}
	return append(names, a.pkg.Name, a.pkg.ImportPath)
}

func (a *adapter) isNamed(re *regexp.Regexp) bool {
	return slices.ContainsFunc(a.names(), re.MatchString)
}

// byNames are the contracts that names tell.
func (a *adapter) byNames() []string {
	var out []string
	for _, name := range a.names() {
		for _, c := range known {
			if c.names.MatchString(name) && !slices.Contains(out, c.pkg) {
				out = append(out, c.pkg)
			}
		}
	}
	return out
}

// byOperations are the contracts whose functions it has by their best names.
func (a *adapter) byOperations() []string {
	if a.method("Go") != nil { // what waits for what it started is a group
		return nil
	}
	for _, c := range known {
		for _, o := range c.operations {
			if slices.Contains(c.must, o.field) && o.result != grant && a.method(o.methods[0]) != nil &&
				o.methods[0] != events[0] {
				return []string{c.pkg}
			}
		}
	}
	if a.given(duration) && a.has(events...) {
		return []string{"debouncertest", "throttletest"}
	}
	for _, m := range a.methods() {
		if a.lets(m) && a.given(duration) && !a.given(count) && !a.given(perSec) {
			return []string{"throttletest"}
		}
	}
	return nil
}

// has reports whether there is one of some methods.
func (a *adapter) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return a.method(name) != nil })
}

// hasSlots reports whether slots are taken and given back.
func (a *adapter) hasSlots() bool {
	return a.has(gives...) && a.has(takes...) || a.given(count) && (a.pairs() || a.group() != "" || a.handsOut())
}

// admits reports whether it runs functions, so many at once, and is made with no period.
func (a *adapter) admits() bool {
	slotted := false
	for _, v := range a.parameters() {
		switch k := kindNamed(v.Name(), v.Type()); {
		case k == perSec, k == duration && !timeouts.MatchString(v.Name()):
			return false
		case k == count && slots.MatchString(v.Name()):
			slotted = true
		}
	}
	return slotted && slices.ContainsFunc([]string{"Do", "Run", "Execute"}, func(name string) bool {
		return strings.HasPrefix(plain(a.signature(name)), "context.Context,func()")
	})
}

// pairs reports whether something begins and ends in two methods, of which the first is handed nothing to run. What
// tells how many it took or how long it waited has tokens.
func (a *adapter) pairs() bool {
	begin := slices.ContainsFunc(slices.Concat(takes, begins), func(name string) bool {
		sig := a.signature(name)
		return sig != nil && !sig.Variadic() && countOf(count, sig.Results())+countOf(duration, sig.Results()) == 0 &&
			!slices.ContainsFunc(kindsOf(sig.Params()), func(k kind) bool {
				return k != context && k != count && k != duration && k != ending
			})
	})
	end := slices.ContainsFunc(slices.Concat(gives, ends), func(name string) bool {
		sig := a.signature(name)
		return sig != nil && !sig.Variadic() && countOf(ending, sig.Results()) == 0 &&
			!slices.ContainsFunc(kindsOf(sig.Params()), func(k kind) bool { return k != count && k != failure })
	})
	return begin && end && !a.given(perSec)
}

// handsOut reports whether what is taken is given back by what taking returns.
func (a *adapter) handsOut() bool {
	return slices.ContainsFunc(slices.Concat(takes, begins), func(name string) bool {
		sig := a.signature(name)
		return sig != nil && sig.Results().Len() > 0 && a.giveBack(sig.Results().At(0).Type(), "r") != ""
	})
}

// gathers reports whether items are handed over as slices, to a callback, by a channel or to who asks for them.
func (a *adapter) gathers() bool {
	if out, ok := a.subject.Underlying().(*types.Chan); ok && isSlice(out.Elem()) != nil {
		return slices.ContainsFunc(a.parameters(), func(v *types.Var) bool { return isStream(v.Type(), a.subject) })
	}
	several := func(item types.Type) bool { return isSlice(item) != nil || isAny(item) && a.isNamed(batches) }
	pulled, _ := a.pull()
	return a.has(puts...) && (pulled != nil || a.calls(several))
}

// calls reports whether it is given a callback, and what that gets is such.
func (a *adapter) calls(such func(item types.Type) bool) bool {
	return slices.ContainsFunc(a.offered(), func(v *types.Var) bool {
		sig, ok := v.Type().Underlying().(*types.Signature)
		if !ok || !isCallback(sig) || eventOf(sig) < 0 {
			return false
		}
		last := eventOf(sig)
		item := sig.Params().At(last).Type()
		if variadic(sig, last) {
			item = isSlice(item)
		}
		return such(item)
	})
}

// paces reports whether work is handed to it that it runs at most once in a duration.
func (a *adapter) paces() bool {
	if !a.given(duration) || a.given(count) || a.given(perSec) || a.isNamed(debounces) {
		return false
	}
	return slices.ContainsFunc(events, func(name string) bool {
		sig := a.signature(name)
		return sig != nil && sig.Params().Len() == 1 && isWork(sig.Params().At(0).Type())
	})
}

// answers reports whether it answers requests with more than a yes or no, or counts by an algorithm that its name says.
func (a *adapter) answers() bool {
	return a.decision().more() && !a.has("Wait", "WaitN", "Reserve") || a.counts() && a.byName() != ""
}

// spaces reports whether callers wait for an interval to pass since the last one, and can give up.
func (a *adapter) spaces() bool {
	return plain(a.signature("Wait")) == "context.Context -> error" && (a.given(duration) || a.given(perSec)) &&
		!a.given(count) && a.method("Go") == nil && !a.has(events...)
}

// counts reports whether it answers requests, and is made with a number in a period: that period may be a window, or
// that in which a bucket is filled.
func (a *adapter) counts() bool {
	if a.decision() == nil || a.given(perSec) || !a.given(count) || !a.given(duration) || a.has("Reserve", "Tokens") {
		return false
	}
	return !slices.ContainsFunc(a.parameters(), func(v *types.Var) bool {
		return kindNamed(v.Name(), v.Type()) == duration && intervals.MatchString(v.Name()) ||
			kindOf(v.Type()) == count && bursts.MatchString(v.Name())
	})
}

// parameters are those of all constructors.
func (a *adapter) parameters() []*types.Var {
	var out []*types.Var
	for _, m := range a.makers {
		sig, _ := ofInts(m.Signature())
		out = slices.AppendSeq(out, sig.Params().Variables())
	}
	return out
}

// offered is what can be given to it: parameters, options and the fields of structs of options, its
// own if it has no constructor.
func (a *adapter) offered() []*types.Var {
	var out []*types.Var
	for _, v := range a.parameters() {
		t := v.Type()
		out = append(out, v)
		if s, ok := t.(*types.Slice); ok {
			for _, f := range a.optionFuncs(s.Elem(), 1) {
				out = append(out, types.NewParam(0, nil, f.Name(), f.Signature().Params().At(0).Type()))
			}
		}
		out = append(out, usualFields(t)...)
	}
	if len(a.makers) == 0 {
		out = append(out, usualFields(a.subject)...)
		for _, name := range []string{"Init", "Run"} {
			if sig := a.signature(name); sig != nil {
				out = slices.AppendSeq(out, sig.Params().Variables())
			}
		}
	}
	return out
}

// usualFields are the fields of a struct whose names are known.
func usualFields(t types.Type) []*types.Var {
	return slices.DeleteFunc(fieldsOf(t), func(f *types.Var) bool {
		return !usually(kindNamed(f.Name(), f.Type()), f.Name())
	})
}

// isGiven reports whether a constructor has a parameter of such a name.
func (a *adapter) isGiven(name *regexp.Regexp) bool {
	return slices.ContainsFunc(a.parameters(), func(v *types.Var) bool { return name.MatchString(v.Name()) })
}

// given reports whether something of a kind can be given to it.
func (a *adapter) given(k kind) bool {
	return slices.ContainsFunc(a.offered(), func(v *types.Var) bool { return kindNamed(v.Name(), v.Type()) == k })
}
