package concurrencytest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// completed lets a rule that is a guard of the model judge what breaks it before any other, and none but X-CALLS
// judge schedules with a limit below 0, after which nothing is known but whether the call has returned. If it has not,
// no other rule is left open by that.
func completed(rules []suite.Rule[Traits, *exam]) []suite.Rule[Traits, *exam] {
	for i := range rules {
		r := &rules[i]
		if r.Check == nil && r.Probe == nil {
			r.Check = breaks(r.ID)
		}
		if about := r.About; r.ID != "X-CALLS" {
			r.About = func(j suite.Job) bool { return !negative(j.Schedule) && (about == nil || about(j)) }
		}
	}
	return rules
}

// negative reports whether a schedule has a limit below 0.
func negative(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == verb.Resize && st.N < 0
	})
}

func (x *exam) calls() *suite.Violation {
	if cfg := x.Schedule.Config; x.Refused != "" {
		if cfg.Has("backlog") && cfg.Backlog == 0 || cfg.Has("timeout") && cfg.Timeout == 0 {
			return nil // a constructor may refuse what it does not offer
		}
		if cfg.Limit >= high || cfg.Timeout%time.Millisecond != 0 {
			return nil // so high a limit, or so fine a timeout
		}
		return suite.Broken(0, "", "the constructor refused %s: %s", cfg, x.Refused)
	}
	for _, g := range x.groups {
		for _, s := range g.steps {
			switch {
			case s.releasesNothing() && x.traits.OverRelease != OverReleaseIgnored:
				return nil // what follows is not judged
			case s.releasesNothing():
			case s.unclear() && s.ended: // it may refuse
			case s.panicked != "":
				return x.misdone(g, s, "panicked: "+s.panicked)
			case !s.ended && (s.Op == verb.Try || x.Stuck):
				return x.misdone(g, s, "never returned")
			}
		}
	}
	return nil
}

// misdone tells what came of a step, which may be one that the schedule does not have.
func (x *exam) misdone(g *group, s *step, came string) *suite.Violation {
	if !x.isOver(g) {
		return suite.Broken(g.at, "", "%s %s", s.Step, came)
	}
	return suite.Broken(g.at, "after "+lastly+", and then requests all slots and places",
		"after the last step, at %s, one %s %s", timeline.Duration(g.at), s.Op, came)
}
