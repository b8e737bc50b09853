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
	denial    = regexp.MustCompile(`(?i)exceed|limited|reached|den(y|ied)|reject|throttled|block|too many|over the`)
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
		(denial.MatchString(found[1]) || approval.MatchString(found[1])) {
		return denial.MatchString(found[1]) != negation.MatchString(found[1]), true
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
	case !waiting.MatchString(said) && !denial.MatchString(said):
		a.ask("say whether Take waits for its token, as Wait does, or refuses, as Allow does")
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
