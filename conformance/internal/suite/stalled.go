package suite

import (
	"cmp"
	"fmt"

	"github.com/escapement-go/escapement/conformance"
)

// hung judges a run that made no progress.
func (e *engine[T, E]) hung(f Family, h *Hang) {
	s := h.Job.Schedule
	e.givenUp[f.Name] = "a run hung and the rest was given up: " + s.String()
	id := "X-CALLS"
	if s.Config.Inside != "" {
		id = "X-REENT"
	}
	if c, ok := e.c.(Hanging); ok {
		if rule, v, done := c.Hung(e.Suite, h); done {
			if v != nil {
				e.blame(cmp.Or(rule, id), f, h, v)
			} else {
				e.stalls[cmp.Or(rule, id)] = noProof + s.String()
			}
			return
		}
	}
	if where := h.BlockedInCallback(); where != "" && s.Config.Inside != "" {
		e.cannotReenter = true
		e.blame(id, f, h, &Violation{
			Headline: fmt.Sprintf("%s called from the callback never returned", s.Config.Inside),
			Because:  "its goroutine is blocked, under its own callback: " + where,
		})
		return
	}
	if s.Config.Busy > 0 {
		// Whether a method may wait for a running callback is a choice.
		e.givenUp[f.Name] = "a method waits on a lock while the callback runs, " +
			"which no driver can settle: " + s.String()
		return
	}
	if where := e.WaitsForEver(h); where != "" {
		e.blame(id, f, h, e.Lost(where))
		return
	}
	e.stalls[id] = noProof + s.String()
}

const noProof = "no progress, and the stacks do not prove why: "

// CannotReenter tells the suite that a method called from the callback blocks for good.
func (s *Suite) CannotReenter() { s.cannotReenter = true }

// Lost ends the exploration and returns what to say of an operation that waits for ever.
func (s *Suite) Lost(where string) *Violation {
	s.over = NeverReturned
	return &Violation{
		Headline: NeverReturned,
		Because:  "all else waits too, and nobody is there to unlock it: " + where,
	}
}

// blame notes that a run without progress breaks a rule.
func (e *engine[T, E]) blame(id string, f Family, h *Hang, v *Violation) {
	if v.Run == nil {
		v.Run = &Recording{Trace: conformance.Trace{Schedule: h.Job.Schedule, Order: h.Job.Order}}
	}
	find := e.found(id)
	find.judged++
	find.keep(v, f.Name)
}
