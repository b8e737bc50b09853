package limitertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// unusually reports whether the run has requests for such a number of tokens, no others out of range, and nothing but
// requests.
func (x *exam) unusually(is func(n, burst int) bool) bool {
	burst := x.Schedule.Config.Burst
	return x.judgeable() && !x.beyondRequests() && asks(x.Schedule, is) &&
		!slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
			return s.Op == verb.Allow && x.outOfRange(s) && !is(s.N, burst)
		})
}

// changedBy looks for a decision that requests for such a number of tokens have changed, and says what they are. The
// account does not count what they were given, so that a later decision shows it.
func changedBy(is func(n, burst int) bool, what string) func(*exam, suite.Rerun) *suite.Violation {
	return func(x *exam, again suite.Rerun) *suite.Violation {
		if !x.unusually(is) {
			return nil
		}
		return x.without(again, what, what, func(d *conformance.Done) bool {
			return d.Op == verb.Allow && is(d.N, x.Schedule.Config.Burst)
		})
	}
}

func (x *exam) denyPure(again suite.Rerun) *suite.Violation {
	if !x.plain() || x.beyondRequests() || len(x.Schedule.Steps) > 8 || x.traits.Resolution > 0 {
		return nil // a run at other instants within the grain may be decided otherwise
	}
	denied := func(d conformance.Done) bool { return d.Op == verb.Allow && !d.OK }
	if !slices.ContainsFunc(x.Done, denied) {
		return nil
	}
	lacking := map[*conformance.Done]bool{}
	x.watch(func(a *account, d *conformance.Done) { lacking[d] = denied(*d) && a.hi.Cmp(a.need(d.N)) < 0 })
	return x.without(again, "the denied requests", "a denied request",
		func(d *conformance.Done) bool { return lacking[d] })
}

// without runs the schedule again without the steps that drop selects, which are all of something, and looks for
// another step that is then decided differently, if rounding does not explain that.
func (x *exam) without(again suite.Rerun, all, one string, drop func(d *conformance.Done) bool) *suite.Violation {
	if len(x.Done) > 0 && x.traits.Initial != InitialFull && drop(&x.Done[0]) {
		return nil // a bucket that is not full at first may begin to fill at any first request
	}
	d, _, _ := edge.Without(x.Recording, again, drop)
	if d == nil || !x.clear(d) {
		return nil // where either is right, what follows may differ too
	}
	return x.broken(d.At, "without "+all+" before it, the same limiter decides differently",
		"%s %d at %s: %s changed the outcome", d.Op, d.N, timeline.Duration(d.At), one)
}

// clear reports whether only one answer to a request is right, whatever rounding does, and where requests take time
// whether it got the other one.
func (x *exam) clear(d *conformance.Done) (yes bool) {
	x.watch(func(a *account, o *conformance.Done) {
		if o == d {
			spares, lacks := a.spares(d.N), a.lacks(d.N)
			yes = (spares || lacks) && (x.traits.Latency == 0 || spares != d.OK)
		}
	})
	return yes
}
