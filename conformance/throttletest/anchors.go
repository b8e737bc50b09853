package throttletest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// anchored judges from where the intervals of callbacks count that take time.
func (x *exam) anchored() *suite.Violation {
	if x.unfinished() {
		return nil
	}
	brief := x.Schedule.Config.Busy < x.Schedule.Config.Interval
	for _, s := range x.Schedule.Steps {
		if s.Op == verb.Stop || s.Op == verb.Flush {
			return nil // what comes after that is a choice
		}
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
		if s.Op != verb.Call {
			continue
		}
		start, end := timeline.Duration(last.Began.At), timeline.Duration(last.Ended.At)
		if brief && x.edges&Trailing != 0 {
			if v := x.trailAnchored(s, last); v != nil {
				return v
			}
		}
		leads := x.edges == Leading || x.edges == LeadingAndTrailing && brief
		switch since := s.At - x.Schedule.Config.Interval; {
		case x.traits.Anchor == AnchorStart && leads && !now && last.Began.At+1 < since:
			return suite.Broken(s.At, "the callback before it ran from "+start+" to "+end+", and "+
				"AnchorStart is declared",
				"call %d was not emitted at %s", s.N, timeline.Duration(s.At))
		case x.traits.Anchor == AnchorEnd && x.edges == Leading && now && last.Ended.At-1 > since:
			return suite.Broken(s.At, "the callback before it ran from "+start+" to "+end+", and AnchorEnd is declared",
				"emitted at %s, want no emission", timeline.Duration(s.At))
		}
	}
	return nil
}

// trailAnchored judges the emission that follows an event on the trailing edge, if the event is the
// first since another emission, whose callback is over. It comes at the end of the interval which
// that one has begun, or which the event has: an interval after the callback's end is neither.
func (x *exam) trailAnchored(s conformance.Step, last *conformance.Fire) *suite.Violation {
	interval := x.Schedule.Config.Interval
	next := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool { return f.Began.At > s.At })
	first := !slices.ContainsFunc(x.Schedule.Steps, func(o conformance.Step) bool {
		return o.N < s.N && o.At >= last.Began.At
	})
	if x.traits.Anchor != AnchorStart || !first || next < 0 {
		return nil
	}
	at := x.Fires[next].Began.At
	near := func(want time.Duration) bool { return at >= want-1 && at <= want+1 }
	if at != last.Ended.At+interval || near(last.Began.At+interval) || near(s.At+interval) {
		return nil
	}
	v := suite.Broken(at, "the callback before it ran from "+timeline.Duration(last.Began.At)+" to "+
		timeline.Duration(last.Ended.At)+", and AnchorStart is declared",
		"emitted at %s, an interval after the end of a callback", timeline.Duration(at))
	v.Lanes = []suite.Lane{x.Got()}
	return v
}
