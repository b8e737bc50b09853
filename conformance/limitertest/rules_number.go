package limitertest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// unusual is a kind of requests whose number of tokens has a rule of its own, such as 0.
type unusual struct {
	is   func(n, burst int) bool
	what string
}

var (
	zero     = unusual{isZero, "a request for 0 tokens"}
	negative = unusual{isNegative, "a request for a negative number"}
	tooMany  = unusual{isTooMany, "a request for more than the burst"}
)

// unusually reports whether the run has requests of that kind, no others out of range, and
// nothing but requests.
func (x *exam) unusually(u unusual) bool {
	burst := x.Schedule.Config.Burst
	asked := func(which func(s conformance.Step) bool) bool {
		return slices.ContainsFunc(x.Schedule.Steps,
			func(s conformance.Step) bool { return s.Op == verb.Allow && which(s) })
	}
	return x.judgeable() && !x.beyondRequests() && asked(func(s conformance.Step) bool { return u.is(s.N, burst) }) &&
		!asked(func(s conformance.Step) bool { return x.outOfRange(s) && !u.is(s.N, burst) })
}

// requests calls f for each request of that kind until it finds something.
func (x *exam) requests(u unusual, f func(s step) *suite.Violation) *suite.Violation {
	if !x.unusually(u) {
		return nil
	}
	for _, s := range x.view().steps {
		if s.Op == verb.Allow && u.is(s.N, x.Schedule.Config.Burst) {
			if found := f(s); found != nil {
				return found
			}
		}
	}
	return nil
}

func (x *exam) zero() *suite.Violation {
	if x.beyondRequests() {
		return x.breaks("RL-N0")
	}
	return x.requests(zero, func(s step) *suite.Violation {
		switch {
		case x.traits.Zero == ZeroDenied && s.OK:
			return x.broken(s.At, "ZeroDenied is declared", "allow 0 at %s was granted, want denied",
				timeline.Duration(s.At))
		case x.traits.Zero == ZeroDenied, x.traits.Zero == 0 && x.traits.Initial == 0, s.OK, s.level.Sign() < 0:
			return nil
		}
		return x.broken(s.At, "nothing is asked for and nothing is owed",
			"allow 0 at %s was denied, want granted", timeline.Duration(s.At))
	})
}

func (x *exam) tooMany() *suite.Violation {
	if x.beyondRequests() {
		return x.breaks("RL-NBIG")
	}
	return x.requests(tooMany, func(s step) *suite.Violation {
		if !s.OK {
			return nil
		}
		return x.broken(s.At, fmt.Sprintf("the bucket never holds more than %d", x.Schedule.Config.Burst),
			"allow %d at %s was granted, want denied", s.N, timeline.Duration(s.At))
	})
}

// changedBy looks for a decision that requests of that kind have changed. The exact bucket
// does not count what they were given, so that a later decision shows it.
func changedBy(u unusual) func(*exam, suite.Rerun) *suite.Violation {
	return func(x *exam, again suite.Rerun) *suite.Violation {
		if !x.unusually(u) {
			return nil
		}
		return x.without(again, u.what, u.what, func(s step) bool {
			return s.Op == verb.Allow && u.is(s.N, x.Schedule.Config.Burst)
		})
	}
}

func (x *exam) denyPure(again suite.Rerun) *suite.Violation {
	if !x.plain() || x.beyondRequests() || len(x.Schedule.Steps) > 8 || x.traits.Resolution > 0 {
		return nil // a run at other instants within the grain may be decided otherwise
	}
	return x.without(again, "the denied requests", "a denied request",
		func(s step) bool { return s.Op == verb.Allow && !s.OK && s.margin.Sign() < 0 })
}

// without runs the schedule again without the steps that drop selects, which are all of something, and looks for
// another step that is then decided differently, if rounding does not explain that.
func (x *exam) without(again suite.Rerun, all, one string, drop func(s step) bool) *suite.Violation {
	v := x.view()
	of := func(d *conformance.Done) step {
		return v.steps[slices.IndexFunc(v.steps, func(s step) bool { return s.Done == d })]
	}
	if len(v.steps) > 0 && x.traits.Initial != InitialFull && drop(v.steps[0]) {
		return nil // a bucket that is not full at first may begin to fill at any first request
	}
	changed, _, _ := edge.Without(x.Recording, again, func(d *conformance.Done) bool { return drop(of(d)) })
	if changed == nil {
		return nil
	}
	s := of(changed)
	if clear := s.margin.CmpAbs(v.tolerance) > 0; !clear || x.traits.Latency > 0 && !v.contradicts(s) {
		return nil // where either is right, what follows may differ too
	}
	return x.broken(s.At, "without "+all+" before it, the same limiter decides differently",
		"%s %d at %s: %s changed the outcome", s.Op, s.N, timeline.Duration(s.At), one)
}
