package conformance

import (
	"time"

	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// Trace records one run of a schedule: its steps and their effects. Rules see traces,
// never implementations.
type Trace struct {
	Schedule Schedule
	// Order is how the racing steps met the timers of their instants.
	Order inside.Order
	// Done lists the steps in the order in which they began, including those inside a
	// callback.
	Done []Done
	// Fires lists the callbacks in the order in which they started.
	Fires []Fire
	// End is the last observed instant; everything had time to settle.
	End time.Duration
	// Refused is what the constructor panicked with, if it did.
	Refused string
	// Stuck says that a step blocked for ever and the run was given up.
	Stuck bool
	// LeftOut is why the run ended early and is not judged, "" if it is.
	LeftOut string
	// Armed says that a timer was still armed at the end, other than by After (Injected only).
	Armed bool
	// Closed says that the output of a stream was closed at the end.
	Closed bool
	// Panicked says that a callback panicked, as the schedule wants it.
	Panicked bool
	// Left lists goroutines of the implementation that were alive at the end,
	// where the run looked for them.
	Left []string
}

// Mark is a point of a trace: an instant, and a place in the order of all that was
// recorded. Seq is at least 1; a Mark with Seq 0 did not happen.
type Mark struct {
	At  time.Duration
	Seq int
}

// Done is a step that was done.
type Done struct {
	Step
	// Inside says that a callback did it.
	Inside bool
	// Began and Ended are the points just before the call and just after its
	// return. A request to a concurrency limiter ends when it gets its slots or is
	// rejected.
	Began, Ended Mark
	// OK is the result of an operation that has one: cancelled, granted, pending.
	OK bool
	// Tokens is the result of a tokens query, Delay that of a reservation, Err that of
	// a wait.
	Tokens float64
	Delay  time.Duration
	Err    error
	// Answer is a quota's answer.
	Answer Answer
	// Panic is what the call panicked with, if it did.
	Panic string
}

// Answer is a limiter's answer to a request. Only OK, Err and the fields that the trait
// Fields lists are read.
type Answer struct {
	// OK says that the events may happen.
	OK bool
	// RetryAfter is how long to wait until the same request is granted, if nothing else
	// is. It is read if OK is false.
	RetryAfter time.Duration
	// ResetAfter is how long until the limiter decides like a new one, if nothing else is
	// granted.
	ResetAfter time.Duration
	// Remaining is how many more events would be granted at this instant.
	Remaining int
	// Err is why there is no answer, as from an unreachable limiter. OK then says whether the
	// request is granted anyway.
	Err error
}

// Fire is one run of the callback.
type Fire struct {
	Value        int   // the payload that the callback got
	Values       []int // all payloads, where the callback gets a batch
	Key          int   // of the instance that ran it, where there are several
	Began, Ended Mark  // just after its start and just before its end
}
