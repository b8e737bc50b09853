package concurrencytest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits are the choices on which correct concurrency limiters differ. The zero value of
// each but OneAtATime is "undeclared".
type Traits struct {
	// Backlog says whether the number of waiters is bounded.
	Backlog Backlog
	// Timeout says whether their wait is bounded. Not with BacklogNone.
	Timeout Timeout
	// Context says whether a context ends the wait. Not for Lock.
	Context Context
	// ContextError says which error a request ended by its context returns. If undeclared,
	// the error must not be that of another outcome.
	ContextError ContextError
	// SeatHeld says whether a request that waited keeps its place in the backlog while it
	// runs. Only with BacklogBounded.
	SeatHeld SeatHeld
	// Fair says in which order waiters get slots. Not with BacklogNone.
	Fair Fairness
	// TryOvertakes says that TryAcquire takes free slots though others wait for more, as in a fair
	// java.util.concurrent.Semaphore. Only with FairFIFO.
	TryOvertakes bool
	// OneAtATime says that each request takes one slot. Oversize is needless then.
	OneAtATime bool
	// Oversize says what happens to a request for more than the limit. Until it is declared no
	// request asks for several slots. It concerns the limit when the request comes: if the limit is
	// lowered below a waiter's request, the waiter may be rejected or wait on, and may block others
	// meanwhile.
	Oversize Oversize
	// OverRelease says what a Release does when nothing is held. Only with Release.
	OverRelease OverRelease
	// Hook says whether New installs OnReject.
	Hook Hook
	// HoldsLockWhileWaiting says that a waiter holds a lock which other callers need. No bubble can
	// settle two of them, so schedules in which two wait are left out.
	HoldsLockWhileWaiting bool
}

// Backlog says whether the number of waiters is bounded.
type Backlog int

// The choices.
const (
	BacklogBounded   Backlog = iota + 1 // as New is told
	BacklogUnbounded                    // there is no bound
	BacklogNone                         // nothing waits: what cannot run is rejected at once
)

// Timeout says whether a request's wait is bounded.
type Timeout int

// The choices.
const (
	TimeoutBounded Timeout = iota + 1 // as New is told
	TimeoutNone                       // no timeout but the context's
)

// Context says whether a context ends the wait.
type Context int

// The choices.
const (
	ContextHonoured Context = iota + 1 // it does, and a request whose context is done before never runs
	ContextIgnored                     // it does not
	ContextEndsWait                    // it does, but a request that need not wait may run though its context is done
)

// ContextError says which error a request ended by its context returns.
type ContextError int

// The choices.
const (
	ErrorOfContext ContextError = iota + 1 // errors.Is finds that of the context
	ErrorOfOwn                             // one of its own
)

// SeatHeld says whether a request that waited keeps its place in the backlog while it runs.
type SeatHeld int

// The choices.
const (
	SeatFreed SeatHeld = iota + 1 // it waits no more
	SeatKept                      // until it is done
)

// Oversize says what happens to a request for more slots than the limit.
type Oversize int

// The choices.
const (
	OversizeFails   Oversize = iota + 1 // it is rejected at once
	OversizeBlocks                      // it waits until its context or the timeout ends, and holds up no other
	OversizeClamped                     // it is treated as a request for exactly limit slots; not judged with Resize
)

// OverRelease says what a Release does when nothing is held.
type OverRelease int

// The choices.
const (
	OverReleasePanics    OverRelease = iota + 1 // it panics; what the limiter does afterwards is not judged
	OverReleaseIgnored                          // it does nothing
	OverReleaseUndefined                        // the caller must not do it
)

// Hook says whether there is a hook for rejections.
type Hook int

// The choices.
const (
	HookOnce Hook = iota + 1 // OnReject is called for each rejection; for a try, and where a context is done, it may be
	HookNone                 // there is none
	HookFits                 // as HookOnce, but not for a request for more than the limit, which could never run
)

// Traits are those of the spec, and those completed by what was found.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.traits }

// config returns the configuration of a schedule in the form that New takes.
func (tr *Traits) config(c conformance.Config, onReject func()) Config {
	cfg := Config{Limit: c.Limit, Backlog: c.Backlog, Timeout: c.Timeout, OnReject: onReject}
	if !c.Has("backlog") {
		cfg.Backlog = -1
	}
	if !c.Has("timeout") {
		cfg.Timeout = -1
	}
	return tr.without(cfg)
}

// many is the configuration of limiters that many goroutines use at once.
func (tr *Traits) many(limit, backlog int) Config {
	return tr.without(Config{Limit: limit, Backlog: backlog, Timeout: time.Hour, OnReject: func() {}})
}

// without returns cfg without the bounds that are declared not to be there.
func (tr *Traits) without(cfg Config) Config {
	switch tr.Backlog {
	case BacklogUnbounded:
		cfg.Backlog = -1
	case BacklogNone:
		cfg.Backlog, cfg.Timeout = 0, -1
	}
	if tr.Timeout == TimeoutNone {
		cfg.Timeout = -1
	}
	return cfg
}

// weighs reports whether requests may ask for several slots: it must be declared what becomes of
// one that asks for more than there are.
func (tr *Traits) weighs() bool { return !tr.OneAtATime && tr.Oversize != 0 }

// nothingWaits reports whether requests run or are rejected at once.
func (tr *Traits) nothingWaits() bool { return tr.Backlog == BacklogNone }

// noTimeout reports whether no wait has a bound.
func (tr *Traits) noTimeout() bool { return tr.nothingWaits() || tr.Timeout == TimeoutNone }

// contexts reports whether a context is known to end a wait.
func (tr *Traits) contexts() bool {
	return tr.Context == ContextHonoured || tr.Context == ContextEndsWait
}

// nobodyLeaves reports whether requests never stop waiting.
func (tr *Traits) nobodyLeaves() bool {
	return tr.nothingWaits() || !tr.contexts() && tr.Timeout == TimeoutNone
}

// mayLeave names the trait that must be declared before it is known whether requests can
// stop waiting.
func (tr *Traits) mayLeave() string {
	return suite.If(!tr.contexts() && tr.Timeout == 0, "trait Timeout is undeclared")
}

// waitsForEver is why rules about what ends the wait of a request for more than the limit
// are skipped, "" if they are not.
func (tr *Traits) waitsForEver() string {
	ends := !tr.nobodyLeaves() && tr.mayLeave() == ""
	return suite.If(!ends && tr.Oversize == OversizeBlocks, "declared to wait, and nothing ends the wait")
}

// lacking takes rules out of force that are about something that an implementation is declared not to have.
func lacking(it func(tr *Traits) bool) func(*suite.Suite, *Traits) string {
	return func(_ *suite.Suite, tr *Traits) string {
		return suite.If(it(tr), "the implementation is declared to have no such thing")
	}
}

// The values of traits, as Go has them, which rules name too.
var (
	backlogs  = []string{"BacklogBounded", "BacklogUnbounded", "BacklogNone"}
	timeouts  = []string{"TimeoutBounded", "TimeoutNone"}
	contexts  = []string{"ContextHonoured", "ContextIgnored", "ContextEndsWait"}
	seats     = []string{"SeatFreed", "SeatKept"}
	orders    = []string{"FairFIFO", "FairNone"}
	oversizes = []string{"OversizeFails", "OversizeBlocks", "OversizeClamped"}
	hooks     = []string{"HookOnce", "HookNone", "HookFits"}
	flags     = []string{"true"}
)
