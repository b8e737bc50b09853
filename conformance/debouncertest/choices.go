package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Traits are those of the spec.
func (c *contract) Traits() (declared, complete *Traits) { return &c.spec.Traits, &c.spec.Traits }

// Table lists the choices.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	o := observer{s, tr, c}
	return slices.Concat(o.needed(), o.optional())
}

// edgesMean says what each value of Edges means, made once.
var edgesMean = edge.Means("Trailing fires when the wait has passed since the newest event",
	"Leading fires at once for the first event of a burst", "LeadingAndTrailing does both", "NoEdges fires nothing")

// needed are the choices that whoever they are about declares. What callbacks may call comes before what they do with
// their time: it decides whether callbacks that take time can be tried.
func (o observer) needed() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		edge.EdgesChoice(o.Suite, "debouncertest", &tr.Edges, Trailing, edgesMean, &o.c.said,
			func(e Edges, steps string) *suite.Recording {
				return o.Settled("wait=100ms edges=" + e.String() + steps)
			}),
		edge.Choice(&tr.Payload, suite.Choice{
			Name: "Payload", Order: suite.Ranked(2), Needless: suite.Always, Observe: o.payload,
		},
			"LastPayload", "of the newest event",
			"FirstPayload", "of the burst's first",
			"NoPayload", "the callback has none",
			"AllPayloads", "of all events"),
		edge.Choice(&tr.Tie, suite.Choice{Name: "Tie", Needless: o.noTrailing, Observe: o.tie},
			"FireFirst", "an event at the deadline begins a new burst",
			"ResetFirst", "it joins the burst, and the deadline moves",
			"EitherTie", "either, by chance"),
		edge.Choice(&tr.StaleFire, suite.Choice{
			Name: "StaleFire", Order: suite.Ranked(2), Needless: o.noTrailing, Observe: o.staleFire,
		},
			"StaleForbidden", "a call that has returned supersedes what has not started, unless that was just about to",
			"StaleAllowed", "an expired timer fires all the same"),
		edge.Choice(&tr.CancelBarrier, suite.Choice{
			Name: "CancelBarrier", Order: []int{int(FinishBarrier), int(CommitBarrier), int(NoBarrier)},
			Needless: o.without(verb.Cancel), Observe: o.cancelBarrier,
		},
			"NoBarrier", "due callbacks may start after Cancel",
			"CommitBarrier", "if it reports true, nothing runs for what it cancelled",
			"FinishBarrier", "nothing starts after Cancel, unless it was just about to"),
		edge.Choice(&tr.AfterCancel, suite.Choice{
			Name: "AfterCancel", Order: suite.Ranked(3), Needless: o.without(verb.Cancel), Observe: o.afterCancel,
		},
			"CancelReusable", "the next event begins a burst",
			"CancelFinal", "nothing fires again",
			"CancelKeepsBurst", "the burst goes on without the cancelled events"),
		edge.Choice(&tr.StopPending, suite.Choice{
			Name: "StopPending", Needless: o.without(verb.Stop), Observe: o.stopPending,
		},
			"StopDrops", "pending events are discarded",
			"StopFlushes", "pending events fire"),
		edge.Choice(&tr.Reentrancy, suite.Choice{
			Name: "Reentrancy", Order: suite.Ranked(2), Observe: o.reentrancy,
		},
			"ReentrancyAllowed", "the callback may call the debouncer",
			"ReentrancyForbidden", "the callback must not call the debouncer"),
		edge.Choice(&tr.ZeroWait, suite.Choice{Name: "ZeroWait", Needless: o.noTrailing, Observe: o.zeroWait},
			"ZeroSync", "an event fires within its call",
			"ZeroNextTick", "it fires at its instant",
			"ZeroRefused", "the constructor panics"),
		edge.Choice(&tr.Overlap, suite.Choice{
			Name: "Overlap", Order: []int{int(Serial), int(Parallel)}, Needless: o.noTrailing, Observe: o.overlap,
		},
			"Serial", "one callback at a time",
			"Parallel", "callbacks do not wait for each other",
			"SerialReceiver", "one at a time, on the goroutine that receives events"),
		edge.Choice(&tr.BothSingle, suite.Choice{
			Name: "BothSingle", Order: suite.Ranked(2), Observe: o.bothSingle,
			Needless: func() bool { return !slices.Contains(tr.Edges, LeadingAndTrailing) },
		},
			"BothOnce", "a burst of one event fires once",
			"BothTwice", "it fires on both edges"),
	}
}

// optional are the choices that nobody need declare.
func (o observer) optional() []suite.Choice {
	tr := o.traits
	return []suite.Choice{
		edge.Choice(&tr.MaxWait, suite.Choice{
			Name: "MaxWait", Order: suite.Ranked(3), Observe: o.maxWait, Shown: o.c.said.Of("MaxWait"),
		},
			"MaxWaitFromFirst", "the bound counts from the first pending event",
			"MaxWaitFromFire", "the bound counts from the previous fire",
			"MaxWaitOnCall", "only an event after the bound fires, not a timer"),
		edge.Choice(&tr.AfterFlush, suite.Choice{
			Name: "AfterFlush", Order: suite.Ranked(2), Observe: o.afterFlush,
		},
			"FlushEndsBurst", "an event after a flush begins a burst",
			"FlushKeepsBurst", "the burst goes on"),
		edge.Choice(&tr.Full, suite.Choice{Name: "Full", Observe: o.full, Shown: o.c.said.Of("Full")},
			"FullFires", "a burst of k events fires at once",
			"FullMakesRoom", "it fires when another event comes"),
		edge.Choice(&tr.StopBarrier, suite.Choice{
			Name: "StopBarrier", Order: []int{0, int(NoBarrier)}, Observe: o.stopBarrier,
		},
			"NoBarrier", "due callbacks may start after Stop"),
		edge.Choice(&tr.CloseFlush, suite.Choice{
			Name: "CloseFlush", Order: []int{int(CloseFires), int(CloseDrops)}, Observe: o.closeFlush,
		},
			"CloseFires", "pending events fire at the end of the input",
			"CloseAtDeadline", "they fire at their deadline",
			"CloseDrops", "they are dropped"),
		edge.Choice(&tr.ClockBack, suite.Choice{
			Name: "ClockBack", Order: suite.Ranked(2), Observe: o.clockBack, Apart: true,
		},
			"BackBounded", "setting the clock back delays pending events by one wait at most",
			"BackStands", "nothing fires until an injected clock that was set back is where it was"),
		edge.PanicPolicy(&tr.PanicPolicy, &o.c.said, o.canPanic, o.panicsAs),
	}
}
