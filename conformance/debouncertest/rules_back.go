package debouncertest

import (
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// backRule is that of a clock that is set back.
func backRule() rule {
	return rule{
		Rule: extended("X-BACK", "When the clock is set back, pending events MUST fire once, delayed by one "+
			"wait at most, and by as much as it was set back only if declared."),
		Declared: []string{"ClockBack"},
		Unless: func(s *suite.Suite, _ *Traits) string {
			return suite.If(s.Time == conformance.PackageTime, "no clock is injected")
		},
		About:  suite.Steps(verb.Wall),
		Beyond: laws,
		Check:  (*exam).back,
	}
}

// back judges runs in which the clock is set back once.
func (x *exam) back() *suite.Violation {
	if x.Refused != "" || x.Stuck {
		return nil
	}
	w := x.Schedule.Config.Wait
	calls, step := 0, x.Schedule.Steps[slices.IndexFunc(x.Schedule.Steps, setsClock)]
	most := w
	switch {
	case x.traits.ClockBack == BackStands && x.Schedule.Config.Edges&Leading != 0:
		return nil
	case x.traits.ClockBack == BackStands:
		most = suite.Sum(w, -step.D)
	case x.Schedule.Config.Edges&Leading != 0:
		return x.leadBack()
	}
	because := edge.Text("the clock was set back by %s at %s, which may delay pending events by %s at most",
		-step.D, step.At, most)
	for _, s := range x.Schedule.Steps {
		if setsClock(s) {
			continue
		}
		calls++
		by := suite.Sum(s.At+w, most)
		served := slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			return f.Began.At >= s.At+w && f.Began.At <= by
		})
		if superseded := edge.Calls(x.Schedule, s.At, by) > 0; !superseded && !served && by <= x.End {
			return x.told(by, because, "nothing fired for call %d at %s by %s", s.N, s.At, by)
		}
	}
	if n := len(x.Fires); n > calls {
		return x.told(x.Fires[n-1].Began.At, because, "fired %d times for %d events", n, calls)
	}
	return nil
}

func setsClock(s conformance.Step) bool { return s.Op == verb.Wall }

// leadBack judges the leading edge: once the wait has passed since an event that came
// after the step back, the next one is leading again.
func (x *exam) leadBack() *suite.Violation {
	var before, back *conformance.Step
	untold := x.traits.Payload == NoPayload
	for i := range x.Schedule.Steps {
		s := &x.Schedule.Steps[i]
		if setsClock(*s) {
			before, back = nil, s
			continue
		}
		fired := slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			return (untold || f.Value == s.N) && f.Began.At == s.At
		})
		if back != nil && before != nil && s.At > before.At+x.Schedule.Config.Wait && !fired {
			return x.told(s.At,
				edge.Text("the clock was set back by %s at %s, and call %d came later", -back.D, back.At, before.N),
				"call %d did not fire at %s", s.N, s.At)
		}
		before = s
	}
	return nil
}
