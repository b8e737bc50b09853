// Package twins is what a contract and package properties agree on for metamorphic laws, which compare two runs.
package twins

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
)

// Judge is what each [conformance.Judge] can do besides.
type Judge interface {
	conformance.Judge
	// Kind is the contract, as reports name it, Time how the implementation takes its time.
	Kind() string
	Time() conformance.TimeSource
	// Draw returns a random schedule that the implementation can be run with. pick returns
	// a number below n; 0 is the plainest choice, so that smaller numbers make plainer
	// schedules. The labels say what is chosen.
	Draw(pick func(label string, n int) int) conformance.Schedule
	// Accepts reports whether the implementation has an operation, so that schedules may
	// use it.
	Accepts(op conformance.Op) bool
	// Beside is Trace with a second instance, which gets the same steps.
	Beside(s conformance.Schedule) *conformance.Trace
	// Twins says how the laws apply to it.
	Twins() Terms
}

// Terms say how the laws apply to an implementation.
type Terms struct {
	// Laws are the ids of those that apply.
	Laws []string
	// Question is an operation that changes nothing, "" if there is none.
	Question conformance.Op
	// Nameless says that the output does not carry the payload.
	Nameless bool
	// Windows says that time is counted in windows of one unit: steps must be moved by
	// whole units.
	Windows bool
	// Long is a time after which nothing that happened before matters.
	Long func(c conformance.Config) time.Duration
	// Configs are the configurations in which the laws are put, the plainest first.
	Configs []conformance.Config
	// Draw returns a random schedule in one of them that avoids ties, whose outcome may
	// be open. pick is that of [Judge].
	Draw func(c conformance.Config, pick func(label string, n int) int) conformance.Schedule
}
