package suite

import (
	"fmt"
	"time"
)

// Violation is what a rule found.
type Violation struct {
	// Headline says what happened and what should have: "fired at 100ms, want 101ms".
	Headline string
	// Because says why, in terms of the schedule.
	Because string
	// At is the instant of the first difference. Lanes are what the timeline shows besides
	// the operations; nil stands for the callbacks.
	At    time.Duration
	Lanes []Lane
	// Chance marks a finding that counts only if it turns up often: honest code can produce
	// it by being overtaken.
	Chance bool
	// Kind tells findings of one rule apart: a schedule is made smaller only as long as
	// the kind remains, and a failure shows the smallest schedule of more than one kind.
	Kind string
	// Run is the run; the suite sets it for what a Check returns.
	Run *Recording

	// interleaving is the one in which it was found, for a replay, and order that of its goroutines; "" if it was found
	// otherwise.
	interleaving, order string
	// sequential says that calls in a row show it, too.
	sequential bool

	wavers bool // not every run of the schedule shows it
	never  bool // an operation never returned, which is named before anything else
}

// Broken makes a violation at an instant.
func Broken(at time.Duration, because, headline string, args ...any) *Violation {
	return &Violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at}
}

// Lane is a line of the timeline.
type Lane struct {
	Name  string
	Marks []Mark
}

// Mark is a text at an instant of a lane.
type Mark struct {
	At   time.Duration
	Text string
	// Of and Says are the mark in words, as in "callback 1" and "ran", for headlines.
	Of, Says string
}

// FireMark is how the timeline shows a callback.
func FireMark(value int) string { return fmt.Sprintf("F%d", value) }

// Got is the lane of the callbacks of a run.
func (r *Recording) Got() Lane {
	got := Lane{Name: "got"}
	for _, f := range r.Fires {
		got.Marks = append(got.Marks, Mark{f.Began.At, FireMark(f.Value), fmt.Sprint("callback ", f.Value), "ran"})
	}
	return got
}
