package main

import (
	"cmp"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

var (
	// open are names of methods that grant in some packages and deny in others.
	open = regexp.MustCompile(`(?i)^(rate|over)?(limit|throttle|check|hit|request|drop)(n|ctx)?$`)

	truths = regexp.MustCompile(`(?i)(?:true,? (?:if|when|whenever|once|means)|(?:reports?|returns|checks) ` +
		`(?:if|whether)) ([^.;]*?)(\b(otherwise|false)\b|[.;]|$)`)
	approval  = regexp.MustCompile(`(?i)allow|grant|accept|permit|within|below|under|(may|can) (pass|proceed|go|run)`)
	negation  = regexp.MustCompile(`(?i)\b(not|no|never|without|cannot|un\w+ed)\b|n't\b`)
	waiting   = regexp.MustCompile(`(?i)\b(block|wait|sleep)`)
	blocking  = regexp.MustCompile(`(?i)([^v]er|[^e]r|[^r]) (blocks|waits|sleeps)\b`) // and not "never"
	demanding = regexp.MustCompile(`(?i)\bmust only be (call|invok|us)ed\b`)          // by some, which no test is
	slashes   = regexp.MustCompile(`\s*//[ \t]*`)
)

// undecided is said of a method of which nothing tells what its true means.
const undecided = ": say whether true means granted or denied, and use it, with a ! if denied"

// denies reports whether the bool that a method returns says that a request was denied, and whether that is told: by
// the name of the result or the method, or by its comment.
func (a *adapter) denies(method, result string) (denied, told bool) {
	name := cmp.Or(strings.Trim(result, "_"), method)
	denied, told = refuses.MatchString(name), !open.MatchString(name)
	if found := truths.FindStringSubmatch(a.comment(method)); found != nil && (denied || !told) &&
		(refuses.MatchString(found[1]) || approval.MatchString(found[1])) {
		return refuses.MatchString(found[1]) != negation.MatchString(found[1]), true
	}
	return denied, told
}

// isPatient reports whether the comment on a Take that returns only an error, and has no context, tells that it waits
// for its token, or that it does not, as is asked for.
func (a *adapter) isPatient(take *types.Signature, waits bool) bool {
	said := a.comment("Take")
	switch {
	case !strings.HasSuffix(plain(take), " -> error") || slices.Contains(kindsOf(take.Params()), context):
		return true
	case !waiting.MatchString(said) && !refuses.MatchString(said):
		a.asked.add("say whether Take waits for its token, as Wait does, or refuses, as Allow does")
		return false
	}
	return waits == (waiting.MatchString(said) && !negation.MatchString(said))
}

// comment is what is said of a method of the subject, in one line.
func (a *adapter) comment(method string) string {
	owner := `\w+`
	if n := named(a.subject); n != nil {
		owner = n.Name()
	}
	text := regexp.MustCompile(`(?m)((?:^[ \t]*//.*\n)+)(?:func \([^)]*\b` + owner + `\b[^)]*\) |\t)` + method + `\(`)
	if found := text.FindStringSubmatch(a.pkg.files()); found != nil {
		return slashes.ReplaceAllString(found[1], " ")
	}
	return ""
}

// comments are those on what is judged, and on its package.
func (a *adapter) comments() string { return a.commentsOn(a.names()) }

// commentsOn are those on some names.
func (a *adapter) commentsOn(names []string) string {
	any := strings.ReplaceAll(regexp.QuoteMeta(strings.Join(names, " ")), " ", "|")
	comment := regexp.MustCompile(`(?m)^// (An? |Package )?(` + any + `)\b.*\n(//.*\n)*`)
	return strings.ReplaceAll(strings.Join(comment.FindAllString(a.pkg.files(), -1), ""), "\n// ", " ")
}

// requests is the only method that can be a request, as its signature and its name or comment tell, where no method has
// a name that is known.
func (a *adapter) requests() []string {
	for _, o := range a.c.operations {
		if slices.Contains(a.c.must, o.field) && a.has(o.methods...) {
			return nil
		}
	}
	var found []string
	for _, m := range a.methods() {
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
		!refuses.MatchString(found[1]) && !negation.MatchString(found[1]))
}

// outlasts reports whether a method that has a context may wait for as long as that lasts, as its comment says.
func (a *adapter) outlasts(m *types.Func) bool {
	return slices.Contains(kindsOf(m.Signature().Params()), context) && waiting.MatchString(a.saidAtOnce(m))
}

// saidAtOnce is the comment on a method without the words that it waits for nothing.
func (a *adapter) saidAtOnce(m *types.Func) string {
	return atOnce.ReplaceAllString(a.comment(m.Name()), "")
}
