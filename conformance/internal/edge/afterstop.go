package edge

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Months is a wait or an interval that has not ended an hour after a stop.
const Months = 2500 * time.Hour

// StopsSoon stops each schedule soon after its last step. If they are schedules of months, a goroutine that
// is left an hour later, or a timer that is armed, is none that soon ends by itself. Only a bubble tells.
func StopsSoon(s *suite.Suite, all []conformance.Schedule) []conformance.Schedule {
	if !s.Bubble || !s.Accepts(verb.Stop) {
		return nil
	}
	return suite.Ending(all, verb.Stop, []time.Duration{suite.Wait / 2})
}

// StopsInside stop a wait or an interval of months, which key names, in the first callback, and end soon after it.
func StopsInside(s *suite.Suite, key string, kinds []conformance.Edges, reentrancy trait.Reentrancy) []suite.Family {
	if s.Time != conformance.Injected || !s.Bubble || !s.Accepts(verb.Stop) || NoReentry(s, reentrancy) != "" {
		return nil
	}
	f := suite.Family{Name: "stop inside, of months", Look: true}
	for _, e := range kinds {
		cfg := suite.Configured(key, timeline.Duration(Months), "edges", e.String(), "inside", "stop").String()
		f.Schedules = append(f.Schedules,
			suite.ParseAll(cfg+" | call 1 @0", cfg+" | call 1 @0 | call 2 @1ns | idle 2500h")...)
	}
	return []suite.Family{f}
}

// StoppedSoon reports whether a schedule ends with a stop, or behind a callback that stops, long before its wait or
// interval does.
func StoppedSoon(s conformance.Schedule) bool {
	n := len(s.Steps)
	return n > 0 && (s.Steps[n-1].Op == verb.Stop || s.Config.Inside == verb.Stop) &&
		max(s.Config.Wait, s.Config.MaxWait, s.Config.Interval) >= Months
}

// StopsAgain reports whether d is a Stop behind another: only a debouncer must take one.
func StopsAgain(rec *suite.Recording, d conformance.Done) bool {
	before := func(o conformance.Done) bool { return o.Op == d.Op && o.Began.Seq < d.Began.Seq }
	return d.Op == verb.Stop && slices.ContainsFunc(rec.Done, before)
}

// ClosedFirst reports whether d is an event, and Close was called before it had returned: who waits in a send then
// panics if the input is a channel, which Close closes.
func ClosedFirst(rec *suite.Recording, d *conformance.Done) bool {
	return (d.Op == verb.Call || d.Op == verb.Put) && slices.ContainsFunc(rec.Done, func(o conformance.Done) bool {
		return o.Op == verb.Close && o.Began.Seq < d.Ended.Seq
	})
}
