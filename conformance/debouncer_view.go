package conformance

import (
	"slices"
	"time"
)

// debounceView is a trace in the terms of the debouncer's laws. It is built from
// what was done and what came out, and knows nothing of how a debouncer works.
type debounceView struct {
	wait   time.Duration
	ops    []*Done // calls and kills in the order in which they began
	calls  []*Done // calls that count: not after Stop, nor after a final Cancel
	byN    map[int]*Done
	bursts []*burst
	flush  map[int]*Done // fires that a flush caused, by index
	// newestPayload says that a fire bears the number of the newest event that it is for.
	newestPayload bool
	received      bool // a call counts from the end of the callback during which it came
}

// burst is a maximal run of calls less than wait apart, as far as it got.
type burst struct {
	first, last *Done
	due         time.Duration // last + wait
	killed      *Done         // the cancel, flush or stop that ended it
	// open says that a racing step met its deadline, or that the callback was
	// busy then: whether it fires, and when, depends on who came first.
	open bool
	next *burst
}

// deb returns the debouncer's view of the trace, built once.
func (x *exam) deb() *debounceView {
	if x.debs == nil {
		x.debs = newDebounceView(x.Trace, x.c.deb.Traits)
	}
	return x.debs
}

func newDebounceView(tr *Trace, traits DebounceTraits) *debounceView {
	v := &debounceView{wait: tr.Schedule.Config.Wait, byN: map[int]*Done{}, flush: map[int]*Done{},
		newestPayload: traits.Payload.ofNewest()}
	done := tr.Done
	if traits.Overlap == SerialReceiver {
		done = received(tr)
		v.received = slices.ContainsFunc(done, func(d Done) bool { return d.Began.At != d.At && !d.Inside })
	}
	for i := range done {
		switch d := &done[i]; d.Op {
		case OpCall, OpCancel, OpFlush, OpStop:
			v.ops = append(v.ops, d)
		}
	}
	v.causedByFlush(tr)
	var cur *burst
	dead := false
	for _, d := range v.ops {
		if d.Op == OpCall {
			v.byN[d.N] = d
		}
		switch {
		case dead:
		case d.Op == OpCall:
			v.calls = append(v.calls, d)
			if cur != nil && cur.killed == nil && d.Began.At-cur.last.Began.At < v.wait {
				cur.last, cur.due = d, d.Began.At+v.wait
				continue
			}
			if cur != nil && cur.killed == nil && d.Racing && d.Began.At == cur.due {
				cur.open = true
			}
			b := &burst{first: d, last: d, due: d.Began.At + v.wait}
			if cur != nil {
				cur.next = b
			}
			cur = b
			v.bursts = append(v.bursts, b)
		case cur == nil || cur.killed != nil:
		case d.Began.At < cur.due:
			cur.killed = d
		case d.Racing && d.Began.At == cur.due:
			cur.open = true
		}
		if d.Op == OpStop || d.Op == OpCancel && traits.AfterCancel == CancelFinal {
			dead = true
		}
	}
	for _, b := range v.bursts {
		if f := lastInRow(tr, v.running(tr, b.due)); f != nil && b.killed == nil {
			// Served late, if at all: what came before the callbacks' end decides.
			for _, d := range v.ops {
				if d.Began.Seq > b.last.Began.Seq && d.Began.At >= b.due && (f.Ended.Seq == 0 || d.Began.Seq < f.Ended.Seq) {
					b.open = true
				}
			}
			if f.Ended.Seq == 0 {
				b.open = true
			}
		}
	}
	return v
}

// received lists the steps with the events that came during a callback at its end.
func received(tr *Trace) []Done {
	out := slices.Clone(tr.Done)
	for i := range out {
		for _, f := range tr.Fires {
			if out[i].Op == OpCall && f.Began.Seq < out[i].Began.Seq && out[i].Began.Seq < f.Ended.Seq {
				out[i].Began.At = f.Ended.At
			}
		}
	}
	return out
}

// causedByFlush finds the fires that a flush caused: for each flush one at the most,
// at its instant or before it returned, or behind the callback that was running.
func (v *debounceView) causedByFlush(tr *Trace) {
	used := map[*Done]bool{}
	for i, f := range tr.Fires {
		for _, d := range slices.Backward(v.ops) {
			if d.Op == OpFlush && !used[d] && d.Began.Seq < f.Began.Seq &&
				(f.Began.At == d.Began.At || d.Ended.Seq == 0 || f.Began.Seq < d.Ended.Seq || v.queued(tr, i, d.Began.At)) {
				v.flush[i], used[d] = d, true
				break
			}
		}
	}
}

// running returns a callback that was running at the instant at.
func (v *debounceView) running(tr *Trace, at time.Duration) *Fire {
	for i := range tr.Fires {
		if f := &tr.Fires[i]; f.Began.At < at && (f.Ended.Seq == 0 || f.Ended.At >= at) {
			return f
		}
	}
	return nil
}

// lastInRow returns the last of the callbacks that begin each when another ends, f first.
func lastInRow(tr *Trace, f *Fire) *Fire {
	for i := range tr.Fires {
		if g := &tr.Fires[i]; f != nil && f.Ended.Seq != 0 && g.Began.Seq > f.Ended.Seq && g.Began.At == f.Ended.At {
			f = g
		}
	}
	return f
}

// inRow reports whether f is one of the callbacks that begin each when another ends, behind
// the one that was running at the instant at.
func (v *debounceView) inRow(tr *Trace, at time.Duration, f *Fire) bool {
	g := v.running(tr, at)
	for i := range tr.Fires {
		if h := &tr.Fires[i]; g != nil && g.Ended.Seq != 0 && h.Began.Seq > g.Ended.Seq && h.Began.At == g.Ended.At {
			if g = h; h.Began.Seq == f.Began.Seq {
				return true
			}
		}
	}
	return false
}

// newest returns the newest call that counts, began before the point seq and lies
// before the instant at.
func (v *debounceView) newest(seq int, at time.Duration) *Done {
	var out *Done
	for _, c := range v.calls {
		if c.Began.Seq < seq && c.Began.At < at {
			out = c
		}
	}
	return out
}

// lastKill returns the last cancel, flush or stop that had returned at seq.
func (v *debounceView) lastKill(seq int, ops ...Op) *Done {
	var out *Done
	for _, d := range v.ops {
		if slices.Contains(ops, d.Op) && d.Ended.Seq != 0 && d.Ended.Seq < seq {
			out = d
		}
	}
	return out
}

// callBetween reports whether a call that counts began between two points.
func (v *debounceView) callBetween(from, to int) bool {
	return slices.ContainsFunc(v.calls, func(c *Done) bool { return c.Began.Seq > from && c.Began.Seq < to })
}

// serves reports whether fire i can have fired for the call c: it came after it
// and, unless a flush asked for it, at a later instant. A fire at the instant of a
// racing call is for the burst before it.
func (v *debounceView) serves(tr *Trace, i int, c *Done) bool {
	f := &tr.Fires[i]
	if own := v.byN[f.Value]; v.newestPayload && own != nil && own.Began.Seq < c.Began.Seq && v.queued(tr, i, f.Began.At-1) {
		return false // decided before c and kept waiting
	}
	return f.Began.Seq > c.Began.Seq && (f.Began.At > c.Began.At || v.flush[i] != nil)
}

// queued reports whether fire i came when a callback ended that had been running
// at the instant at: it may have been decided then and waited its turn.
func (v *debounceView) queued(tr *Trace, i int, at time.Duration) bool {
	f := &tr.Fires[i]
	for j := range tr.Fires {
		g := &tr.Fires[j]
		if g.Began.Seq < f.Began.Seq && g.Ended.Seq != 0 && g.Ended.At == f.Began.At && g.Began.At <= at && at < g.Ended.At {
			return true
		}
	}
	return false
}

// served returns the first fire before the point to that can have fired for c.
func (v *debounceView) served(tr *Trace, c *Done, to int) *Fire {
	for i := range tr.Fires {
		if tr.Fires[i].Began.Seq < to && v.serves(tr, i, c) {
			return &tr.Fires[i]
		}
	}
	return nil
}

// lanes are what the timeline of a debouncer shows: what the laws want of a
// schedule that leaves nothing open, and what came.
func (x *exam) debLanes() []lane {
	v := x.deb()
	want, got := lane{name: "want"}, lane{name: "got"}
	open := v.wait == 0
	for _, b := range v.bursts {
		open = open || b.open
		switch {
		case b.killed == nil && b.due <= x.End:
			want.marks = append(want.marks, laneMark{b.due, x.wantMark(b)})
		case b.killed != nil && b.killed.Op == OpFlush,
			b.killed != nil && b.killed.Op == OpStop && x.c.deb.Traits.StopPending == StopFlushes:
			want.marks = append(want.marks, laneMark{b.killed.Began.At, x.wantMark(b)})
		}
	}
	for _, f := range x.Fires {
		got.marks = append(got.marks, laneMark{f.Began.At, x.gotMark(f.Value)})
	}
	if open {
		return []lane{got}
	}
	return []lane{want, got}
}

func (x *exam) wantMark(b *burst) string {
	switch x.c.deb.Traits.Payload {
	case LastPayload, AllPayloads:
		return fireMark(b.last.N)
	case FirstPayload:
		return fireMark(b.first.N)
	}
	return "F"
}

func (x *exam) gotMark(value int) string {
	if p := x.c.deb.Traits.Payload; p == NoPayload || p == 0 {
		return "F"
	}
	return fireMark(value)
}
