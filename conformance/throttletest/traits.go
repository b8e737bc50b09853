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

// Traits are those of the spec.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.spec.Traits }

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
		edge.EdgesChoice(o.Suite, "throttletest", &tr.Edges, conformance.Leading, edgesMean, &o.c.said,
			func(e Edges, steps string) *suite.Recording { return o.tried("interval=100ms edges=%s%s", e, steps) }),
		edge.Choice(&tr.Boundary, suite.Choice{
			Name: "Boundary", Order: []int{int(BoundaryPasses), int(BoundaryEither), int(BoundaryRounded)},
			Needless: func() bool { return len(tr.Edges) > 0 && !tr.has(Leading) }, Observe: o.boundary,
		},
			"BoundaryPasses", "an event at exactly the end of an interval is emitted",
			"BoundaryWaits", "it still belongs to the interval",
			"BoundaryEither", "either",
			"BoundaryRounded", "either, also a nanosecond before and after the end"),
		edge.Choice(&tr.BothSingle, suite.Choice{
			Name: "BothSingle", Order: suite.Ranked(2), Observe: o.bothSingle,
			Needless: func() bool { return !tr.has(LeadingAndTrailing) },
		},
			"BothOnce", "a single event is emitted once",
			"BothTwice", "it is emitted on both edges"),
		edge.Choice(&tr.Payload, suite.Choice{
			Name: "Payload", Order: suite.Ranked(2), Observe: o.payload,
			Needless: func() bool { return !tr.has(Trailing, LeadingAndTrailing) && o.payload() != int(NoPayload) },
		},
			"LastPayload", "of the newest event",
			"FirstPayload", "of the interval's first",
			"NoPayload", "what is emitted has none"),
	}
}

// optional are the choices that nobody need declare.
func (o observer) optional() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		edge.Choice(&tr.AfterFlush, suite.Choice{
			Name: "AfterFlush", Order: suite.Ranked(3), Observe: o.afterFlush,
		},
			"FlushOpensInterval", "what a flush emits opens an interval",
			"FlushKeepsInterval", "the current interval goes on",
			"FlushEndsInterval", "the interval is over"),
		edge.Choice(&tr.Windows, suite.Choice{Name: "Windows", Observe: o.windows, Shown: o.c.said.Of("Windows")},
			"WindowsFromFirst", "k emissions in an interval that begins with the first of them",
			"WindowsSliding", "k in any period as long as an interval"),
		edge.Choice(&tr.Reentrancy, suite.Choice{
			Name: "Reentrancy", Order: suite.Ranked(2), Observe: o.reentrancy,
		},
			"ReentrancyAllowed", "the callback may call the throttle",
			"ReentrancyForbidden", "the callback must not call the throttle"),
		edge.Choice(&tr.Anchor, suite.Choice{Name: "Anchor", Order: suite.Ranked(2), Observe: o.anchor},
			"AnchorStart", "an interval counts from the start of its callback",
			"AnchorEnd", "it counts from the end"),
		edge.Choice(&tr.ClockBack, suite.Choice{Name: "ClockBack", Order: suite.Ranked(2), Observe: o.clockBack},
			"BackBounded", "setting the clock back delays events by one interval at most",
			"BackStands", "nothing comes until an injected clock that was set back is where it was"),
		edge.Choice(&tr.CloseFlush, suite.Choice{
			Name: "CloseFlush", Order: []int{int(CloseFires), int(CloseDrops)}, Observe: o.closeFlush,
		},
			"CloseFires", "pending events come at the end of the input",
			"CloseAtDeadline", "they come when they are due",
			"CloseDrops", "they are dropped"),
		edge.Choice(&tr.StopBarrier, suite.Choice{
			Name: "StopBarrier", Order: []int{0, int(NoBarrier)}, Observe: o.stopBarrier,
		},
			"NoBarrier", "due events may be emitted after Stop"),
		edge.PanicPolicy(&tr.PanicPolicy, &o.c.said, o.canPanic, o.panicsAs),
	}
}
