package quotatest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
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

// grain is how exact the limiter is with a configuration.
func (tr *Traits) grain(cfg conformance.Config) time.Duration {
	part := time.Duration(0)
	if n := time.Duration(tr.Buckets); n > 0 {
		part = (cfg.Rate.Per-1)/n + 1
	}
	return max(tr.Resolution, part) + tr.Latency
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

// Declare goes on as if t had been declared.
func (c *contract) Declare(t *Traits) { c.spec.Traits = *t }

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// Table lists the choices. How exact a limiter is comes first: what else is observed depends on it.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	kind := c.spec.Kind
	aligns := []string{"AlignEpoch", "AlignUnix", "AlignCreation", "AlignFirstUse"}
	if kind == SlidingCounter {
		aligns = aligns[:AlignCreation]
	}
	back := func() bool { return s.Time != conformance.Explicit }
	if s.Time == conformance.Injected && c.trip == 0 {
		back = nil // more is judged if it is declared
	}
	return []suite.Choice{
		{
			Name: "OneGoroutine", Declared: suite.Number(tr.OneGoroutine), Literal: suite.Flag,
			Means: []string{"its documentation says that it is exact for one goroutine at a time only"},
			Set:   func(v int) { tr.OneGoroutine = v == 1 },
		},
		{
			Name: "Latency", Declared: int(tr.Latency), Literal: durationLiteral,
			Means:    []string{"the most time that a request takes, as over a network"},
			Needless: func() bool { return c.trip == 0 },
			Observe:  func() int { return int(c.observations(s).latency()) },
			Set:      func(v int) { tr.Latency = time.Duration(v) },
		},
		{
			Name: "Resolution", Declared: int(tr.Resolution), Literal: durationLiteral,
			Means:   []string{"to within how much time a decision is exact"},
			Observe: func() int { return int(c.observations(s).exactness(tr).Resolution) },
			Set:     func(v int) { tr.Resolution = time.Duration(v) },
		},
		{
			Name: "Rounded", Declared: int(tr.Rounded), Literal: durationLiteral,
			Means:   []string{"the unit to which RetryAfter and ResetAfter are rounded up"},
			Observe: func() int { return int(c.observations(s).rounded(*tr)) },
			Set:     func(v int) { tr.Rounded = time.Duration(v) },
		},
		{
			Name: "Buckets", Declared: tr.Buckets, Literal: strconv.Itoa,
			Means:   []string{"in how many parts the window is counted; it is exact to one of them"},
			Observe: func() int { return c.observations(s).exactness(tr).Buckets },
			Set:     func(v int) { tr.Buckets = v },
		},
		{
			Name: "OneAtATime", Declared: suite.Number(tr.OneAtATime), Values: []string{"true"}, Literal: suite.Flag,
			Means:   []string{"one at a time, however many are asked for"},
			Nominal: c.seen != nil && c.seen.panics, // it says so itself
			Observe: func() int { return suite.Number(c.observations(s).single) },
			Set:     func(v int) { tr.OneAtATime = v == 1 },
		},
		{
			Order: suite.Ranked(2),
			Name:  "Edge", Declared: int(tr.Edge), Values: []string{"EdgeHalfOpen", "EdgeClosed"},
			Means: []string{"an event as old as the window has left it", "an event as old as the window " +
				"is still in it"},
			Needless: func() bool { return kind != FixedWindow && kind != SlidingLog },
			Observe: func() int {
				return c.observations(s).first(tr, 2, func(tr *Traits, v int) { tr.Edge = Edge(v) })
			},
			Set: func(v int) { tr.Edge = Edge(v) },
		},
		{
			Name: "Align", Declared: int(tr.Align), Values: aligns,
			Means: []string{"at whole multiples of the window since the year 1, as of time.Truncate",
				"at whole multiples of the window since 1970", "one after another, from when the limiter was made",
				"with the first request after the previous window has ended"},
			Needless: func() bool { return kind != FixedWindow && kind != SlidingCounter },
			Observe: func() int {
				v, _ := c.observations(s).best(tr, len(aligns), func(tr *Traits, v int) { tr.Align = Align(v) })
				return v
			},
			Set: func(v int) { tr.Align = Align(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "CountDenied", Declared: int(tr.CountDenied), Values: []string{"DeniedFree", "DeniedCounted"},
			Means: []string{"denied requests do not count", "denied requests count"},
			Needless: func() bool { // who is denied an event finds nothing left in a fixed window, whatever counts
				return kind == GCRA || kind == FixedWindow && (tr.OneAtATime || !s.Accepts(takesMany))
			},
			Observe: func() int {
				return c.observations(s).first(tr, 2, func(tr *Traits, v int) { tr.CountDenied = CountDenied(v) })
			},
			Set: func(v int) { tr.CountDenied = CountDenied(v) },
		},
		{
			Name: answers, Declared: int(tr.Fields), Literal: answersLiteral, Nominal: true,
			Means:    []string{"the fields of Answer that are set, besides OK"},
			Needless: func() bool { return c.observations(s).answers() == 0 },
			Observe:  func() int { return int(c.observations(s).answers()) },
			Set:      func(v int) { tr.Fields = Fields(v) },
		},
		{
			Order: []int{int(RetryNegative), int(RetryZero)},
			Name:  "RetryNever", Declared: int(tr.RetryNever),
			Values:   []string{"RetryNegative", "RetryForever", "RetryZero"},
			Means:    []string{"RetryAfter is less than 0", "a hundred years or more", "0"},
			Needless: func() bool { return tr.Fields&FieldRetry == 0 || tr.OneAtATime || !s.Accepts(takesMany) },
			Observe:  func() int { return observeTooLarge(s) },
			Set:      func(v int) { tr.RetryNever = RetryNever(v) },
		},
		{
			Order: suite.Ranked(3),
			Name:  "BackTime", Declared: int(tr.BackTime), Values: []string{"BackClamp", "BackReject", "BackRewind"},
			Means: []string{"an older instant counts as the newest", "nothing is granted at an older instant",
				"the limiter goes back in time"},
			Needless: back,
			Observe:  func() int { return observeBackTime(s) },
			Set:      func(v int) { tr.BackTime = BackTime(v) },
			Blind:    []string{"BackRewind"}, // any mistake about instants that go back
		},
		{
			Name: "Errors", Declared: int(tr.Errors), Values: []string{"FailOpen", "FailClosed"},
			Means:    []string{"a request that fails is granted", "a request that fails is denied"},
			Needless: func() bool { return !s.Accepts(verb.Fault) },
			Observe:  func() int { return observeErrors(s) },
			Set:      func(v int) { tr.Errors = Errors(v) },
		},
	}
}

// durationLiteral writes a duration as Go has it.
func durationLiteral(v int) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}} {
		if d := time.Duration(v); d%u.unit == 0 {
			return fmt.Sprintf("%d * time.%s", d/u.unit, u.name)
		}
	}
	return fmt.Sprint(v)
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
