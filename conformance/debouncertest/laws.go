package debouncertest

import (
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

// byChance says that the law noted last is broken only in some of the runs, if chance orders their steps and timers.
func (m *state) byChance(since int) {
	for _, f := range m.marks[since:] {
		f.Chance = m.x.Order == inside.OrderSampled
	}
}

// tie judges a step that met the deadline of what waits: the step went first, or the timer did.
func (m *state) tie(d *conformance.Done, first bool) {
	at, marks := d.Began.At, len(m.marks)
	alone := m.plain && d.Op == verb.Call && !slices.ContainsFunc(m.x.Done, func(o conformance.Done) bool {
		return o.Op != verb.Call && o.Op != verb.Pending && o.Began.At == at
	})
	late := false // the callback started after the step had returned
	if i := len(m.Want) - 1; !first && i >= 0 && i < len(m.x.Fires) {
		late = d.Ended.Seq != 0 && m.x.Fires[i].Began.Seq > d.Ended.Seq
	}
	switch {
	case alone && first && m.traits.Tie == FireFirst:
		because := edge.Text("call %d met the deadline of call %d, and FireFirst is declared", d.N, m.value)
		m.law("DB-TIE", false, at, because, "did not fire at %s", at)
		m.byChance(marks)
	case alone && !first:
		fired := m.Want[len(m.Want)-1].Value
		if m.traits.Tie == ResetFirst && m.x.Order.Certain() {
			m.law("DB-TIE", false, at, edge.Text("call %d met the deadline of call %d and returned before the timer's "+
				"function ran; ResetFirst is declared", d.N, fired), "fired at %s, want %s", at, at+m.cfg.Wait)
		}
		if m.traits.StaleFire == StaleForbidden && late {
			because := edge.Text("call %d had returned at %s, before the callback started", d.N, d.Ended.At)
			m.law("DB-NOSTALE", false, at, because,
				"fired at %s for an event that call %d had superseded, want %s", at, d.N, at+m.cfg.Wait)
			m.byChance(len(m.marks) - 1)
		}
	case first || d.Op != verb.Cancel:
	case m.plain && m.x.Order == inside.OrderStepFirst:
		m.law("DB-CANCEL", false, at, edge.Text("cancel at %s had discarded call %d", at, m.Want[len(m.Want)-1].Value),
			"fired at %s, want no fire", at)
	case late:
		if m.barred(d, true, at); m.traits.CancelBarrier != CommitBarrier {
			m.byChance(marks)
		}
	}
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

// reported judges what a cancel reports when the newest event has fired.
func (m *state) reported(d *conformance.Done) {
	if !m.plain || m.traits.CancelBarrier != CommitBarrier || !d.OK || m.waits || !m.spent || len(m.line) > 0 ||
		m.running && m.traits.Overlap == SerialReceiver || m.x.races(d.Began.At) {
		return
	}
	fired := m.Want[len(m.Want)-1]
	m.law("DB-CANCELBAR", false, d.Began.At,
		edge.Text("call %d, the newest, had fired at %s, and CommitBarrier is declared", fired.Value, fired.At),
		"cancel at %s reported true, want false", d.Began.At)
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

// races reports whether a racing step came at an instant.
func (x *exam) races(at time.Duration) bool {
	return slices.ContainsFunc(x.Done, func(d conformance.Done) bool { return d.Racing && d.Began.At == at })
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
