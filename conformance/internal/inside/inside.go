// Package inside is what the packages under conformance know of each other and users
// need not: it seals [conformance.Spec], so that the interface can grow.
package inside

import "time"

// Options is how the repository's own tests have a spec examined.
type Options struct {
	// Name is the name in the report; "" leaves that of the spec.
	Name string
	// Until is the only rule that is asked for; its first finding ends the exploration.
	// "" asks for all of them.
	Until string
	// Keep chooses the schedules that are explored, by their family and number of steps;
	// nil keeps all of them.
	Keep func(family string, steps int) bool
	// Shallow leaves the longest schedules out of families that have more than a thousand:
	// those of one step more than all others are most of what is enumerated.
	Shallow bool
	// Most is how many schedules a family has at most: the longest are left out until no more
	// are left, or only those of one length. 0 is no bound.
	Most int
	// Unprobed leaves out what rules find by runs of their own.
	Unprobed bool
	// FirstLook is the wait before the watchdog first looks at a run without progress; 0
	// stands for that of users. Tests of hangs need not wait.
	FirstLook time.Duration
	// Live runs the rules that fail whatever test is running when they find something.
	Live bool
	// Settled, if it is not nil, is told what becomes of each choice where some are undeclared, before the run goes on.
	Settled func(Choice)
	// Unseen, if it is not nil, is told of each choice of which a report says that New shows less than it was built
	// with.
	Unseen func(choice string)
	// Listed, if it is not nil, is told of each choice of the contract. Nothing is run then.
	Listed func(Trait)
	// Reached, if it is not nil, is told which guards of a model have judged a run of a family, and what came of it.
	Reached func(family string, guardsAndOutcomes []string)
	// Decided, if it is not nil, is told of each decision that a report asks for.
	Decided func(Choice)
}

// Trait is a choice on which correct implementations differ.
type Trait struct {
	Name, Kind string
	// Values are its names, and Means what they mean; both are empty for numbers. Order are those of a strict
	// choice, counted from 1, the one that is assumed first.
	Values, Means []string
	Order         []int
	// Optional says that nobody need declare it.
	Optional bool
	// On are the values with which a rule is in force, by its ID, and Off those that take it out of force.
	On, Off map[string][]string
	// Needed are the rules that a value puts in force, and that are out of force while nothing is declared.
	Needed []string
}

// Choice is a trait as TRAITS prints it.
type Choice struct {
	Name string
	// Value is what is declared, assumed, or offered as a decision; 0 if the choice is left open. Strict is what is
	// assumed where nothing refutes it.
	Value, Strict int
	Decision      bool
	Seen          bool // the value was observed
}

// Found, if it is not nil, is told of a rule as soon as a run breaks it: command mutate, which
// asks no more than whether anything does, ends its processes there.
var Found func(rule string)
