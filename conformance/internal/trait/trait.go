// Package trait has the choices that several contracts share. Each contract has them under the same names; the zero
// value of each is "undeclared".
package trait

// Payload says which event of a burst the callback gets.
type Payload int

// The payloads.
const (
	LastPayload  Payload = iota + 1 // of the newest event
	FirstPayload                    // of the burst's first event
	NoPayload                       // the callback has none
	AllPayloads                     // of all events of the burst, in order: the spec has NewBatch
)

// BothSingle says how often a burst of one event fires with both edges.
type BothSingle int

// The choices.
const (
	BothOnce  BothSingle = iota + 1 // on the leading edge only
	BothTwice                       // on both edges
)

// Reentrancy says whether the callback may call the debouncer.
type Reentrancy int

// The choices.
const (
	ReentrancyAllowed   Reentrancy = iota + 1 // the default
	ReentrancyForbidden                       // documented to deadlock
)

// PanicPolicy says where a callback's panic goes. The implementation must work on after
// it.
type PanicPolicy int

// The choices.
const (
	PanicPropagates PanicPolicy = iota + 1 // up the goroutine that runs the callback
	PanicRecovered                         // nowhere
)

// CloseFlush says what happens to the pending event when the input ends.
type CloseFlush int

// The choices.
const (
	CloseFires      CloseFlush = iota + 1 // it comes at once
	CloseAtDeadline                       // it comes at its time
	CloseDrops                            // it is dropped
)

// ClockBack says what a clock that is set back does.
type ClockBack int

// The choices.
const (
	BackBounded ClockBack = iota + 1 // it holds events up for one interval, or wait, at most
	BackStands                       // nothing comes sooner: time stands until the clock is where it was
)

// BackTime says how an instant before the newest one is treated.
type BackTime int

// The choices.
const (
	BackClamp  BackTime = iota + 1 // it counts as the newest instant
	BackReject                     // nothing is granted
	BackRewind                     // the limiter goes back in time: callers must not pass such instants
)

// Fairness says in which order waiters are served.
type Fairness int

// The choices.
const (
	FairFIFO Fairness = iota + 1 // in the order in which they came, and before whoever comes later
	FairNone                     // the first to come once something is free gets it, so it can overtake a waiter
)
