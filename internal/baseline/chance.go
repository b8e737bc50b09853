package main

import (
	"regexp"
	"slices"
)

// chance is what differs from run to run of the same code, and why. Nothing else is taken
// from what is compared. All of it was found by running everything twice or more, on one
// processor and on two.
type chance struct {
	keys  *regexp.Regexp // of the implementations that show it
	rules *regexp.Regexp
	// numbers become N in reasons and failure texts: what the groups match.
	numbers *regexp.Regexp
	// caught says that it is chance whether the rule fails; that it is judged is not.
	caught bool
	why    string
}

// racing are the rules whose probes let goroutines race in earnest.
var racing = regexp.MustCompile(`^(X-CONC|TH-ONEOF|SL-CONC|CT-NOLOST)$`)

var chances = []chance{
	{
		keys:    regexp.MustCompile(`\|PackageTime$`),
		rules:   regexp.MustCompile(`^(DB|TH)-`),
		numbers: regexp.MustCompile(`\(in (\d+) of 80 runs\)`),
		why:     "on package time nobody can say whether a step or its timer is first: such schedules are sampled, and the text says how often it was seen",
	},
	{
		keys:    regexp.MustCompile(`^mutant\|`),
		rules:   racing,
		numbers: regexp.MustCompile(`\b(\d+) run, (\d+) wait and (\d+) are rejected|: (\d+) of \d+ goroutines wait|^(\d+) of \d+ goroutines wait|(\d+) of \d+ requests are never answered|brought (\d+) \w+(?: at once and (\d+) in all)?|had (\d+) accepted|\bgot (\d+) tokens|were granted (\d+)|(\d+) were served|number (\d+) (?:in|by) time \D+(\d\S*), want (\d\S*)|(\d+) were told|reported true (\d+) times|left (\d+) times`),
		why:     "the probe lets goroutines race in earnest: how many of them come between a look and what follows from it is chance",
	},
	{
		keys:    regexp.MustCompile(`^(mutant|peer)\|clock\|`),
		rules:   regexp.MustCompile(`^CK-AWAIT$`),
		numbers: regexp.MustCompile(`\(in round (\d+) of 20\)`),
		why:     "the goroutine that Advance does not wait for may run in time, so that the probe has several rounds",
	},
	{
		keys:   regexp.MustCompile(`^mutant\|clock\|says that it waits for functions and does not\|`),
		rules:  regexp.MustCompile(`^CK-CHAIN$`),
		caught: true,
		why:    "a function that nobody waits for may still run in time for what it arms",
	},
	{
		keys:   regexp.MustCompile(`^mutant\|leaky bucket\|an item stays in the queue\|`),
		rules:  racing,
		caught: true,
		why:    "the second item stays if it finds the queue empty, which depends on when the goroutine of the first comes",
	},
	{
		keys:   regexp.MustCompile(`^mutant\|throttle\|(a panic leaves it busy|what came during the callback follows at once)\|`),
		rules:  racing,
		caught: true,
		why:    "the mistake is in what comes during a callback: of goroutines at one instant it shows only if one meets it",
	},
}

// apply takes what is chance from the verdict on an implementation.
func (c chance) apply(key string, v *verdict) {
	if !c.keys.MatchString(key) || !c.rules.MatchString(v.Rule) {
		return
	}
	if c.numbers != nil {
		v.Reason, v.Text = c.without(v.Reason), c.without(v.Text)
	}
	if c.caught && (v.Status == "pass" || v.Status == "fail") {
		*v = verdict{Rule: v.Rule, Level: v.Level, Status: "pass or fail by chance", Judged: v.Judged}
	}
}

func (c chance) without(text string) string {
	for _, at := range slices.Backward(c.numbers.FindAllStringSubmatchIndex(text, -1)) {
		for g := len(at) - 2; g > 0; g -= 2 {
			if at[g] >= 0 {
				text = text[:at[g]] + "N" + text[at[g+1]:]
			}
		}
	}
	return text
}
