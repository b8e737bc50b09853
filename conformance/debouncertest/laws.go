package debouncertest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/verb"
)

// law notes a law that does not hold on the path, by something else than what fires.
func (m *state) law(id string, holds bool, at time.Duration, because, headline string, args ...any) {
	if holds {
		return
	}
	m.marks = append(m.marks, edge.Finding{Rule: id, Violation: m.x.told(at, because, headline, args...)})
}

// byChance says of the laws noted since that they are broken only in some runs, if chance orders steps and timers.
func (m *state) byChance(since int) {
	for _, f := range m.marks[since:] {
		f.Chance = m.x.Order == inside.OrderSampled
	}
}

// tie judges a step that met the deadline of what waits: the step went first, or the timer did.
func (m *state) tie(d *conformance.Done, first bool) {
	at, marks, late := d.Began.At, len(m.marks), false
	if i := len(m.Want) - 1; !first && i >= 0 && i < len(m.x.Fires) {
		late = d.Ended.Seq != 0 && m.x.Fires[i].Began.Seq > d.Ended.Seq // the callback started behind the step
	}
	switch {
	case d.Op == verb.Call && m.plain:
		m.callTie(d, first, late)
	case first:
	case d.Op == verb.Cancel && m.plain && m.x.Order == inside.OrderStepFirst:
		m.law("DB-CANCEL", false, at, edge.Text("cancel at %s had discarded call %d", at, m.Want[len(m.Want)-1].Value),
			"fired at %s, want no fire", at)
	case late && d.Op == verb.Cancel:
		if m.barred(d, true, at); m.traits.CancelBarrier != CommitBarrier {
			m.byChance(marks)
		}
	case late && d.Op == verb.Stop && m.traits.StopPending == StopDrops && m.traits.StopBarrier != NoBarrier:
		m.law("DB-STOP", false, at, m.x.stoppedBecause(d, math.MaxInt), "fired at %s, after stop", at)
		m.byChance(marks)
	}
}

// callTie judges a call that met the deadline, at which nothing else came: whether it or the timer went first, and
// whether the callback started late, after the call had returned.
func (m *state) callTie(d *conformance.Done, first, late bool) {
	at, marks := d.Began.At, len(m.marks)
	if slices.ContainsFunc(m.x.Done, func(o conformance.Done) bool {
		return o.Op != verb.Call && o.Op != verb.Pending && o.Began.At == at
	}) {
		return
	}
	if first {
		because := edge.Text("call %d met the deadline of call %d, and FireFirst is declared", d.N, m.value)
		m.law("DB-TIE", m.traits.Tie != FireFirst, at, because, "did not fire at %s", at)
		m.byChance(marks)
		return
	}
	because := edge.Text("call %d met the deadline of call %d and returned before the timer's function ran; "+
		"ResetFirst is declared", d.N, m.Want[len(m.Want)-1].Value)
	m.law("DB-TIE", m.traits.Tie != ResetFirst || !m.x.Order.Certain(), at, because,
		"fired at %s, want %s", at, at+m.cfg.Wait)
	marks = len(m.marks)
	because = edge.Text("call %d had returned at %s, before the callback started", d.N, d.Ended.At)
	m.law("DB-NOSTALE", m.traits.StaleFire != StaleForbidden || !late, at, because,
		"fired at %s for an event that call %d had superseded, want %s", at, d.N, at+m.cfg.Wait)
	m.byChance(marks)
}

// barred judges a callback that starts after a cancel has returned, which may be what that reported as cancelled.
func (m *state) barred(d *conformance.Done, reported bool, at time.Duration) {
	why := "FinishBarrier is declared: nothing starts after it returns"
	switch how := m.traits.CancelBarrier; {
	case how == CommitBarrier && d.OK && reported:
		why = "it had reported true, so nothing may run for what it cancelled"
	case how != FinishBarrier:
		return
	}
	m.law("DB-CANCELBAR", false, at, edge.Text("cancel had returned at %s, and %s", d.Ended.At, why),
		"a callback started at %s, after cancel had returned", at)
}

// gets judges what a callback got that is to get all events.
func (m *state) gets(got *conformance.Fire, want []int) {
	if m.edges == LeadingAndTrailing && m.traits.BothSingle != BothOnce || slices.Equal(got.Values, want) {
		return
	}
	at := got.Began.At
	if was, _ := m.x.Detail.(edge.Changed); slices.Equal(was[got.Began.Seq], want) {
		m.law("DB-ALL", false, at, "a batch belongs to its callback until that returns",
			"fired at %s with %v, which had become %v when the callback returned", at, want, got.Values)
		return
	}
	m.law("DB-ALL", false, at, "these events had neither fired nor been discarded",
		"fired at %s with %v, want %v", at, got.Values, want)
}

// reported judges what a cancel reports when the newest event has fired.
func (m *state) reported(d *conformance.Done) {
	if !m.plain || m.traits.CancelBarrier != CommitBarrier || !d.OK || m.waits || !m.spent || len(m.line) > 0 ||
		m.traits.Overlap == SerialReceiver && m.busy > 0 && runs(d.Began.At, m.x.Fires) || m.x.races(d.Began.At) {
		return
	}
	fired := m.Want[len(m.Want)-1]
	m.law("DB-CANCELBAR", false, d.Began.At,
		edge.Text("call %d, the newest, had fired at %s, and CommitBarrier is declared", fired.Value, fired.At),
		"cancel at %s reported true, want false", d.Began.At)
}

// stoppedBecause says why something must not start at a point of the run, behind a Stop.
func (x *exam) stoppedBecause(stop *conformance.Done, seq int) string {
	because := edge.Text("stop had returned at %s, and StopDrops is declared", stop.Ended.At)
	if seq < stop.Ended.Seq {
		because = edge.Text("stop was waiting since %s, and StopDrops is declared", stop.Began.At)
	}
	called := func(d conformance.Done) bool { return d.Op == verb.Call && d.Began.Seq > stop.Ended.Seq }
	if slices.ContainsFunc(x.Done, called) {
		because += "; if your documentation says that calls work again after it, this is Funcs.Cancel"
	}
	return because
}

// firesWithin judges a call without a wait: if that is declared, it fires before it returns.
func (m *state) firesWithin(d *conformance.Done) {
	cfg, i := m.x.Schedule.Config, len(m.Want)
	if !m.plain || m.traits.ZeroWait != ZeroSync || cfg.Wait != 0 || d.Inside || i >= len(m.x.Fires) {
		return // a callback that calls may have to end first
	}
	m.law("DB-ZERO", m.x.Fires[i].Began.Seq < d.Ended.Seq, d.Began.At, "ZeroSync is declared",
		"call %d at %s returned before its callback started", d.N, d.Began.At)
}

// What a trace shows.

// races reports whether a step raced with what was due at an instant: an operation of some, if any are named.
func (x *exam) races(at time.Duration, ops ...conformance.Op) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Racing && d.Began.At == at && (len(ops) == 0 || slices.Contains(ops, d.Op))
	})
}

// meanwhile reports whether a racing call came behind another operation at its instant.
func (x *exam) meanwhile(d *conformance.Done) bool {
	return slices.ContainsFunc(x.Done, func(o conformance.Done) bool {
		return o.Op == verb.Call && o.Racing && o.Began.At == d.Began.At && o.Began.Seq > d.Began.Seq
	})
}

// overlaps reports whether an operation may take effect before or after one that had begun when it did, and not
// returned, other than a call, or a flush whose callback had begun.
func (x *exam) overlaps(d *conformance.Done) bool {
	for i := range x.Done {
		o := &x.Done[i]
		if o.Began.Seq >= d.Began.Seq {
			return false
		}
		if o.Ended.Seq != 0 && o.Ended.Seq < d.Began.Seq || o.Op == verb.Pending || d.Op == verb.Pending ||
			o.Op == verb.Call && d.Op == verb.Call {
			continue
		}
		if o.Op != verb.Flush || !slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			return f.Began.Seq > o.Began.Seq && f.Began.Seq < d.Began.Seq
		}) {
			return true
		}
	}
	return false
}

// calledLate reports whether a callback calls when the input has ended, or just before: that may count or
// not.
func (x *exam) calledLate(end *conformance.Done) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Call && d.Inside &&
			(d.Began.Seq > end.Began.Seq || end.Racing && d.Began.At == end.Began.At)
	})
}

// runs reports whether one of the callbacks was running at an instant.
func runs(at time.Duration, fires []conformance.Fire) bool {
	return slices.ContainsFunc(fires, func(f conformance.Fire) bool {
		return f.Began.At <= at && (f.Ended.Seq == 0 || f.Ended.At >= at)
	})
}

// endsAt reports whether one of the callbacks ended at an instant.
func endsAt(at time.Duration, fires []conformance.Fire) bool {
	return slices.ContainsFunc(fires, func(f conformance.Fire) bool {
		return f.Ended.Seq != 0 && f.Ended.At == at && f.Began.At < at
	})
}

// called is the call with a payload, nil if there is none.
func (x *exam) called(v int) *conformance.Done {
	for i := range x.Done {
		if d := &x.Done[i]; d.Op == verb.Call && d.N == v {
			return d
		}
	}
	return nil
}

// newest is the newest operation of a kind that began before a point of the run, nil if there is none.
func (x *exam) newest(seq int, op conformance.Op) (newest *conformance.Done) {
	for i := range x.Done {
		if d := &x.Done[i]; d.Op == op && d.Began.Seq < seq {
			newest = d
		}
	}
	return newest
}
