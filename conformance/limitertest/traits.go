package limitertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits are the choices on which correct limiters differ. The zero value
// of each is "undeclared".
type Traits struct {
	// Initial says how many tokens a new limiter has.
	Initial Initial
	// Oversize says what happens to a request for more than the burst. Only where
	// several tokens can be asked for.
	Oversize Oversize
	// ZeroRate says what a limiter does whose rate is 0, Inf what one does whose rate is
	// [Inf].
	ZeroRate ZeroRate
	Inf      InfRate
	// BackTime says what an instant before the newest one means. Explicit only.
	BackTime BackTime
	// Fair says in which order those who wait are served. Only with a wait.
	Fair Fairness
	// DeadlineCheck says when a wait fails whose deadline comes before its tokens.
	// Only with WaitN.
	DeadlineCheck DeadlineCheck
	// Refund says what comes back when a wait or a reservation is given up before its
	// instant. Only where that can be done.
	Refund Refund
	// LateCancel says what the cancel of a reservation does after its instant. Only
	// with reservations that can be cancelled.
	LateCancel LateCancel
	// Rewake says what becomes of those who wait when the limit changes or another
	// gives up. Only with a wait.
	Rewake Rewake
	// Raise says what a higher burst brings. Only with SetBurst.
	Raise Raise
	// Single says that tokens can only be taken one at a time.
	Single bool
	// LocksAsleep says that a wait holds a lock while it sleeps, for which other calls have to
	// wait. No bubble can settle two such calls, so that schedules with two calls at once are
	// left out.
	LocksAsleep bool
	// Quantum is the number of tokens that arrive together, at instants that the limiter
	// chooses; 0 if each token accrues from the moment at which it is missing.
	Quantum int
}

// Initial says how many tokens a new limiter has.
type Initial int

// The choices.
const (
	InitialFull  Initial = iota + 1 // the burst
	InitialEmpty                    // none
	InitialOne                      // one: the rest of the burst comes with time
)

// Oversize says what happens to a request for more than the burst.
type Oversize int

// The choices.
const (
	OversizeRejected Oversize = iota + 1 // it is never granted
	OversizePrepaid                      // it is granted, and the next request pays
	// OversizeWaits: it is never granted at once, but a wait or a reservation gets it as if
	// the bucket had no bound.
	OversizeWaits
)

// ZeroRate says what a limiter does whose rate is 0.
type ZeroRate int

// The choices.
const (
	ZeroRateBurst   ZeroRate = iota + 1 // it grants what it has at first, and then nothing
	ZeroRateRejects                     // it grants nothing
	ZeroRateRefused                     // it cannot be made: the constructor panics
)

// InfRate says what a limiter does whose rate is [Inf].
type InfRate int

// The choices.
const (
	InfGrants InfRate = iota + 1 // it grants everything, whatever its burst
	InfAbsent                    // there is no such rate
)

// DeadlineCheck says when a wait fails whose deadline comes before its tokens.
type DeadlineCheck int

// The choices.
const (
	DeadlineFailFast DeadlineCheck = iota + 1 // at once
	DeadlineSleeps                            // at the deadline
)

// Refund says what comes back when a wait or a reservation is given up before its
// instant.
type Refund int

// The choices.
const (
	RefundFull Refund = iota + 1 // all of it
	// RefundConservative: all of it, less what was reserved or is waited for after it, so
	// that others keep their instants.
	RefundConservative
	RefundNone // nothing
)

// LateCancel says what the cancel of a reservation does after its instant.
type LateCancel int

// The choices.
const (
	LateIgnored LateCancel = iota + 1 // nothing: the caller has acted
	LateRefunds                       // it gives back the tokens, as they were not used
)

// Rewake says what becomes of those who wait when the limit changes or another
// gives up.
type Rewake int

// The choices.
const (
	RewakeKeeps  Rewake = iota + 1 // they keep their instants
	RewakeServes                   // they are served as soon as their tokens are there
)

// Raise says what a higher burst brings.
type Raise int

// The choices.
const (
	RaiseBringsNothing Raise = iota + 1 // as many tokens as before
	// RaiseBringsTokens: as many tokens more. What is missing stays the same, and a lower
	// burst takes as many away.
	RaiseBringsTokens
)

// initial returns the tokens of a new limiter with the given burst.
func (t *Traits) initial(burst int) int {
	switch t.Initial {
	case InitialEmpty:
		return 0
	case InitialOne:
		return min(1, burst)
	}
	return burst
}

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	t := c.spec.Traits
	return &t
}

// Table lists the choices. BackRewind is blind: it would explain any mistake about
// instants that go back.
func (c *contract) Table(s *suite.Suite, t *Traits) []suite.Choice {
	without := func(op conformance.Op) func() bool { return func() bool { return !s.Accepts(op) } }
	look := observer{s}
	return []suite.Choice{
		{
			Name: "Initial", Declared: int(t.Initial),
			Values:   []string{"InitialFull", "InitialEmpty", "InitialOne"},
			Needless: suite.Always,
			Observe:  look.initial, Set: func(v int) { t.Initial = Initial(v) },
		},
		{
			Name: "Oversize", Declared: int(t.Oversize),
			Values:   []string{"OversizeRejected", "OversizePrepaid", "OversizeWaits"},
			Needless: without(opSeveral),
			Observe:  look.oversize, Set: func(v int) { t.Oversize = Oversize(v) },
		},
		{
			Name: "BackTime", Declared: int(t.BackTime),
			Values:   []string{"BackClamp", "BackReject", "BackRewind"},
			Blind:    []string{"BackRewind"},
			Needless: func() bool { return s.Time != Explicit },
			Observe:  look.backTime, Set: func(v int) { t.BackTime = BackTime(v) },
		},
		{
			Name: "ZeroRate", Declared: int(t.ZeroRate),
			Values:   []string{"ZeroRateBurst", "ZeroRateRejects", "ZeroRateRefused"},
			Needless: without(conformance.OpAllow),
			Observe:  look.zeroRate, Set: func(v int) { t.ZeroRate = ZeroRate(v) },
		},
		{
			Name: "Inf", Declared: int(t.Inf),
			Values:   []string{"InfGrants", "InfAbsent"},
			Needless: without(conformance.OpAllow),
			Observe:  look.infinite, Set: func(v int) { t.Inf = InfRate(v) },
		},
		{
			Name: "Fair", Declared: int(t.Fair),
			Values:   []string{"FairFIFO", "FairNone"},
			Needless: without(conformance.OpWait),
			Observe:  look.fair, Set: func(v int) { t.Fair = Fairness(v) },
		},
		{
			Name: "DeadlineCheck", Declared: int(t.DeadlineCheck),
			Values:   []string{"DeadlineFailFast", "DeadlineSleeps"},
			Needless: without(opContext),
			Observe:  look.deadline, Set: func(v int) { t.DeadlineCheck = DeadlineCheck(v) },
		},
		{
			Name: "Refund", Declared: int(t.Refund),
			Values:   []string{"RefundFull", "RefundConservative", "RefundNone"},
			Needless: without(conformance.OpCancel),
			Observe:  look.refund, Set: func(v int) { t.Refund = Refund(v) },
		},
		{
			Name: "LateCancel", Declared: int(t.LateCancel),
			Values:   []string{"LateIgnored", "LateRefunds"},
			Needless: without(opGiveUp),
			Observe:  look.lateCancel, Set: func(v int) { t.LateCancel = LateCancel(v) },
		},
		{
			Name: "Rewake", Declared: int(t.Rewake),
			Values:   []string{"RewakeKeeps", "RewakeServes"},
			Needless: without(conformance.OpWait),
			Observe:  look.rewake, Set: func(v int) { t.Rewake = Rewake(v) },
		},
		{
			Name: "Raise", Declared: int(t.Raise),
			Values:   []string{"RaiseBringsNothing", "RaiseBringsTokens"},
			Needless: without(conformance.OpSetBurst),
			Observe:  look.raise, Set: func(v int) { t.Raise = Raise(v) },
		},
	}
}
