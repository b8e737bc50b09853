package leakybuckettest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits *Traits
	seen   *view
}

// Exam puts a trace in the terms of a queue.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	return &exam{Recording: rec, traits: tr}
}

// view is a trace as a queue sees it.
type view struct {
	items  []item // in the order in which they were put
	closed *conformance.Done
	stop   *conformance.Done
}

// item is an item that was put.
type item struct {
	put       *conformance.Done
	cancelled *conformance.Done  // the cancel that took it out
	left      []conformance.Fire // how it left, once if all is well
}

// waits reports whether the item was in the queue when d began.
func (it *item) waits(d *conformance.Done) bool {
	return it.put.OK && it.put.Ended.Seq != 0 && it.put.Began.Seq < d.Began.Seq &&
		(it.cancelled == nil || it.cancelled.Began.Seq >= d.Began.Seq) &&
		(len(it.left) == 0 || it.left[0].Began.Seq > d.Began.Seq)
}

// leftAfter reports whether the item left when stop had returned.
func (it *item) leftAfter(stop *conformance.Done) bool {
	return it.leftDespite(stop) && it.left[0].Began.Seq > stop.Ended.Seq
}

// leftDespite reports whether an item left that is to stay because of d. If d raced with its turn, it may have been
// on its way.
func (it *item) leftDespite(d *conformance.Done) bool {
	return len(it.left) > 0 && (!d.Racing || it.left[0].Began.At > d.Began.At)
}

// view is the trace as a queue sees it, built once.
func (x *exam) view() *view {
	if x.seen != nil {
		return x.seen
	}
	v := &view{}
	x.seen = v
	for i := range x.Done {
		d := &x.Done[i]
		switch d.Op {
		case verb.Put:
			it := item{put: d}
			for _, f := range x.Fires {
				if f.Value == d.N {
					it.left = append(it.left, f)
				}
			}
			v.items = append(v.items, it)
		case verb.Cancel:
			k := slices.IndexFunc(v.items, func(it item) bool { return it.put.N == d.N })
			if k >= 0 && d.OK && v.items[k].cancelled == nil {
				v.items[k].cancelled = d
			}
		case verb.Close:
			if v.closed == nil {
				v.closed = d
			}
		case verb.Stop:
			if v.stop == nil {
				v.stop = d
			}
		}
	}
	return v
}

// judgeable reports whether the trace is one that the model can judge. Unless it is declared what a
// clock that is set back does, none in which it is.
func (x *exam) judgeable() bool {
	panicked := func(d conformance.Done) bool { return d.Panic != "" }
	return x.Refused == "" && !x.Stuck && !slices.ContainsFunc(x.Done, panicked) &&
		(x.traits.ClockBack != 0 || x.back() == 0)
}

// quiet reports whether the trace is judgeable and has nothing but puts that no callback
// did.
func (x *exam) quiet() bool { return x.judgeable() && x.steady() && x.onlyPuts() }

// onlyPuts reports whether there are nothing but puts that no callback did.
func (x *exam) onlyPuts() bool {
	other := func(d conformance.Done) bool { return d.Op != verb.Put || d.Inside }
	return !slices.ContainsFunc(x.Done, other)
}

// steady reports whether the clock goes forward and items leave in no time.
func (x *exam) steady() bool { return x.back() == 0 && x.Schedule.Config.Busy == 0 }

// drained is quiet, except that the input may have been closed if what waits then leaves
// in its turn.
func (x *exam) drained() bool {
	closes := x.traits.CloseFlush == trait.CloseAtDeadline
	other := func(d conformance.Done) bool {
		return d.Inside || d.Op != verb.Put && (d.Op != verb.Close || !closes)
	}
	return x.judgeable() && x.steady() && !slices.ContainsFunc(x.Done, other)
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

// stopped reports whether Stop was called.
func (x *exam) stopped() bool { return x.view().stop != nil }

// stoppedBefore reports whether Stop was called before d. What waited is dropped then, and what
// becomes of an operation is open.
func (v *view) stoppedBefore(d *conformance.Done) bool {
	return v.stop != nil && v.stop.Began.Seq < d.Began.Seq
}

// told makes a violation with the lanes of a leaky bucket.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *suite.Violation {
	want, got := suite.Lane{Name: "want"}, suite.Lane{Name: "got"}
	if x.quiet() && x.traits.FirstItem != 0 {
		dues, k := x.dues()[0], 0
		for _, it := range x.view().items {
			if it.put.OK {
				want.Marks = append(want.Marks, suite.Mark{At: dues[k], Text: suite.FireMark(it.put.N)})
				k++
			}
		}
	}
	for _, f := range x.Fires {
		got.Marks = append(got.Marks, suite.Mark{At: f.Began.At, Text: suite.FireMark(f.Value)})
	}
	refused := suite.Lane{Name: "refused"}
	for _, it := range x.view().items {
		if !it.put.OK {
			refused.Marks = append(refused.Marks, suite.Mark{At: it.put.Began.At, Text: fmt.Sprint(it.put.N)})
		}
	}
	var lanes []suite.Lane
	for _, l := range []suite.Lane{refused, want, got} {
		if len(l.Marks) > 0 {
			lanes = append(lanes, l)
		}
	}
	return &suite.Violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at, Lanes: lanes}
}
