package throttletest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// emitted makes a lane with one emission.
func emitted(f conformance.Fire) []suite.Lane {
	return []suite.Lane{{Name: "got", Marks: []suite.Mark{{At: f.Began.At, Text: suite.FireMark(f.Value)}}}}
}

// stopHolds is TH-STOP: after Stop has returned nothing is emitted until another event
// comes, unless Stop met the end of the interval.
func (x *exam) stopHolds() *suite.Violation {
	for i, d := range x.Done {
		if d.Op != conformance.OpStop || d.Ended.Seq == 0 || d.Inside {
			continue
		}
		until := math.MaxInt
		if next := slices.IndexFunc(x.Done[i+1:], brings); next >= 0 {
			until = x.Done[i+1+next].Began.Seq
		}
		for _, f := range x.Fires {
			due := d.Racing && f.Began.At == d.Began.At
			if f.Began.Seq > d.Ended.Seq && f.Began.Seq < until && !due {
				because := "stop had returned at " + timeline.Duration(d.Ended.At) + ", and drops what is pending"
				v := suite.Broken(f.Began.At, because,
					"emitted %d at %s, after stop", f.Value, timeline.Duration(f.Began.At))
				v.Lanes = emitted(f)
				return v
			}
		}
	}
	return nil
}

// brings reports whether a step brings an event.
func brings(d conformance.Done) bool { return d.Op.Counts() }

// flushed is TH-FLUSH. Whether a flush ends the interval, begins another or leaves it as it is,
// is a choice, so that the model is in doubt when another event comes. What is certain then: only
// a flush emits sooner than the interval after an emission, or lets the next one come sooner
// after what it has emitted, and each event is emitted within an interval if none follows it.
func (x *exam) flushed() *suite.Violation {
	if v := x.difference().Breaks("TH-FLUSH"); v != nil || x.unfinished() || x.twice() {
		return v
	}
	byFlush := func(f conformance.Fire) bool {
		return slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
			return s.Op == conformance.OpFlush && s.At == f.Began.At
		})
	}
	interval := timeline.Duration(x.Schedule.Config.Interval)
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		if f.Began.At-before.Began.At >= x.shortest() || byFlush(f) || byFlush(before) {
			continue
		}
		v := suite.Broken(f.Began.At, "the emission before it came at "+timeline.Duration(before.Began.At)+
			", no flush emitted either of them, and the interval is "+interval,
			"emitted at %s, want %s at the earliest",
			timeline.Duration(f.Began.At), timeline.Duration(before.Began.At+x.Schedule.Config.Interval))
		v.Lanes = []suite.Lane{x.Got()}
		return v
	}
	if last := x.lostLast(); last != nil {
		v := suite.Broken(last.Began.At, "nothing came after it, and the interval is "+interval,
			"call %d at %s was not emitted by %s", last.N, timeline.Duration(last.Began.At), timeline.Duration(x.End))
		v.Lanes = []suite.Lane{x.Got()}
		return v
	}
	return nil
}

// certain judges what must hold in whatever order an event or a reset and the end of an
// interval come: emissions are the interval apart, none comes twice or after a newer one,
// and the last event is emitted on the trailing edge.
func (x *exam) certain() *edge.Finding {
	if x.unfinished() || x.twice() {
		return &edge.Finding{}
	}
	order, reset := x.order()
	inRow := x.rows() // each call of a row may have a goroutine of its own, so that they come in any order
	say := func(rule string, at time.Duration, because, headline string, args ...any) *edge.Finding {
		v := suite.Broken(at, because, headline, args...)
		got := suite.Lane{Name: "got"}
		got.Marks = x.Got().Marks
		v.Lanes = []suite.Lane{got}
		return &edge.Finding{Rule: rule, Violation: v}
	}
	interval := x.Schedule.Config.Interval
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		at := timeline.Duration(f.Began.At)
		if f.Began.At-before.Began.At < x.shortest() && (before.Began.Seq > reset || f.Began.Seq < reset) {
			rule := "TH-SPACE"
			if reset > 0 {
				rule = "TH-RESET"
			}
			opened := timeline.Duration(before.Began.At)
			return say(rule, f.Began.At,
				"the emission at "+opened+" opened an interval of "+timeline.Duration(interval),
				"emitted at %s, want %s at the earliest", at, timeline.Duration(before.Began.At+interval))
		}
		if x.traits.Payload == LastPayload && !inRow && order[f.Value] <= order[before.Value] {
			rule := "TH-PAY"
			if f.Value == before.Value {
				rule = "TH-NOSPON"
			}
			because := fmt.Sprintf("%d had been emitted at %s", before.Value, timeline.Duration(before.Began.At))
			return say(rule, f.Began.At, because, "emitted %d at %s, want a newer event", f.Value, at)
		}
	}
	if last := x.lostLast(); last != nil && !inRow {
		return say("TH-LAST", last.Began.At, "nothing came after it", "call %d at %s was not emitted by %s",
			last.N, timeline.Duration(last.Began.At), timeline.Duration(x.End))
	}
	return &edge.Finding{}
}

// order returns the places in the trace at which each event and the reset began.
func (x *exam) order() (events map[int]int, reset int) {
	events = map[int]int{}
	for _, d := range x.Done {
		switch d.Op {
		case conformance.OpCall:
			events[d.N] = d.Began.Seq
		case conformance.OpReset:
			reset = d.Began.Seq
		}
	}
	return events, reset
}

// rows reports whether several steps of one instant race.
func (x *exam) rows() bool {
	for i := range x.Schedule.Steps {
		if row(x.Schedule.Steps[i:]) > 1 {
			return true
		}
	}
	return false
}

// lostLast returns the newest event if the trailing edge should have emitted it and has
// not. Where emissions have no payload, any that begins after the event counts as its own.
func (x *exam) lostLast() *conformance.Done {
	if x.edges&Trailing == 0 {
		return nil
	}
	for i := len(x.Done) - 1; i >= 0; i-- {
		last := &x.Done[i]
		if last.Op != conformance.OpCall {
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
	if v := x.difference().Breaks("TH-CTX"); v != nil {
		return v
	}
	if last := x.ended(conformance.OpCancel); last != nil && !last.OK {
		return suite.Broken(last.At, "", "the output was still open when the context had been cancelled at %s",
			timeline.Duration(last.At))
	}
	return nil
}

// endCloses is TH-CLOSE: the end of the input closes the output.
func (x *exam) endCloses() *suite.Violation {
	if v := x.difference().Breaks("TH-CLOSE"); v != nil {
		return v
	}
	last := x.ended(conformance.OpClose)
	switch {
	case last == nil:
	case !x.Closed:
		return suite.Broken(last.At, "", "the output was never closed after the input had ended at %s",
			timeline.Duration(last.At))
	case !last.OK && x.edges == Leading:
		return suite.Broken(last.At, "nothing waits for its time on the leading edge",
			"the output was still open when the input had ended at %s", timeline.Duration(last.At))
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

// busy judges runs whose callbacks take time. Whether the interval counts from the start
// or the end of one is a choice, and so is what becomes of a call meanwhile; this rule
// leaves both open.
func (x *exam) busy() *suite.Violation {
	if x.unfinished() {
		return nil
	}
	if v := x.busySpace(); v != nil {
		return v
	}
	if v := x.busyLead(); v != nil {
		return v
	}
	return x.busyLast()
}

// busyLast finds an event that came last and was not emitted on the trailing edge.
func (x *exam) busyLast() *suite.Violation {
	last := x.lostLast()
	if last == nil || last.Inside {
		return nil
	}
	v := suite.Broken(last.At, "nothing came after it", "call %d was not emitted by %s",
		last.N, timeline.Duration(x.End))
	if len(x.Fires) > 0 {
		v.Lanes = emitted(x.Fires[len(x.Fires)-1])
	}
	return v
}

// busySpace finds emissions that are too close, or of the same event.
func (x *exam) busySpace() *suite.Violation {
	cfg := x.Schedule.Config
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		at := timeline.Duration(f.Began.At)
		if f.Began.At-before.Began.At < x.shortest() && !x.twice() {
			because := fmt.Sprintf("the emission at %s began an interval of %s; its callback takes %s",
				timeline.Duration(before.Began.At), timeline.Duration(cfg.Interval), timeline.Duration(cfg.Busy))
			return suite.Broken(f.Began.At, because,
				"emitted at %s, want %s at the earliest", at, timeline.Duration(before.Began.At+cfg.Interval))
		}
		if f.Value == before.Value && x.traits.Payload == LastPayload && x.traits.BothSingle != BothTwice {
			return suite.Broken(f.Began.At, "", "emitted %d again at %s", f.Value, at)
		}
	}
	return nil
}

// busyLead finds an event that the leading edge did not emit at once, although within an
// interval before it no callback began or ran.
func (x *exam) busyLead() *suite.Violation {
	interval, steps := x.Schedule.Config.Interval, x.Schedule.Steps
	if x.edges&Leading == 0 || x.payload == NoPayload {
		return nil
	}
	for _, s := range steps {
		since := s.At - interval
		idle := !slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			return f.Began.At < s.At && (f.Ended.Seq == 0 || f.Ended.At >= since)
		})
		first := !slices.ContainsFunc(steps, func(o conformance.Step) bool { return o.N < s.N && o.At >= since })
		if s.Op == conformance.OpCall && idle && first && !x.fired(s) {
			return suite.Broken(s.At, "no interval was running, and no callback",
				"call %d was not emitted at %s", s.N, timeline.Duration(s.At))
		}
	}
	return nil
}

// anchored judges from where the intervals of callbacks count that take time.
func (x *exam) anchored() *suite.Violation {
	if x.unfinished() {
		return nil
	}
	for _, s := range x.Schedule.Steps {
		var last *conformance.Fire // that began before the event
		now := false
		for i := range x.Fires {
			if f := &x.Fires[i]; f.Began.At < s.At {
				last = f
			} else if f.Began.At == s.At {
				now = true
			}
		}
		if last == nil || last.Ended.Seq == 0 || last.Ended.At >= s.At {
			continue // nobody can tell whether a callback that ends at this instant is over
		}
		start, end := timeline.Duration(last.Began.At), timeline.Duration(last.Ended.At)
		switch since := s.At - x.Schedule.Config.Interval; {
		case x.traits.Anchor == AnchorStart && !now && last.Began.At+1 < since:
			return suite.Broken(s.At, "the callback before it ran from "+start+" to "+end+", and "+
				"AnchorStart is declared",
				"call %d was not emitted at %s", s.N, timeline.Duration(s.At))
		case x.traits.Anchor == AnchorEnd && now && last.Ended.At-1 > since:
			return suite.Broken(s.At, "the callback before it ran from "+start+" to "+end+", and AnchorEnd is declared",
				"emitted at %s, want no emission", timeline.Duration(s.At))
		}
	}
	return nil
}

// fired reports whether an event was emitted at once.
func (x *exam) fired(s conformance.Step) bool {
	return slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool { return f.Value == s.N && f.Began.At == s.At })
}

// heldUp judges runs in which the clock is set back, which may hold up for one interval at
// most the first event after it, and a steady flow of events, a tenth of an interval
// apart.
func (x *exam) heldUp() *suite.Violation {
	if x.unfinished() {
		return nil
	}
	interval, steps := x.Schedule.Config.Interval, x.Schedule.Steps
	steady := len(steps) > 3
	var set conformance.Step
	for _, s := range steps {
		if s.Op == conformance.OpWall {
			set = s
			continue
		}
		if set.Op == "" {
			continue
		}
		by := s.At + interval + suite.Wait/10
		if x.edges&Trailing != 0 {
			by = s.At + 2*interval
		} else if !steady {
			return nil
		}
		if steady && steps[len(steps)-1].At < by {
			return nil
		}
		inTime := func(f conformance.Fire) bool { return f.Began.At >= s.At && f.Began.At <= by }
		if !slices.ContainsFunc(x.Fires, inTime) {
			because := fmt.Sprintf("the clock was set back by %s at %s, and that may hold events up for %s at most",
				timeline.Duration(-set.D), timeline.Duration(set.At), timeline.Duration(interval))
			return suite.Broken(by, because,
				"nothing was emitted from %s to %s", timeline.Duration(s.At), timeline.Duration(by))
		}
		if !steady {
			return nil
		}
	}
	return nil
}

// stands judges runs in which the clock is set back by the latest instant that the clock
// has shown.
func (x *exam) stands() *suite.Violation {
	if x.unfinished() {
		return nil
	}
	interval := x.Schedule.Config.Interval
	shown := func(at time.Duration) time.Duration { // what the wall clock showed at that instant
		skew := time.Duration(0)
		for _, s := range x.Schedule.Steps {
			if s.Op == conformance.OpWall && s.At <= at {
				skew += s.D
			}
		}
		return at + skew
	}
	last, most := time.Duration(-edge.Far), time.Duration(-edge.Far)
	for _, f := range x.Fires {
		for _, s := range x.Schedule.Steps {
			if s.At <= f.Began.At && s.Op == conformance.OpCall {
				most = max(most, shown(s.At))
			}
		}
		at := max(most, shown(f.Began.At))
		if at-last < x.shortest() {
			because := fmt.Sprintf("the interval of %s since the emission before it was not over on that clock",
				timeline.Duration(interval))
			return suite.Broken(f.Began.At, because, "emitted at %s, when the clock had come no further than %s",
				timeline.Duration(f.Began.At), timeline.Duration(at))
		}
		last = at
	}
	return nil
}
