package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Declare goes on as if t had been declared.
func (c *contract) Declare(t *Traits) { c.spec.Traits = *t }

// Traits returns what is declared.
func (c *contract) Traits() *Traits {
	tr := c.spec.Traits
	return &tr
}

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	o := observer{s, tr, c}
	return slices.Concat(o.always(), o.ofOperations(), o.ofCallbacks(), o.optional())
}

// edgesMean says what each value of Edges means, made once.
var edgesMean = edge.Means("Trailing fires when the wait has passed since the newest event",
	"Leading fires at once for the first event of a burst", "LeadingAndTrailing does both", "NoEdges fires nothing")

// always are the choices of what an event does.
func (o observer) always() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		{
			Name: "Edges", Declared: edge.Chosen(tr.Edges),
			Values: edge.Single("debouncertest"), Literal: edge.Literal("debouncertest"),
			Means:    edgesMean,
			Needless: suite.Always, Observe: o.edges, Shown: o.shown("Edges"),
			Set: func(v int) { tr.Edges = edge.Listed(v) },
			Alter: func(v int, rec *suite.Recording) (*suite.Recording, bool) {
				return edge.Alter(rec, tr.Edges, tr.built(), Edges(v))
			},
		},
		{
			Order: suite.Ranked(2),
			Name:  "Payload", Declared: int(tr.Payload),
			Values:   []string{"LastPayload", "FirstPayload", "NoPayload", "AllPayloads"},
			Means:    []string{"of the newest event", "of the burst's first", "the callback has none", "of all events"},
			Needless: suite.Always, Observe: o.payload,
			Set: func(v int) { tr.Payload = Payload(v) },
		},
		{
			Name: "Tie", Declared: int(tr.Tie),
			Values: []string{"FireFirst", "ResetFirst", "EitherTie"},
			Means: []string{
				"an event at the deadline begins a new burst", "it joins the burst, and the deadline moves",
				"either, by chance",
			},
			Needless: o.noTrailing, Observe: o.tie,
			Set: func(v int) { tr.Tie = Tie(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "StaleFire", Declared: int(tr.StaleFire),
			Values: []string{"StaleForbidden", "StaleAllowed"},
			Means: []string{
				"a call that has returned supersedes what has not started, unless that was just about to",
				"an expired timer fires all the same",
			},
			Needless: o.noTrailing, Observe: o.staleFire,
			Set: func(v int) { tr.StaleFire = StaleFire(v) },
		},
	}
}

// ofOperations are the choices of what Cancel and Stop do.
func (o observer) ofOperations() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		{
			Order: []int{int(FinishBarrier), int(CommitBarrier), int(NoBarrier)},
			Name:  "CancelBarrier", Declared: int(tr.CancelBarrier),
			Values: []string{"NoBarrier", "CommitBarrier", "FinishBarrier"},
			Means: []string{
				"due callbacks may start after Cancel", "if it reports true, nothing runs for what it cancelled",
				"nothing starts after Cancel, unless it was just about to",
			},
			Needless: o.without(verb.Cancel), Observe: o.cancelBarrier,
			Set: func(v int) { tr.CancelBarrier = CancelBarrier(v) },
		},
		{
			Order: suite.Ranked(3),
			Name:  "AfterCancel", Declared: int(tr.AfterCancel),
			Values: []string{"CancelReusable", "CancelFinal", "CancelKeepsBurst"},
			Means: []string{
				"the next event begins a burst", "nothing fires again", "the burst goes on without the " +
					"cancelled events",
			},
			Needless: o.without(verb.Cancel), Observe: o.afterCancel,
			Set: func(v int) { tr.AfterCancel = AfterCancel(v) },
		},
		{
			Name: "StopPending", Declared: int(tr.StopPending),
			Values:   []string{"StopDrops", "StopFlushes"},
			Means:    []string{"pending events are discarded", "pending events fire"},
			Needless: o.without(verb.Stop), Observe: o.stopPending,
			Set: func(v int) { tr.StopPending = StopPending(v) },
		},
	}
}

// ofCallbacks are the choices of when and how callbacks run. What they may call comes first: it
// decides whether callbacks that take time can be tried.
func (o observer) ofCallbacks() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		{
			Order: suite.Ranked(2),
			Name:  "Reentrancy", Declared: int(tr.Reentrancy),
			Values:  []string{"ReentrancyAllowed", "ReentrancyForbidden"},
			Means:   []string{"the callback may call the debouncer", "the callback must not call the debouncer"},
			Observe: o.reentrancy,
			Set:     func(v int) { tr.Reentrancy = Reentrancy(v) },
		},
		{
			Name: "ZeroWait", Declared: int(tr.ZeroWait),
			Values:   []string{"ZeroSync", "ZeroNextTick", "ZeroRefused"},
			Means:    []string{"an event fires within its call", "it fires at its instant", "the constructor panics"},
			Needless: o.noTrailing, Observe: o.zeroWait,
			Set: func(v int) { tr.ZeroWait = ZeroWait(v) },
		},
		{
			Order: []int{int(Serial), int(Parallel)},
			Name:  "Overlap", Declared: int(tr.Overlap),
			Values: []string{"Serial", "Parallel", "SerialReceiver"},
			Means: []string{
				"one callback at a time", "callbacks do not wait for each other",
				"one at a time, on the goroutine that receives events",
			},
			Needless: o.noTrailing, Observe: o.overlap,
			Set: func(v int) { tr.Overlap = Overlap(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "BothSingle", Declared: int(tr.BothSingle),
			Values:   []string{"BothOnce", "BothTwice"},
			Means:    []string{"a burst of one event fires once", "it fires on both edges"},
			Needless: func() bool { return !slices.Contains(tr.Edges, LeadingAndTrailing) },
			Observe:  o.bothSingle,
			Set:      func(v int) { tr.BothSingle = BothSingle(v) },
		},
	}
}

// optional are the choices that nobody need declare.
func (o observer) optional() []suite.Choice {
	t := o.traits
	return []suite.Choice{
		{
			Order: suite.Ranked(3),
			Name:  "MaxWait", Declared: int(t.MaxWait),
			Values: []string{"MaxWaitFromFirst", "MaxWaitFromFire", "MaxWaitOnCall"},
			Means: []string{
				"the bound counts from the first pending event", "the bound counts from the previous fire",
				"only an event after the bound fires, not a timer",
			},
			Observe: o.maxWait, Shown: o.shown("MaxWait"),
			Set: func(v int) { t.MaxWait = MaxWait(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "AfterFlush", Declared: int(t.AfterFlush), Values: []string{"FlushEndsBurst", "FlushKeepsBurst"},
			Means:   []string{"an event after a flush begins a burst", "the burst goes on"},
			Observe: o.afterFlush, Set: func(v int) { t.AfterFlush = AfterFlush(v) },
		},
		{
			Name: "Full", Declared: int(t.Full), Values: []string{"FullFires", "FullMakesRoom"},
			Means:   []string{"a burst of k events fires at once", "it fires when another event comes"},
			Observe: o.full, Shown: o.shown("Full"), Set: func(v int) { t.Full = Full(v) },
		},
		{
			Order: []int{0, int(NoBarrier)},
			Name:  "StopBarrier", Declared: int(t.StopBarrier),
			Values:  []string{"NoBarrier"},
			Means:   []string{"due callbacks may start after Stop"},
			Observe: o.stopBarrier,
			Set:     func(v int) { t.StopBarrier = CancelBarrier(v) },
		},
		{
			Order: []int{int(CloseFires), int(CloseDrops)},
			Name:  "CloseFlush", Declared: int(t.CloseFlush),
			Values: []string{"CloseFires", "CloseAtDeadline", "CloseDrops"},
			Means: []string{"pending events fire at the end of the input", "they fire at their deadline", "they " +
				"are dropped"},
			Observe: o.closeFlush,
			Set:     func(v int) { t.CloseFlush = CloseFlush(v) },
		},
		{
			Order: suite.Ranked(2),
			Name:  "ClockBack", Declared: int(t.ClockBack), Values: []string{"BackBounded", "BackStands"},
			Means: []string{
				"setting the clock back delays pending events by one wait at most",
				"nothing fires until an injected clock that was set back is where it was",
			},
			Observe: o.clockBack, Apart: true,
			Set: func(v int) { t.ClockBack = ClockBack(v) },
		},
		{
			Name: "PanicPolicy", Declared: int(t.PanicPolicy), Values: []string{"PanicPropagates", "PanicRecovered"},
			Means:   []string{"a callback's panic propagates on its goroutine", "a callback's panic is recovered"},
			Observe: o.panicPolicy, Apart: true, Shown: o.shown("PanicPolicy"),
			Set: func(v int) { t.PanicPolicy = PanicPolicy(v) },
		},
	}
}
