package debouncertest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits *Traits
	stops  bool          // the implementation has a Stop
	free   bool          // it was seen that a callback may call the implementation
	seen   *view         // see view
	found  *edge.Finding // see difference
}

// Exam puts a trace in the terms of a debouncer.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	return &exam{
		Recording: rec, traits: tr, stops: c.stops, free: c.spec.Traits.Reentrancy == ReentrancyAllowed,
	}
}

// configured reports whether an edge or a bound is configured: then the rules about the
// trailing edge alone do not judge.
func (x *exam) configured() bool {
	cfg := x.Schedule.Config
	return cfg.Has("edges") || cfg.Has("maxwait") || cfg.Has("k")
}

// judgeable reports whether the trace is one that timing laws can judge.
func (x *exam) judgeable() bool {
	v := x.view()
	return x.Refused == "" && !x.Stuck && v.wait > 0 && !(v.moved && v.inARow())
}

// told makes a violation with the lanes of a debouncer.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *suite.Violation {
	v := &suite.Violation{Headline: edge.Text(headline, args...), Because: because, At: at, Lanes: x.lanes()}
	if x.view().moved {
		v.Because += "; the wait of events during a callback counts from its end, as SerialReceiver is declared"
	}
	return v
}

// view is a trace in the terms of the debouncer's laws. It is built from what was done and
// what came out, and knows nothing of how a debouncer works.
type view struct {
	rec    *suite.Recording
	ran    []conformance.Fire // what may hold up a fire: in a part of a run, all that fired in the run
	wait   time.Duration
	ops    []*conformance.Done // calls, cancels, flushes and stops in the order in which they began
	calls  []*conformance.Done // calls that count: not after Stop, nor after a final Cancel
	byN    map[int]*conformance.Done
	bursts []*burst
	flush  map[int]*conformance.Done // the flush that caused a fire, by the fire's index
	// bearsNewest says that a fire has the payload of the newest event that it is for.
	bearsNewest bool
	// moved says that a call came during a callback, and counts from its end.
	moved bool
}

// burst is a maximal row of calls less than wait apart.
type burst struct {
	first, last *conformance.Done
	due         time.Duration     // last + wait
	endedBy     *conformance.Done // the cancel, flush or stop that came before it was due
	// open says that a racing step met its deadline, that a callback was running then, or that one
	// of its events came before a cancel, flush or stop had returned, or the other way round: whether and when it
	// fires depends on which was first.
	open bool
	next *burst
}

// afterAll is a point after everything recorded.
const afterAll = math.MaxInt

// until is the point at which the next burst begins.
func (b *burst) until() int {
	if b.next == nil {
		return afterAll
	}
	return b.next.first.Began.Seq
}

// view returns the debouncer's view of the trace, built once.
func (x *exam) view() *view {
	if x.seen == nil {
		x.seen = newView(x.Recording, x.Fires, x.traits)
	}
	return x.seen
}

func newView(rec *suite.Recording, ran []conformance.Fire, traits *Traits) *view {
	v := &view{rec: rec, ran: ran, wait: rec.Schedule.Config.Wait, bearsNewest: traits.bearsNewest(),
		byN: map[int]*conformance.Done{}, flush: map[int]*conformance.Done{}}
	done := rec.Done
	if traits.Overlap == SerialReceiver {
		done = v.received()
		v.moved = slices.ContainsFunc(done, func(d conformance.Done) bool { return d.Began.At != d.At && !d.Inside })
	}
	for i := range done {
		switch d := &done[i]; d.Op {
		case verb.Call:
			v.byN[d.N] = d
			v.ops = append(v.ops, d)
		case verb.Cancel, verb.Flush, verb.Stop:
			v.ops = append(v.ops, d)
		}
	}
	v.causedByFlush()
	v.group(traits.AfterCancel == CancelFinal)
	v.servedLate()
	return v
}

// group finds the bursts, and the calls that count.
func (v *view) group(cancelIsFinal bool) {
	var cur *burst
	for _, d := range v.ops {
		switch {
		case d.Op == verb.Call:
			v.calls = append(v.calls, d)
			if cur = v.join(cur, d); cur.first == d {
				v.bursts = append(v.bursts, cur)
			}
			cur.open = cur.open || v.ending(d.Began.Seq)
		case cur == nil || cur.endedBy != nil:
		case meanwhile(cur.last, d.Began.Seq):
			cur.open = true
		case d.Began.At < cur.due:
			cur.endedBy = d
		case d.Racing && d.Began.At == cur.due:
			cur.open = true
		}
		if d.Op == verb.Stop || d.Op == verb.Cancel && cancelIsFinal {
			return
		}
	}
}

// join returns the burst that a call belongs to: cur, which is the one before it and may be
// nil, or one that it begins.
func (v *view) join(cur *burst, call *conformance.Done) *burst {
	b := &burst{first: call, last: call, due: suite.Sum(call.Began.At, v.wait)}
	if cur == nil {
		return b
	}
	if cur.endedBy == nil && call.Began.At-cur.last.Began.At < v.wait {
		cur.last, cur.due = call, b.due
		return cur
	}
	if cur.endedBy == nil && call.Racing && call.Began.At == cur.due {
		cur.open = true
	}
	cur.next = b
	return b
}

// servedLate marks as open the bursts that were due while a callback was running: they
// fire when it ends, if at all, which depends on the operations that came meanwhile.
func (v *view) servedLate() {
	for _, b := range v.bursts {
		for i := range v.ran {
			if b.endedBy != nil || !v.runs(&v.ran[i], b.due) {
				continue
			}
			f := v.lastInRow(&v.ran[i])
			b.open = b.open || f.Ended.Seq == 0 || slices.ContainsFunc(v.ops, func(d *conformance.Done) bool {
				return d.Began.Seq > b.last.Began.Seq && d.Began.At >= b.due && d.Began.Seq < f.Ended.Seq
			})
		}
	}
}

// received returns the steps, with the events that came during a callback moved to its
// end.
func (v *view) received() []conformance.Done {
	out := slices.Clone(v.rec.Done)
	for i := range out {
		for _, f := range v.ran {
			if out[i].Op == verb.Call && f.Began.Seq < out[i].Began.Seq && out[i].Began.Seq < f.Ended.Seq {
				out[i].Began.At = f.Ended.At
			}
		}
	}
	return out
}

// inARow reports whether a callback began when another one ended, so that nobody can tell at which
// end a receiver has taken what came meanwhile.
func (v *view) inARow() bool {
	for i := range v.rec.Fires {
		if f := &v.rec.Fires[i]; v.lastInRow(f) != f {
			return true
		}
	}
	return false
}

// causedByFlush finds the fires that a flush caused: for each flush one at most, at its
// instant, before it returned, or when the callback ended that was running.
func (v *view) causedByFlush() {
	used := map[*conformance.Done]bool{}
	for i, f := range v.rec.Fires {
		for _, d := range slices.Backward(v.ops) {
			if d.Op == verb.Flush && !used[d] && d.Began.Seq < f.Began.Seq &&
				(f.Began.At == d.Began.At || d.Ended.Seq == 0 || f.Began.Seq < d.Ended.Seq || v.queued(i, d.Began.At)) {
				v.flush[i], used[d] = d, true
				break
			}
		}
	}
}

// running returns a callback that was running at the instant at.
func (v *view) running(at time.Duration) *conformance.Fire {
	for i := range v.ran {
		if v.runs(&v.ran[i], at) {
			return &v.ran[i]
		}
	}
	return nil
}

// runs reports whether a callback was running at the instant at. One of another key may have been
// the first of those that were due then.
func (v *view) runs(f *conformance.Fire, at time.Duration) bool {
	began := f.Began.At < at || f.Began.At == at && len(v.ran) > len(v.rec.Fires) &&
		!slices.ContainsFunc(v.rec.Fires, func(own conformance.Fire) bool { return own.Began.Seq == f.Began.Seq })
	return began && (f.Ended.Seq == 0 || f.Ended.At >= at)
}

// lastInRow returns the last of a row of callbacks that starts with f, in which each
// begins when the one before it ends.
func (v *view) lastInRow(f *conformance.Fire) *conformance.Fire {
	for i := range v.ran {
		if g := &v.ran[i]; f != nil && f.Ended.Seq != 0 && g.Began.Seq > f.Ended.Seq && g.Began.At == f.Ended.At {
			f = g
		}
	}
	return f
}

// inRow reports whether f is in such a row, which starts with the callback that was
// running at the instant at.
func (v *view) inRow(at time.Duration, f *conformance.Fire) bool {
	g := v.running(at)
	for i := range v.ran {
		if h := &v.ran[i]; g != nil && g.Ended.Seq != 0 && h.Began.Seq > g.Ended.Seq && h.Began.At == g.Ended.At {
			if g = h; h.Began.Seq == f.Began.Seq {
				return true
			}
		}
	}
	return false
}

// newest returns the newest call that counts, began before the point seq and lies
// before the instant at.
func (v *view) newest(seq int, at time.Duration) *conformance.Done {
	var out *conformance.Done
	for _, c := range v.calls {
		if c.Began.Seq < seq && c.Began.At < at {
			out = c
		}
	}
	return out
}

// dueSince reports whether a call that came after the point seq can have been due when f began.
func (v *view) dueSince(seq int, f *conformance.Fire) bool {
	return slices.ContainsFunc(v.calls, func(c *conformance.Done) bool {
		return c.Began.Seq > seq && c.Began.Seq < f.Began.Seq && suite.Sum(c.Began.At, v.wait) <= f.Began.At
	})
}

// lastOf returns the last cancel, flush or stop that had returned at seq.
func (v *view) lastOf(seq int, ops ...conformance.Op) *conformance.Done {
	var out *conformance.Done
	for _, d := range v.ops {
		if slices.Contains(ops, d.Op) && d.Ended.Seq != 0 && d.Ended.Seq < seq {
			out = d
		}
	}
	return out
}

// ending reports whether a cancel, flush or stop had begun at seq and not returned, other than a flush whose callback
// had begun. What begins then may take effect before it or after it.
func (v *view) ending(seq int) bool {
	return slices.ContainsFunc(v.ops, func(d *conformance.Done) bool {
		return d.Op != verb.Call && meanwhile(d, seq) && !v.flushed(d, seq)
	})
}

// flushed reports whether what a flush fires had begun at seq.
func (v *view) flushed(flush *conformance.Done, seq int) bool {
	for i, d := range v.flush {
		if d == flush && v.rec.Fires[i].Began.Seq < seq {
			return true
		}
	}
	return false
}

// meanwhile reports whether an operation had begun at seq and not returned.
func meanwhile(d *conformance.Done, seq int) bool {
	return d.Began.Seq < seq && (d.Ended.Seq == 0 || d.Ended.Seq > seq)
}

// callBetween reports whether a call that counts began between two points.
func (v *view) callBetween(from, to int) bool {
	return slices.ContainsFunc(v.calls, func(c *conformance.Done) bool {
		return c.Began.Seq > from && c.Began.Seq < to
	})
}

// races reports whether a racing step came at the instant at.
func (v *view) races(at time.Duration) bool {
	return slices.ContainsFunc(v.ops, func(d *conformance.Done) bool { return d.Racing && d.Began.At == at })
}

// serves reports whether fire i can have fired for the call c: it came after it
// and, unless a flush asked for it, at a later instant. A fire at the instant of a
// racing call is for the burst before it.
func (v *view) serves(i int, c *conformance.Done) bool {
	f := &v.rec.Fires[i]
	if own := v.byN[f.Value]; v.bearsNewest && own != nil && own.Began.Seq < c.Began.Seq && v.queued(i, f.Began.At-1) {
		return false // decided before c, it had to wait
	}
	return f.Began.Seq > c.Began.Seq && (f.Began.At > c.Began.At || v.flush[i] != nil)
}

// queued reports whether fire i started when a callback ended that had been running at the
// instant at, so that it may have been decided then.
func (v *view) queued(i int, at time.Duration) bool {
	f := &v.rec.Fires[i]
	for j := range v.ran {
		g := &v.ran[j]
		ends := g.Began.Seq < f.Began.Seq && g.Ended.Seq != 0 && g.Ended.At == f.Began.At
		if ends && g.Began.At <= at && at < g.Ended.At {
			return true
		}
	}
	return false
}

// served returns the first fire before the point to that can have fired for c.
func (v *view) served(c *conformance.Done, to int) *conformance.Fire {
	for i := range v.rec.Fires {
		if v.rec.Fires[i].Began.Seq < to && v.serves(i, c) {
			return &v.rec.Fires[i]
		}
	}
	return nil
}

// lanes are what the timeline of a debouncer shows: what should fire, if the schedule
// leaves nothing open, and what did.
func (x *exam) lanes() []suite.Lane {
	v := x.view()
	want, got := suite.Lane{Name: "want"}, suite.Lane{Name: "got"}
	open := v.wait == 0
	for _, b := range v.bursts {
		open = open || b.open
		switch {
		case b.endedBy == nil && b.due <= x.End:
			want.Marks = append(want.Marks, suite.Mark{At: x.wantAt(b), Text: x.wantMark(b)})
		case b.endedBy != nil && b.endedBy.Op == verb.Flush,
			b.endedBy != nil && b.endedBy.Op == verb.Stop && x.traits.StopPending == StopFlushes:
			want.Marks = append(want.Marks, suite.Mark{At: b.endedBy.Began.At, Text: x.wantMark(b)})
		}
	}
	for _, f := range x.Fires {
		got.Marks = append(got.Marks, suite.Mark{At: f.Began.At, Text: x.gotMark(f.Value)})
	}
	if open {
		return []suite.Lane{got}
	}
	return []suite.Lane{want, got}
}

func (x *exam) wantMark(b *burst) string {
	switch x.traits.Payload {
	case LastPayload, AllPayloads:
		return suite.FireMark(b.last.N)
	case FirstPayload:
		return suite.FireMark(b.first.N)
	}
	return "F"
}

func (x *exam) gotMark(value int) string {
	if p := x.traits.Payload; p == NoPayload || p == 0 {
		return "F"
	}
	return suite.FireMark(value)
}
