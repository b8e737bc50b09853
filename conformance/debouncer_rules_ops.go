package conformance

import (
	"fmt"
	"slices"
	"time"
)

// The rules about operations other than Call, and about how callbacks run.

// cancelled returns the cancel that a fire disregards: what it fires for was
// pending when the cancel began, and the cancel had returned.
func (x *exam) cancelled(f *Fire) *Done {
	v := x.deb()
	for _, k := range slices.Backward(v.ops) {
		if k.Op != OpCancel || k.Ended.Seq == 0 || k.Ended.Seq > f.Began.Seq {
			continue
		}
		c := v.newest(k.Began.Seq, 1<<62) // what it cancelled
		if c == nil || v.served(x.Trace, c, k.Began.Seq) != nil {
			continue // nothing was pending
		}
		if own := v.byN[f.Value]; own != nil && x.c.deb.Traits.Payload.ofNewest() {
			if own == c {
				return k
			}
		} else if !v.callBetween(k.Began.Seq, f.Began.Seq) && !x.owed(f, k.Began.At) {
			return k
		}
	}
	return nil
}

// owed reports whether a burst that was due at the instant at may have waited until f,
// behind a running callback.
func (x *exam) owed(f *Fire, at time.Duration) bool {
	v := x.deb()
	if v.running(x.Trace, at) == nil {
		return false
	}
	left := 0
	for _, b := range v.bursts {
		if b.killed == nil && b.due <= at {
			left++
		}
	}
	for _, g := range x.Fires {
		if g.Began.Seq < f.Began.Seq {
			left--
		}
	}
	return left > 0
}

func (x *exam) dbCancel() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	return x.fires(func(i int, f *Fire) *violation {
		k := x.cancelled(f)
		if k == nil || k.Racing && k.Began.At == f.Began.At && x.Order != OrderStepFirst {
			return nil
		}
		c := v.newest(k.Began.Seq, 1<<62)
		if v.running(x.Trace, c.Began.At+v.wait) != nil && k.Began.At >= c.Began.At+v.wait && !k.OK {
			return nil // it was due already, behind a running callback
		}
		return x.say(f.Began.At, fmt.Sprintf("cancel at %s had discarded call %d", duration(k.Began.At), c.N),
			"fired at %s, want no fire", duration(f.Began.At))
	})
}

func (x *exam) dbCancelBar() *violation {
	if !x.plain() {
		return nil
	}
	commit := x.c.deb.Traits.CancelBarrier == CommitBarrier
	return x.fires(func(i int, f *Fire) *violation {
		k := x.cancelled(f)
		if k == nil || commit && !k.OK {
			return nil
		}
		why := "it had promised that nothing starts after its return"
		if commit {
			why = "it had reported true: nothing runs for what it cancelled"
		}
		found := x.say(f.Began.At, fmt.Sprintf("cancel had returned at %s, and %s", duration(k.Ended.At), why),
			"a callback started at %s, after cancel had returned", duration(f.Began.At))
		found.Chance = !commit && x.Order == OrderSampled && k.Racing
		return found
	})
}

func (x *exam) dbReuse() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	if x.c.deb.Traits.AfterCancel == CancelFinal {
		return x.fires(func(_ int, f *Fire) *violation {
			k := v.lastKill(f.Began.Seq, OpCancel)
			own := v.byN[f.Value]
			if k == nil || own == nil || own.Began.Seq < k.Began.Seq {
				return nil
			}
			return x.say(f.Began.At, "cancel is declared final", "fired at %s for a call after cancel", duration(f.Began.At))
		})
	}
	for _, b := range v.bursts {
		if k := v.lastKill(b.first.Began.Seq, OpCancel); k != nil && !x.fulfilled(b) {
			return x.say(b.due, fmt.Sprintf("call %d came after cancel at %s, as to a fresh debouncer", b.first.N, duration(k.Began.At)),
				"nothing fired for call %d, want a fire at %s", b.last.N, duration(b.due))
		}
	}
	return nil
}

// pendingAt returns the newest call that was neither fired nor discarded at the
// point seq; nil if there is none.
func (x *exam) pendingAt(seq int) *Done {
	v := x.deb()
	c := v.newest(seq, 1<<62)
	if c == nil || v.served(x.Trace, c, seq) != nil {
		return nil
	}
	if k := v.lastKill(seq, OpCancel, OpFlush, OpStop); k != nil && k.Began.Seq > c.Began.Seq {
		return nil
	}
	return c
}

// withEdges reports whether an edge or a bound is configured: then the rules about the
// trailing edge alone do not judge.
func (x *exam) withEdges() bool {
	return x.Schedule.Config.has("edges") || x.Schedule.Config.has("maxwait")
}

// unsure reports whether a racing step or a running callback leaves open what is
// pending at the instant at.
func (x *exam) unsure(at time.Duration) bool {
	v := x.deb()
	if slices.ContainsFunc(v.ops, func(d *Done) bool { return d.Racing && d.Began.At == at }) {
		return true
	}
	return x.Schedule.Config.Busy > 0 && (v.running(x.Trace, at) != nil || v.running(x.Trace, at+1) != nil)
}

func (x *exam) dbFlush() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	for _, k := range v.ops {
		if k.Op != OpFlush || k.Inside || x.unsure(k.Began.At) || x.silent(k.Began.Seq) {
			continue
		}
		c := x.pendingAt(k.Began.Seq)
		if c == nil {
			continue
		}
		caused := slices.IndexFunc(x.Fires, func(f Fire) bool { return f.Began.Seq > k.Began.Seq })
		if caused < 0 || v.flush[caused] != k {
			return x.say(k.Began.At, fmt.Sprintf("call %d at %s was pending", c.N, duration(c.Began.At)),
				"flush at %s fired nothing, want a fire at once", duration(k.Began.At))
		}
	}
	return nil
}

// silent reports whether an earlier step makes it a matter of choice whether
// anything still fires: a final cancel, or one whose meaning is undeclared.
func (x *exam) silent(seq int) bool {
	v := x.deb()
	return v.lastKill(seq, OpStop) != nil ||
		!x.c.deb.Traits.AfterCancel.usable() && v.lastKill(seq, OpCancel) != nil
}

func (x *exam) dbFlush0() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	for i, k := range v.flush {
		if k.Inside || x.unsure(k.Began.At) || x.pendingAt(k.Began.Seq) != nil {
			continue
		}
		f := x.Fires[i]
		if v.callBetween(k.Began.Seq, f.Began.Seq) {
			continue
		}
		return x.say(f.Began.At, "nothing was pending", "flush at %s fired, want nothing", duration(k.Began.At))
	}
	return nil
}

func (x *exam) dbPend() *violation {
	if x.withEdges() {
		return x.edgePend()
	}
	if !x.plain() {
		return nil
	}
	for _, d := range x.Done {
		if d.Op != OpPending || d.Ended.Seq == 0 || x.unsure(d.Began.At) || x.silent(d.Began.Seq) {
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
			because = fmt.Sprintf("call %d at %s had neither fired nor been discarded", c.N, duration(c.Began.At))
		}
		return x.say(d.Began.At, because, "Pending()%s = %v at %s, want %v", where, d.OK, duration(d.Began.At), want)
	}
	return nil
}

// edgePend judges Pending where an edge or a bound is configured.
func (x *exam) edgePend() *violation {
	if x.Refused != "" || x.Stuck || x.Schedule.Config.Busy > 0 || x.edgeDifference().v != nil {
		return nil
	}
	one, other := x.edgeModel(false), x.edgeModel(true)
	certain := min(one.certain, other.certain)
	for _, d := range x.Done {
		want, sure := one.pending[d.Began.Seq]
		if d.Op != OpPending || d.Ended.Seq == 0 || !sure || d.OK == want || d.Began.At >= certain ||
			d.OK == other.pending[d.Began.Seq] {
			continue
		}
		because := "no event was waiting to fire"
		if want {
			because = "an event had neither fired nor been discarded"
		}
		v := x.edgeViolation(one.want, nil, nil, d.Began.At)
		v.Headline, v.Because = fmt.Sprintf("Pending() = %v at %s, want %v", d.OK, duration(d.Began.At), want), because
		return v
	}
	return nil
}

func (x *exam) dbStop() *violation {
	if x.Refused != "" {
		return nil
	}
	if x.withEdges() {
		if d := x.edgeDifference(); d.rule == "DB-STOP" {
			return d.v
		}
	}
	var stop *Done
	for i := range x.Done {
		d := &x.Done[i]
		if stop == nil && d.Op == OpStop {
			stop = d
			continue
		}
		if stop == nil || d.Inside {
			continue
		}
		switch {
		case d.Panic != "":
			return x.say(d.At, fmt.Sprintf("stop at %s had ended the debouncer", duration(stop.At)), "%s after stop panicked: %s", d.Op, d.Panic)
		case d.Ended.Seq == 0 && x.Schedule.Config.Inside == "":
			return x.say(d.At, fmt.Sprintf("stop at %s had ended the debouncer", duration(stop.At)), "%s after stop never returned", d.Op)
		}
	}
	if stop == nil || stop.Ended.Seq == 0 || stop.Panic != "" || x.Stuck {
		return nil
	}
	if x.plain() && !x.withEdges() && x.c.deb.Traits.StopPending == StopFlushes && !stop.Inside && !x.unsure(stop.Began.At) && !x.silent(stop.Began.Seq) {
		if c := x.pendingAt(stop.Began.Seq); c != nil && !slices.ContainsFunc(x.Fires, func(f Fire) bool { return f.Began.Seq > stop.Began.Seq && x.byStop(&f) }) {
			return x.say(stop.Began.At, fmt.Sprintf("call %d at %s was pending, and StopFlushes is declared", c.N, duration(c.Began.At)),
				"stop at %s fired nothing, want a fire at once", duration(stop.Began.At))
		}
	}
	for i := range x.Fires {
		f := &x.Fires[i]
		due := stop.Racing && f.Began.At == stop.Began.At || x.waitedAt(f, stop)
		if f.Began.Seq < stop.Ended.Seq || x.byStop(f) || due && x.c.deb.Traits.StopBarrier == NoBarrier {
			continue
		}
		because := fmt.Sprintf("stop had returned at %s", duration(stop.Ended.At))
		if due {
			because += "; if it is documented that what is due may still start then, declare StopBarrier: NoBarrier"
		}
		found := x.say(f.Began.At, because, "fired at %s, after stop", duration(f.Began.At))
		// At the instant of a racing stop it may have been decided before.
		found.Chance = x.Order == OrderSampled && stop.Racing && f.Began.At == stop.Began.At
		return found
	}
	return nil
}

// waitedAt reports whether a fire was due when stop came, and could not start because
// another callback was running.
func (x *exam) waitedAt(f *Fire, stop *Done) bool {
	v := x.deb()
	if x.c.deb.Traits.Overlap != Serial || v.running(x.Trace, stop.Began.At) == nil || !x.endsAt(f.Began.At, f) {
		return false
	}
	c := v.byN[f.Value]
	if !v.newestPayload || c == nil {
		c = v.newest(stop.Began.Seq, stop.Began.At-v.wait+1)
	}
	return c != nil && c.Began.Seq < stop.Began.Seq &&
		(x.withEdges() || c.Began.At+v.wait <= stop.Began.At) // by a bound it may be due sooner
}

func (x *exam) dbZero() *violation {
	if x.Schedule.Config.Wait != 0 || !x.Schedule.Config.has("wait") || x.Stuck {
		return nil
	}
	want := x.c.deb.Traits.ZeroWait
	if (x.Refused != "") != (want == ZeroRefused) {
		if want == ZeroRefused {
			return x.say(0, "ZeroRefused is declared", "the constructor accepted a wait of 0")
		}
		return x.say(0, "ZeroRefused is not declared", "the constructor refused a wait of 0: %s", x.Refused)
	}
	v := x.deb()
	for n, c := range v.calls {
		if x.Refused != "" || x.silent(c.Began.Seq) {
			return nil
		}
		var f *Fire
		if n < len(x.Fires) {
			f = &x.Fires[n]
		}
		switch {
		case f == nil || f.Began.At != c.Began.At:
			return x.say(c.Began.At, "with no wait each event is a burst of its own", "call %d at %s did not fire at its instant", c.N, duration(c.Began.At))
		case want == ZeroSync && f.Began.Seq > c.Ended.Seq:
			return x.say(c.Began.At, "ZeroSync is declared", "call %d at %s returned before its callback started", c.N, duration(c.Began.At))
		}
	}
	if x.Refused == "" && len(x.Fires) > len(v.calls) && v.lastKill(x.end(), OpCancel) == nil {
		f := x.Fires[len(v.calls)]
		return x.say(f.Began.At, "every event had fired", "fired at %s, want no fire", duration(f.Began.At))
	}
	return nil
}

func (x *exam) dbNeg() *violation {
	if x.Schedule.Config.Wait >= 0 || x.Stuck || x.Refused != "" {
		return nil
	}
	if x.c.deb.Traits.ZeroWait == ZeroRefused {
		return x.say(0, "ZeroRefused is declared", "the constructor accepted a wait of %s", duration(x.Schedule.Config.Wait))
	}
	for n, c := range x.deb().calls {
		if n >= len(x.Fires) || x.Fires[n].Began.At != c.Began.At {
			return x.say(c.Began.At, "a negative wait was accepted, so it means 0", "call %d at %s did not fire at its instant", c.N, duration(c.Began.At))
		}
	}
	return nil
}

func (x *exam) dbOverlap() *violation {
	if !x.plain() {
		return nil
	}
	for i := range x.Fires {
		for j := range x.Fires {
			a, b := &x.Fires[i], &x.Fires[j]
			if a.Began.Seq < b.Began.Seq && (a.Ended.Seq == 0 || b.Began.Seq < a.Ended.Seq) {
				return x.say(b.Began.At, fmt.Sprintf("the callback that started at %s was still running", duration(a.Began.At)),
					"a callback started at %s while another ran", duration(b.Began.At))
			}
		}
	}
	return nil
}
