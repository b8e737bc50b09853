package throttletest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// Traits are the choices on which correct throttles differ. The zero value of each is
// "undeclared".
type Traits struct {
	// Edges lists the edges that New can build: on the leading edge an event that finds no
	// interval running is emitted at once, on the trailing edge the newest event of an
	// interval is emitted at its end.
	Edges []Edges
	// Boundary says what becomes of an event at the very end of an interval. Only with the
	// leading edge.
	Boundary Boundary
	// BothSingle says how often a single event is emitted with both edges. Only with
	// LeadingAndTrailing.
	BothSingle BothSingle
	// Payload says which event of an interval the trailing edge emits. Only with the
	// trailing edge.
	Payload Payload

	// The following are only declared by implementations that they are about. Without them
	// the rules that they put in force are skipped.

	// Windows says which periods hold no more than Config.K events. Only with the leading
	// edge.
	Windows Windows
	// ClockBack says what becomes of the interval when the clock is set back.
	ClockBack ClockBack
	// PanicPolicy says where the panic of a callback goes.
	PanicPolicy PanicPolicy
	// CloseFlush says what the end of a stream's input does with the pending event.
	CloseFlush CloseFlush
	// Reentrancy is only declared to opt out: Forbidden means that the callback must not
	// call the throttle.
	Reentrancy Reentrancy
}

// The choices that debouncers have too; package conformance explains them.
type (
	Edges       = conformance.Edges
	BothSingle  = conformance.BothSingle
	Payload     = conformance.Payload
	ClockBack   = conformance.ClockBack
	PanicPolicy = conformance.PanicPolicy
	CloseFlush  = conformance.CloseFlush
	Reentrancy  = conformance.Reentrancy
)

// Their values.
const (
	Leading             = conformance.Leading
	Trailing            = conformance.Trailing
	LeadingAndTrailing  = conformance.LeadingAndTrailing
	NoEdges             = conformance.NoEdges
	BothOnce            = conformance.BothOnce
	BothTwice           = conformance.BothTwice
	LastPayload         = conformance.LastPayload
	FirstPayload        = conformance.FirstPayload
	NoPayload           = conformance.NoPayload
	BackBounded         = conformance.BackBounded
	BackStands          = conformance.BackStands
	PanicPropagates     = conformance.PanicPropagates
	PanicRecovered      = conformance.PanicRecovered
	CloseFires          = conformance.CloseFires
	CloseAtDeadline     = conformance.CloseAtDeadline
	CloseDrops          = conformance.CloseDrops
	ReentrancyAllowed   = conformance.ReentrancyAllowed
	ReentrancyForbidden = conformance.ReentrancyForbidden
)

// Boundary says what becomes of an event at the very end of an interval.
type Boundary int

// The choices.
const (
	BoundaryPasses Boundary = iota + 1 // it is emitted: an elapsed time equal to the interval is enough
	BoundaryWaits                      // it still belongs to the interval
)

// Windows says which periods hold no more than K emissions.
type Windows int

// The choices.
const (
	WindowsFromFirst Windows = iota + 1 // an interval begins with an event that finds none running
	WindowsSliding                      // no period of that length holds more
)

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// has reports whether one of the edges is declared.
func (tr *Traits) has(which ...Edges) bool {
	return slices.ContainsFunc(tr.Edges, func(e Edges) bool { return slices.Contains(which, e) })
}

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	declared := 0
	if len(tr.Edges) > 0 {
		declared = int(c.built()) // which is what is observed
	}
	return []suite.Choice{
		{
			Name:     "Edges",
			Declared: declared,
			Needless: suite.Always,
			Values: []string{
				"[]throttletest.Edges{throttletest.Trailing}",
				"[]throttletest.Edges{throttletest.Leading}",
				"[]throttletest.Edges{throttletest.LeadingAndTrailing}",
			},
			Observe: func() int { return observeEdges(s) },
			Set:     func(v int) { tr.Edges = []Edges{Edges(v)} },
			Alter: func(v int, rec *suite.Recording) (*suite.Recording, bool) {
				return edge.Alter(rec, c.spec.Traits.Edges, c.built(), Edges(v))
			},
		},
		{
			Name: "Boundary", Declared: int(tr.Boundary), Values: []string{"BoundaryPasses", "BoundaryWaits"},
			Needless: func() bool { return len(tr.Edges) > 0 && !tr.has(Leading, LeadingAndTrailing) },
			Observe:  func() int { return c.observeBoundary(s) },
			Set:      func(v int) { tr.Boundary = Boundary(v) },
		},
		{
			Name: "BothSingle", Declared: int(tr.BothSingle), Values: []string{"BothOnce", "BothTwice"},
			Needless: func() bool { return !tr.has(LeadingAndTrailing) },
			Observe:  func() int { return min(int(BothTwice), len(fires(s, "interval=100ms edges=both | call 1 @0"))) },
			Set:      func(v int) { tr.BothSingle = BothSingle(v) },
		},
		{
			Name: "Payload", Declared: int(tr.Payload), Values: []string{"LastPayload", "FirstPayload", "NoPayload"},
			Needless: func() bool { return !tr.has(Trailing, LeadingAndTrailing) },
			Observe:  func() int { return c.observePayload(s) },
			Set:      func(v int) { tr.Payload = Payload(v) },
		},
		{Name: "Windows", Declared: int(tr.Windows), Values: []string{"WindowsFromFirst", "WindowsSliding"},
			Set: func(v int) { tr.Windows = Windows(v) }},
		{Name: "ClockBack", Declared: int(tr.ClockBack), Values: []string{"BackBounded", "BackStands"},
			Set: func(v int) { tr.ClockBack = ClockBack(v) }},
		{
			Name:     "CloseFlush",
			Declared: int(tr.CloseFlush),
			Values:   []string{"CloseFires", "CloseAtDeadline", "CloseDrops"},
			Set:      func(v int) { tr.CloseFlush = CloseFlush(v) },
		},
		{Name: "Reentrancy", Declared: int(tr.Reentrancy), Values: []string{"ReentrancyAllowed", "ReentrancyForbidden"},
			Set: func(v int) { tr.Reentrancy = Reentrancy(v) }},
	}
}

// fires runs a schedule and returns what it emitted.
func fires(s *suite.Suite, text string) []conformance.Fire {
	for _, rec := range s.TryText(text, conformance.OrderSettled) {
		return rec.Fires
	}
	return nil
}

func observeEdges(s *suite.Suite) int {
	out := conformance.Edges(0)
	for _, f := range fires(s, "interval=100ms | call 1 @0 | call 2 @1ms") {
		if f.Began.At == 0 {
			out |= Leading
		} else {
			out |= Trailing
		}
	}
	return int(out)
}

// observeBoundary puts an event at the end of the interval that the last emission of a single
// one began. With no payload to tell events by, it is told by its instant.
func (c *contract) observeBoundary(s *suite.Suite) int {
	cfg := "interval=100ms" + c.edge(Leading)
	end := suite.Wait
	for _, f := range fires(s, cfg+" | call 1 @0") {
		end = f.Began.At + suite.Wait
	}
	for _, f := range fires(s, fmt.Sprintf("%s | call 1 @0 | call 2 @%v", cfg, end)) {
		if f.Began.At == end {
			return int(BoundaryPasses)
		}
	}
	return int(BoundaryWaits)
}

func (c *contract) observePayload(s *suite.Suite) int {
	cfg := "interval=100ms" + c.edge(Trailing)
	for _, f := range fires(s, cfg+" | call 7 @0 | call 8 @1ms | call 9 @2ms") {
		switch {
		case f.Began.At == 0:
		case f.Value == 9:
			return int(LastPayload)
		case f.Value == 7 || f.Value == 8:
			return int(FirstPayload)
		default:
			return int(NoPayload)
		}
	}
	return int(LastPayload)
}

// edge is the part of a configuration that asks for an edge, or for both where it is not
// there alone; nothing where none is declared.
func (c *contract) edge(which Edges) string {
	has := c.spec.Traits.Edges
	switch {
	case len(has) == 0:
		return ""
	case !slices.Contains(has, which) && slices.Contains(has, LeadingAndTrailing):
		return " edges=" + LeadingAndTrailing.String()
	}
	return " edges=" + edge.Preferred(has, which).String()
}
