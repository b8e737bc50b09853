package quotatest

import (
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits are the choices on which correct limiters differ. The zero value of Edge, Align,
// Denied, TooLarge and BackTime is "undeclared".
type Traits struct {
	// Edge says whether an event exactly as old as the window is still in it. FixedWindow
	// and SlidingLog only.
	Edge Edge
	// Align says where windows begin. FixedWindow and SlidingCounter only.
	Align Align
	// Denied says whether a request that was denied counts. Not for GCRA.
	Denied Denied
	// TooLarge says what RetryAfter is for a request that can never be granted. Only where
	// RetryAfter is answered.
	TooLarge TooLarge
	// BackTime says what an instant before the newest one means. Explicit only.
	BackTime BackTime
	// Answers are the fields of Answer that are filled in beside OK, if any.
	Answers Answers
	// Single says that events can only be taken one at a time.
	Single bool
	// Grain is how exact the limiter is, if not to the nanosecond. A decision that another
	// instant within the grain would change is not judged.
	Grain time.Duration
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
	AlignEpoch    Align = iota + 1 // on the clock: at whole multiples of the window, as time.Truncate has them
	AlignCreation                  // one after the other, from when the limiter was made or first asked
	// AlignFirstUse is for a FixedWindow: a window begins with the first request after the
	// window before has ended. The first window may begin when the limiter is made.
	AlignFirstUse
)

// Denied says whether a request that was denied counts.
type Denied int

// The choices.
const (
	DeniedFree    Denied = iota + 1 // it does not
	DeniedCounted                   // it does, as if it had been granted
)

// TooLarge says what RetryAfter is for a request that can never be granted.
type TooLarge int

// The choices.
const (
	TooLargeNegative TooLarge = iota + 1 // less than 0
	TooLargeForever                      // a hundred years or more
	TooLargeZero                         // 0
)

// century is the least RetryAfter that means for ever.
const century = 100 * 365 * 24 * time.Hour

// Answers are fields of [Answer].
type Answers int

// The fields.
const (
	AnswersRetry Answers = 1 << iota
	AnswersReset
	AnswersRemaining
)

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	kind := c.spec.Kind
	aligns := []string{"AlignEpoch", "AlignCreation", "AlignFirstUse"}
	if kind == SlidingCounter {
		aligns = aligns[:AlignCreation]
	}
	return []suite.Choice{
		{
			Name: "Edge", Declared: int(tr.Edge), Values: []string{"EdgeHalfOpen", "EdgeClosed"},
			Needless: func() bool { return kind != FixedWindow && kind != SlidingLog },
			Observe: func() int {
				return either(grants(s, "rate=1/1s burst=1 | allow 1 @0 | allow 1 @1s"), EdgeHalfOpen, EdgeClosed)
			},
			Set: func(v int) { tr.Edge = Edge(v) },
		},
		{
			Name: "Align", Declared: int(tr.Align), Values: aligns,
			Needless: func() bool { return kind != FixedWindow && kind != SlidingCounter },
			Observe:  func() int { return c.observeAlign(s) },
			Set:      func(v int) { tr.Align = Align(v) },
		},
		{
			Name: "Denied", Declared: int(tr.Denied), Values: []string{"DeniedFree", "DeniedCounted"},
			Needless: func() bool { return kind == GCRA },
			Observe:  func() int { return c.observeDenied(s) },
			Set:      func(v int) { tr.Denied = Denied(v) },
		},
		{
			Name: "TooLarge", Declared: int(tr.TooLarge),
			Values:   []string{"TooLargeNegative", "TooLargeForever", "TooLargeZero"},
			Needless: func() bool { return tr.Answers&AnswersRetry == 0 || !s.Accepts(takesMany) },
			Observe:  func() int { return observeTooLarge(s) },
			Set:      func(v int) { tr.TooLarge = TooLarge(v) },
		},
		{
			Name: "BackTime", Declared: int(tr.BackTime), Values: []string{"BackClamp", "BackReject", "BackRewind"},
			Needless: func() bool { return s.Time != conformance.Explicit },
			Observe: func() int {
				return either(grants(s, "rate=3/1s burst=3 | allow 1 @1h | allow 1 @0"), BackClamp, BackReject)
			},
			Set:   func(v int) { tr.BackTime = BackTime(v) },
			Blind: []string{"BackRewind"}, // any mistake about instants that go back
		},
	}
}

// observeAlign observes where windows begin. A window of 28s on the clock begins 8s before
// the schedule, on package time too, where the start of schedules cannot be chosen.
func (c *contract) observeAlign(s *suite.Suite) int {
	switch {
	case c.spec.Kind == SlidingCounter: // 2 events fit again when half of the window before has faded
		text := "rate=4/28s burst=1 | " + strings.Repeat("allow 1 @0 | ", 4) + "allow 1 @34s | allow 1 @34s"
		return either(grants(s, text), AlignEpoch, AlignCreation)
	case grants(s, "rate=1/28s burst=1 | allow 1 @5s | allow 1 @21s"):
		return int(AlignEpoch)
	}
	grid := grants(s, "rate=1/28s burst=1 | allow 1 @5s | allow 1 @47s | allow 1 @65s")
	return either(grid, AlignCreation, AlignFirstUse)
}

// observeDenied observes whether a request that was denied counts.
func (c *contract) observeDenied(s *suite.Suite) int {
	free := "rate=1/1s burst=1 | allow 1 @0 | allow 1 @900ms | allow 1 @1.8s"
	switch {
	case c.spec.Kind == SlidingCounter:
		free = "rate=4/1s burst=4 | " +
			strings.Repeat("allow 1 @0 | ", 4) + strings.Repeat("allow 1 @500ms | ", 4) + "allow 1 @1.3s"
	case c.spec.Kind == FixedWindow && s.Accepts(takesMany):
		free = "rate=3/1s burst=1 | allow 2 @0 | allow 2 @1ms | allow 1 @2ms"
	}
	return either(grants(s, free), DeniedFree, DeniedCounted)
}

// observeTooLarge asks for one more than the limit, and observes the RetryAfter.
func observeTooLarge(s *suite.Suite) int {
	switch d := last(s, "rate=3/1s burst=3 | allow 4 @0").RetryAfter; {
	case d < 0:
		return int(TooLargeNegative)
	case d >= century:
		return int(TooLargeForever)
	case d == 0:
		return int(TooLargeZero)
	}
	return 0
}

// grants reports whether the last request of a schedule is granted.
func grants(s *suite.Suite, text string) bool { return last(s, text).OK }

// last returns the answer to the last step of a schedule; the zero Answer if not all steps
// were done.
func last(s *suite.Suite, text string) (a Answer) {
	for _, rec := range s.TryText(text, conformance.OrderSettled) {
		if n := len(rec.Done); n == len(rec.Schedule.Steps) {
			a = rec.Done[n-1].Answer
		}
	}
	return a
}

// either returns a if first is true, b otherwise.
func either[T ~int](first bool, a, b T) int {
	if first {
		return int(a)
	}
	return int(b)
}
