package conformance

import "time"

// Level says how binding a rule is.
type Level string

const (
	// Core rules hold for every implementation of a contract.
	Core Level = "core"
	// Extended rules hold for implementations that declare a trait.
	Extended Level = "extended"
	// Provisional rules are new: a failure is reported but does not fail the test.
	Provisional Level = "provisional"
)

// Rule is one law, as data.
type Rule struct {
	// ID is the law's name and the name of its subtest. It is never reused.
	ID string
	// Text is the law in one sentence.
	Text string
	// Link leads to where the law comes from.
	Link string
	// Level says how binding it is.
	Level Level
}

// rule is a Rule with its check: trace, probe, or both.
type rule struct {
	Rule
	// skip says why the rule does not apply to an implementation; "" if it does.
	skip func(c *contract) string
	// trace judges one run.
	trace func(x *exam) *violation
	// probe judges by runs of its own and returns a reason to skip, if any.
	probe func(c *contract) (*violation, string)
	// during the rule's subtest rather than before it: what the rule looks for
	// fails whatever test is running.
	live bool
}

// exam is one trace under judgement.
type exam struct {
	*Trace
	c     *contract
	job   job
	debs  *debounceView
	edge  *edgeFinding
	model *limiterView
	conc  *concurrencyView
	held  *mismatch
	leaky *leakyView
	quota *quotaView
	still bool // nothing can be run again
}

// violation is what a rule found.
type violation struct {
	// Headline says what happened and what should have: "fired at 100ms, want 101ms".
	Headline string
	// Because says why, in terms of the schedule.
	Because string
	// At is the instant of the first difference, Lanes what the timeline shows
	// beside the operations.
	At    time.Duration
	Lanes []lane
	// Chance marks a finding that only counts if it turns up in one run of ten.
	Chance bool
	// Kind tells findings of one rule apart: a schedule is made smaller only as
	// long as the kind remains.
	Kind string
	// Trace is the run.
	Trace *Trace
}

// lane is a line of the timeline.
type lane struct {
	name  string
	marks []laneMark
}

type laneMark struct {
	at   time.Duration
	text string
}

const lawsLink = "https://github.com/escapement-go/escapement/blob/main/conformance/RULES.md#"

// Contracts returns the names of the contracts, for [Rules].
func Contracts() []string {
	return []string{"debouncer", "throttle", "limiter", "leaky bucket", "quota", "concurrency", "clock"}
}

// Rules returns the rules of a contract, one of [Contracts], in the order of their
// subtests.
func Rules(contract string) []Rule {
	var out []Rule
	for _, r := range map[string][]rule{
		"debouncer": debouncerRules, "throttle": throttleRules, "limiter": allLimiterRules, "leaky bucket": leakyRules,
		"quota": quotaRules, "concurrency": concurrencyRules, "clock": clockRules,
	}[contract] {
		out = append(out, r.Rule)
	}
	return out
}
