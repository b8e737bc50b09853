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
	inside := func(d conformance.Done) bool { return d.Inside }
	if !x.judgeable() || slices.ContainsFunc(x.Done, inside) {
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
	v := x.view()
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op != verb.Cancel {
			continue
		}
		k := slices.IndexFunc(v.items, func(it item) bool { return it.put.N == d.N })
		waits := k >= 0 && v.items[k].waits(d)
		refused := !d.OK && v.closed != nil && v.closed.Began.Seq < d.Began.Seq
		if waits == d.OK || d.Racing || refused || v.stoppedBefore(d) {
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
	for _, it := range x.view().items {
		if it.cancelled != nil && len(it.left) > 0 {
			at := it.left[0].Began.At
			return x.told(at, fmt.Sprintf("it was cancelled at %s", timeline.Duration(it.cancelled.Began.At)),
				"item %d left at %s, want never", it.put.N, timeline.Duration(at))
		}
	}
	return nil
}

// latestDues is the latest instant at which each accepted item may leave.
func (x *exam) latestDues() []time.Duration {
	var latest []time.Duration
	for _, dues := range x.dues() {
		for k, due := range dues {
			if k == len(latest) {
				latest = append(latest, due)
			}
			latest[k] = max(latest[k], due)
		}
	}
	return latest
}

// othersAfterCancel judges the items that were not cancelled: a place is free for them when
// the turn of a cancelled one has come, and a cancel does not delay them.
func (x *exam) othersAfterCancel() *suite.Violation {
	v := x.view()
	if v.closed != nil || v.stop != nil || !x.steady() {
		return nil
	}
	items, latest := v.items, x.latestDues()
	k := -1
	if crowded(x.Schedule) {
		return nil
	}
	for i := range items {
		it := &items[i]
		put := it.put
		if !put.OK {
			held := placesHeld(items[:i], put, latest)
			if held < x.Schedule.Config.Backlog && !x.traits.Unbounded {
				return x.told(put.Began.At, "a cancelled item must not keep its place for ever",
					"item %d was refused, want accepted", put.N)
			}
			continue
		}
		k++
		switch {
		case it.cancelled != nil:
		case len(it.left) == 0 && x.cut():
		case len(it.left) == 0:
			return x.told(put.Began.At, "another item was cancelled",
				"item %d never left (up to %s)", put.N, timeline.Duration(x.End))
		case it.left[0].Began.At > latest[k]:
			return x.told(latest[k], "without the cancel it would have",
				"item %d left at %s, want at %s or before",
				put.N, timeline.Duration(it.left[0].Began.At), timeline.Duration(latest[k]))
		}
	}
	return nil
}

// turnsAfterCancel finds an item that left between the turns that it may have: who waits while one
// leaves each interval has its own turn, or moves up for each one before it that was cancelled. Which
// of them it does is open, for each. Where an item that finds nothing waiting waits itself, it may
// have others.
func (x *exam) turnsAfterCancel() *suite.Violation {
	v := x.view()
	judged := x.traits.Slack == 0 && x.traits.FirstItem != FirstWaits && v.closed == nil && v.stop == nil
	if !judged || !x.steady() || x.Schedule.RacingSteps() > 0 {
		return nil
	}
	turns := x.turns()
	for _, it := range v.items {
		may := turns[it.put.N]
		if it.cancelled != nil || len(it.left) == 0 || len(may) == 0 || slices.Contains(may, it.left[0].Began.At) {
			continue
		}
		at := it.left[0].Began.At
		slices.Sort(may)
		words := make([]string, len(may))
		for i, turn := range may {
			words[i] = timeline.Duration(turn)
		}
		return x.told(at, "it may keep its turn, or move up to that of a cancelled item",
			"item %d left at %s, want %s", it.put.N, timeline.Duration(at), strings.Join(words, " or "))
	}
	return nil
}

// mostCancelled is how many cancelled items turns takes into account.
const mostCancelled = 6

// turns are the instants at which each item may leave, by its number: with each choice of those
// cancelled items that count as if they had never been put. None are known if there are too many.
func (x *exam) turns() map[int][]time.Duration {
	var accepted []item
	var cancelled []int // those of them that were
	for _, it := range x.view().items {
		if it.put.OK && it.cancelled != nil {
			cancelled = append(cancelled, len(accepted))
		}
		if it.put.OK {
			accepted = append(accepted, it)
		}
	}
	if len(cancelled) == 0 || len(cancelled) > mostCancelled {
		return nil
	}
	turns := map[int][]time.Duration{}
	for gone := range 1 << len(cancelled) { // one bit for each
		var kept []item
		for k, it := range accepted {
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
func placesHeld(items []item, put *conformance.Done, latest []time.Duration) int {
	places, k := 0, 0
	for i := range items {
		if it := &items[i]; it.put.OK {
			turn, now := latest[k], put.Began.At
			if it.waits(put) || it.cancelled != nil && (turn > now || turn == now && put.Racing) {
				places++
			}
			k++
		}
	}
	return places
}
