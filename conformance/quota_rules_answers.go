package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The rules about the fields of an answer, each judged on what was really granted
// before it, and those about requests that must leave no trace.

func (x *exam) gcRetry() *violation {
	return x.answers(func(s quotaStep) *violation {
		if s.OK || s.fits || s.Op != OpAllow {
			return nil
		}
		want := s.model.until(s.At, s.N)
		if got := s.Answer.RetryAfter; (got - want).Abs() > x.c.quo.Traits.Grain {
			return x.reply(s.At, fmt.Sprintf("%d fit at %s, if nothing else is granted", s.N, duration(s.At+want)),
				"allow %d at %s was denied with RetryAfter %s, want %s", s.N, duration(s.At), duration(got), duration(want))
		}
		return nil
	})
}

func (x *exam) gcRemain() *violation {
	if !x.countable() || !x.inOrder() && x.c.quo.Traits.BackTime == BackRewind {
		return nil
	}
	for _, d := range x.Done {
		if got := d.Answer.Remaining; got < 0 || got > x.full() {
			return x.reply(d.At, fmt.Sprintf("no more than %d are ever granted at once", x.full()),
				"%s was answered with %d remaining, want 0 to %d", d.Step, got, x.full())
		}
	}
	grain := x.c.quo.Traits.Grain
	return x.answers(func(s quotaStep) *violation {
		after := s.counted()
		least, most := max(0, whole(after.room(s.At-grain))), max(0, whole(after.room(s.At+grain)))
		if got := s.Answer.Remaining; got < least || got > most {
			return x.reply(s.At, fmt.Sprintf("%d of %d are left", most, after.limit),
				"%s was answered with %d remaining, want %d", s.Step, got, most)
		}
		return nil
	})
}

func (x *exam) gcReset() *violation {
	grain := x.c.quo.Traits.Grain
	return x.answers(func(s quotaStep) *violation {
		after := s.counted()
		want, got := after.until(s.At, after.limit), s.Answer.ResetAfter
		if (got-want).Abs() <= grain || want == 0 && got >= 0 && got <= after.window {
			return nil
		}
		return x.reply(s.At, fmt.Sprintf("all of it is there again at %s", duration(s.At+want)),
			"%s was answered with ResetAfter %s, want %s", s.Step, duration(got), duration(want))
	})
}

// answers returns what check finds in the first view, if it finds something in each.
func (x *exam) answers(check func(s quotaStep) *violation) (first *violation) {
	v := x.quotaView()
	if v == nil {
		return nil
	}
	for _, v := range append([]*quotaView{v}, v.also...) {
		found := v.find(func(s quotaStep) *violation {
			if s.N > x.full() || s.murky || x.c.quo.Traits.Grain > 0 && s.model.torn(s.At, x.c.quo.Traits.Grain) {
				return nil // it may be refused without a look, or one hangs on the grain
			}
			return check(s)
		})
		if found == nil {
			return nil
		}
		first = cmp.Or(first, found)
	}
	return first
}

// find returns the first violation.
func (v *quotaView) find(check func(s quotaStep) *violation) *violation {
	for _, s := range v.steps {
		if found := check(s); found != nil {
			return found
		}
	}
	return nil
}

func (x *exam) gcRetryNever() *violation {
	if !x.fit() {
		return nil
	}
	for _, d := range x.Done {
		if d.Op != OpAllow || d.N <= x.full() || d.OK {
			continue
		}
		got := d.Answer.RetryAfter
		ok, want := false, ""
		switch x.c.quo.Traits.TooLarge {
		case TooLargeNegative:
			ok, want = got < 0, "less than 0"
		case TooLargeForever:
			ok, want = got >= century, "a hundred years or more"
		case TooLargeZero:
			ok, want = got == 0, "0"
		}
		if !ok {
			return x.reply(d.At, fmt.Sprintf("no more than %d are ever granted at once", x.full()),
				"allow %d at %s was denied with RetryAfter %s, want %s", d.N, duration(d.At), duration(got), want)
		}
	}
	return nil
}

// traceless reruns the schedule without some steps, and finds the first of the others
// that is decided otherwise.
func (x *exam) traceless(drop func(d *Done) bool, what string) *violation {
	if x.c.oddQuota(x.Schedule.Config) || x.Refused != "" || x.Stuck || !x.inOrder() || len(x.Schedule.Steps) > 8 || len(x.Done) != len(x.Schedule.Steps) {
		return nil
	}
	without := Schedule{Config: x.Schedule.Config}
	var kept []*Done
	dropped, matters := false, false
	for i := range x.Done {
		d := &x.Done[i]
		if drop(d) {
			dropped = true
			continue
		}
		matters = matters || dropped
		kept = append(kept, d)
		without.Steps = append(without.Steps, d.Step)
	}
	if !matters || x.c.quo.Traits.Align == AlignCreation && drop(&x.Done[0]) {
		return nil // the first request, whatever it asks for, may be where windows begin
	}
	if x.c.time == PackageTime && !x.still { // the other run must begin at the same place of the grid
		window := x.Schedule.Config.Rate.Per
		time.Sleep(window - time.Since(x.Schedule.Config.start())%window)
	}
	other := x.rerun(without)
	for i, d := range kept {
		if i < len(other.Done) && d.Op == OpAllow && d.OK != other.Done[i].OK {
			if tr := x.c.quo.Traits; tr.Grain > 0 && !(&exam{Trace: other, c: x.c}).compare(tr, x.anchors(tr)[0]).steps[i].clear {
				return nil // rounding decides, which may be another one after another request
			}
			return x.reply(d.At, "without "+what+" before it, the same limiter decides otherwise",
				"allow %d at %s: %s changed the outcome", d.N, duration(d.At), what)
		}
	}
	return nil
}

func (x *exam) gcDenyPure() *violation {
	v := x.quotaView()
	if !x.ordinary() {
		return nil
	}
	return x.traceless(func(d *Done) bool {
		// Those that are denied because others were do not count as denied rightly.
		return slices.ContainsFunc(v.steps, func(s quotaStep) bool { return s.Done == d && !d.OK && s.clear && !s.fits })
	}, "a request that was denied")
}

func (x *exam) gcPeekPure() *violation {
	if x.asks(func(d Done) bool { return d.Op == OpAllow && (d.N < 0 || d.N > x.full()) }) {
		return nil
	}
	if x.opens() {
		return nil
	}
	return x.traceless(func(d *Done) bool { return d.Op == OpTokens || d.N == 0 }, "a look")
}

func (x *exam) gcNegative() *violation {
	if x.opens() || x.asks(func(d Done) bool { return d.Op != OpAllow || d.N == 0 || d.N > x.full() }) {
		return nil
	}
	return x.traceless(func(d *Done) bool { return d.N < 0 }, "a request for a negative number")
}

func (x *exam) quoBig() *violation {
	if x.c.oddQuota(x.Schedule.Config) {
		return nil // what can never be granted there is not clear
	}
	for _, d := range x.Done {
		if d.Op == OpAllow && d.N > x.full() && d.OK {
			return x.reply(d.At, fmt.Sprintf("no more than %d are ever granted at once", x.full()), "allow %d at %s was granted, want denied", d.N, duration(d.At))
		}
	}
	if x.c.quo.Traits.Denied == DeniedCounted || x.opens() || x.asks(func(d Done) bool { return d.Op != OpAllow || d.N < 1 }) {
		return nil
	}
	return x.traceless(func(d *Done) bool { return d.N > x.full() }, "a request for more than the limit")
}

func (x *exam) asks(which func(d Done) bool) bool { return slices.ContainsFunc(x.Done, which) }
