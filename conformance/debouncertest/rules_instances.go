package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// keyRules are those of keys and instances, each of which is a debouncer of its own.
func keyRules() []rule {
	const untold = "declared: NoPayload, so the key of a callback is unknown"
	beyond := append(slices.Clone(laws), "DB-CANCEL", "DB-REUSE", "DB-FLUSH", "DB-FLUSH0", "DB-STOP", "DB-OVERLAP")
	return []rule{
		{
			Rule: extended("DB-KEY", "Each key MUST have a wait of its own."),
			Ops:  []conformance.Op{opKeys},
			Unless: func(_ *suite.Suite, tr *Traits) string {
				return suite.If(tr.Payload == NoPayload, untold)
			},
			About:  suite.InFamily(suite.Keys),
			Beyond: beyond,
			Check:  (*exam).eachKey,
		},
		{
			Rule:     core("X-ISO", "Instances MUST NOT share state."),
			Declared: []string{"Payload"},
			Unless: func(s *suite.Suite, tr *Traits) string {
				return suite.If(s.Accepts(opKeys) && tr.Payload == NoPayload, untold)
			},
			About: suite.InFamily(suite.Instances),
			Check: (*exam).eachKey,
			Owing: func(x *exam, again suite.Rerun) bool { return edge.Beside(x.Recording, again) },
		},
	}
}

// eachKey judges what each key, or each instance, did for itself. Flush and Cancel may be for all keys, or for none
// that has a name.
func (x *exam) eachKey() *suite.Violation {
	if x.Refused != "" || x.Stuck || x.Schedule.Config.Inside != "" {
		return nil
	}
	return edge.AllOrNone(func(shared ...conformance.Op) *suite.Violation {
		return x.ofKeys((*exam).alone, shared...)
	}, verb.Flush, verb.Cancel)
}

// ofKeys judges what each key did for itself, until something is found. Operations that are shared are for each. An
// implementation may run the callbacks of all keys one after the other: then those of others hold up a fire as the
// key's own do.
func (x *exam) ofKeys(judge func(own *exam) *suite.Violation, shared ...conformance.Op) *suite.Violation {
	return edge.OfKeys(x.Recording, func(own *suite.Recording) *suite.Violation {
		one := &exam{Recording: own, traits: x.traits}
		if x.Schedule.Config.Busy > 0 {
			one.others = slices.DeleteFunc(slices.Clone(x.Fires), func(f conformance.Fire) bool {
				return slices.ContainsFunc(own.Fires, func(o conformance.Fire) bool { return o.Began == f.Began })
			})
		}
		return judge(one)
	}, shared...)
}

// alone judges by the laws of a debouncer that has no other beside it.
func (x *exam) alone() *suite.Violation {
	busy, how := x.Schedule.Config.Busy > 0, x.traits.Overlap
	if busy && (how == Serial || how == SerialReceiver) {
		if v := x.overlap(); v != nil {
			return v
		}
	}
	if busy && how != Serial && how != Parallel {
		return nil // undeclared, or nobody can tell which keys have a receiver each
	}
	return x.broken()
}
