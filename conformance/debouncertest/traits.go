package debouncertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/trait"
)

// Traits are the choices on which correct debouncers differ. The zero value of each is
// "undeclared".
type Traits struct {
	// Edges lists the edges that New can build.
	Edges []Edges
	// Payload says which event of a burst the callback gets.
	Payload Payload
	// Tie says what an event at exactly the deadline does.
	Tie Tie
	// StaleFire says whether a callback may still start for an event after a newer
	// call has returned.
	StaleFire StaleFire
	// CancelBarrier says what the return of Cancel promises. Only with Cancel.
	CancelBarrier CancelBarrier
	// AfterCancel says whether the debouncer works on after Cancel. Only with Cancel.
	AfterCancel AfterCancel
	// StopPending says what Stop does with a pending event. Only with Stop.
	StopPending StopPending
	// ZeroWait says what a wait of 0 means.
	ZeroWait ZeroWait
	// Overlap says whether two callbacks may run at the same time.
	Overlap Overlap
	// BothSingle says how often a burst of one event fires with both edges. Only with
	// LeadingAndTrailing.
	BothSingle BothSingle
	// MaxWait says how a bound on the wait works. Only for debouncers that take one. While
	// other traits are undeclared it is tried, and what is observed is assumed; once they are
	// declared, its rules are skipped without it.
	MaxWait MaxWait
	// Reentrancy is only declared to opt out: Forbidden means that the callback
	// must not call the debouncer.
	Reentrancy Reentrancy
	// StopBarrier is only declared to opt out: NoBarrier means that a due callback may
	// still start after Stop has returned: at the instant of Stop, or, if it waits for
	// another callback, when that ends, as with a receiving goroutine.
	StopBarrier CancelBarrier

	// The following are only declared where they apply, and tried as MaxWait is. What only a
	// weaker value explains is asked for all the same.

	// AfterFlush says whether the burst goes on after a flush that has fired, so that the next
	// event need not lead. Only with LeadingAndTrailing.
	AfterFlush AfterFlush
	// Full says when a full burst fires, on the trailing edge, as in batches of bounded
	// size.
	Full Full
	// CloseFlush says what the end of the input does with the pending event.
	CloseFlush CloseFlush
	// ClockBack says what happens to the wait when the clock is set back.
	ClockBack ClockBack
	// PanicPolicy says where the panic of a callback goes.
	PanicPolicy PanicPolicy
}

// built are the edges of a debouncer whose schedule does not say: trailing, if the
// implementation can build that.
func (t *Traits) built() Edges { return edge.Preferred(t.Edges, Trailing) }

// bearsNewest reports whether a callback gets the payload of the newest event.
func (t *Traits) bearsNewest() bool { return t.Payload == LastPayload || t.Payload == AllPayloads }

// The choices that other contracts have too.
type (
	// Edges are the edges of a burst on which to fire: Trailing, Leading, LeadingAndTrailing or NoEdges.
	Edges = conformance.Edges
	// Payload says which event of a burst the callback gets. LastPayload is that of the newest, FirstPayload that of
	// the first; with NoPayload the callback has none; with AllPayloads it gets those of all events, and the spec has
	// NewBatch.
	Payload = trait.Payload
	// BothSingle says how often a burst of one event fires with both edges: BothOnce, on the leading edge only, or
	// BothTwice, on both.
	BothSingle = trait.BothSingle
	// Reentrancy says whether the callback may call the debouncer. ReentrancyAllowed is the default;
	// ReentrancyForbidden says that such a call is documented to deadlock.
	Reentrancy = trait.Reentrancy
	// CloseFlush says what happens to the pending event when the input ends. With CloseFires it fires at once, with
	// CloseAtDeadline at its deadline; CloseDrops drops it.
	CloseFlush = trait.CloseFlush
	// ClockBack says what happens to pending events when the clock is set back. With BackBounded they are held up for
	// one wait at most; with BackStands nothing fires until the clock is where it was.
	ClockBack = trait.ClockBack
	// PanicPolicy says where a callback's panic goes. With PanicPropagates it goes up the goroutine that runs the
	// callback; with PanicRecovered it is recovered.
	PanicPolicy = trait.PanicPolicy
)

// The values of the choices that other contracts have too.
const (
	Trailing           = conformance.Trailing
	Leading            = conformance.Leading
	LeadingAndTrailing = conformance.LeadingAndTrailing
	NoEdges            = conformance.NoEdges

	LastPayload  = trait.LastPayload  // of the newest event
	FirstPayload = trait.FirstPayload // of the burst's first event
	NoPayload    = trait.NoPayload    // the callback has none
	AllPayloads  = trait.AllPayloads  // of all events of the burst, in order: the spec has NewBatch

	BothOnce  = trait.BothOnce  // on the leading edge only
	BothTwice = trait.BothTwice // on both edges

	ReentrancyAllowed   = trait.ReentrancyAllowed   // the default
	ReentrancyForbidden = trait.ReentrancyForbidden // documented to deadlock

	CloseFires      = trait.CloseFires      // it comes at once
	CloseAtDeadline = trait.CloseAtDeadline // it comes at its time
	CloseDrops      = trait.CloseDrops      // it is dropped

	BackBounded = trait.BackBounded // it holds events up for one interval, or wait, at most
	BackStands  = trait.BackStands  // nothing comes sooner: time stands until the clock is where it was

	PanicPropagates = trait.PanicPropagates // up the goroutine that runs the callback
	PanicRecovered  = trait.PanicRecovered  // nowhere
)

// Tie says what an event at exactly the deadline does, before the timer has fired.
type Tie int

// The outcomes of a tie.
const (
	FireFirst  Tie = iota + 1 // what is pending fires, and the event starts a new burst
	ResetFirst                // the event joins the burst and the deadline moves
	EitherTie                 // either, depending on who comes first
)

// StaleFire says whether a callback may start for an event after a newer call has
// returned.
type StaleFire int

// The choices.
const (
	StaleForbidden StaleFire = iota + 1 // a newer call supersedes every callback that has not started
	StaleAllowed                        // once a timer has fired, its callback runs
)

// CancelBarrier says what the return of Cancel promises.
type CancelBarrier int

// The promises.
const (
	NoBarrier     CancelBarrier = iota + 1 // a callback that is due may still start
	CommitBarrier                          // Cancel reports true: nothing will run for what it cancelled
	FinishBarrier                          // no callback starts after Cancel has returned, unless it was just about to
)

// AfterCancel says whether a debouncer works on after Cancel.
type AfterCancel int

// The choices.
const (
	CancelReusable   AfterCancel = iota + 1 // a new event starts a new burst
	CancelFinal                             // nothing fires any more
	CancelKeepsBurst                        // what is pending is dropped; the burst goes on, which a leading edge shows
)

// usable reports whether a new event fires after Cancel.
func (a AfterCancel) usable() bool { return a == CancelReusable || a == CancelKeepsBurst }

// AfterFlush says whether a burst goes on after a flush that has fired.
type AfterFlush int

// The choices.
const (
	FlushEndsBurst  AfterFlush = iota + 1 // a new event starts a new burst
	FlushKeepsBurst                       // the burst lasts until the wait has passed since its newest event
)

// StopPending says what Stop does with a pending event.
type StopPending int

// The choices.
const (
	StopDrops   StopPending = iota + 1 // it is discarded
	StopFlushes                        // it is fired by Stop
)

// ZeroWait says what a wait of 0 means.
type ZeroWait int

// The choices.
const (
	ZeroSync     ZeroWait = iota + 1 // each event fires before its call returns
	ZeroNextTick                     // each event fires at its instant, after its call
	ZeroRefused                      // the constructor panics
)

// Overlap says whether two callbacks may run at the same time.
type Overlap int

// The choices.
const (
	Serial   Overlap = iota + 1 // at most one callback runs
	Parallel                    // a fire does not wait for the one before it
	// SerialReceiver: at most one callback runs, on the goroutine that receives the
	// events. For events that come meanwhile, the wait counts from its end.
	SerialReceiver
)

// MaxWait says how a bound on the wait works. Its first fire in a burst comes when the bound has passed since the
// burst's first event; with both edges it may count from the first event that has not fired instead.
type MaxWait int

// The choices.
const (
	MaxWaitFromFirst MaxWait = iota + 1 // later ones too: since the first event that has not fired
	MaxWaitFromFire                     // later ones count from the fire before
	MaxWaitOnCall                       // only an event after the bound fires; no timer does
)

// Full says when a full burst fires.
type Full int

// The choices.
const (
	FullFires     Full = iota + 1 // it fires at once, with the event that fills it
	FullMakesRoom                 // it fires when another event comes, which begins a new burst
)
