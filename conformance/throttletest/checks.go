package throttletest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// emitted makes a lane with one emission.
func emitted(f conformance.Fire) []suite.Lane {
	return []suite.Lane{{Name: "got", Marks: []suite.Mark{{At: f.Began.At, Text: suite.FireMark(f.Value)}}}}
}

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
				v.Lanes = emitted(f)
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
// comes unless it is declared. What is certain then: only a flush emits sooner than the interval after an
// emission, or lets the next one come sooner after what it has emitted unless that opens an interval, and
// each event is emitted within an interval if none follows it.
func (x *exam) flushed() *suite.Violation {
	if x.Schedule.Config.Busy > 0 {
		return x.flushedBusy()
	}
	if v := x.difference().Breaks("TH-FLUSH"); v != nil || x.unfinished() || x.twice() {
		return v
	}
	in := x.Schedule.Config.Inside
	if edge.Reentered(x.Recording) != nil || in != "" && in != verb.Call {
		return nil
	}
	interval := x.Schedule.Config.Interval
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		opens := x.traits.AfterFlush == FlushOpensInterval
		if f.Began.At-before.Began.At >= x.shortest() || x.byFlush(f) || x.byFlush(before) && !opens {
			continue
		}
		why := "no flush emitted either of them, and the interval is"
		if x.byFlush(before) {
			why = "by a flush or not, and opened an interval of"
		}
		why = edge.Text("the emission before it came at %s, %s %s", before.Began.At, why, interval)
		return x.tooSoon(f, before, why)
	}
	if v := x.heldUpByFlush(); v != nil {
		return v
	}
	if last := x.lostLast(); last != nil {
		return x.broken(last.Began.At, edge.Text("nothing came after it, and the interval is %s", interval),
			"call %d at %s was not emitted by %s", last.N, last.Began.At, x.End)
	}
	return nil
}

// heldUpByFlush finds an event that the leading edge did not emit at once, although all that came
// before it had been emitted, more than an interval ago, and since then a flush had nothing to do.
func (x *exam) heldUpByFlush() *suite.Violation {
	interval := x.Schedule.Config.Interval
	if x.edges != LeadingAndTrailing || x.payload == NoPayload || x.Schedule.RacingSteps() > 0 ||
		x.has(verb.Wall) || x.has(verb.Reset) {
		return nil
	}
	for i, d := range x.Done {
		free, from := time.Duration(-1), -1 // when the interval was over, and where the last emission is in the trace
		for _, f := range x.Fires {
			if f.Began.Seq < d.Began.Seq {
				free, from = f.Began.At+interval+1, f.Began.Seq
			}
		}
		calls, flushes := 0, 0
		for _, o := range x.Done[:i] {
			switch {
			case o.Began.Seq < from:
			case brings(o):
				calls++
			case o.Op == verb.Flush:
				flushes++
			}
		}
		if d.Op != verb.Call || d.Inside || d.At <= free || calls > 0 || flushes == 0 || x.fired(d.Step) {
			continue
		}
		return x.broken(d.At, "no interval was running any more, and the flush before it had nothing to emit",
			"call %d was not emitted at %s", d.N, d.At)
	}
	return nil
}

// lostLast returns the newest event if the trailing edge should have emitted it and has
// not. Where emissions have no payload, any that begins after the event counts as its own.
func (x *exam) lostLast() *conformance.Done {
	if x.edges&Trailing == 0 {
		return nil
	}
	for i := len(x.Done) - 1; i >= 0; i-- {
		last := &x.Done[i]
		if last.Op != verb.Call {
			continue
		}
		if slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			if x.traits.Payload == LastPayload {
				return f.Value == last.N
			}
			return f.Began.Seq > last.Began.Seq
		}) {
			return nil
		}
		return last
	}
	return nil
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
		v := x.broken(f.Began.At, edge.Text("the output was closed when the input had ended at %s", last.At),
			"%s at %s, after the output was closed", x.terms().Event(f.Value), f.Began.At)
		v.Lanes = emitted(f)
		return v
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
	if v := x.difference().Breaks("TH-RESET"); v != nil {
		return v
	}
	reset := -1
	for _, d := range x.Done {
		if d.Op == verb.Reset {
			reset = d.Began.Seq
		}
	}
	k, first, n := x.Schedule.Config.K, time.Duration(0), 0
	if k < 2 || reset < 0 || x.unfinished() {
		return nil
	}
	for _, f := range x.Fires {
		switch {
		case f.Began.Seq < reset:
			continue
		case n == 0:
			first = f.Began.At
		case f.Began.At-first >= x.shortest():
			return nil
		}
		if n++; n > k {
			return x.broken(f.Began.At,
				edge.Text("the first emission after the reset came at %s, and %d may pass in %s",
					first, k, x.Schedule.Config.Interval),
				"emitted at %s as number %d since the reset", f.Began.At, n)
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
