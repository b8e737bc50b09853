package limitertest

import (
	"math"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Traits are the choices on which correct limiters differ. The zero value
// of each is "undeclared".
type Traits struct {
	// Initial says how many tokens a new limiter has.
	Initial Initial
	// Oversize says what happens to a request for more than the burst. Only if several
	// tokens can be requested.
	Oversize Oversize
	// ZeroRate says what a limiter does whose rate is 0, Inf what one does whose rate is
	// [Inf].
	ZeroRate ZeroRate
	Inf      InfRate
	// BackTime says how an instant before the newest one is treated. Explicit only.
	BackTime BackTime
	// Fair says in which order waiters are served. Only with a wait.
	Fair Fairness
	// DeadlineCheck says when a wait fails whose deadline comes before its tokens.
	// Only with WaitN.
	DeadlineCheck DeadlineCheck
	// Refund says what is refunded when a wait or a reservation is cancelled before it
	// is due. Only if that is possible.
	Refund Refund
	// LateCancel says what cancelling a reservation does after it is due. Only if
	// reservations can be cancelled.
	LateCancel LateCancel
	// OnChange says what happens to waiters when the limit changes or, in a limiter whose limit
	// cannot change, when another gives up. Only with a wait.
	OnChange OnChange
	// OnBurstRaised says what raising the burst adds. Only with SetBurst.
	OnBurstRaised OnBurstRaised
	// Zero says what a request for 0 tokens gets; the default is ZeroGranted.
	Zero Zero
	// WaitErrors says what errors.Is finds in the error of a wait. Only with WaitN.
	WaitErrors WaitErrors
	// Overdraft says that a request is granted while the balance is not negative, and may overdraw
	// it, as in the RateLimiter of Guava: the next request waits until the debt is paid. Oversize
	// is needless then. A debt of more than a hundred years may be refused.
	Overdraft bool
	// OneAtATime says that tokens can only be taken one at a time.
	OneAtATime bool
	// OneGoroutine says that a limiter's documentation restricts it to one goroutine at a
	// time: concurrent calls are not judged.
	OneGoroutine bool
	// HoldsLockWhileWaiting says that a wait holds a lock while it sleeps, which other calls need. No
	// bubble can settle two such calls, so schedules with two calls at once are left out.
	HoldsLockWhileWaiting bool
	// RefillSize is the number of tokens that arrive together, at instants that the limiter
	// chooses; 0 if each token accrues from the moment at which it is missing.
	RefillSize int
	// Resolution is the limiter's unit of time, if that is more than a nanosecond: the period of
	// the ticker that refills it, or the unit to which it truncates instants. Tokens that accrue
	// between two such instants come at the second.
	Resolution time.Duration
	// Precision says how exactly a limiter keeps the rate; the default is
	// PrecisionExact.
	Precision Precision
	// Latency is the most time that a request takes, as over a network. It may be decided at
	// any instant in between. A wait may be late by three times as much, as it may have to ask
	// again; if messages can overtake each other, waits are FairNone.
	Latency time.Duration
	// Errors says whether a request whose answer is an error is granted. Only with Fail, or if
	// answers have an Err. The limiter may or may not count such a request.
	Errors Errors
	// leaving is OnChange where another gives up, if it is not the same.
	leaving OnChange
	// naps says that a wait was seen to be asleep when its tokens came, for no longer than a nap.
	naps bool
}

// lump is the number of tokens that may arrive together at a rate, rounded up.
func (t *Traits) lump(r Rate) int {
	if t.Resolution <= 0 || r.Events <= 0 || r.Per <= 0 {
		return t.RefillSize
	}
	n := math.Ceil(float64(r.Events) * float64(t.Resolution) / float64(r.Per))
	return max(t.RefillSize, int(min(n, 1<<30)))
}

// scale is what the rate is divided by to get the most by which the one that the limiter holds is off; 0 if it is
// exact.
func (t *Traits) scale() int64 {
	if t.Precision == PrecisionFloat32 {
		return 1e7 // a float32 has 24 bits
	}
	return 0
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

// Refund says what is refunded when a wait or a reservation is cancelled before it is
// due.
type Refund int

// The choices.
const (
	RefundFull Refund = iota + 1 // all of it
	// RefundConservative: all of it, less what was reserved or is waited for after it, so
	// that others keep their instants.
	RefundConservative
	RefundNone // nothing
)

// LateCancel says what cancelling a reservation does after it is due.
type LateCancel int

// The choices.
const (
	LateIgnored LateCancel = iota + 1 // nothing: the caller has acted
	LateRefunds                       // it gives back the tokens, as they were not used
)

// OnChange says what happens to waiters when the limit changes or another gives up.
type OnChange int

// The choices.
const (
	OnChangeKeeps  OnChange = iota + 1 // they keep their instants
	OnChangeServes                     // they are served as soon as their tokens are there
)

// OnBurstRaised says what raising the burst adds.
type OnBurstRaised int

// The choices.
const (
	RaiseBringsNothing OnBurstRaised = iota + 1 // no tokens: the balance stays
	// RaiseBringsTokens: as many tokens as the burst grew. The number missing stays the same,
	// and lowering the burst removes as many, or what there is.
	RaiseBringsTokens
)

// Zero says what a request for 0 tokens gets.
type Zero int

// The choices.
const (
	ZeroGranted Zero = iota + 1 // it is granted while nothing is owed
	ZeroDenied                  // it is refused, as one that makes no sense
)

// WaitErrors says what errors.Is finds in the error of a wait that gives up.
type WaitErrors int

// The choices.
const (
	// WaitErrorsContext: [context.Canceled] if its context was cancelled, and
	// [context.DeadlineExceeded] if its deadline has passed.
	WaitErrorsContext WaitErrors = iota + 1
	// WaitErrorsDeadline: the same, and [context.DeadlineExceeded] also if the wait fails
	// before its deadline because its tokens come too late.
	WaitErrorsDeadline
	WaitErrorsOwn // nothing that can be relied on
)

// Errors says whether a request whose answer is an error is granted.
type Errors int

// The choices.
const (
	FailOpen   Errors = iota + 1 // it is granted
	FailClosed                   // it is denied
)

// Precision says how exactly a limiter keeps the rate.
type Precision int

// The choices.
const (
	PrecisionExact   Precision = iota + 1 // to all digits that matter
	PrecisionFloat32                      // as a float32: to seven digits
)

func (t *Traits) initial(burst int) int {
	switch t.Initial {
	case InitialEmpty:
		return 0
	case InitialOne:
		return min(1, burst)
	}
	return burst
}

// Traits are those of the spec.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.spec.Traits }

// Table lists the choices. BackRewind is blind: it would explain any mistake about
// instants that go back. Who panics when asked for two tokens says himself that he is for
// single ones, and who has no infinite rate, that there is none: neither is a decision.
func (c *contract) Table(s *suite.Suite, t *Traits) []suite.Choice {
	without := func(all ...conformance.Op) func() bool {
		return func() bool { return len(s.Supported(all...)) < len(all) }
	}
	fixed := func() bool { return len(c.spec.Only) > 0 || !s.Accepts(opRequest) }
	look := observer{s, c}
	back := func() bool { return s.Time != Explicit }
	if s.Time == Injected {
		back = nil // X-BACK judges more if it is declared
	}
	oversize := suite.Ranked(3)
	if len(s.Supported(verb.Wait, verb.Reserve)) == 0 {
		oversize = suite.Ranked(2) // nothing can wait
	}
	infinite := []int{int(InfGrants), int(InfAbsent)}
	if c.finite {
		infinite = infinite[1:]
	}
	moves := len(s.Supported(verb.SetLimit, verb.SetBurst, verb.Cancel)) > 0
	return []suite.Choice{
		edge.Choice(&t.Latency, suite.Choice{
			Name: "Latency", Literal: edge.InUnits,
			Means:    []string{"the most time that a request takes, as over a network"},
			Needless: func() bool { return c.trip == 0 }, Observe: look.latency,
		}),
		// before all that is observed of several who wait
		edge.Flag(&t.HoldsLockWhileWaiting, suite.Choice{Name: "HoldsLockWhileWaiting"}, look.asleep,
			"a waiter holds a lock that all other callers need"),
		edge.Flag(&t.OneAtATime, suite.Choice{
			Name: "OneAtATime", Values: []string{"true"}, Nominal: !c.alone, // a panic says so
			Needless: func() bool { return !look.single() },
		}, look.single, "one token at a time, however many are asked for"),
		edge.Flag(&t.Overdraft, suite.Choice{Name: "Overdraft", Apart: true}, look.overdraft,
			"a request is granted while nothing is owed, and may overdraw the balance"),
		edge.Choice(&t.Initial, suite.Choice{
			Name: "Initial", Needless: suite.Always, Observe: look.initial, Order: suite.Ranked(3),
		},
			"InitialFull", "the burst",
			"InitialEmpty", "no token",
			"InitialOne", "one token"),
		edge.Choice(&t.Oversize, suite.Choice{
			Name:     "Oversize",
			Needless: func() bool { return t.OneAtATime || t.Overdraft || !s.Accepts(opSeveral) },
			Observe:  look.oversize, Order: oversize,
		},
			"OversizeRejected", "never granted",
			"OversizePrepaid", "granted, and the next request pays for it",
			"OversizeWaits", "granted to waits and reservations only"),
		edge.Choice(&t.BackTime, suite.Choice{
			Name: "BackTime", Needless: back, Observe: look.backTime, Order: suite.Ranked(3),
			Blind: []string{"BackRewind"},
		},
			"BackClamp", "it counts as the newest instant",
			"BackReject", "the request is denied",
			"BackRewind", "time goes back to it"),
		edge.Choice(&t.ZeroRate, suite.Choice{
			Name: "ZeroRate", Needless: fixed, Observe: look.zeroRate, Order: suite.Ranked(2),
		},
			"ZeroRateBurst", "the initial tokens, and then nothing",
			"ZeroRateRejects", "nothing",
			"ZeroRateRefused", "the constructor panics"),
		edge.Choice(&t.Inf, suite.Choice{Name: "Inf", Needless: fixed, Observe: look.infinite, Order: infinite},
			"InfGrants", "everything is granted",
			"InfAbsent", "no rate is infinite"),
		edge.Choice(&t.Zero, suite.Choice{Name: "Zero", Observe: look.zero, Order: suite.Ranked(2)},
			"ZeroGranted", "granted while nothing is owed",
			"ZeroDenied", "refused"),
		edge.Choice(&t.Errors, suite.Choice{Name: "Errors", Needless: without(verb.Fault), Observe: look.errors},
			"FailOpen", "it is granted",
			"FailClosed", "it is denied"),
		edge.Choice(&t.Fair, suite.Choice{
			Name: "Fair", Needless: without(verb.Wait), Observe: look.fair, Order: suite.Ranked(2),
		},
			"FairFIFO", "in order of arrival",
			"FairNone", "in any order"),
		edge.Choice(&t.DeadlineCheck, suite.Choice{
			Name: "DeadlineCheck", Needless: without(opContext, verb.Wait), Observe: look.deadline,
			Order: suite.Ranked(2),
		},
			"DeadlineFailFast", "the wait fails at once",
			"DeadlineSleeps", "the wait fails at its deadline"),
		edge.Choice(&t.Refund, suite.Choice{
			Name: "Refund", Needless: without(verb.Cancel), Observe: look.refund,
			Order: []int{int(RefundFull), int(RefundNone)},
		},
			"RefundFull", "all of it",
			"RefundConservative", "all but what later reservations rely on",
			"RefundNone", "nothing"),
		edge.Choice(&t.LateCancel, suite.Choice{
			Name: "LateCancel", Needless: without(opGiveUp), Observe: look.lateCancel,
			Order: suite.Ranked(2),
		},
			"LateIgnored", "does nothing",
			"LateRefunds", "refunds its tokens"),
		edge.Choice(&t.OnChange, suite.Choice{
			Name: "OnChange", Needless: func() bool { return !s.Accepts(verb.Wait) || !moves },
			Observe: look.onChange,
		},
			"OnChangeKeeps", "waiters keep their instants",
			"OnChangeServes", "waiters are rescheduled"),
		edge.Choice(&t.OnBurstRaised, suite.Choice{
			Name: "OnBurstRaised", Needless: without(verb.SetBurst), Observe: look.raise,
			Order: suite.Ranked(2),
		},
			"RaiseBringsNothing", "it adds no tokens",
			"RaiseBringsTokens", "it adds as many tokens as the burst grew"),
		edge.Choice(&t.WaitErrors, suite.Choice{
			Name: "WaitErrors", Observe: look.waitErrors,
			Order: []int{int(WaitErrorsDeadline), int(WaitErrorsOwn)}, Blind: []string{"WaitErrorsOwn"},
		},
			"WaitErrorsContext", "the context's error",
			"WaitErrorsDeadline", "the context's error, and DeadlineExceeded if the deadline is too near",
			"WaitErrorsOwn", "any"),
		edge.Flag(&t.OneGoroutine, suite.Choice{Name: "OneGoroutine"}, nil,
			"its documentation says that it is for one goroutine at a time"),
		edge.Choice(&t.RefillSize, suite.Choice{
			Name: "RefillSize", Literal: strconv.Itoa, Observe: func() int { return look.units().refillSize },
			Means: []string{"how many tokens arrive together, at instants that the limiter chooses"},
		}),
		edge.Choice(&t.Resolution, suite.Choice{
			Name: "Resolution", Literal: edge.InUnits, Observe: func() int { return int(look.units().grain) },
			Means: []string{"its unit of time: tokens that accrue within one come at its end"},
		}),
		edge.Choice(&t.Precision, suite.Choice{Name: "Precision", Observe: look.precision, Order: suite.Ranked(2)},
			"PrecisionExact", "the rate is exact",
			"PrecisionFloat32", "the rate is a float32, of seven digits"),
	}
}

// credit is how many tokens a limiter grants on top of those that it holds, where they are asked
// for one by one.
func (tr *Traits) credit() int { return suite.Number(tr.Overdraft) }

// pays reports whether n tokens are granted where none comes and so many are left.
func (tr *Traits) pays(n, left int) bool { return n <= left || tr.Overdraft && left >= 0 }
