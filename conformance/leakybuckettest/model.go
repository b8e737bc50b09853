package leakybuckettest

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// dues returns when the items must leave that the implementation accepted, in their order.
// There are two answers where the traits leave it open when an item leaves. What is due later than can be
// counted is due at the last instant that can.
func (x *exam) dues() [][]time.Duration { return x.duesOf(x.accepted) }

// duesOf is dues for some of the accepted items, as if no other had been put.
func (x *exam) duesOf(accepted []*item) [][]time.Duration {
	interval, traits := x.Schedule.Config.Interval, x.traits
	answers := 1
	if traits.FirstItem == FirstWaits || traits.Slack > 0 {
		answers = 2
	}
	var out [][]time.Duration
	for answer := range answers {
		var dues []time.Duration
		var last time.Duration // when the item before it must leave, before slack is taken off
		for _, it := range accepted {
			at, first := it.put.Began.At, len(dues) == 0
			due := at
			switch {
			case traits.FirstItem == FirstOnGrid:
				due = suite.Sum(at-at%interval, interval)
				if !first {
					due = max(due, suite.Sum(last, interval))
				}
				last = due
			case traits.FirstItem == FirstWaits:
				if due = suite.Sum(last, interval); first || at >= due || at >= last && answer == 0 {
					due = suite.Sum(at, interval) // nothing waited; in the other answer the last period still ran
				}
				last = due
			default:
				slack := suite.Times(traits.Slack, interval)
				if first {
					if last = at; answer == 1 {
						last = at - slack
					}
				} else {
					last = max(suite.Sum(last, interval), at-slack)
				}
				due = max(at, last)
			}
			dues = append(dues, due)
		}
		out = append(out, dues)
	}
	return out
}

// mistimed returns the first accepted item that did not leave when it should have, nil if there is none, that
// instant, and whether the item found nothing waiting. Of two answers it takes the one that fits more items.
func (x *exam) mistimed() (it *item, due time.Duration, idle bool) {
	for _, dues := range x.dues() {
		first, before := x.misfit(dues)
		if first == nil {
			return nil, 0, false
		}
		if it == nil || first.k > it.k {
			it, due, idle = first, dues[first.k], x.foundIdle(first, before)
		}
	}
	return it, due, idle
}

// misfit returns the first accepted item that did not leave when it was due, and the one before it.
func (x *exam) misfit(dues []time.Duration) (it, before *item) {
	for k, it := range x.accepted {
		if len(it.left) > 0 && it.left[0].Began.At != dues[k] || len(it.left) == 0 && dues[k] <= x.End {
			return it, before
		}
		before = it
	}
	return nil, nil
}

// foundIdle reports whether nothing waited when the item came, and with FirstAtOnce whether
// the interval of the item before it was over.
func (x *exam) foundIdle(it, before *item) bool {
	if before == nil {
		return true
	}
	if len(before.left) == 0 || before.left[0].Began.Seq >= it.put.Began.Seq {
		return false
	}
	return x.traits.FirstItem != FirstAtOnce ||
		it.put.Began.At >= suite.Sum(before.left[0].Began.At, x.Schedule.Config.Interval)
}

// lasts is how long a schedule has to be run until all that waits has left, whatever the traits.
func lasts(s conformance.Schedule) (end time.Duration) {
	puts := 2
	if s.Config.Inside != "" {
		puts++
	}
	for _, st := range s.Steps {
		puts += suite.Number(st.Op == verb.Put)
		end = max(end, st.At)
	}
	return suite.Sum(suite.Sum(end, suite.Times(puts, suite.Sum(s.Config.Interval, s.Config.Busy))), back(s))
}

// cut reports whether the run ended before all that waits has left, as one does whose interval is of
// centuries.
func (x *exam) cut() bool { return x.End < lasts(x.Schedule) }

// over reports whether an accepted item must have left when the run ended.
func (x *exam) over(it *item) bool {
	return !x.cut() || x.traits.FirstItem != 0 && x.quiet() && x.latestDues()[it.k] <= x.End
}
