package clocktest

import (
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// stopsAtOnce reports whether a schedule does nothing but arm functions, each once, that stop
// others. Which of them comes first at an instant is open, but not what Stop may say.
func stopsAtOnce(steps []conformance.Step) bool {
	armed := map[int]bool{}
	return !slices.ContainsFunc(steps, func(s conformance.Step) bool {
		switch s.Op {
		case verb.AfterFunc:
			again := armed[s.N]
			armed[s.N] = true
			return again || s.In != 0
		case verb.Halt:
			return s.In == 0 || !armed[s.N]
		}
		return s.Op != verb.Idle
	})
}

// together judges timers that are due at one instant. Functions that stop each other are judged
// without package time, which may run either first: one that was stopped does not run, and one
// that was not does.
func (x *exam) together() *suite.Violation {
	switch {
	case x.open() == "":
		return x.inAnyOrder()
	case !stopsAtOnce(x.Schedule.Steps) || x.ledger == nil:
		return nil
	case x.Stuck:
		return x.stuck()
	}
	shows := func(step conformance.Step, text string) bool {
		return slices.ContainsFunc(x.got, func(e event) bool { return e.step == step && e.text == text })
	}
	for _, s := range x.Schedule.Steps {
		runs := shows(conformance.Step{}, fmt.Sprintf("function %d runs", s.N))
		if s.Op == verb.Halt && shows(bare(s), fmt.Sprint(runs)) {
			return x.contradicts(s, runs)
		}
	}
	return nil
}

// contradicts says that a function ran although Stop said true, or did not although it said
// false.
func (x *exam) contradicts(s conformance.Step, stopped bool) *suite.Violation {
	made := maker(s.N, x.Schedule)
	got := suite.Lane{Name: "got"}
	for _, e := range x.got {
		got.Marks = append(got.Marks, suite.Mark{At: made.At + made.D, Text: e.mark})
	}
	does := map[bool]string{true: "runs", false: "never runs"}[stopped]
	v := suite.Broken(made.At+made.D, fmt.Sprintf("function %d stops it when both are due, in either order", s.In),
		"Stop of function %d reported %v, but it %s", s.N, stopped, does)
	v.Lanes = []suite.Lane{got}
	return v
}
