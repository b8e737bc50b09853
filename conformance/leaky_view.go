package conformance

import (
	"fmt"
	"slices"
	"time"
)

// leakyView is a trace as a queue sees it.
type leakyView struct {
	items  []leakyItem // in the order in which they were put
	closed *Done
}

// leakyItem is an item that was put.
type leakyItem struct {
	put       *Done
	cancelled *Done  // the cancel that took it out
	left      []Fire // how it left, once if all is well
}

// waits reports whether the item was in the queue when d began.
func (it *leakyItem) waits(d *Done) bool {
	return it.put.OK && it.put.Ended.Seq != 0 && it.put.Began.Seq < d.Began.Seq &&
		(it.cancelled == nil || it.cancelled.Began.Seq >= d.Began.Seq) &&
		(len(it.left) == 0 || it.left[0].Began.Seq > d.Began.Seq)
}

func (x *exam) leakyView() *leakyView {
	if x.leaky != nil {
		return x.leaky
	}
	v := &leakyView{}
	x.leaky = v
	for i := range x.Done {
		d := &x.Done[i]
		switch d.Op {
		case OpPut:
			it := leakyItem{put: d}
			for _, f := range x.Fires {
				if f.Value == d.N {
					it.left = append(it.left, f)
				}
			}
			v.items = append(v.items, it)
		case OpCancel:
			if k := slices.IndexFunc(v.items, func(it leakyItem) bool { return it.put.N == d.N }); k >= 0 && d.OK && v.items[k].cancelled == nil {
				v.items[k].cancelled = d
			}
		case OpClose:
			if v.closed == nil {
				v.closed = d
			}
		}
	}
	return v
}

// judgeable reports whether the trace is one that the model can judge.
func (x *exam) judgeable() bool {
	return x.Refused == "" && !x.Stuck && !slices.ContainsFunc(x.Done, func(d Done) bool { return d.Panic != "" })
}

// quiet is judgeable, and nothing was cancelled or closed, nor done by the function.
func (x *exam) quiet() bool {
	return x.judgeable() && !slices.ContainsFunc(x.Done, func(d Done) bool { return d.Op != OpPut || d.Inside })
}

// drained is quiet, but the input may have been closed and what waits leaves in its turn.
func (x *exam) drained() bool {
	return x.judgeable() && !slices.ContainsFunc(x.Done, func(d Done) bool {
		return d.Inside || d.Op != OpPut && (d.Op != OpClose || x.c.lky.Traits.CloseFlush != CloseAtDeadline)
	})
}

// stopped reports whether what waits was dropped.
func (x *exam) stopped() bool {
	return slices.ContainsFunc(x.Done, func(d Done) bool { return d.Op == OpStop })
}

// dues says when the accepted items must leave, as far as the implementation's own
// decisions to accept go. Where declarations leave it open there are two answers.
func (x *exam) dues() [][]time.Duration {
	interval, traits := x.Schedule.Config.Interval, x.c.lky.Traits
	answers := 1
	if traits.Head == HeadWaits || traits.Slack > 0 {
		answers = 2
	}
	var out [][]time.Duration
	for answer := range answers {
		var dues []time.Duration
		var last time.Duration // when the item before left, or would have with its slack
		for _, it := range x.leakyView().items {
			if !it.put.OK {
				continue
			}
			at, first := it.put.Began.At, len(dues) == 0
			due := at
			switch {
			case traits.Head == HeadOnGrid:
				due = (at/interval + 1) * interval
				if !first {
					due = max(due, last+interval)
				}
				last = due
			case traits.Head == HeadWaits && first:
				due = at + interval
				last = due
			case traits.Head == HeadWaits:
				if due = last + interval; at >= last && answer == 0 || at >= due {
					due = at + interval // nothing waited; in the other answer the last period still ran
				}
				last = due
			default:
				slack := time.Duration(traits.Slack) * interval
				if first {
					if last = at; answer == 1 {
						last = at - slack
					}
				} else {
					last = max(last+interval, at-slack)
				}
				due = max(at, last)
			}
			dues = append(dues, due)
		}
		out = append(out, dues)
	}
	return out
}

// mistimed returns the first accepted item that left at another instant than it
// should have, and when that is; found by the answer that goes on longest.
func (x *exam) mistimed() (it *leakyItem, due time.Duration, idle, found bool) {
	v := x.leakyView()
	best := -1
	for _, dues := range x.dues() {
		k := 0
		var before *leakyItem
		for i := range v.items {
			item := &v.items[i]
			if !item.put.OK {
				continue
			}
			if len(item.left) > 0 && item.left[0].Began.At != dues[k] || len(item.left) == 0 && dues[k] <= x.End {
				if k > best {
					best, found = k, true
					it, due = item, dues[k]
					idle = before == nil || len(before.left) > 0 && before.left[0].Began.Seq < item.put.Began.Seq &&
						(x.c.lky.Traits.Head != HeadAtOnce || item.put.Began.At >= before.left[0].Began.At+x.Schedule.Config.Interval)
				}
				break
			}
			before = item
			k++
		}
		if k == len(dues) {
			return nil, 0, false, false
		}
	}
	return it, due, idle, found
}

// told makes a violation with the lanes of a leaky bucket.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *violation {
	want, got := lane{name: "want"}, lane{name: "got"}
	if x.quiet() && x.c.lky.Traits.Head != 0 {
		dues, k := x.dues()[0], 0
		for _, it := range x.leakyView().items {
			if it.put.OK {
				want.marks = append(want.marks, laneMark{dues[k], fireMark(it.put.N)})
				k++
			}
		}
	}
	for _, f := range x.Fires {
		got.marks = append(got.marks, laneMark{f.Began.At, fireMark(f.Value)})
	}
	refused := lane{name: "refused"}
	for _, it := range x.leakyView().items {
		if !it.put.OK {
			refused.marks = append(refused.marks, laneMark{it.put.Began.At, fmt.Sprint(it.put.N)})
		}
	}
	var lanes []lane
	for _, l := range []lane{refused, want, got} {
		if len(l.marks) > 0 {
			lanes = append(lanes, l)
		}
	}
	return &violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at, Lanes: lanes}
}
