package throttletest

import (
	"fmt"
	"math"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// fromNothing finds an emission with a payload that no event has brought, or not as often.
func (x *exam) fromNothing() *suite.Violation {
	if x.payload == NoPayload {
		return nil
	}
	each := 1
	if x.twice() {
		each = 2
	}
	for i, f := range x.Fires {
		brought, emissions := 0, 0
		for _, d := range x.Done {
			if (d.Op.Counts() || d.Op == verb.Fault) && d.N == f.Value && d.Began.Seq < f.Began.Seq {
				brought += each
			}
		}
		for _, before := range x.Fires[:i+1] {
			if before.Value == f.Value {
				emissions++
			}
		}
		if emissions <= brought {
			continue
		}
		because, what := "no event had that payload", "payload"
		if brought > 0 {
			because, what = fmt.Sprintf("it was emitted %d times for %d events", emissions-1, brought/each), "event"
		}
		return x.broken(f.Began.At, because, "emitted %s %d at %s", what, f.Value, f.Began.At)
	}
	return nil
}

// stopHolds is TH-STOP: after Stop has returned nothing is emitted until another event
// comes, unless Stop met the end of the interval, or a callback that ran: whoever runs it may have
// made up its mind to go on with what had come meanwhile.
func (x *exam) stopHolds() *suite.Violation {
	for i, d := range x.Done {
		if d.Op != verb.Stop || d.Ended.Seq == 0 {
			continue
		}
		until := math.MaxInt
		if next := slices.IndexFunc(x.Done[i+1:], brings); next >= 0 {
			until = x.Done[i+1+next].Began.Seq
		}
		for _, f := range x.Fires {
			due := d.Racing && f.Began.At == d.Began.At
			excused := due && x.traits.StopBarrier == NoBarrier ||
				x.Schedule.Config.Busy > 0 && f.Began.At <= x.runsUntil(d.Began.At)
			if f.Began.Seq > d.Ended.Seq && f.Began.Seq < until && !excused {
				because := edge.Text("stop had returned at %s, and drops what is pending", d.Ended.At)
				if due {
					because += "; if your documentation lets due events still be emitted then, declare " +
						"StopBarrier: NoBarrier"
				}
				v := x.broken(f.Began.At, because, "%s at %s, after stop", x.terms().Event(f.Value), f.Began.At)
				v.Chance = due && x.Order == inside.OrderSampled // it may have been decided before
				return v
			}
		}
	}
	return nil
}

// brings reports whether a step brings an event.
func brings(d conformance.Done) bool { return d.Op.Counts() }

// flushed is TH-FLUSH. Whether a flush ends the interval, begins another or leaves it as it is,
// is a choice, and lodash's throttle makes still another, so that the model is in doubt when another event
// comes unless it is declared. What is certain then has bounds.
func (x *exam) flushed() *suite.Violation {
	if x.Schedule.Config.Busy > 0 {
		return x.flushedBusy()
	}
	in := x.Schedule.Config.Inside
	open := in != "" && in != verb.Call || x.Reentered() != nil
	if v := x.difference().Breaks("TH-FLUSH"); v != nil || open || x.twice() {
		return v
	}
	return x.bounded().Violation
}

// cancelCloses is TH-CTX: a cancel closes the output.
func (x *exam) cancelCloses() *suite.Violation {
	if readerGone(x.Schedule) {
		return x.abandoned()
	}
	if v := x.breaksFor("TH-CTX"); v != nil {
		return v
	}
	if last := x.ended(verb.Cancel); last != nil && !last.OK {
		return suite.Broken(last.At, "", "the output was still open after the context was cancelled at %s",
			timeline.Duration(last.At))
	}
	return nil
}

// breaksFor finds what breaks a rule about the end of a stream, of any key if there are keys.
func (x *exam) breaksFor(rule string) *suite.Violation {
	switch {
	case !edge.HasKeys(x.Schedule):
		return x.difference().Breaks(rule)
	case x.payload == NoPayload:
		return nil // nobody can tell for which key a callback runs
	}
	return x.ofKeys(func(own *exam) *suite.Violation { return own.difference().Breaks(rule) })
}

// endCloses is TH-CLOSE: the end of the input closes the output.
func (x *exam) endCloses() *suite.Violation {
	if v := x.breaksFor("TH-CLOSE"); v != nil {
		return v
	}
	last := x.ended(verb.Close)
	switch {
	case last == nil:
	case last.OK && len(x.Fires) > 0 && x.Fires[len(x.Fires)-1].Began.At > last.At:
		f := x.Fires[len(x.Fires)-1]
		return x.broken(f.Began.At, edge.Text("the output was closed when the input had ended at %s", last.At),
			"%s at %s, after the output was closed", x.terms().Event(f.Value), f.Began.At)
	case !x.Closed:
		return suite.Broken(last.At, "", "the output was never closed after the input ended at %s",
			timeline.Duration(last.At))
	case !last.OK && x.edges == Leading:
		return suite.Broken(last.At, "nothing is pending on the leading edge",
			"the output was still open after the input ended at %s", timeline.Duration(last.At))
	}
	return nil
}

// ended returns the last step if it is of that operation and the run came to its end.
func (x *exam) ended(op conformance.Op) *conformance.Done {
	if len(x.Done) == 0 || x.unfinished() || x.Done[len(x.Done)-1].Op != op {
		return nil
	}
	return &x.Done[len(x.Done)-1]
}

// reset judges by the model, and finds more emissions than may pass in an interval that the first one after the last
// reset opened. Which of those before it Reset forgets is open, and none of them lets more pass.
func (x *exam) reset() *suite.Violation {
	v, k := x.difference().Breaks("TH-RESET"), x.Schedule.Config.K
	if v != nil || k < 2 {
		return v
	}
	for i := range slices.Backward(x.Done) {
		if x.Done[i].Op == verb.Reset {
			since := x.since(&x.Done[i])
			return x.spaced(since[:min(len(since), k+1)], k)
		}
	}
	return nil
}

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
	return edge.OfKeys(x.Recording, func(own *suite.Recording) *suite.Violation {
		return judge(&exam{Recording: own, traits: x.traits, edges: x.edges, payload: x.payload})
	}, append(shared, verb.Cancel)...) // of the context of all
}

// busyBeside judges the emissions of one key among all, whose callbacks take time. A throttle may
// run the callbacks of all keys one after the other: what one of another key has held up comes
// later than it was decided.
func (x *exam) busyBeside(all []conformance.Fire) *suite.Violation {
	heldUp := func(f conformance.Fire) bool {
		return slices.ContainsFunc(all, func(g conformance.Fire) bool {
			return g.Began.Seq < f.Began.Seq && g.Ended.Seq != 0 && g.Ended.At == f.Began.At
		})
	}
	if !slices.ContainsFunc(x.Fires, heldUp) {
		if v := x.spaced(x.Fires, 1); v != nil {
			return v
		}
		if _, v := x.repeated(); v != nil {
			return v
		}
	}
	return x.lost()
}
