package debouncertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// operationRules are those of Cancel, Flush and Pending.
func operationRules() []rule {
	ops, about := []conformance.Op{verb.Cancel}, suite.Has(verb.Cancel)
	return []rule{
		{
			Rule:   core("DB-CANCEL", "Cancel MUST discard the pending event: nothing fires for it."),
			Ops:    ops,
			Absent: noTrailing,
			About:  about,
			Sees:   (*exam).ofTrailing,
		},
		{
			Rule: extended("DB-CANCELBAR", "Once Cancel has returned, a callback MUST NOT start: with "+
				"FinishBarrier for any earlier event, with CommitBarrier for one that Cancel reported as "+
				"cancelled. With CommitBarrier, Cancel MUST NOT report a fired event as cancelled."),
			Ops:      ops,
			Declared: []string{"CancelBarrier"},
			Absent:   noTrailing,
			Unless:   promisesNothing,
			About:    about,
			Sees:     (*exam).ofAnyEdge,
		},
		{
			Rule: core("DB-REUSE", "After Cancel a new event MUST start a new burst, unless Cancel is "+
				"declared final; then nothing may fire again."),
			Ops:      ops,
			Declared: []string{"AfterCancel"},
			Absent:   noTrailing,
			About:    about,
			Sees:     (*exam).ofTrailing,
		},
		{
			Rule: core("DB-FLUSH", "Flush MUST fire a pending event at once and exactly once. The next event "+
				"MUST begin a new burst or continue the old one, as declared; if undeclared, either."),
			Ops:    []conformance.Op{verb.Flush},
			Absent: without(Trailing, LeadingAndTrailing),
			About:  suite.Has(verb.Flush),
			Sees:   (*exam).ofAnyEdge,
		},
		{
			Rule: core("DB-FLUSH0", "Flush MUST NOT fire if no event is pending, nor repeat what the leading "+
				"edge fired."),
			Ops:   []conformance.Op{verb.Flush},
			About: suite.Has(verb.Flush),
			Sees:  (*exam).ofAnyEdge,
		},
		{
			Rule: core("DB-PEND", "Pending MUST be true exactly while an event has neither fired nor been discarded, "+
				"and false in the callback that fires it."),
			Ops:   []conformance.Op{verb.Pending},
			About: suite.Has(verb.Pending),
			Sees:  (*exam).ofAnyEdge,
		},
	}
}

// promisesNothing is why the return of Cancel does not exclude callbacks.
func promisesNothing(s *suite.Suite, tr *Traits) string {
	switch {
	case tr.CancelBarrier == NoBarrier:
		return "declared: NoBarrier"
	case tr.CancelBarrier == CommitBarrier && !s.Accepts(opReports):
		return "declared: CommitBarrier, but Cancel reports nothing; set CancelReports"
	}
	return ""
}
