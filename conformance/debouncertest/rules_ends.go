package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// stopRule is that of Stop.
func stopRule() rule {
	return rule{
		Rule: core("DB-STOP", "After Stop nothing may fire; Stop MUST be idempotent, "+
			"and a call after it MUST be harmless."),
		Ops:      []conformance.Op{verb.Stop},
		Declared: []string{"StopPending"},
		About:    suite.Has(verb.Stop),
		Sees:     (*exam).ofAnyEdge,
		Check:    (*exam).stop,
	}
}

func (x *exam) stop() *suite.Violation {
	i := slices.IndexFunc(x.Done, func(d conformance.Done) bool { return d.Op == verb.Stop })
	if i < 0 || x.Refused != "" {
		return nil
	}
	if v := x.harmed(&x.Done[i], x.Done[i+1:]); v != nil {
		return v
	}
	return breaks("DB-STOP")(x)
}

// harmed finds an operation that panicked or did not return because the debouncer had been
// stopped.
func (x *exam) harmed(stop *conformance.Done, after []conformance.Done) *suite.Violation {
	because := edge.Text("stop at %s had ended the debouncer", stop.At)
	for _, d := range after {
		switch {
		case d.Inside:
		case d.Panic != "":
			return x.told(d.At, because, "%s after stop panicked: %s", d.Op, d.Panic)
		case d.Ended.Seq == 0 && x.Schedule.Config.Inside == "":
			return x.told(d.At, because, "%s after stop never returned", d.Op)
		}
	}
	return nil
}

// closeRule is that of the end of the input.
func closeRule() rule {
	return rule{
		Rule: extended("DB-CLOSE", "When the input ends, pending events MUST fire at once, at their deadline "+
			"or not at all, as declared, and nothing more."),
		Ops:      []conformance.Op{verb.Close},
		Declared: []string{"CloseFlush"},
		About:    suite.Steps(verb.Close),
		Beyond:   laws,
		Check:    (*exam).close,
	}
}

// close judges the end of the input, of each key if there are any.
func (x *exam) close() *suite.Violation {
	switch {
	case !edge.HasKeys(x.Schedule):
		return breaks("DB-CLOSE")(x)
	case x.traits.Payload == NoPayload:
		return nil // nobody can tell for which key a callback runs
	}
	return x.ofKeys(breaks("DB-CLOSE"))
}
