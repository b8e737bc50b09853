package quotatest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// The rules about the fields of an answer, each judged by what was really granted before
// it, and those about requests that must change nothing.

func (x *exam) retry() *suite.Violation {
	if !x.exact() {
		return x.retryKept()
	}
	return cmp.Or(x.retryKept(), x.answers(func(s step) *suite.Violation {
		if s.OK || s.fits || s.Op != verb.Allow {
			return nil
		}
		want, got := s.model.until(s.At, s.N), s.Answer.RetryAfter
		if x.says(got, want) {
			return nil
		}
		because := fmt.Sprintf("%d fit at %s, if nothing else is granted", s.N, timeline.Duration(s.At+want))
		return x.toldWrongly(s.Done, because, x.wanted(want))
	}))
}

// toldWrongly tells of a denied request with another RetryAfter than it should have.
func (x *exam) toldWrongly(d *conformance.Done, because, want string) *suite.Violation {
	return x.broken(d.At, because, "allow %d at %s was denied with RetryAfter %s, want %s",
		d.N, timeline.Duration(d.At), timeline.Duration(d.Answer.RetryAfter), want)
}

// retryKept finds a request that came when the answer to the one before it had said, and was denied again. No
// rounding excuses that: RetryAfter is rounded up. Where the model does not say when how many fit, it finds an answer
// that cannot be true, too: that it is too late already, or now.
func (x *exam) retryKept() *suite.Violation {
	if !x.traits.exact() || !x.inOrder() || !x.ordinary() {
		return nil
	}
	var said conformance.Done // the newest answer that is still to be kept
	for _, d := range x.Done {
		switch late := said.N == d.N && d.At-said.At >= said.Answer.RetryAfter; {
		case !x.usual(d):
		case !d.OK && d.Answer.Err == nil && d.Answer.RetryAfter <= 0 && !x.exact():
			return x.toldWrongly(&d, "the same request would be denied at "+timeline.Duration(d.At), "more than 0")
		case d.OK || d.Answer.Err != nil || d.Answer.RetryAfter < 0:
			said = conformance.Done{}
		case late:
			because := fmt.Sprintf("the answer at %s gave a RetryAfter of %s",
				timeline.Duration(said.At), timeline.Duration(said.Answer.RetryAfter))
			return x.otherwise(&d, because)
		default:
			said = d
		}
	}
	return nil
}

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
			fewest, all := s.afterAt(s.At + off).left(s.At + off)
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

func (x *exam) reset() *suite.Violation {
	if !x.exact() {
		return x.resetKept()
	}
	return x.answers(func(s step) *suite.Violation {
		after := s.after()
		want, got := after.until(s.At, after.limit), s.Answer.ResetAfter
		closed := x.traits.Edge == EdgeClosed && x.says(got+1, want) // it is over right after
		if x.says(got, want) || closed || want == 0 && got >= 0 && got <= after.window {
			return nil
		}
		return x.broken(s.At, "the limiter decides like a new one from "+timeline.Duration(s.At+want)+" on",
			"%s was answered with ResetAfter %s, want %s", s.Step, timeline.Duration(got), x.wanted(want))
	})
}

// resetKept finds a request that came when the answer before it had said that the limiter is as if new, and was
// denied.
func (x *exam) resetKept() *suite.Violation {
	if !x.traits.exact() || !x.ordinary() || x.failed() {
		return nil
	}
	for i, d := range x.Done {
		reset := d.Answer.ResetAfter
		if reset < 0 {
			return x.broken(d.At, "", "%s was answered with ResetAfter %s, want 0 or more",
				d.Step, timeline.Duration(reset))
		}
		if i+1 == len(x.Done) {
			break
		}
		next := x.Done[i+1]
		if !next.OK && next.Op == verb.Allow && next.At-d.At >= reset {
			because := fmt.Sprintf("the answer at %s gave a ResetAfter of %s",
				timeline.Duration(d.At), timeline.Duration(reset))
			return x.otherwise(&next, because)
		}
	}
	return nil
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
			unanswered := s.Answer.Err != nil || s.Op == verb.Fault || s.old
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
func (v *view) find(check func(s step) *suite.Violation) *suite.Violation {
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

// without plays the schedule again without the steps that drop selects, and finds the
// first request after one of them that is then decided differently, if all others are usual requests. What names the
// steps in the failure.
func (x *exam) without(again suite.Rerun, drop func(d *conformance.Done) bool, what string) *suite.Violation {
	if mayRefuse(x.kind, x.Schedule.Config) || x.Refused != "" || x.Stuck || x.failed() || !x.inOrder() ||
		len(x.Schedule.Steps) > 8 || len(x.Done) != len(x.Schedule.Steps) || x.opensUnusually() ||
		x.asks(func(d conformance.Done) bool { return !drop(&d) && !x.usual(d) }) {
		return nil
	}
	plan := conformance.Schedule{Config: x.Schedule.Config}
	var kept []*conformance.Done
	dropped, matters := false, false
	for i := range x.Done {
		d := &x.Done[i]
		if drop(d) {
			dropped = true
			continue
		}
		matters = matters || dropped
		kept = append(kept, d)
		plan.Steps = append(plan.Steps, d.Step)
	}
	if !matters || x.traits.Align == AlignCreation && drop(&x.Done[0]) {
		return nil // windows may begin with the first request, whatever it asks for
	}
	if x.source == conformance.PackageTime { // windows that begin on the clock must begin where they did in this run
		window := x.Schedule.Config.Rate.Per
		time.Sleep(window - time.Since(x.Schedule.Config.Start())%window)
	}
	other := again(plan)
	for i, d := range kept {
		if i < len(other.Done) && d.Op == verb.Allow && d.OK != other.Done[i].OK {
			if !x.traits.exact() && !x.of(other).steps[i].clear {
				return nil // rounding decides, which may depend on earlier requests
			}
			return x.broken(d.At, "without "+what+" before it, the same limiter decides differently",
				"allow %d at %s: %s changed the outcome", d.N, timeline.Duration(d.At), what)
		}
	}
	return nil
}

// of returns the view of another run with the first of the models that it may agree with.
func (x *exam) of(rec *suite.Recording) *view {
	other := &exam{Recording: rec, traits: x.traits, kind: x.kind, source: x.source}
	return other.compare(x.traits, x.origins(x.traits)[0])
}

func (x *exam) withoutDenied(again suite.Rerun) *suite.Violation {
	v := x.view()
	if v == nil || !x.ordinary() {
		return nil
	}
	return x.without(again, func(d *conformance.Done) bool {
		// A request that had to be granted is kept: that it was denied is another mistake.
		return slices.ContainsFunc(v.steps, func(s step) bool { return s.Done == d && !d.OK && s.clear && !s.fits })
	}, "a denied request")
}

func (x *exam) withoutLooks(again suite.Rerun) *suite.Violation {
	return x.without(again, func(d *conformance.Done) bool { return d.Op == verb.Tokens || d.N == 0 }, "a query")
}

func (x *exam) withoutNegative(again suite.Rerun) *suite.Violation {
	return x.without(again, func(d *conformance.Done) bool { return d.N < 0 }, "a request for a negative number")
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

func (x *exam) withoutLarge(again suite.Rerun) *suite.Violation {
	if x.traits.CountDenied == DeniedCounted {
		return nil
	}
	large := func(d *conformance.Done) bool { return d.N > x.full() }
	return x.without(again, large, "a request for more than the limit")
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
