package debouncertest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// flushRules are those of Flush and Pending.
func flushRules() []rule {
	return []rule{
		{
			Rule: core("DB-FLUSH", "Flush MUST fire a pending event at once and exactly once. The next event "+
				"MUST begin a new burst or continue the old one, as declared; if undeclared, either."),
			Ops:    []conformance.Op{verb.Flush},
			Absent: without(Trailing, LeadingAndTrailing),
			About:  suite.Has(verb.Flush),
			Sees:   (*exam).ofAnyEdge,
			Check:  (*exam).flush,
		},
		{
			Rule: core("DB-FLUSH0", "Flush MUST NOT fire if no event is pending, nor repeat what the leading "+
				"edge fired."),
			Ops:   []conformance.Op{verb.Flush},
			About: suite.Has(verb.Flush),
			Sees:  (*exam).ofAnyEdge,
			Check: (*exam).flushNothing,
		},
		{
			Rule: core("DB-PEND", "Pending MUST be true exactly while an event has neither fired nor been discarded, "+
				"and false in the callback that fires it."),
			Ops:   []conformance.Op{verb.Pending},
			About: suite.Has(verb.Pending),
			Sees:  (*exam).ofAnyEdge,
			Check: (*exam).pending,
		},
	}
}

// pendingAt returns the newest call that was neither fired nor discarded at the
// point seq; nil if there is none.
func (x *exam) pendingAt(seq int) *conformance.Done {
	v := x.view()
	c := v.newest(seq, edge.Far)
	if c == nil || v.served(c, seq) != nil {
		return nil
	}
	k := v.lastOf(seq, verb.Cancel, verb.Flush, verb.Stop)
	if k != nil && k.Began.Seq > c.Began.Seq {
		return nil
	}
	return c
}

// unsure reports whether it is open what is pending at the instant at, because of a racing
// step or a running callback.
func (x *exam) unsure(at time.Duration) bool {
	v := x.view()
	if v.races(at) {
		return true
	}
	return x.Schedule.Config.Busy > 0 && (v.running(at) != nil || v.running(at+1) != nil)
}

// silent reports whether nothing need fire any more because of an earlier cancel, which is
// final or whose meaning is undeclared, or because a cancel, flush or stop has begun and not returned.
func (x *exam) silent(seq int) bool {
	v := x.view()
	return v.lastOf(seq, verb.Stop) != nil || v.ending(seq) ||
		!x.traits.AfterCancel.usable() && v.lastOf(seq, verb.Cancel) != nil
}

func (x *exam) flush() *suite.Violation {
	if x.configured() {
		return x.difference().Breaks("DB-FLUSH")
	}
	if !x.judgeable() {
		return nil
	}
	if found := x.lostMeeting(verb.Flush); found != nil {
		return found
	}
	v := x.view()
	for _, k := range v.ops {
		if k.Op != verb.Flush || k.Inside || x.silent(k.Began.Seq) {
			continue
		}
		if x.unsure(k.Began.At) {
			if found := x.lostByFlush(k); found != nil {
				return found
			}
			continue
		}
		c := x.pendingAt(k.Began.Seq)
		if c == nil || k.Panic != "" && v.served(c, afterAll) != nil {
			continue // the panic of a callback may leave what waits for other keys to their timers
		}
		caused := slices.IndexFunc(x.Fires, func(f conformance.Fire) bool { return f.Began.Seq > k.Began.Seq })
		if caused < 0 || v.flush[caused] != k {
			return x.told(k.Began.At, edge.Text("call %d at %s was pending", c.N, c.Began.At),
				"flush at %s fired nothing, want a fire at once", k.Began.At)
		}
	}
	return nil
}

// lostByFlush finds an event that fires neither at a flush that came while a callback ran, nor
// when that callback has ended, with those that follow it at once.
func (x *exam) lostByFlush(k *conformance.Done) *suite.Violation {
	v, c := x.view(), x.pendingAt(k.Began.Seq)
	sure := k == v.ops[len(v.ops)-1] && k.Ended.Seq != 0 && !v.races(k.Began.At) && x.traits.bearsNewest()
	if c == nil || !sure {
		return nil
	}
	by := x.End
	f := v.lastInRow(v.running(k.Began.At))
	if f != nil && f.Ended.Seq != 0 && c.Ended.Seq != 0 && c.Ended.Seq < k.Began.Seq {
		by = f.Ended.At // otherwise the flush may have come before the event
	}
	if x.firedBy(c.N, by) {
		return nil
	}
	return x.told(k.Began.At, edge.Text("call %d at %s was pending", c.N, c.Began.At),
		"flush at %s, while a callback ran, fired nothing by %s", k.Began.At, by)
}

func (x *exam) flushNothing() *suite.Violation {
	if x.configured() {
		v := x.difference().Breaks("DB-FLUSH0")
		if v != nil {
			v.Because = edge.Text("nothing was pending for the flush at %s", v.At)
		}
		return v
	}
	if !x.judgeable() {
		return nil
	}
	v := x.view()
	for i := range x.Fires {
		k := v.flush[i]
		if k == nil || k.Inside || x.unsure(k.Began.At) || x.pendingAt(k.Began.Seq) != nil {
			continue
		}
		f := x.Fires[i]
		if v.callBetween(k.Began.Seq, f.Began.Seq) {
			continue
		}
		return x.told(f.Began.At, "nothing was pending", "flush at %s fired, want nothing", k.Began.At)
	}
	return nil
}

// flushRule is the rule about Flush that a difference at the i-th fire breaks, where an edge or a
// bound is configured; "" if a flush does not explain it.
func (x *exam) flushRule(want []edge.Fire, i int, got *conformance.Fire) string {
	missing, by := edge.Missing(want, i, got), x.newestBefore(got)
	switch {
	case missing && (want[i].Kind == edge.Flushed || x.leadsAfterFlush(want, &want[i])):
		return "DB-FLUSH"
	case got == nil || missing && got.Began.At > want[i].At:
		return ""
	case by.Op == verb.Flush && i > 0 && x.Fires[i-1].Began.Seq > by.Began.Seq:
		return "DB-FLUSH" // it fires once more
	case by.Op == verb.Flush:
		return "DB-FLUSH0"
	case by.Op == verb.Call && x.traits.AfterFlush == FlushKeepsBurst && !missing &&
		x.soonAfterFlush(want, i, got.Began.At):
		return "DB-FLUSH"
	}
	return ""
}

// newestBefore is what was done last before a fire, at its instant.
func (x *exam) newestBefore(f *conformance.Fire) (newest conformance.Done) {
	for _, d := range x.Done {
		if f != nil && d.Began.At == f.Began.At && d.Began.Seq < f.Began.Seq && d.Op != verb.Pending {
			newest = d
		}
	}
	return newest
}

// soonAfterFlush reports whether the last fire before the i-th is that of a flush, and an instant
// less than the wait after it.
func (x *exam) soonAfterFlush(want []edge.Fire, i int, at time.Duration) bool {
	return i > 0 && want[i-1].Kind == edge.Flushed && at-want[i-1].At < x.Schedule.Config.Wait
}

// leadsAfterFlush reports whether w leads because a flush has ended the burst, as is declared.
func (x *exam) leadsAfterFlush(want []edge.Fire, w *edge.Fire) bool {
	return w.Kind == edge.Leading && x.traits.AfterFlush == FlushEndsBurst &&
		x.soonAfterFlush(want, slices.Index(want, *w), w.At)
}

func (x *exam) pending() *suite.Violation {
	if x.configured() {
		return x.edgePending()
	}
	if !x.judgeable() {
		return nil
	}
	for _, d := range x.Done {
		if d.Op != verb.Pending || d.Ended.Seq == 0 || x.silent(d.Began.Seq) && !x.nothingSinceStop(&d) {
			continue
		}
		if x.unsure(d.Began.At) && !x.waitsBehind(&d) && !x.restsBehind(&d) {
			if found := x.deniedBehind(&d); found != nil {
				return found
			}
			continue
		}
		want := x.pendingAt(d.Began.Seq) != nil
		if d.OK == want {
			continue
		}
		where, because := "", "no event was waiting to fire"
		if d.Inside {
			where = " in the callback"
		}
		if c := x.pendingAt(d.Began.Seq); c != nil {
			because = edge.Text("call %d at %s had neither fired nor been discarded", c.N, c.Began.At)
		}
		return x.told(d.Began.At, because, "Pending()%s = %v at %s, want %v", where, d.OK, d.Began.At, want)
	}
	return nil
}

// nothingSinceStop reports whether Stop was the newest operation before a query: then nothing is
// pending any more.
func (x *exam) nothingSinceStop(query *conformance.Done) bool {
	ops := []conformance.Op{verb.Call, verb.Cancel, verb.Flush, verb.Stop}
	last := x.view().lastOf(query.Began.Seq, ops...)
	return last != nil && last.Op == verb.Stop && last.Ended.Seq != 0 && last.Ended.Seq < query.Began.Seq
}

// waitsBehind reports whether an event is pending for certain though a callback runs: it came
// before the query, and its wait was not over then. What is due behind a callback may be
// decided already. A receiver may not have taken the event yet.
func (x *exam) waitsBehind(query *conformance.Done) bool {
	v, c, at := x.view(), x.pendingAt(query.Began.Seq), query.Began.At
	if c == nil || v.races(at) || query.Ended.At != at || x.traits.Overlap == SerialReceiver {
		return false
	}
	if at >= c.Began.At+v.wait {
		return false
	}
	between := func(d *conformance.Done) bool { return d.Began.Seq > c.Began.Seq && d.Began.Seq < query.Began.Seq }
	return c.Ended.Seq != 0 && c.Ended.Seq < query.Began.Seq && !slices.ContainsFunc(v.ops, between)
}

// restsBehind reports whether nothing is pending for certain though a callback runs: the newest
// event has fired, or was cancelled before its wait was over.
func (x *exam) restsBehind(query *conformance.Done) bool {
	v, at := x.view(), query.Began.At
	c := v.newest(query.Began.Seq, edge.Far)
	if c == nil || v.races(at) || query.Ended.At != at || x.traits.Overlap == SerialReceiver || !v.bearsNewest {
		return false
	}
	if slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
		return f.Value == c.N && f.Began.Seq < query.Began.Seq
	}) {
		return true
	}
	k := v.lastOf(query.Began.Seq, verb.Cancel, verb.Flush)
	return k != nil && k.Op == verb.Cancel && k.Began.Seq > c.Began.Seq && k.Began.At < c.Began.At+v.wait &&
		!slices.ContainsFunc(v.ops, func(d *conformance.Done) bool {
			return d.Op == verb.Flush && d.Began.Seq > c.Began.Seq && d.Began.Seq < query.Began.Seq
		})
}

// edgePending judges Pending where an edge or a bound is configured.
func (x *exam) edgePending() *suite.Violation {
	if x.Refused != "" || x.Stuck || !x.modelled() || x.difference().Violation != nil {
		return nil
	}
	var worst *suite.Violation
	fits := func(m model) bool {
		if edge.Compare(x.Recording, m.Model, cmp.Or(x.traits.Payload, NoPayload), x.terms()).Violation != nil {
			return false
		}
		v := x.answered(m)
		if worst == nil {
			worst = v
		}
		return v == nil
	}
	for _, r := range readings(x.Schedule.Config) {
		if x.models(r, fits) {
			return nil
		}
	}
	return worst
}

// answered compares the answers to queries with those of a model.
func (x *exam) answered(m model) *suite.Violation {
	for _, d := range x.Done {
		want, sure := m.pending[d.Began.Seq]
		if d.Op != verb.Pending || d.Ended.Seq == 0 || !sure || d.OK == want || d.Began.At >= m.Certain {
			continue
		}
		if d.Ended.At != d.Began.At {
			continue // it waited for a callback, and may have looked then
		}
		v := x.terms().Difference(x.Recording, "", m.Want, nil, nil, d.Began.At)
		v.Headline = edge.Text("Pending() = %v at %s, want %v", d.OK, d.Began.At, want)
		v.Because = "no event was waiting to fire"
		if want {
			v.Because = "an event had neither fired nor been discarded"
		}
		return v
	}
	return nil
}

// deniedBehind finds an event that a query denies while a callback runs, though the cancel that comes
// next, while that still runs, discards it. What is due by then may be decided, which some answer with
// true and others with false; but what is decided is no longer discarded.
func (x *exam) deniedBehind(query *conformance.Done) *suite.Violation {
	v, c, at := x.view(), x.pendingAt(query.Began.Seq), query.Began.At
	if query.OK || query.Inside || c == nil || x.traits.Overlap == SerialReceiver || !v.bearsNewest {
		return nil
	}
	cancel := v.after(query)
	if cancel == nil || cancel.Op != verb.Cancel || cancel.Inside || cancel.Ended.At != cancel.Began.At {
		return nil
	}
	runs := v.running(at)
	for _, d := range []*conformance.Done{query, cancel} {
		if runs == nil || v.running(d.Began.At+1) != runs || v.races(d.Began.At) || d.Ended.At != d.Began.At {
			return nil
		}
	}
	if c.Ended.Seq == 0 || c.Ended.Seq > query.Began.Seq || x.firedBy(c.N, x.End) {
		return nil
	}
	return x.told(at, edge.Text("call %d at %s had neither fired nor been discarded: the cancel at %s discards it",
		c.N, c.Began.At, cancel.Began.At), "Pending() = false at %s, want true", at)
}

// after is the first call, cancel, flush or stop after a query, nil if there is none.
func (v *view) after(query *conformance.Done) *conformance.Done {
	for _, d := range v.ops {
		if d.Began.Seq > query.Began.Seq {
			return d
		}
	}
	return nil
}
