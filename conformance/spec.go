package conformance

import (
	"cmp"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/jonboulle/clockwork"
)

// Spec describes an implementation to the suite. The packages of the contracts have one
// each: debouncertest.Spec, limitertest.Spec and so on. Nobody else implements it.
type Spec interface {
	// Run holds the implementation to the laws of its contract, one subtest for each
	// rule, and returns what it found.
	Run(t *testing.T) *Report
	// Judge returns what runs single schedules. Where the toolchain cannot run the
	// implementation it skips the test; a failing CANARY fails it.
	Judge(t *testing.T) Judge
	// Examine is Run for the tests of this module: it reports, and fails no test.
	Examine(t *testing.T, o inside.Options) *Report
}

// Judge runs single schedules on an implementation and judges them by the rules of
// its contract. It is for tests that choose their own schedules: package properties
// draws them, and a regression test may hold the one that once failed.
//
// A Judge belongs to one test and must not be used by two goroutines at once, nor
// inside a bubble.
type Judge interface {
	// Fits reports whether a schedule is one that the contract knows and the
	// implementation can be run with.
	Fits(s Schedule) bool
	// Run runs a schedule on fresh instances, in each order in which its racing steps can
	// meet their timers, and returns the rules that it breaks, in the order of the
	// contract's rules. Rules that are provisional are left out, and so are those of an
	// undeclared trait. Nothing is returned if a rule in KnownFailing is broken, or concerns
	// unusual input that the schedule has: the same mistake may break other rules. A run that
	// makes no progress, for which no rule can be blamed, fails the test unless KnownFailing
	// lists it as inconclusive.
	Run(s Schedule) []Violation
	// Trace runs a schedule once on a fresh instance and returns what happened, without
	// judging it: for laws that compare two runs. Steps do not race. It fails the test if
	// the run makes no progress. A run that was ended early says so ([Trace.LeftOut]).
	Trace(s Schedule) *Trace
	// Smallest makes a schedule that breaks a rule smaller, as long as it still breaks it.
	// It returns s itself if that does not break the rule.
	Smallest(s Schedule, rule string) Schedule
}

// TimeSource says where an implementation takes its time from.
type TimeSource int

const (
	// Injected: the implementation uses Env.Clock and no other clock.
	Injected TimeSource = iota + 1
	// PackageTime: the implementation calls package time. It runs unchanged inside
	// bubbles of testing/synctest; where the toolchain has none the suite skips.
	PackageTime
	// Explicit: operations take the time as an argument and read no clock.
	Explicit
)

// String returns the name of the constant.
func (s TimeSource) String() string {
	names := map[TimeSource]string{Injected: "Injected", PackageTime: "PackageTime", Explicit: "Explicit"}
	return cmp.Or(names[s], "undeclared")
}

// Env is the environment of an implementation.
type Env struct {
	// Clock is the clock to inject. In a PackageTime run it is package time behind
	// the same interface.
	Clock clockwork.Clock
	// Start is the instant at which the schedule begins.
	Start time.Time
}
