package throttle

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/internal/zoo"
)

// Mistakes of the designs.
const (
	stampOfNone = "no emission is one of 146 years ago"
	roughly     = "the end of an interval is known to a thousandth of it"
	timerOfNone = "the timer of the constructor is not stopped"
)

// Mistakes of a choosy throttle.
const (
	severalFollow = "several follow a clock that is set back"
	waitsInVain   = "a timer that a clock set back has made early is the last one"
	cancelsOne    = "a context that ends leaves what waits for a key"
	sweepsOldest  = "keys are swept by the oldest of several"
	sweepsByAge   = "keys are swept by when they came"
	closedTooSoon = "the output is closed before what waits has come"
)

// choosyMutants are choosy throttles with one of these mistakes.
func choosyMutants() []zoo.Mutant {
	mutant := func(name, rule string, traits throttletest.Traits, has ...conformance.Op) zoo.Mutant {
		ops := map[conformance.Op]bool{}
		for _, op := range has {
			ops[op] = true
		}
		traits.Boundary, traits.Payload = throttletest.BoundaryPasses, throttletest.LastPayload
		spec := choosySpec(throttletest.Injected, traits, ways{mutant: name}, ops)
		return zoo.Mutant{Name: name, Rule: rule, Spec: spec}
	}
	leading := throttletest.Traits{
		Edges: []throttletest.Edges{throttletest.Leading}, ClockBack: throttletest.BackStands,
	}
	several := leading
	several.Windows = throttletest.WindowsSliding
	trailing := throttletest.Traits{Edges: []throttletest.Edges{throttletest.Trailing}}
	stands, late := trailing, trailing
	stands.ClockBack, late.CloseFlush = throttletest.BackStands, throttletest.CloseAtDeadline
	return []zoo.Mutant{
		mutant(severalFollow, "X-BACK", several),
		mutant(waitsInVain, "X-BACK", stands),
		mutant(cancelsOne, "TH-CTX", trailing, verb.Cancel, callKeys),
		mutant(sweepsOldest, "TH-KEY", several, callKeys),
		mutant(sweepsByAge, "TH-KEY", leading, callKeys),
		mutant(closedTooSoon, "TH-CLOSE", late, verb.Close),
	}
}

// designMutants are designs with one of these mistakes.
func designMutants() []zoo.Mutant {
	mutant := func(name, rule string, traits throttletest.Traits, make func(
		env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs,
	) zoo.Mutant {
		return zoo.Mutant{Name: name, Rule: rule, Spec: throttletest.Spec{
			Name: "design: " + name, Time: throttletest.Injected, Traits: traits, New: make}}
	}
	leading := throttletest.Traits{
		Edges: []throttletest.Edges{throttletest.Leading}, Boundary: throttletest.BoundaryPasses,
	}
	rounded := leading
	rounded.Boundary = throttletest.BoundaryRounded
	trailing := throttletest.Traits{
		Edges: []throttletest.Edges{throttletest.Trailing}, Payload: throttletest.LastPayload,
		CloseFlush: throttletest.CloseFires, Reentrancy: throttletest.ReentrancyForbidden,
	}
	both := throttletest.Traits{
		Edges: []throttletest.Edges{throttletest.LeadingAndTrailing}, Payload: throttletest.LastPayload,
		BothSingle: throttletest.BothOnce, Boundary: throttletest.BoundaryPasses,
	}
	locks := mutant(trailsLocked, "X-REENT", both,
		func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
			d := &slot{clock: env.Clock, cfg: cfg, emit: emit, locked: true}
			return throttletest.Funcs{Call: d.call}
		})
	locks.Hangs = true
	return []zoo.Mutant{
		locks,
		mutant(stampOfNone, "TH-FIRST", leading,
			func(env throttletest.Env, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
				passes := func(gap time.Duration) bool { return gap >= cfg.Interval }
				allow, _ := stamps(env.Clock, passes, stampOfNone)
				return throttletest.Funcs{Allow: allow}
			}),
		mutant(roughly, "TH-SPACE", rounded,
			func(env throttletest.Env, cfg throttletest.Config, _ func(int)) throttletest.Funcs {
				d := &floats{clock: env.Clock, perSecond: 1 / cfg.Interval.Seconds(), tokens: 1, mutant: roughly}
				return throttletest.Funcs{Allow: d.allow}
			}),
		mutant(timerOfNone, "TH-NOSPON", trailing,
			func(env throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
				d := newBatch(env.Clock, cfg, emit, timerOfNone)
				return throttletest.Funcs{
					Call: func(v int) { d.in <- v }, Close: func() { close(d.in) }, Closed: d.closed.Load,
				}
			}),
	}
}
