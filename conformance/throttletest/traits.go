package throttletest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
)

// Traits are the choices on which correct throttles differ. The zero value of each is
// "undeclared".
type Traits struct {
	// Edges lists the edges that New can build: on the leading edge an event that finds no
	// interval running is emitted at once, on the trailing edge the newest event of an
	// interval is emitted at its end.
	Edges []Edges
	// Boundary says what happens to an event at exactly the end of an interval. Only with
	// the leading edge.
	Boundary Boundary
	// BothSingle says how often a single event is emitted with both edges. Only with
	// LeadingAndTrailing.
	BothSingle BothSingle
	// Payload says which event of an interval the trailing edge emits. Only with the
	// trailing edge.
	Payload Payload

	// The following are only declared where they apply. While other traits are undeclared they
	// are tried, and what is observed is assumed; once those are declared, their rules are
	// skipped without them. What only a weaker value explains is asked for all the same.

	// AfterFlush says what happens to the interval when a flush has emitted something. Only
	// with the trailing edge.
	AfterFlush AfterFlush
	// Windows says which periods hold no more than Config.K events. Only with the leading
	// edge.
	Windows Windows
	// Anchor says where the interval of a slow callback counts from. Only with the
	// leading edge. For a stream the callback begins when its reader receives the item; a
	// stream whose interval counts from its decision declares none.
	Anchor Anchor
	// ClockBack says what happens to the interval when the clock is set back.
	ClockBack ClockBack
	// PanicPolicy says where the panic of a callback goes.
	PanicPolicy PanicPolicy
	// CloseFlush says what the end of a stream's input does with the pending event.
	CloseFlush CloseFlush
	// StopBarrier is only declared to opt out: NoBarrier means that an emission that is due may still begin after
	// Stop has returned.
	StopBarrier StopBarrier
	// Reentrancy is only declared to opt out: Forbidden means that the callback must not
	// call the throttle.
	Reentrancy Reentrancy
}

// The choices that debouncers have too.
type (
	// Edges are the edges of an interval on which to emit: Leading, Trailing, LeadingAndTrailing or NoEdges.
	Edges = conformance.Edges
	// BothSingle says how often a single event is emitted with both edges: BothOnce, on the leading edge only, or
	// BothTwice, on both.
	BothSingle = trait.BothSingle
	// Payload says which event of an interval a trailing emission carries: LastPayload, the newest, or FirstPayload,
	// the first. With NoPayload emissions carry none.
	Payload = trait.Payload
	// ClockBack says what happens to events when the clock is set back. With BackBounded they are held up for one
	// interval at most; with BackStands nothing is emitted until the clock is where it was.
	ClockBack = trait.ClockBack
	// PanicPolicy says where a callback's panic goes. With PanicPropagates it goes up the goroutine that runs the
	// callback; with PanicRecovered it is recovered.
	PanicPolicy = trait.PanicPolicy
	// CloseFlush says what happens to the pending event when the input ends. With CloseFires it is emitted at once,
	// with CloseAtDeadline at its time; CloseDrops drops it.
	CloseFlush = trait.CloseFlush
	// Reentrancy says whether the callback may call the throttle. ReentrancyAllowed is the default; ReentrancyForbidden
	// says that such a call is documented to deadlock.
	Reentrancy = trait.Reentrancy
)

// The values of the choices that debouncers have too.
const (
	Leading             = conformance.Leading
	Trailing            = conformance.Trailing
	LeadingAndTrailing  = conformance.LeadingAndTrailing
	NoEdges             = conformance.NoEdges
	BothOnce            = trait.BothOnce            // on the leading edge only
	BothTwice           = trait.BothTwice           // on both edges
	LastPayload         = trait.LastPayload         // of the newest event
	FirstPayload        = trait.FirstPayload        // of the interval's first event
	NoPayload           = trait.NoPayload           // the callback has none
	BackBounded         = trait.BackBounded         // it holds events up for one interval, or wait, at most
	BackStands          = trait.BackStands          // nothing comes sooner: time stands until the clock is where it was
	PanicPropagates     = trait.PanicPropagates     // up the goroutine that runs the callback
	PanicRecovered      = trait.PanicRecovered      // nowhere
	CloseFires          = trait.CloseFires          // it comes at once
	CloseAtDeadline     = trait.CloseAtDeadline     // it comes at its time
	CloseDrops          = trait.CloseDrops          // it is dropped
	ReentrancyAllowed   = trait.ReentrancyAllowed   // the default
	ReentrancyForbidden = trait.ReentrancyForbidden // documented to deadlock
)

// Boundary says what happens to an event at exactly the end of an interval.
type Boundary int

// The choices.
const (
	BoundaryPasses  Boundary = iota + 1 // it is emitted: an elapsed time equal to the interval is enough
	BoundaryWaits                       // it still belongs to the interval
	BoundaryEither                      // either
	BoundaryRounded                     // either, and so is an event a nanosecond before or after it: time is rounded
)

// StopBarrier says what the return of Stop does not promise.
type StopBarrier int

// The choice.
const NoBarrier StopBarrier = 1 // an emission that is due may still begin

// AfterFlush says what happens to the interval when a flush has emitted something.
type AfterFlush int

// The choices.
const (
	FlushOpensInterval AfterFlush = iota + 1 // what it emits opens an interval, as every emission does
	FlushKeepsInterval                       // the interval that runs goes on, and ends when it would have ended
	FlushEndsInterval                        // the interval is over
)

// Windows says which periods hold no more than K emissions.
type Windows int

// The choices.
const (
	WindowsFromFirst Windows = iota + 1 // an interval begins with an event that finds none running
	WindowsSliding                      // no period of that length holds more
)

// Anchor says where the interval of a slow callback counts from.
type Anchor int

// The choices.
const (
	AnchorStart Anchor = iota + 1 // from the start of the callback
	AnchorEnd                     // from its end
)

// Declare goes on as if t had been declared.
func (c *contract) Declare(t *Traits) { c.spec.Traits = *t }

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// built are the edges of a throttle whose schedule does not say.
func (tr *Traits) built() Edges { return edge.Preferred(tr.Edges, conformance.Leading) }

// has reports whether one of the edges is declared.
func (tr *Traits) has(which ...Edges) bool {
	return slices.ContainsFunc(tr.Edges, func(e Edges) bool { return slices.Contains(which, e) })
}

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	o := observer{s, tr, c}
	return append(o.needed(), o.optional()...)
}

// edgesMean says what each value of Edges means, made once.
var edgesMean = edge.Means("Trailing emits at the end of the interval that an event begins",
	"Leading emits at once an event that finds no interval running", "LeadingAndTrailing does both",
	"NoEdges emits nothing")

// needed are the choices that whoever they are about declares.
func (o observer) needed() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		{
			Name: "Edges", Declared: edge.Chosen(tr.Edges),
			Values: edge.Single("throttletest"), Literal: edge.Literal("throttletest"),
			Means:    edgesMean,
			Needless: suite.Always, Observe: o.edges, Shown: o.shown("Edges"),
			Set: func(v int) { tr.Edges = edge.Listed(v) },
			Alter: func(v int, rec *suite.Recording) (*suite.Recording, bool) {
				return edge.Alter(rec, tr.Edges, tr.built(), Edges(v))
			},
		},
		{
			Order: []int{int(BoundaryPasses), int(BoundaryEither), int(BoundaryRounded)},
			Name:  "Boundary", Declared: int(tr.Boundary),
			Values: []string{"BoundaryPasses", "BoundaryWaits", "BoundaryEither", "BoundaryRounded"},
			Means: []string{
				"an event at exactly the end of an interval is emitted", "it still belongs to the interval", "either",
				"either, also a nanosecond before and after the end",
			},
			Needless: func() bool { return len(tr.Edges) > 0 && !tr.has(Leading) },
			Observe:  o.boundary,
			Set:      func(v int) { tr.Boundary = Boundary(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "BothSingle", Declared: int(tr.BothSingle), Values: []string{"BothOnce", "BothTwice"},
			Means:    []string{"a single event is emitted once", "it is emitted on both edges"},
			Needless: func() bool { return !tr.has(LeadingAndTrailing) },
			Observe:  o.bothSingle,
			Set:      func(v int) { tr.BothSingle = BothSingle(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "Payload", Declared: int(tr.Payload), Values: []string{"LastPayload", "FirstPayload", "NoPayload"},
			Means:    []string{"of the newest event", "of the interval's first", "what is emitted has none"},
			Needless: func() bool { return !tr.has(Trailing, LeadingAndTrailing) && o.payload() != int(NoPayload) },
			Observe:  o.payload,
			Set:      func(v int) { tr.Payload = Payload(v) },
		},
	}
}

// optional are the choices that nobody need declare.
func (o observer) optional() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		{
			Order: suite.Ranked(3),
			Name:  "AfterFlush", Declared: int(tr.AfterFlush),
			Values: []string{"FlushOpensInterval", "FlushKeepsInterval", "FlushEndsInterval"},
			Means: []string{
				"what a flush emits opens an interval", "the current interval goes on", "the interval is over",
			},
			Observe: o.afterFlush, Set: func(v int) { tr.AfterFlush = AfterFlush(v) },
		},
		{
			Name: "Windows", Declared: int(tr.Windows), Values: []string{"WindowsFromFirst", "WindowsSliding"},
			Means: []string{
				"k emissions in an interval that begins with the first of them",
				"k in any period as long as an interval",
			},
			Observe: o.windows, Shown: o.shown("Windows"), Set: func(v int) { tr.Windows = Windows(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "Reentrancy", Declared: int(tr.Reentrancy), Values: []string{"ReentrancyAllowed",
				"ReentrancyForbidden"},
			Means:   []string{"the callback may call the throttle", "the callback must not call the throttle"},
			Observe: o.reentrancy, Set: func(v int) { tr.Reentrancy = Reentrancy(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "Anchor", Declared: int(tr.Anchor), Values: []string{"AnchorStart", "AnchorEnd"},
			Means:   []string{"an interval counts from the start of its callback", "it counts from the end"},
			Observe: o.anchor, Set: func(v int) { tr.Anchor = Anchor(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "ClockBack", Declared: int(tr.ClockBack), Values: []string{"BackBounded", "BackStands"},
			Means: []string{
				"setting the clock back delays events by one interval at most",
				"nothing comes until an injected clock that was set back is where it was",
			},
			Observe: o.clockBack, Set: func(v int) { tr.ClockBack = ClockBack(v) },
		},
		{
			Order: []int{int(CloseFires), int(CloseDrops)},
			Name:  "CloseFlush", Declared: int(tr.CloseFlush),
			Values: []string{"CloseFires", "CloseAtDeadline", "CloseDrops"},
			Means: []string{"pending events come at the end of the input", "they come when they are due", "they " +
				"are dropped"},
			Observe: o.closeFlush, Set: func(v int) { tr.CloseFlush = CloseFlush(v) },
		},
		{
			Order: []int{0, int(NoBarrier)},
			Name:  "StopBarrier", Declared: int(tr.StopBarrier), Values: []string{"NoBarrier"},
			Means:   []string{"due events may be emitted after Stop"},
			Observe: o.stopBarrier, Set: func(v int) { tr.StopBarrier = StopBarrier(v) },
		},
		{
			Name: "PanicPolicy", Declared: int(tr.PanicPolicy), Values: []string{"PanicPropagates", "PanicRecovered"},
			Means:   []string{"a callback's panic propagates on its goroutine", "a callback's panic is recovered"},
			Observe: o.panicPolicy, Apart: true, Shown: o.shown("PanicPolicy"),
			Set: func(v int) { tr.PanicPolicy = PanicPolicy(v) },
		},
	}
}
