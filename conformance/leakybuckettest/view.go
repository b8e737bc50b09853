package leakybuckettest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement, as a queue sees it.
type exam struct {
	*suite.Recording
	traits *Traits

	items, accepted []*item // in the order in which they were put

	closed, stop *conformance.Done // the first Close and Stop
}

// item is an item that was put.
type item struct {
	put       *conformance.Done
	k         int                // how many items were accepted before it: its place among these
	cancelled *conformance.Done  // the cancel that took it out
	left      []conformance.Fire // how it left, once if all is well
}

// Exam puts a trace in the terms of a queue.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	x := &exam{Recording: rec, traits: tr}
	for i := range x.Done {
		d := &x.Done[i]
		switch d.Op {
		case verb.Put:
			it := &item{put: d, k: len(x.accepted)}
			if d.OK {
				x.accepted = append(x.accepted, it)
			}
			for _, f := range x.Fires {
				if f.Value == d.N {
					it.left = append(it.left, f)
				}
			}
			x.items = append(x.items, it)
		case verb.Cancel:
			if k := x.index(d.N); k >= 0 && d.OK && x.items[k].cancelled == nil {
				x.items[k].cancelled = d
			}
		case verb.Close:
			x.closed = cmp.Or(x.closed, d)
		case verb.Stop:
			x.stop = cmp.Or(x.stop, d)
		}
	}
	return x
}

// index is the place of item n among those that were put, negative if it was not.
func (x *exam) index(n int) int {
	return slices.IndexFunc(x.items, func(it *item) bool { return it.put.N == n })
}

// waits reports whether the item was in the queue when d began.
func (it *item) waits(d *conformance.Done) bool {
	return it.put.OK && it.put.Ended.Seq != 0 && it.put.Began.Seq < d.Began.Seq &&
		(it.cancelled == nil || it.cancelled.Began.Seq >= d.Began.Seq) &&
		(len(it.left) == 0 || it.left[0].Began.Seq > d.Began.Seq)
}

// leftDespite reports whether an item left that is to stay because of d. If d raced with its turn, it may have been
// on its way.
func (it *item) leftDespite(d *conformance.Done) bool {
	return len(it.left) > 0 && (!d.Racing || it.left[0].Began.At > d.Began.At)
}

// before reports whether something was done, and began before d.
func before(done, d *conformance.Done) bool { return done != nil && done.Began.Seq < d.Began.Seq }

// judged is check for traces that the model can judge. Unless it is declared what a clock that is set back does, it can
// judge none in which it is.
func judged(check func(x *exam) *suite.Violation) func(x *exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if !x.judgeable() {
			return nil
		}
		return check(x)
	}
}

func (x *exam) judgeable() bool {
	panicked := func(d conformance.Done) bool { return d.Panic != "" }
	return x.Refused == "" && !x.Stuck && !slices.ContainsFunc(x.Done, panicked) &&
		(x.traits.ClockBack != 0 || x.back() == 0)
}

// only reports whether nothing but these operations was done, and none by a callback.
func (x *exam) only(ops ...conformance.Op) bool {
	other := func(d conformance.Done) bool { return d.Inside || !slices.Contains(ops, d.Op) }
	return !slices.ContainsFunc(x.Done, other)
}

// calledBack reports whether a callback did something.
func (x *exam) calledBack() bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool { return d.Inside })
}

// steady reports whether the clock goes forward and items leave in no time.
func (x *exam) steady() bool { return x.back() == 0 && x.Schedule.Config.Busy == 0 }

// quiet reports whether the trace is judgeable and steady, and has nothing but puts that no callback did.
func (x *exam) quiet() bool { return x.judgeable() && x.steady() && x.only(verb.Put) }

// drained is quiet, except that the input may have been closed if what waits then leaves
// in its turn.
func (x *exam) drained() bool {
	closes := x.traits.CloseFlush == trait.CloseAtDeadline
	return x.quiet() || closes && x.judgeable() && x.steady() && x.only(verb.Put, verb.Close)
}

// back is how far the clock was set back.
func (x *exam) back() time.Duration { return back(x.Schedule) }

// back is how far a schedule sets the clock back.
func back(s conformance.Schedule) (by time.Duration) {
	for _, st := range s.Steps {
		if st.Op == verb.Wall {
			by -= st.D
		}
	}
	return by
}

// neverLeft says that an item has not left by the end of the run.
func (x *exam) neverLeft(it *item, because string) *suite.Violation {
	return x.told(it.put.Began.At, because, "item %d never left (up to %s)", it.put.N, timeline.Duration(x.End))
}

// leftAt says that an item left at another instant than wanted.
func (x *exam) leftAt(it *item, at time.Duration, because, want string) *suite.Violation {
	left := timeline.Duration(it.left[0].Began.At)
	return x.told(at, because, "item %d left at %s, want %s", it.put.N, left, want)
}

// leftAnyway says that an item left that was to stay.
func (x *exam) leftAnyway(it *item, because string) *suite.Violation {
	return x.leftAt(it, it.left[0].Began.At, because, "never")
}

// told makes a violation with the lanes of a leaky bucket.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *suite.Violation {
	refused, want, got := suite.Lane{Name: "refused"}, suite.Lane{Name: "want"}, x.Got()
	wanted := x.quiet() && x.traits.FirstItem != 0
	for _, it := range x.items {
		switch n := it.put.N; {
		case !it.put.OK:
			refused.Marks = append(refused.Marks, suite.Mark{At: it.put.Began.At, Text: fmt.Sprint(n)})
		case wanted:
			want.Marks = append(want.Marks, suite.Mark{At: x.dues()[0][it.k], Text: suite.FireMark(n)})
		}
	}
	v := suite.Broken(at, because, headline, args...)
	for _, l := range []suite.Lane{refused, want, got} {
		if len(l.Marks) > 0 {
			v.Lanes = append(v.Lanes, l)
		}
	}
	return v
}
