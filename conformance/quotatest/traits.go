package quotatest

import (
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Traits are the choices on which correct limiters differ. The zero value of Edge, Align,
// CountDenied, RetryNever and BackTime is "undeclared".
type Traits struct {
	// Edge says whether an event exactly as old as the window is still in it. FixedWindow
	// and SlidingLog only.
	Edge Edge
	// Align says where windows begin. FixedWindow and SlidingCounter only.
	Align Align
	// CountDenied says whether denied requests count. Not for GCRA, nor for a FixedWindow with
	// OneAtATime.
	CountDenied CountDenied
	// RetryNever says what RetryAfter is for a request that can never be granted. Only where
	// RetryAfter is answered.
	RetryNever RetryNever
	// BackTime says how an instant before the newest one is treated. How much less is granted there than at the
	// newest is not judged: plain GCRA may declare BackClamp or BackReject. Not for PackageTime; with an Injected
	// clock that is set back, it is judged only if declared.
	BackTime BackTime
	// Fields are the fields of Answer that are set besides OK, if any. Undeclared fields are
	// ignored.
	Fields Fields
	// OneAtATime says that events can only be taken one at a time.
	OneAtATime bool
	// OneGoroutine says that a limiter's documentation restricts it to one goroutine at a time,
	// or calls it approximate for several: concurrent calls are not judged.
	OneGoroutine bool
	// Resolution is how exact the limiter is, if not to the nanosecond. A decision that another
	// instant within the resolution would change is not judged.
	Resolution time.Duration
	// Rounded is the unit to which RetryAfter and ResetAfter are rounded up, if they are coarser
	// than the decisions, as in HTTP headers: time.Second.
	Rounded time.Duration
	// Buckets is the number of parts of the window, if the limiter counts by part: then it is
	// exact to one part.
	Buckets int
	// Latency is the most time that a request takes, as over a network. It may be decided at
	// any instant in between.
	Latency time.Duration
	// Errors says whether a request whose answer is an error is granted. Only with Fail, or if
	// answers have an Err. The limiter may or may not count such a request.
	Errors Errors
}

// exact reports whether the limiter is exact to the nanosecond.
func (tr *Traits) exact() bool { return tr.Resolution == 0 && tr.Buckets == 0 && tr.Latency == 0 }

// grain is how exact the limiter is in a schedule: an interval of GCRA that is no whole number of nanoseconds, or of
// what the limiter counts in, may be cut or rounded up, once for each event.
func (tr *Traits) grain(kind Kind, s conformance.Schedule) time.Duration {
	grain, cfg := tr.Resolution, s.Config
	if n := time.Duration(tr.Buckets); n > 0 {
		grain = max(grain, (cfg.Rate.Per-1)/n+1)
	}
	if kind != GCRA || cfg.Rate.Exact() {
		return grain + tr.Latency
	}
	for _, st := range s.Steps {
		if st.Op == verb.Allow && st.N <= cfg.Burst {
			grain += time.Duration(max(0, st.N)) * max(1, tr.Resolution)
		}
	}
	return grain + tr.Latency
}

// Edge says whether an event exactly as old as the window is still in it.
type Edge int

// The choices.
const (
	EdgeHalfOpen Edge = iota + 1 // it is not: a window contains its start and not its end
	EdgeClosed                   // it is
)

// Align says where windows begin.
type Align int

// The choices.
const (
	// AlignEpoch is on the clock: at whole multiples of the window since the year 1, as time.Truncate has
	// them: weeks begin on Mondays.
	AlignEpoch Align = iota + 1
	// AlignUnix is on the clock: at whole multiples of the window since 1970, as Unix time has them: weeks begin
	// on Thursdays. If a day is a whole number of windows, it is the same as AlignEpoch.
	AlignUnix
	AlignCreation // one after the other, from when the limiter was made or first asked
	// AlignFirstUse is for a FixedWindow: a window begins with the first request after the
	// previous window has ended. The first window may begin when the limiter is made.
	AlignFirstUse
)

// CountDenied says whether denied requests count.
type CountDenied int

// The choices.
const (
	DeniedFree    CountDenied = iota + 1 // it does not
	DeniedCounted                        // it does, as if it had been granted
)

// RetryNever says what RetryAfter is for a request that can never be granted.
type RetryNever int

// The choices.
const (
	RetryNegative RetryNever = iota + 1 // less than 0
	RetryForever                        // a hundred years or more
	RetryZero                           // 0
)

// Errors says whether a request whose answer is an error is granted.
type Errors int

// The choices.
const (
	FailOpen   Errors = iota + 1 // it is granted
	FailClosed                   // it is denied
)

// century is the least RetryAfter that means for ever.
const century = suite.Century

// Fields are fields of [Answer].
type Fields int

// The fields.
const (
	FieldRetry Fields = 1 << iota
	FieldReset
	FieldRemaining
)

// Traits are those of the spec.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.spec.Traits }

// Table lists the choices. How exact a limiter is comes first: what else is observed depends on it.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	kind := c.spec.Kind
	aligns := []string{
		"AlignEpoch", "at whole multiples of the window since the year 1, as of time.Truncate",
		"AlignUnix", "at whole multiples of the window since 1970",
		"AlignCreation", "one after another, from when the limiter was made",
		"AlignFirstUse", "with the first request after the previous window has ended",
	}
	if kind == SlidingCounter {
		aligns = aligns[:2*AlignCreation]
	}
	back := func() bool { return s.Time != conformance.Explicit }
	if s.Time == conformance.Injected && c.trip == 0 {
		back = nil // more is judged if it is declared
	}
	seen := func() *observations { return c.observations(s) }
	return []suite.Choice{
		edge.Flag(&tr.OneGoroutine, suite.Choice{Name: "OneGoroutine"}, nil,
			"its documentation says that it is exact for one goroutine at a time only"),
		edge.Choice(&tr.Latency, suite.Choice{
			Name: "Latency", Literal: edge.InUnits,
			Means:    []string{"the most time that a request takes, as over a network"},
			Needless: func() bool { return c.trip == 0 },
			Observe:  func() int { return int(seen().latency()) },
		}),
		edge.Choice(&tr.Resolution, suite.Choice{
			Name: "Resolution", Literal: edge.InUnits, Means: []string{"to within how much time a decision is exact"},
			Observe: func() int { return int(seen().units(tr).Resolution) },
		}),
		edge.Choice(&tr.Rounded, suite.Choice{
			Name: "Rounded", Literal: edge.InUnits,
			Means:   []string{"the unit to which RetryAfter and ResetAfter are rounded up"},
			Observe: func() int { return int(seen().rounded(tr)) },
		}),
		edge.Choice(&tr.Buckets, suite.Choice{
			Name: "Buckets", Literal: strconv.Itoa,
			Means:   []string{"in how many parts the window is counted; it is exact to one of them"},
			Observe: func() int { return seen().units(tr).Buckets },
		}),
		edge.Flag(&tr.OneAtATime, suite.Choice{
			Name: "OneAtATime", Values: []string{"true"}, Nominal: c.seen != nil && c.seen.panics, // it says so itself
		}, func() bool { return seen().single }, "one at a time, however many are asked for"),
		edge.Choice(&tr.Edge, suite.Choice{
			Name: "Edge", Order: suite.Ranked(2),
			Needless: func() bool { return kind != FixedWindow && kind != SlidingLog },
			Observe:  func() int { return int(seen().fit(tr, func(tr *Traits) { tr.Edge = 0 }).Edge) },
		},
			"EdgeHalfOpen", "an event as old as the window has left it",
			"EdgeClosed", "an event as old as the window is still in it"),
		edge.Choice(&tr.Align, suite.Choice{
			Name:     "Align",
			Needless: func() bool { return kind != FixedWindow && kind != SlidingCounter },
			Observe:  func() int { return int(seen().best(tr, func(tr *Traits) { tr.Align = 0 }).Align) },
		}, aligns...),
		edge.Choice(&tr.CountDenied, suite.Choice{
			Name: "CountDenied", Order: suite.Ranked(2),
			Needless: func() bool { // who is denied an event finds nothing left in a fixed window, whatever counts
				return kind == GCRA || kind == FixedWindow && (tr.OneAtATime || !s.Accepts(takesMany))
			},
			Observe: func() int { return int(seen().fit(tr, func(tr *Traits) { tr.CountDenied = 0 }).CountDenied) },
		},
			"DeniedFree", "denied requests do not count",
			"DeniedCounted", "denied requests count"),
		edge.Choice(&tr.Fields, suite.Choice{
			Name: answers, Literal: answersLiteral, Nominal: true,
			Means:    []string{"the fields of Answer that are set, besides OK"},
			Needless: func() bool { return seen().answers() == 0 },
			Observe:  func() int { return int(seen().answers()) },
		}),
		edge.Choice(&tr.RetryNever, suite.Choice{
			Name: "RetryNever", Order: []int{int(RetryNegative), int(RetryZero)},
			Needless: func() bool { return tr.Fields&FieldRetry == 0 || tr.OneAtATime || !s.Accepts(takesMany) },
			Observe:  func() int { return observeTooLarge(s) },
		},
			"RetryNegative", "RetryAfter is less than 0",
			"RetryForever", "a hundred years or more",
			"RetryZero", "0"),
		edge.Choice(&tr.BackTime, suite.Choice{
			Name: "BackTime", Order: suite.Ranked(3), Needless: back,
			Observe: func() int { return observeBackTime(s) },
			Blind:   []string{"BackRewind"}, // any mistake about instants that go back
		},
			"BackClamp", "an older instant counts as the newest",
			"BackReject", "nothing is granted at an older instant",
			"BackRewind", "the limiter goes back in time"),
		edge.Choice(&tr.Errors, suite.Choice{
			Name:     "Errors",
			Needless: func() bool { return !s.Accepts(verb.Fault) },
			Observe:  func() int { return observeErrors(s) },
		},
			"FailOpen", "a request that fails is granted",
			"FailClosed", "a request that fails is denied"),
	}
}

// answersLiteral writes a set of fields as Go has it.
func answersLiteral(v int) string {
	var fields []string
	for i, name := range []string{"FieldRetry", "FieldReset", "FieldRemaining"} {
		if v&(1<<i) != 0 {
			fields = append(fields, "quotatest."+name)
		}
	}
	return strings.Join(fields, " | ")
}
