package throttle

import (
	"time"

	"github.com/escapement-go/escapement/conformance"
	tt "github.com/escapement-go/escapement/conformance/throttletest"
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
	mutant := func(name, rule string, traits tt.Traits, has ...conformance.Op) zoo.Mutant {
		ops := map[conformance.Op]bool{}
		for _, op := range has {
			ops[op] = true
		}
		traits.Boundary, traits.Payload = tt.BoundaryPasses, tt.LastPayload
		spec := choosySpec(tt.Injected, traits, ways{mutant: name}, ops)
		return zoo.Mutant{Name: name, Rule: rule, Spec: spec}
	}
	leading := tt.Traits{
		Edges: []tt.Edges{tt.Leading}, ClockBack: tt.BackStands,
	}
	several := leading
	several.Windows = tt.WindowsSliding
	trailing := tt.Traits{Edges: []tt.Edges{tt.Trailing}}
	stands, late := trailing, trailing
	stands.ClockBack, late.CloseFlush = tt.BackStands, tt.CloseAtDeadline
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
	mutant := func(name, rule string, traits tt.Traits, make func(
		env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs,
	) zoo.Mutant {
		return zoo.Mutant{Name: name, Rule: rule, Spec: tt.Spec{
			Name: "design: " + name, Time: tt.Injected, Traits: traits, New: make}}
	}
	leading := tt.Traits{
		Edges: []tt.Edges{tt.Leading}, Boundary: tt.BoundaryPasses,
	}
	rounded := leading
	rounded.Boundary = tt.BoundaryRounded
	trailing := tt.Traits{
		Edges: []tt.Edges{tt.Trailing}, Payload: tt.LastPayload,
		CloseFlush: tt.CloseFires, Reentrancy: tt.ReentrancyForbidden,
	}
	both := tt.Traits{
		Edges: []tt.Edges{tt.LeadingAndTrailing}, Payload: tt.LastPayload,
		BothSingle: tt.BothOnce, Boundary: tt.BoundaryPasses,
	}
	locks := mutant(trailsLocked, "X-REENT", both,
		func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
			d := &slot{clock: env.Clock, cfg: cfg, emit: emit, locked: true}
			return tt.Funcs{Call: d.call}
		})
	locks.Hangs = true
	return []zoo.Mutant{
		locks,
		mutant(stampOfNone, "TH-FIRST", leading,
			func(env tt.Env, cfg tt.Config, _ func(int)) tt.Funcs {
				passes := func(gap time.Duration) bool { return gap >= cfg.Interval }
				allow, _ := stamps(env.Clock, passes, stampOfNone)
				return tt.Funcs{Allow: allow}
			}),
		mutant(roughly, "TH-SPACE", rounded,
			func(env tt.Env, cfg tt.Config, _ func(int)) tt.Funcs {
				d := &floats{clock: env.Clock, perSecond: 1 / cfg.Interval.Seconds(), tokens: 1, mutant: roughly}
				return tt.Funcs{Allow: d.allow}
			}),
		mutant(timerOfNone, "TH-NOSPON", trailing,
			func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
				d := newBatch(env.Clock, cfg, emit, timerOfNone)
				return tt.Funcs{
					Call: func(v int) { d.in <- v }, Close: func() { close(d.in) }, Closed: d.closed.Load,
				}
			}),
	}
}
