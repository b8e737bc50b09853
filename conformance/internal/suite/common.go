package suite

import (
	"cmp"
	"fmt"

	"github.com/escapement-go/escapement/conformance"
)

// callsRule is the rule of Calls.
const callsRule = "X-CALLS"

// Calls is the rule of every contract that operations return and do not panic.
func Calls[T, E any](check func(e E) *Violation) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: callsRule, Level: conformance.Core,
			Text: "Every operation of a legal schedule MUST return and MUST NOT panic."},
		Check: check,
	}
}

// Race is the rule of every contract that the race detector judges, unless something is declared.
func Race[T, E any](use func(p *Probe) (skip string), unless ...func(*Suite, *T) string) Rule[T, E] {
	return Rule[T, E]{
		Rule: conformance.Rule{ID: "X-RACE", Level: conformance.Core,
			Text: "Concurrent use of all operations MUST be free of data races."},
		Unless: func(s *Suite, t *T) string {
			for _, declared := range unless {
				if why := declared(s, t); why != "" {
					return why
				}
			}
			return ""
		},
		Probe: func(p *Probe) (*Violation, string) { return nil, use(p) },
		Live:  true,
	}
}

// WithoutEnd finds timers that expire, and are armed again, without any time passing.
func (r *Recording) WithoutEnd() *Violation {
	if !r.Turned {
		return nil
	}
	return &Violation{Headline: fmt.Sprintf("more than %d timers of no duration were armed at one instant", Endless),
		Because: "on a clock that only the test moves that never ends"}
}

// What there is to say of a timer that a stop has left armed.
const (
	keptHeadline = "a timer is still armed, an hour after stop"
	keptWhy      = "stop releases everything, and nothing more will come"
)

// LeftBehind finds what a run has left behind.
func (r *Recording) LeftBehind() *Violation {
	switch {
	case len(r.Left) > 0:
		return &Violation{Headline: "a goroutine is left: " + r.Left[0], At: r.End}
	case r.Armed:
		return &Violation{Headline: "a timer is still armed", At: r.End}
	case r.Kept:
		return Broken(r.End, keptWhy, keptHeadline)
	}
	return nil
}

// Looked selects the runs that looked for what they left behind.
func Looked(j Job) bool { return j.Look }

// RefusedWhy is why a run is left out whose configuration the constructor refused.
func RefusedWhy(cfg conformance.Config, why string) string {
	return "the constructor refused " + cmp.Or(cfg.String(), "a configuration in which nothing is set") + ": " + why
}
