package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// flushRules are those of Flush and Pending.
func flushRules() []rule {
	return []rule{
		{
			Rule: core("DB-FLUSH", "Flush MUST fire a pending event at once and exactly once. The next event "+
				"MUST begin a new burst or continue the old one, as declared; if undeclared, either."),
			Ops:    []conformance.Op{verb.Flush},
			Absent: without(Trailing, LeadingAndTrailing),
			About:  suite.Has(verb.Flush),
			Sees:   (*exam).ofAnyEdge,
			Check:  breaks("DB-FLUSH"),
		},
		{
			Rule: core("DB-FLUSH0", "Flush MUST NOT fire if no event is pending, nor repeat what the leading "+
				"edge fired."),
			Ops:   []conformance.Op{verb.Flush},
			About: suite.Has(verb.Flush),
			Sees:  (*exam).ofAnyEdge,
			Check: breaks("DB-FLUSH0"),
		},
		{
			Rule: core("DB-PEND", "Pending MUST be true exactly while an event has neither fired nor been discarded, "+
				"and false in the callback that fires it."),
			Ops:   []conformance.Op{verb.Pending},
			About: suite.Has(verb.Pending),
			Sees:  (*exam).ofAnyEdge,
			Check: breaks("DB-PEND"),
		},
	}
}

// flushRule is the rule about Flush that a difference at the i-th fire breaks, where an edge or a
// bound is configured; "" if a flush does not explain it.
func (x *exam) flushRule(want []edge.Fire, i int, got *conformance.Fire) string {
	missing, by := edge.Missing(want, i, got), x.newestBefore(got)
	switch {
	case missing && (want[i].Kind == edge.Flushed || x.leadsAfterFlush(want, &want[i])):
		return "DB-FLUSH"
	case got == nil || missing && got.Began.At > want[i].At:
		return ""
	case by.Op == verb.Flush && i > 0 && x.Fires[i-1].Began.Seq > by.Began.Seq:
		return "DB-FLUSH" // it fires once more
	case by.Op == verb.Flush:
		return "DB-FLUSH0"
	case by.Op == verb.Call && x.traits.AfterFlush == FlushKeepsBurst && !missing &&
		x.soonAfterFlush(want, i, got.Began.At):
		return "DB-FLUSH"
	}
	return ""
}

// newestBefore is what was done last before a fire, at its instant.
func (x *exam) newestBefore(f *conformance.Fire) (newest conformance.Done) {
	for _, d := range x.Done {
		if f != nil && d.Began.At == f.Began.At && d.Began.Seq < f.Began.Seq && d.Op != verb.Pending {
			newest = d
		}
	}
	return newest
}

// soonAfterFlush reports whether the last fire before the i-th is that of a flush, and an instant
// less than the wait after it.
func (x *exam) soonAfterFlush(want []edge.Fire, i int, at time.Duration) bool {
	return i > 0 && want[i-1].Kind == edge.Flushed && at-want[i-1].At < x.Schedule.Config.Wait
}

// leadsAfterFlush reports whether w leads because a flush has ended the burst, as is declared.
func (x *exam) leadsAfterFlush(want []edge.Fire, w *edge.Fire) bool {
	return w.Kind == edge.Leading && x.traits.AfterFlush == FlushEndsBurst &&
		x.soonAfterFlush(want, slices.Index(want, *w), w.At)
}
