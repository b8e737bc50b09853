package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// trailingRules are those of the trailing edge.
func trailingRules() []rule {
	return onTrailing(
		law(core("DB-QUIET", "A trailing fire MUST come no earlier than the wait after the newest event."),
			(*exam).quiet),
		law(core("DB-EXACT", "On a fake clock a trailing fire MUST come exactly the wait after the "+
			"newest event, or when a callback that still runs returns."), (*exam).exact),
		law(core("DB-ONE", "A burst MUST fire at most once."), (*exam).once),
		rule{
			Rule: core("DB-LAST", "The callback MUST get the declared payload: that of the burst's newest "+
				"event, or of its first."),
			Declared: []string{"Payload"},
			Unless:   nameless,
			Check:    judged((*exam).payload),
		},
		law(core("DB-LIVE", "When events stop and nothing discards them, the burst MUST fire, even if "+
			"they came while the callback ran."), (*exam).live),
		law(core("DB-IDLE", "The callback MUST NOT run unless an event is pending."), (*exam).idle),
		rule{
			Rule: core("DB-SUBSEQ", "The payloads fired MUST be a subsequence of the payloads called: "+
				"none invented, repeated or out of order."),
			Declared: []string{"Payload"},
			Unless:   nameless,
			Check:    (*exam).subsequence,
		},
		law(core("DB-GAPRATE", "Two successive trailing fires MUST be at least the wait apart."), (*exam).gaps),
	)
}

// law is a rule of the runs that timing laws can judge.
func law(r conformance.Rule, check func(*exam) *suite.Violation) rule {
	return rule{Rule: r, Check: judged(check)}
}

// onTrailing makes the rules ones of the trailing edge alone.
func onTrailing(rules ...rule) []rule {
	for i := range rules {
		rules[i].Absent, rules[i].Sees = noTrailing, (*exam).ofTrailing
	}
	return rules
}

// judged is a check of the runs that timing laws can judge.
func judged(check func(*exam) *suite.Violation) func(*exam) *suite.Violation {
	return func(x *exam) *suite.Violation {
		if !x.judgeable() {
			return nil
		}
		return check(x)
	}
}

// nameless is why payloads cannot be judged.
func nameless(_ *suite.Suite, tr *Traits) string {
	return suite.If(tr.Payload == NoPayload, "declared: NoPayload")
}

// eachFire calls f for each fire that no flush caused, until it finds something. What comes after Stop DB-STOP judges.
func (x *exam) eachFire(f func(i int, fire *conformance.Fire) *suite.Violation) *suite.Violation {
	for i := range x.Fires {
		if x.view().flush[i] != nil || x.byStop(&x.Fires[i]) || x.stopped(&x.Fires[i]) {
			continue
		}
		if v := f(i, &x.Fires[i]); v != nil {
			return v
		}
	}
	return nil
}

// stopped reports whether Stop had returned before the fire.
func (x *exam) stopped(f *conformance.Fire) bool {
	return x.view().lastOf(f.Began.Seq, verb.Stop) != nil
}

// byStop reports whether a Stop that flushes may have caused the fire.
func (x *exam) byStop(f *conformance.Fire) bool {
	if t := x.traits.StopPending; t == StopDrops {
		return false
	}
	return slices.ContainsFunc(x.view().ops, func(d *conformance.Done) bool {
		return d.Op == verb.Stop && d.Began.Seq < f.Began.Seq &&
			(d.Began.At == f.Began.At || d.Ended.Seq == 0 || f.Began.Seq < d.Ended.Seq || x.view().inRow(d.Began.At, f))
	})
}

// waited reports whether fire i may have been decided earlier and have waited for a
// callback to end.
func (x *exam) waited(i int) bool {
	return x.traits.Overlap != Parallel && x.view().queued(i, x.Fires[i].Began.At-1)
}

func (x *exam) quiet() *suite.Violation {
	v := x.view()
	return x.eachFire(func(i int, f *conformance.Fire) *suite.Violation {
		at := f.Began.At
		c := v.newest(f.Began.Seq, at)
		own := v.byN[f.Value]
		if x.waited(i) {
			c = nil // a newer call may have come while it waited
			if own != nil && own.Began.At < at {
				c = own
			}
		}
		if x.traits.bearsNewest() && own != nil && own.Began.Seq < f.Began.Seq &&
			(c == nil || own.Began.At > c.Began.At) {
			c = own // the fire is for an event of this very instant
		}
		if c == nil || at-c.Began.At >= v.wait || at-c.Began.At < 0 {
			return nil
		}
		return x.told(at, edge.Text("call %d at %s restarts the %s wait", c.N, c.Began.At, v.wait),
			"fired at %s, want %s", at, suite.Sum(c.Began.At, v.wait))
	})
}

func (x *exam) exact() *suite.Violation {
	v := x.view()
	for _, b := range v.bursts {
		if b.open || b.endedBy != nil {
			continue
		}
		f := v.served(b.last, b.until())
		if f == nil || f.Began.At <= b.due {
			continue
		}
		if busy := v.running(b.due); busy != nil && x.traits.Overlap != Parallel && x.endsAt(f.Began.At, f) {
			continue
		}
		return x.told(b.due,
			edge.Text("call %d at %s was the newest, and the wait is %s", b.last.N, b.last.Began.At, v.wait),
			"fired at %s, want %s", f.Began.At, b.due)
	}
	return nil
}

// endsAt reports whether a callback other than f ended at the instant at.
func (x *exam) endsAt(at time.Duration, f *conformance.Fire) bool {
	for _, g := range x.view().ran {
		if g.Began.Seq < f.Began.Seq && g.Ended.Seq != 0 && g.Ended.At == at {
			return true
		}
	}
	return false
}

func (x *exam) once() *suite.Violation {
	v := x.view()
	for _, b := range v.bursts {
		to := b.until()
		if b.endedBy != nil {
			to = min(to, b.endedBy.Began.Seq)
		}
		n := 0
		found := x.eachFire(func(i int, f *conformance.Fire) *suite.Violation {
			if f.Began.Seq < b.first.Began.Seq || f.Began.Seq > to ||
				f.Began.At > b.due || f.Began.At == b.first.Began.At {
				return nil
			}
			own := v.byN[f.Value]
			if x.waited(i) && (!v.bearsNewest || own != nil && own.Began.Seq < b.first.Began.Seq) {
				return nil // it may be the burst before, which was due behind a callback
			}
			if n++; n < 2 {
				return nil
			}
			because := edge.Text("the events of calls %d to %d are less than %s apart: one burst",
				min(b.first.N, b.last.N), max(b.first.N, b.last.N), v.wait)
			return x.told(f.Began.At, because,
				"fired %d times by %s for one burst, want once at %s", n, f.Began.At, b.due)
		})
		if found != nil {
			return found
		}
	}
	return nil
}

func (x *exam) payload() *suite.Violation {
	if x.traits.Payload == NoPayload {
		return nil
	}
	v := x.view()
	fired := map[int]bool{}
	for i, f := range x.Fires {
		own := v.byN[f.Value]
		if own == nil && f.Key != 0 {
			return x.told(f.Began.At, "that payload is another instance's, or none's",
				"fired with payload %d", f.Value)
		}
		if own == nil || fired[f.Value] || own.Began.Seq > f.Began.Seq || x.waited(i) || x.stopped(&f) {
			continue // DB-SUBSEQ's, decided before it started, or DB-STOP's
		}
		fired[f.Value] = true
		if bad := x.wrongPayload(i, own); bad != nil {
			return bad
		}
	}
	return nil
}

// wrongPayload judges fire i, which bears the payload of the call own.
func (x *exam) wrongPayload(i int, own *conformance.Done) *suite.Violation {
	v, f := x.view(), &x.Fires[i]
	before := v.newest(f.Began.Seq, f.Began.At)
	latest := v.newest(f.Began.Seq, f.Began.At+1)
	if x.traits.bearsNewest() && (latest == nil || own == before || own == latest) {
		by := v.flush[i]
		if by == nil || latest == nil || own == latest || by.Racing || latest.Racing {
			return nil
		}
		return x.told(f.Began.At, edge.Text("call %d at %s is the newest event", latest.N, latest.Began.At),
			"fired with payload %d, want %d", f.Value, latest.N)
	}
	want := before
	if v.flush[i] != nil || x.byStop(f) || want == nil {
		want = latest
	}
	if x.traits.Payload == FirstPayload {
		want = v.began(v.burstOf(want), own)
	} else if own == before && v.races(f.Began.At) {
		return nil
	}
	if want == nil || want == own {
		return nil
	}
	return x.told(f.Began.At, edge.Text("call %d at %s is the event that counts", want.N, want.Began.At),
		"fired with payload %d, want %d", f.Value, want.N)
}

// began returns the call that began a burst, nil where own may have begun it.
func (v *view) began(b *burst, own *conformance.Done) *conformance.Done {
	if b == nil || b.open || v.running(b.due) != nil || v.joins(b, own) {
		return nil
	}
	return b.first
}

// joins reports whether b may be part of the burst that c began, because the call with
// which b begins met the deadline of the burst before it.
func (v *view) joins(b *burst, c *conformance.Done) bool {
	for _, p := range slices.Backward(v.bursts) {
		if p.next == b && p.open {
			if p.first == c {
				return true
			}
			b = p
		}
	}
	return false
}

// burstOf returns the burst that a call belongs to.
func (v *view) burstOf(c *conformance.Done) *burst {
	if c == nil {
		return nil
	}
	for _, b := range v.bursts {
		if b.first.Began.Seq <= c.Began.Seq && c.Began.Seq <= b.last.Began.Seq {
			return b
		}
	}
	return nil
}

func (x *exam) live() *suite.Violation {
	v := x.view()
	for _, b := range v.bursts {
		if x.fulfilled(b) {
			continue
		}
		because, at := edge.Text("nothing came after call %d at %s", b.last.N, b.last.Began.At), x.wantAt(b)
		if at > b.due {
			because += edge.Text("; it was due at %s, and a callback ran until %s", b.due, at)
		}
		return x.told(at, because, "nothing fired for call %d by %s, want a fire at %s", b.last.N, x.End, at)
	}
	return nil
}

// wantAt is when a burst must fire: when it is due, or when the callback ends that it has to wait for.
func (x *exam) wantAt(b *burst) time.Duration {
	v := x.view()
	if f := v.lastInRow(v.running(b.due)); f != nil && f.Ended.Seq != 0 && x.traits.Overlap != Parallel {
		return f.Ended.At
	}
	return b.due
}

// fulfilled reports whether a burst fired, or need not have.
func (x *exam) fulfilled(b *burst) bool {
	v := x.view()
	if b.open || b.endedBy != nil || b.due > x.End {
		return true
	}
	if c := v.lastOf(b.first.Began.Seq, verb.Cancel); c != nil && !x.traits.AfterCancel.usable() {
		return true // DB-REUSE's, or undeclared
	}
	return v.served(b.last, b.until()) != nil
}

func (x *exam) idle() *suite.Violation {
	v := x.view()
	return x.eachFire(func(i int, f *conformance.Fire) *suite.Violation {
		why := "no event had come"
		kill := v.lastOf(f.Began.Seq, verb.Cancel, verb.Flush)
		c := v.newest(f.Began.Seq, edge.Far)
		switch {
		case c == nil:
		case kill != nil && kill.Began.Seq > c.Began.Seq && kill.Op == verb.Cancel:
			return nil // DB-CANCEL's
		default:
			g := v.served(c, f.Began.Seq)
			if g == nil || !v.bearsNewest && x.waited(i) && i < len(v.bursts) {
				return nil // g may have been for an older event, while this fire waited
			}
			why = edge.Text("the last event, call %d, had fired at %s", c.N, g.Began.At)
		}
		for _, b := range v.bursts {
			if b.due == f.Began.At && b.endedBy == nil && i > 0 && x.Fires[i-1].Began.Seq > b.first.Began.Seq &&
				x.Fires[i-1].Began.At < b.due {
				return nil // DB-ONE's: the burst fired early and again at its time
			}
		}
		return x.told(f.Began.At, why, "fired at %s, want no fire", f.Began.At)
	})
}

func (x *exam) subsequence() *suite.Violation {
	if x.Refused != "" {
		return nil
	}
	last := 0
	for _, f := range x.Fires {
		own := x.view().byN[f.Value]
		switch {
		case own == nil || own.Began.Seq > f.Began.Seq:
			return x.told(f.Began.At, "payloads must come from calls",
				"fired with payload %d, which no call had", f.Value)
		case own.Began.Seq <= last:
			return x.told(f.Began.At, "each event may be fired once, and not after a newer one",
				"fired with payload %d again or out of order", f.Value)
		}
		last = own.Began.Seq
	}
	return nil
}

func (x *exam) gaps() *suite.Violation {
	prev := time.Duration(-edge.Far)
	return x.eachFire(func(i int, f *conformance.Fire) *suite.Violation {
		if prev > -edge.Far && !x.waited(i) && f.Began.At-prev < x.view().wait {
			return x.told(f.Began.At,
				edge.Text("the fire before it came at %s and the wait is %s", prev, x.view().wait),
				"fired at %s, want %s at the earliest", f.Began.At, prev+x.view().wait)
		}
		prev = f.Began.At
		return nil
	})
}
