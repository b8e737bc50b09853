package conformance

// Level says how binding a rule is.
type Level string

const (
	// Core rules hold for every implementation of a contract.
	Core Level = "core"
	// Extended rules concern features or promises that not every implementation has; without the feature they
	// are skipped.
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
	// Needs are the operations and the traits without which it is skipped: "the operation
	// cancel", "the trait Overlap".
	Needs []string
}

// Known excuses one rule on one schedule. The rule still runs: if it passes, or fails only on
// other schedules, the test fails, so that the list shrinks and hides no regression. If a smaller
// schedule, perhaps of a new version of the suite, breaks the rule too, the report notes it.
type Known struct {
	// Rule is the rule's ID.
	Rule string
	// Schedule is the smallest schedule that breaks it, as the failure prints it. If none
	// of the suite's schedules breaks the rule, it may be any that does, such as one that
	// package properties found.
	Schedule string
	// Inconclusive says that the rule cannot be judged, because a run of the schedule makes no
	// progress and nothing proves why: the failure prints the entry. Schedule is empty if the
	// rule makes that run itself. A run in which most core rules were not judged fails in any
	// case.
	Inconclusive bool
	// Strict makes the test fail also if a smaller schedule breaks the rule.
	Strict bool
	// Why is the reason, for the report.
	Why string
}

// Violation is a rule that a schedule breaks.
type Violation struct {
	// Rule is the rule's ID.
	Rule string
	// Headline says what happened and what should have, in one line.
	Headline string
	// Text returns what a failing subtest of the suite prints: the rule, the timeline and how to
	// replay the schedule. It takes longer than the run, as it looks for traits that would explain
	// it. Call it before the judge runs another schedule.
	Text func() string
}
