package leakybuckettest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

func (x *exam) cancel() *suite.Violation {
	if x.calledBack() {
		return nil
	}
	for _, judge := range []func() *suite.Violation{
		x.cancelReports, x.cancelledLeft, x.othersAfterCancel, x.turnsAfterCancel,
	} {
		if broken := judge(); broken != nil {
			return broken
		}
	}
	return nil
}

// cancelReports judges what each cancel reported. After Close one may be refused, and after Stop it is
// open what waits.
func (x *exam) cancelReports() *suite.Violation {
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op != verb.Cancel {
			continue
		}
		k := x.index(d.N)
		waits := k >= 0 && x.items[k].waits(d)
		if waits == d.OK || d.Racing || !d.OK && before(x.closed, d) || before(x.stop, d) {
			continue
		}
		because := "it waited"
		if !waits {
			because = "it was not waiting: it had left, was refused, or was never put"
		}
		return x.told(d.Began.At, because,
			"cancel %d at %s reported %v, want %v", d.N, timeline.Duration(d.Began.At), d.OK, waits)
	}
	return nil
}

// cancelledLeft finds an item that left although it was cancelled.
func (x *exam) cancelledLeft() *suite.Violation {
	for _, it := range x.items {
		if it.cancelled != nil && len(it.left) > 0 {
			return x.leftAnyway(it, fmt.Sprintf("it was cancelled at %s", timeline.Duration(it.cancelled.Began.At)))
		}
	}
	return nil
}

// latestDues is the latest instant at which each accepted item may leave.
func (x *exam) latestDues() []time.Duration {
	answers := x.dues()
	latest := answers[0]
	for k, due := range answers[len(answers)-1] {
		latest[k] = max(latest[k], due)
	}
	return latest
}

// othersAfterCancel judges the items that were not cancelled: a place is free for them when
// the turn of a cancelled one has come, and a cancel does not delay them.
func (x *exam) othersAfterCancel() *suite.Violation {
	if x.closed != nil || x.stop != nil || !x.steady() || crowded(x.Schedule) {
		return nil
	}
	latest := x.latestDues()
	for _, it := range x.items {
		switch put := it.put; {
		case !put.OK:
			held := placesHeld(x.accepted[:it.k], put, latest)
			if held < x.Schedule.Config.Backlog && !x.traits.Unbounded {
				return x.told(put.Began.At, "a cancelled item must not keep its place for ever",
					"item %d was refused, want accepted", put.N)
			}
		case it.cancelled != nil:
		case len(it.left) == 0 && x.cut():
		case len(it.left) == 0:
			return x.neverLeft(it, "another item was cancelled")
		case it.left[0].Began.At > latest[it.k]:
			due := latest[it.k]
			return x.leftAt(it, due, "without the cancel it would have", "at "+timeline.Duration(due)+" or before")
		}
	}
	return nil
}

// turnsAfterCancel finds an item that left between the turns that it may have: who waits while one
// leaves each interval has its own turn, or moves up for each one before it that was cancelled. Which
// of them it does is open, for each. Where an item that finds nothing waiting waits itself, it may
// have others.
func (x *exam) turnsAfterCancel() *suite.Violation {
	judged := x.traits.Slack == 0 && x.traits.FirstItem != FirstWaits && x.closed == nil && x.stop == nil
	if !judged || !x.steady() || x.Schedule.RacingSteps() > 0 {
		return nil
	}
	turns := x.turns()
	for _, it := range x.items {
		may := turns[it.put.N]
		if it.cancelled != nil || len(it.left) == 0 || len(may) == 0 || slices.Contains(may, it.left[0].Began.At) {
			continue
		}
		slices.Sort(may)
		words := make([]string, len(may))
		for i, turn := range may {
			words[i] = timeline.Duration(turn)
		}
		return x.leftAt(it, it.left[0].Began.At, "it may keep its turn, or move up to that of a cancelled item",
			strings.Join(words, " or "))
	}
	return nil
}

// mostCancelled is how many cancelled items turns takes into account.
const mostCancelled = 6

// turns are the instants at which each item may leave, by its number: with each choice of those
// cancelled items that count as if they had never been put. None are known if there are too many.
func (x *exam) turns() map[int][]time.Duration {
	var cancelled []int // those of the accepted ones that were
	for k, it := range x.accepted {
		if it.cancelled != nil {
			cancelled = append(cancelled, k)
		}
	}
	if len(cancelled) == 0 || len(cancelled) > mostCancelled {
		return nil
	}
	turns := map[int][]time.Duration{}
	for gone := range 1 << len(cancelled) { // one bit for each
		var kept []*item
		for k, it := range x.accepted {
			if c := slices.Index(cancelled, k); c < 0 || gone>>c&1 == 0 {
				kept = append(kept, it)
			}
		}
		for _, dues := range x.duesOf(kept) {
			for k, due := range dues {
				if n := kept[k].put.N; !slices.Contains(turns[n], due) {
					turns[n] = append(turns[n], due)
				}
			}
		}
	}
	return turns
}

// placesHeld counts the items that may hold a place when put comes: those that wait, and
// those that were cancelled and whose turn has not come yet. LB-BOUND is more lenient, and
// lets them hold it for ever.
func placesHeld(accepted []*item, put *conformance.Done, latest []time.Duration) (places int) {
	for k, it := range accepted {
		turn, now := latest[k], put.Began.At
		held := it.cancelled != nil && (turn > now || turn == now && put.Racing)
		places += suite.Number(held || it.waits(put))
	}
	return places
}
