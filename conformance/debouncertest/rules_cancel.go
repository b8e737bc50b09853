package debouncertest

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// cancelRules are those of Cancel.
func cancelRules() []rule {
	ops, about := []conformance.Op{verb.Cancel}, suite.Has(verb.Cancel)
	return []rule{
		{
			Rule:   core("DB-CANCEL", "Cancel MUST discard the pending event: nothing fires for it."),
			Ops:    ops,
			Absent: noTrailing,
			About:  about,
			Sees:   (*exam).ofTrailing,
			Check:  breaks("DB-CANCEL"),
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
			Check:    breaks("DB-CANCELBAR"),
		},
		{
			Rule: core("DB-REUSE", "After Cancel a new event MUST start a new burst, unless Cancel is "+
				"declared final; then nothing may fire again."),
			Ops:      ops,
			Declared: []string{"AfterCancel"},
			Absent:   noTrailing,
			About:    about,
			Sees:     (*exam).ofTrailing,
			Check:    breaks("DB-REUSE"),
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
