package quotatest

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// The rules about the fields of an answer, each judged by what was really granted before
// it, and those about requests that must change nothing.

// retry finds a RetryAfter that is wrong, or was not kept. An estimate may be too long.
func (x *exam) retry() *suite.Violation {
	early := x.kept("RetryAfter", func(said, d *conformance.Done) (time.Duration, bool) {
		return said.Answer.RetryAfter, said.N == d.N && !said.OK && said.Answer.RetryAfter >= 0
	})
	if early != nil {
		return early
	}
	return x.answers(func(s step) *suite.Violation {
		switch got := s.Answer.RetryAfter; {
		case s.Op != verb.Allow || s.OK:
		case !x.exact() && got <= 0 && x.traits.exact():
			return x.toldWrongly(s.Done, "the same request would be denied at "+timeline.Duration(s.At), "more than 0")
		case x.exact() && !s.fits:
			want := s.model.until(s.At, s.N)
			if x.says(got, want) {
				return nil
			}
			because := fmt.Sprintf("%d fit at %s, if nothing else is granted", s.N, timeline.Duration(s.At+want))
			return x.toldWrongly(s.Done, because, x.wanted(want))
		}
		return nil
	})
}

// kept finds a request that was denied though the answer to the one before told that from so long after it on it would
// not be. No rounding excuses that: what is told is rounded up.
func (x *exam) kept(
	field string, told func(said, d *conformance.Done) (after time.Duration, ok bool),
) *suite.Violation {
	if !x.traits.exact() || !x.ordinary() {
		return nil
	}
	var said *conformance.Done
	for i := range x.Done {
		d := &x.Done[i]
		if d.Op != verb.Allow {
			continue
		}
		if said != nil && said.Answer.Err == nil && !d.OK && d.Answer.Err == nil {
			if after, ok := told(said, d); ok && d.At-said.At >= after {
				because := fmt.Sprintf("the answer at %s gave a %s of %s",
					timeline.Duration(said.At), field, timeline.Duration(after))
				return x.otherwise(d, because)
			}
		}
		said = d
	}
	return nil
}

// toldWrongly tells of a denied request with another RetryAfter than it should have.
func (x *exam) toldWrongly(d *conformance.Done, because, want string) *suite.Violation {
	return x.broken(d.At, because, "allow %d at %s was denied with RetryAfter %s, want %s",
		d.N, timeline.Duration(d.At), timeline.Duration(d.Answer.RetryAfter), want)
}

// remain finds a number that is not how many more events would be granted.
func (x *exam) remain() *suite.Violation {
	if !x.complete() || !x.inOrder() && x.traits.BackTime == BackRewind {
		return nil
	}
	for _, d := range x.Done {
		if d.Op == verb.Fault || d.Answer.Err != nil {
			continue
		}
		if got := d.Answer.Remaining; got < 0 || got > x.full() {
			return x.broken(d.At, fmt.Sprintf("no more than %d are ever granted at once", x.full()),
				"%s was answered with %d remaining, want 0 to %d", d.Step, got, x.full())
		}
	}
	offsets := []time.Duration{0}
	if grain := x.grain(); grain > 0 { // the limiter may read any of these instants
		offsets = append(offsets, -grain, grain)
	}
	return x.answers(func(s step) *suite.Violation {
		least, most := x.full(), 0
		for _, off := range offsets {
			fewest, all := s.after(s.At + off).left(s.At + off)
			least, most = min(least, fewest), max(most, all)
		}
		if got := s.Answer.Remaining; got < least || got > most {
			want := strconv.Itoa(most)
			if least < most {
				want = fmt.Sprintf("%d to %d", least, most)
			}
			return x.broken(s.At, fmt.Sprintf("%s of %d are left", want, s.model.limit),
				"%s was answered with %d remaining, want %s", s.Step, got, want)
		}
		return nil
	})
}

// left is from how many to how many events more a limiter may say that it would grant at t: those that fit, or if it
// estimates, one more or less than the estimate. A counter may count denied requests all, or some of them.
func (m *model) left(t time.Duration) (least, most int) {
	models := []*model{m}
	if m.counted && m.kind == SlidingCounter {
		models = append(models, m.capped())
	}
	least, most = m.limit, 0
	for _, each := range models {
		fewest, exact := each.whole(each.room(t))
		all := fewest
		if m.kind == SlidingCounter && each.estimates(t) {
			all++
			if exact {
				fewest--
			}
		}
		least, most = min(least, fewest), max(most, all)
	}
	return max(0, least), min(max(0, most), m.limit)
}

// reset finds a ResetAfter that is wrong. Of an estimate it is one that was not kept.
func (x *exam) reset() *suite.Violation {
	if !x.exact() {
		early := x.kept("ResetAfter", func(said, _ *conformance.Done) (time.Duration, bool) {
			return said.Answer.ResetAfter, true
		})
		if early != nil {
			return early
		}
	}
	return x.answers(func(s step) *suite.Violation {
		got, because, want := s.Answer.ResetAfter, "", "0 or more"
		if x.exact() {
			after := s.after(s.At)
			is := after.until(s.At, after.limit)
			closed := x.traits.Edge == EdgeClosed && x.says(got+1, is) // it is over right after
			if x.says(got, is) || closed || is == 0 && got >= 0 && got <= after.window {
				return nil
			}
			because, want = "the limiter decides like a new one from "+timeline.Duration(s.At+is)+" on", x.wanted(is)
		} else if got >= 0 || !x.traits.exact() {
			return nil
		}
		return x.broken(s.At, because, "%s was answered with ResetAfter %s, want %s",
			s.Step, timeline.Duration(got), want)
	})
}

// says reports whether a time that was answered is the right one, as exact as is declared, or
// rounded up.
func (x *exam) says(got, want time.Duration) bool {
	return got >= want-x.grain() && got-x.traits.Rounded <= want+x.grain()
}

// wanted is how a time is to be answered.
func (x *exam) wanted(want time.Duration) string {
	if unit := x.traits.Rounded; unit > 0 && want%unit != 0 {
		return fmt.Sprintf("%s, which are %s rounded up",
			timeline.Duration(want-want%unit+unit), timeline.Duration(want))
	}
	return timeline.Duration(want)
}

// answers returns what check finds in the trace if it finds something with every model
// that agrees with the trace: its finding with the first of them.
func (x *exam) answers(check func(s step) *suite.Violation) (first *suite.Violation) {
	grain := x.grain()
	for _, v := range x.agreeing() {
		found := v.find(func(s step) *suite.Violation {
			unanswered := s.Answer.Err != nil || s.Op == verb.Fault || s.at > s.At
			if s.N > x.full() || s.ambiguous || unanswered || grain > 0 && s.model.straddles(s.At, grain) {
				return nil // a limiter may refuse the first at once, and the grain decides about the others
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
func (v *course) find(check func(s step) *suite.Violation) *suite.Violation {
	for _, s := range v.steps {
		if found := check(s); found != nil {
			return found
		}
	}
	return nil
}

func (x *exam) retryNever() *suite.Violation {
	if !x.judgeable() {
		return nil
	}
	for _, d := range x.Done {
		if d.Op != verb.Allow || d.N <= x.full() || d.OK {
			continue
		}
		got := d.Answer.RetryAfter
		ok, want := false, ""
		switch x.traits.RetryNever {
		case RetryNegative:
			ok, want = got < 0, "less than 0"
		case RetryForever:
			ok, want = got >= century, "a hundred years or more"
		case RetryZero:
			ok, want = got == 0, "0"
		}
		if !ok {
			return x.toldWrongly(&d, fmt.Sprintf("no more than %d are ever granted at once", x.full()), want)
		}
	}
	return nil
}

// leavesNoTrace judges a run by another one of the same schedule without the steps that drops selects, which are called
// so. It finds the first request after one of them that is then decided differently, if all others are usual requests.
func leavesNoTrace(what string, drops func(x *exam, i int) bool) func(*exam, suite.Rerun) *suite.Violation {
	return func(x *exam, again suite.Rerun) *suite.Violation {
		if mayRefuse(x.kind, x.Schedule.Config) || x.Refused != "" || x.Stuck || x.failed() || !x.inOrder() ||
			len(x.Schedule.Steps) > 8 || len(x.Done) != len(x.Schedule.Steps) || x.opensUnusually() {
			return nil
		}
		plan := conformance.Schedule{Config: x.Schedule.Config}
		var kept []*conformance.Done
		dropped, matters := false, false
		for i := range x.Done {
			d := &x.Done[i]
			if drops(x, i) {
				dropped = true
				continue
			} else if !x.usual(*d) {
				return nil
			}
			matters = matters || dropped
			kept, plan.Steps = append(kept, d), append(plan.Steps, d.Step)
		}
		if !matters || x.traits.Align == AlignCreation && drops(x, 0) {
			return nil // windows may begin with the first request, whatever it asks for
		}
		if x.source == conformance.PackageTime { // windows on the clock must begin where they did in this run
			window := x.Schedule.Config.Rate.Per
			time.Sleep(window - time.Since(x.Schedule.Config.Start())%window)
		}
		other := x.other(again(plan))
		for i, d := range kept {
			if i >= len(other.Done) || d.Op != verb.Allow || d.OK == other.Done[i].OK {
				continue
			}
			if c := other.course(); !x.traits.exact() && (c == nil || !c.steps[i].clear) {
				return nil // rounding decides, which may depend on earlier requests
			}
			return x.broken(d.At, "without "+what+" before it, the same limiter decides differently",
				"allow %d at %s: %s changed the outcome", d.N, timeline.Duration(d.At), what)
		}
		return nil
	}
}

// denied reports whether a request was denied that had to be. Had it to be granted, that is another mistake.
func (x *exam) denied(i int) bool {
	v := x.course()
	return v != nil && x.ordinary() && !v.steps[i].OK && v.steps[i].clear && !v.steps[i].fits
}

// asksFor reports whether a step asks for such a number.
func asksFor(which func(x *exam, n int) bool) func(x *exam, i int) bool {
	return func(x *exam, i int) bool { return x.Done[i].Op == verb.Allow && which(x, x.Done[i].N) }
}

// large finds a request for more than the limit that was granted. Where the configuration
// makes no sense the limit is unclear.
func (x *exam) large() *suite.Violation {
	if mayRefuse(x.kind, x.Schedule.Config) {
		return nil
	}
	for _, d := range x.Done {
		if d.Op == verb.Allow && d.N > x.full() && d.OK {
			return x.otherwise(&d, fmt.Sprintf("no more than %d are ever granted at once", x.full()))
		}
	}
	return nil
}

// errors finds a request that failed and got something else than is declared.
func (x *exam) errors() *suite.Violation {
	for _, d := range x.Done {
		if want := x.traits.Errors == FailOpen; d.Answer.Err != nil && d.OK != want {
			return x.otherwise(&d, fmt.Sprintf("its answer was an error: %v", d.Answer.Err))
		}
	}
	return nil
}

// late finds a request that took too long.
func (x *exam) late() *suite.Violation {
	for _, d := range x.Done {
		if took := d.Ended.At - d.Began.At; d.Ended.Seq != 0 && took > x.traits.Latency {
			return x.broken(d.At, "", "%s took %s, want %s at the most",
				d.Step, timeline.Duration(took), timeline.Duration(x.traits.Latency))
		}
	}
	return nil
}
