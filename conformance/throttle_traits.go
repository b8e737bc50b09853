package conformance

import "slices"

// ThrottleTraits are the choices on which correct throttles differ. The zero value
// of each is "undeclared".
type ThrottleTraits struct {
	// Edges lists the edges that New can build: on the leading edge an event that
	// finds no interval running is emitted at once, on the trailing edge the newest
	// event of an interval is emitted at its end.
	Edges []Edges
	// Boundary says what becomes of an event at the very end of an interval. Only
	// with the leading edge.
	Boundary Boundary
	// BothSingle says how often a single event is emitted with both edges. Only with
	// LeadingAndTrailing.
	BothSingle BothSingle
	// Payload says which event of an interval the trailing edge emits. Only with the
	// trailing edge.
	Payload Payload

	// The others are only declared by those whom they concern; the rules that they
	// put in force are skipped without them.

	// Windows says which stretches hold no more than ThrottleConfig.K events. Only
	// with the leading edge.
	Windows Windows
	// ClockBack says what becomes of the interval when the clock is set back.
	ClockBack ClockBack
	// PanicPolicy says where the panic of a callback goes.
	PanicPolicy PanicPolicy
	// CloseFlush says what the end of a stream's input does with the pending event.
	CloseFlush CloseFlush
	// Reentrancy is only declared to opt out: Forbidden means that the callback
	// must not call the throttle.
	Reentrancy Reentrancy
}

// Boundary says what becomes of an event at the very end of an interval.
type Boundary int

// The choices.
const (
	BoundaryPasses Boundary = iota + 1 // it is emitted: an elapsed time equal to the interval is enough
	BoundaryWaits                      // it still belongs to the interval
)

// Windows says which stretches of time hold no more than K emissions.
type Windows int

// The choices.
const (
	WindowsFromFirst Windows = iota + 1 // an interval begins with an event that finds none running
	WindowsSliding                      // any interval
)

// ClockBack says what a clock that is set back does.
type ClockBack int

// The choices.
const (
	BackBounded ClockBack = iota + 1 // it holds events up for one interval, or wait, at most
	BackStands                       // nothing comes any sooner: time stands still until the clock is where it was
)

// PanicPolicy says where the panic of a callback goes. The object works on.
type PanicPolicy int

// The choices.
const (
	PanicPropagates PanicPolicy = iota + 1 // up the goroutine that runs the callback
	PanicRecovered                         // nowhere
)

// CloseFlush says what becomes of the pending event when the input ends.
type CloseFlush int

// The choices.
const (
	CloseFires      CloseFlush = iota + 1 // it comes at once
	CloseAtDeadline                       // it comes at its time
	CloseDrops                            // it is dropped
)

// table lists the traits with what was declared and how to observe them.
func (tr ThrottleTraits) table(c *contract) []trait {
	edges := 0
	if len(tr.Edges) > 0 {
		edges = int(tr.Edges[0])
	}
	has := func(which ...Edges) bool {
		return slices.ContainsFunc(tr.Edges, func(e Edges) bool { return slices.Contains(which, e) })
	}
	see := func(text string) *Trace {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		var seen *Trace
		c.try(job{schedule: s}, 1, func(tr *Trace) { seen = tr })
		return seen
	}
	return []trait{
		{"Edges", edges, []string{"[]conformance.Edges{conformance.Trailing}", "[]conformance.Edges{conformance.Leading}",
			"[]conformance.Edges{conformance.LeadingAndTrailing}"}, func() bool { return false }, func() int {
			out := 0
			for _, f := range see("interval=100ms | call 1 @0 | call 2 @1ms").Fires {
				if f.Began.At == 0 {
					out |= int(Leading)
				} else {
					out |= int(Trailing)
				}
			}
			return out
		}},
		{"Boundary", int(tr.Boundary), []string{"BoundaryPasses", "BoundaryWaits"},
			func() bool { return len(tr.Edges) > 0 && !has(Leading, LeadingAndTrailing) }, func() int {
				for _, f := range see("interval=100ms | call 1 @0 | call 2 @100ms").Fires {
					if f.Value == 2 && f.Began.At == wait {
						return int(BoundaryPasses)
					}
				}
				return int(BoundaryWaits)
			}},
		{"BothSingle", int(tr.BothSingle), []string{"BothOnce", "BothTwice"}, func() bool { return !has(LeadingAndTrailing) },
			func() int { return min(int(BothTwice), len(see("interval=100ms edges=both | call 1 @0").Fires)) }},
		{"Payload", int(tr.Payload), []string{"LastPayload", "FirstPayload", "NoPayload"}, func() bool { return !has(Trailing, LeadingAndTrailing) },
			func() int {
				cfg := "interval=100ms"
				if e := preferred(tr.Edges, Trailing); len(tr.Edges) > 0 {
					cfg += " edges=" + e.String()
				}
				for _, f := range see(cfg + " | call 7 @0 | call 8 @1ms | call 9 @2ms").Fires {
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
			}},
		optional("Windows", int(tr.Windows), "WindowsFromFirst", "WindowsSliding"),
		optional("ClockBack", int(tr.ClockBack), "BackBounded", "BackStands"),
		optional("CloseFlush", int(tr.CloseFlush), "CloseFires", "CloseAtDeadline", "CloseDrops"),
		optional("Reentrancy", int(tr.Reentrancy), "ReentrancyAllowed", "ReentrancyForbidden"),
	}
}
