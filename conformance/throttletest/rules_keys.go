package throttletest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// beyondKeys are the rules about a single throttle that one for each key may break in the same way.
var beyondKeys = append(slices.Clone(alone), "TH-RESET", "TH-BUSY", "TH-RATE", "TH-MAXIMAL")

// eachKey judges what each key, or each instance, did for itself. What a Stop does, or the end of a
// stream, rules of their own judge. Flush may be for all keys, or for none that has a name.
func (x *exam) eachKey() *suite.Violation {
	if x.has(verb.Stop) || x.has(verb.Close) || x.has(verb.Cancel) {
		return nil
	}
	judge := func(own *exam) *suite.Violation {
		switch {
		case x.Schedule.Config.Busy > 0:
			return own.busyBeside(x.Fires)
		case own.has(verb.Flush):
			return own.flushed()
		}
		return own.difference().Violation
	}
	return edge.AllOrNone(func(shared ...conformance.Op) *suite.Violation { return x.ofKeys(judge, shared...) },
		verb.Flush)
}

// ofKeys judges what each key did for itself. Operations that are shared are for each key.
func (x *exam) ofKeys(judge func(own *exam) *suite.Violation, shared ...conformance.Op) *suite.Violation {
	for key := 1; key <= edge.LastKey(x.Schedule); key++ {
		rec := edge.OfKey(x.Recording, key, append(shared, verb.Cancel)...) // of the context of all
		own := &exam{Recording: rec, traits: x.traits, edges: x.edges, payload: x.payload}
		if v := judge(own); v != nil {
			return &suite.Violation{
				Headline: fmt.Sprintf("key %d: %s", key, v.Headline),
				Because:  v.Because,
				At:       v.At,
				Lanes:    v.Lanes,
			}
		}
	}
	return nil
}

// busyBeside judges the emissions of one key among all, whose callbacks take time. A throttle may
// run the callbacks of all keys one after the other: what one of another key has held up comes
// later than it was decided.
func (x *exam) busyBeside(all []conformance.Fire) *suite.Violation {
	if x.unfinished() {
		return nil
	}
	heldUp := func(f conformance.Fire) bool {
		return slices.ContainsFunc(all, func(g conformance.Fire) bool {
			return g.Began.Seq < f.Began.Seq && g.Ended.Seq != 0 && g.Ended.At == f.Began.At
		})
	}
	if !slices.ContainsFunc(x.Fires, heldUp) {
		if v := x.busySpace(); v != nil {
			return v
		}
	}
	return x.busyLast()
}
