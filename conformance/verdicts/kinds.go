package main

import (
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// algorithms are the Kinds that it may be, as names tell: those of the package's parameters, too, for who counts by two
// windows has to speak of the one before, and no window has a burst. Where they do not, it may be a window of either
// kind.
func (a *adapter) algorithms() []string {
	switch told := a.byName(); told {
	case "":
	case sliding:
		return []string{"SlidingCounter", "SlidingLog"}
	default:
		return []string{told}
	}
	if a.isGiven(burst) {
		return []string{"GCRA"}
	}
	scope := a.pkg.types.Scope()
	for _, name := range scope.Names() {
		obj, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || !obj.Exported() || !types.IsInterface(obj.Type()) {
			continue
		}
		for m := range obj.Type().Underlying().(*types.Interface).Methods() {
			params := m.Type().(*types.Signature).Params()
			for i := range params.Len() {
				if before.MatchString(params.At(i).Name()) {
					return []string{"SlidingCounter"}
				}
			}
		}
	}
	if said := strings.ToLower(a.comments()); strings.Contains(said, "sliding") && !strings.Contains(said, "fixed") {
		return []string{"SlidingLog", "SlidingCounter"}
	}
	return []string{"FixedWindow", "SlidingLog", "SlidingCounter"}
}

// promises are the names that say what is promised.
var promises = []struct {
	kind  string
	names *regexp.Regexp
}{
	{"GCRA", regexp.MustCompile(`(?i)gcra|bucket`)},
	{"SlidingLog", regexp.MustCompile(`(?i:sliding.?log)|(^|[a-z])Log$`)},
	{"SlidingCounter", regexp.MustCompile(`(?i)sliding.?(window.?)?counter`)},
	{"FixedWindow", regexp.MustCompile(`(?i)fixed.?window`)},
	{sliding, regexp.MustCompile(`(?i)sliding`)},
}

// sliding is the promise of a window that slides, of either kind.
const sliding = "Sliding"

// spoken are the words of comments for each of the promises. Who speaks of two fixed windows estimates from them.
var spoken = regexp.MustCompile(`(?i)(gcra|generic.cell.rate)|(sliding.?(?:window.?)?log)|` +
	`(\bsliding.?(?:window.?)?counter)|(fixed.?windows?\b)`)

// byName is the Kind that a name says, or the only one of which the comments speak; "" if none does. A window that
// slides has the kind that its own comments or its fields tell, if they do.
func (a *adapter) byName() string {
	names := a.names()
	for _, name := range names {
		for _, k := range promises {
			if k.kind == sliding && k.names.MatchString(name) {
				told := a.spoken(names[:len(names)-2]...) // not the package
				if told == "" && stamps.MatchString(types.TypeString(pointed(a.subject).Underlying(), nil)) {
					told = "SlidingLog"
				}
				return map[bool]string{true: told, false: sliding}[strings.HasPrefix(told, sliding)]
			}
			if k.names.MatchString(name) {
				return k.kind
			}
		}
	}
	return a.spoken(names...)
}

// stamps are fields that keep instants.
var stamps = regexp.MustCompile(`\[\]time\.Time|(?i:stamps?|times|log) \[\]u?int64`)

// spoken is the only Kind of which the comments on names speak, "" if there is none.
func (a *adapter) spoken(names ...string) string {
	told := ""
	for _, found := range spoken.FindAllStringSubmatch(strings.ReplaceAll(a.commentsOn(names), "two fixed", ""), -1) {
		i := slices.IndexFunc(found[1:], func(words string) bool { return words != "" })
		if told != "" && told != promises[i].kind {
			return ""
		}
		told = promises[i].kind
	}
	return told
}
