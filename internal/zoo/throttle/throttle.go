// Package throttle has the zoo's throttles.
package throttle

import (
	"fmt"
	"strings"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// mistake is a mutant's name, and the rule that must catch it.
type mistake struct{ name, rule string }

// timedMistakes are those of the throttle with every edge.
var timedMistakes = []mistake{
	{"the first event only starts the interval", "TH-FIRST"},
	{"an event at the end waits", "TH-LEADNEXT"},
	{"every denial extends the interval", "TH-LEADNEXT"},
	{"silence is 32 bits of milliseconds", "TH-LEADNEXT"},
	{"the interval is a nanosecond short", "TH-SPACE"},
	{"the end of an interval is counted in nanoseconds since 1970", "TH-SPACE"},
	{"a leading throttle emits later", "TH-DROP"},
	{"drops what came last", "TH-LAST"},
	{"events put off the end", "TH-NOTDEB"},
	{"emits the first payload", "TH-PAY"},
	{"emits a single event twice", "TH-SINGLE"},
	{"a trailing throttle leads too", "TH-TRAILONLY"},
	{"a trailing emission opens nothing", "TH-TRAILOPENS"},
	{"emits without an event", "TH-NOSPON"},
	{"zero interval blocks", "TH-ZERO"},
	{"reset does nothing", "TH-RESET"},
	{"checks without the lock", "TH-ONEOF"},
	{"looks and begins under two locks", "TH-ONEOF"},
	{"panics on the third event", "X-CALLS"},
	{"keeps a lock when an event waits", "X-CALLS"},
	{"goroutine left behind", "X-LEAK"},
	{"a trailing throttle leads after its first interval", "TH-TRAILONLY"},
	{"a zero payload is no event", "TH-PAY"},
	{"the zero time is the last emission", "TH-FIRST"},
	{"what came during the callback follows at once", "TH-BUSY"},
	{"drops what is pending at the end", "TH-CLOSE"},
	{"lets one more pass", "TH-RATE"},
	{"an interval counts from its newest event", "TH-MAXIMAL"},
	{"no edge is the leading one", "TH-NONE"},
	{"an interval counts from the end of its callback", "TH-ANCHOR"},
	{"a clock that is set back freezes it", "TH-CLOCKBACK"},
	{"follows a clock that is set back", "X-BACK"},
	{"keys share an interval", "TH-KEY"},
	{"keys share sixteen intervals", "TH-KEY"},
	{"remembers the newest hundred keys", "TH-KEY"},
	{"keys are swept by the wall clock", "TH-KEY"},
	{"a reset with a key is one of another too", "TH-KEY"},
	{"a reset with a key leaves the interval", "TH-KEY"},
	{keysShareWaiting, "TH-KEY"},
	{flushesOne, "TH-KEY"},
	{"instances share an interval", "X-ISO"},
	{"an interval ends on package time too", "X-CLOCK1"},
	{"a panic leaves it busy", "X-PANIC"},
	{"callback under the lock", "X-REENT"},
	{"a flushed event comes again", "TH-FLUSH"},
	{"flush emits what is not pending", "TH-FLUSH"},
	{"a flush stops the timer and leaves the interval running", "TH-FLUSH"},
	{"a flush of nothing ends the interval", "TH-FLUSH"},
	{"stop lets the pending event come", "TH-STOP"},
	{"a timer that has expired emits after stop", "TH-STOP"},
	{"drop leaves what is pending", "TH-CANCEL"},
	{"a dropped event opens an interval", "TH-CANCEL"},
	{"a drop begins the interval anew", "TH-CANCEL"},
	{"a drop stops the timer and leaves the interval running", "TH-CANCEL"},
	{"stop leaves what waits for a key", "TH-STOP"},
	{"the end of the input leaves what waits for a key", "TH-CLOSE"},
	{"flush emits what stop has dropped", "TH-STOP"},
	{"an event at the very end overtakes what is pending", "TH-PAY"},
	{"an interval of zero never trails", "TH-ZERO"},
	{"the trailing edge is rounded to milliseconds", "TH-LAST"},
	{"the trailing edge leaves a timer armed", "X-LEAK"},
	{"an interval that ends after stop leaves a goroutine", "X-LEAK"},
	{"a panic on the trailing edge wedges it", "X-PANIC"},
	{"reset does nothing for several", "TH-RESET"},
	{"a reset of several leaves the interval", "TH-RESET"},
	{"a clock that is set back freezes several", "TH-CLOCKBACK"},
	{"a timer that a flush overtakes emits all the same", "TH-NOSPON"},
	{"everything passes until a clock that is set back is where it was", "TH-SPACE"},
	{"several pass until a clock that is set back is where it was", "TH-RATE"},
	{"a clock that is set back after the first interval freezes it", "TH-CLOCKBACK"},
	{"after a hundred years nothing passes", "TH-LEADNEXT"},
	{"a flush emits under the lock", "X-REENT"},
	{"a flush of nothing begins the interval anew", "TH-FLUSH"},
	{"counts emissions in a byte", "TH-RATE"},
	{"a trailing interval counts from the end of its callback", "TH-ANCHOR"},
	{"a reset sets the last emission to the zero time", "TH-RESET"},
	{"stop leaves the timer of the interval armed", "X-LEAK"},
	{"arms its timer again behind the callback", "X-LEAK"},
	{"both edges emit at once", "TH-SPACE"},
}

// plainMistakes are those of the throttle without payload.
var plainMistakes = []mistake{
	{"a timer that has expired emits all the same", "TH-SPACE"},
	{"a timer that has expired takes what is new", "TH-SPACE"},
	{"a timer that has expired ends the interval after a reset", "TH-RESET"},
	{"what comes while it emits is forgotten", "TH-BUSY"},
}

// streamMistakes are those of the stream.
var streamMistakes = []mistake{
	{"errors wait their turn", "TH-ERR"},
	{"an error opens an interval", "TH-ERRNEUT"},
	{"a context that ends is not looked at", "TH-CTX"},
	{"the output is never closed", "TH-CLOSE"},
	{"a send does not look at the context", "TH-CTX"},
	{waitsForGood, "TH-CTX"},
}

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() []zoo.Mutant {
	var all []zoo.Mutant
	for _, m := range streamMistakes {
		all = append(all, zoo.Mutant{
			Name: m.name,
			Rule: m.rule,
			Spec: streamSpec(m.name, tt.Injected),
			Only: ended(m),
		})
	}
	unanchored := timedSpec(zeroByTimer, tt.Injected)
	unanchored.Traits.Reentrancy, unanchored.Traits.Anchor = tt.ReentrancyForbidden, 0
	all = append(all, zoo.Mutant{Name: zeroByTimer + ", and its callback must not bring events", Rule: "TH-ZERO",
		Spec: unanchored})
	for _, m := range timedMistakes {
		all = append(all, zoo.Mutant{
			Name: m.name, Rule: m.rule, Spec: timedSpec(m.name, tt.Injected),
			Hangs: m.rule == "X-REENT" || strings.Contains(m.name, "keeps a lock"), Chance: m.rule == "TH-ONEOF",
			Steps: steps(m),
		})
	}
	for _, m := range plainMistakes {
		all = append(all, zoo.Mutant{
			Name:   m.name,
			Rule:   m.rule,
			Spec:   plainSpec(m.name, tt.Injected),
			Chance: m.rule == "TH-ONEOF",
		})
	}
	all = append(all, serialMutants()...)
	all = append(all, designMutants()...)
	all = append(all, choosyMutants()...)
	const (
		dedupes   = "an event with the payload of the one before is none"
		overtakes = "an event is handed over on a goroutine"
	)
	loses := timedSpec("", tt.Injected)
	made := loses.New
	loses.New = func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
		env.Clock = zoo.LosingTime(env.Clock)
		return made(env, cfg, emit)
	}
	all = append(all, zoo.Mutant{Name: zoo.LosesTime, Rule: "X-READ", Spec: loses})
	const resetsLater = "a reset is done by a goroutine"
	later := timedSpec("", tt.Injected)
	build := later.New
	later.New = func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
		f := build(env, cfg, emit)
		reset := f.Reset
		f.Reset = func() { go reset() }
		return f
	}
	all = append(all, zoo.Mutant{Name: resetsLater, Rule: "X-EFFECT", Spec: later})
	const lost = "an error that comes last takes what is pending with it"
	return append(all,
		zoo.Mutant{Name: beforeReader, Rule: "TH-BUSY", Spec: deliveredSpec(beforeReader, tt.Injected)},
		zoo.Mutant{Name: lost, Rule: "TH-CLOSE", Spec: erringSpec(lost, tt.Injected)},
		zoo.Mutant{Name: dedupes, Rule: "X-RENAME", Spec: calling(zoo.Deduped)},
		zoo.Mutant{Name: overtakes, Rule: "X-ROW", Spec: calling(zoo.Overtaking), Chance: true},
		zoo.Mutant{Name: "counts without the lock", Rule: "X-RACE",
			Spec: timedSpec("checks without the lock", tt.Injected)})
}

// calling is a correct throttle whose events go through a mistake.
func calling(mistake func(call func(int)) func(int)) tt.Spec {
	spec := timedSpec("", tt.Injected)
	plain := spec.New
	spec.New = func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
		f := plain(env, cfg, emit)
		f.Call = mistake(f.Call)
		return f
	}
	return spec
}

// longest is more than the steps of the flow of events that shows that a clock set back holds
// them up, which is longer than the schedule that is shown for it.
const longest = 40

// steps are those of the longest schedule that a mistake is run with; 0 stands for those of the
// one that is shown for it.
func steps(m mistake) int {
	switch {
	case m.rule == "TH-CLOCKBACK":
		return longest
	case m.name == "keys share sixteen intervals":
		return 120
	case m.name == "counts emissions in a byte":
		return 400
	case m.name == "remembers the newest hundred keys":
		return 250
	}
	return 0
}

// ended selects the families of a stream that the rule of a mistake needs. A mutant that leaves goroutines
// after each run leaves few so, which make the looks of later runs long.
func ended(m mistake) func(family string) bool {
	end := map[string]string{"TH-CTX": "cancel", "TH-CLOSE": "close"}[m.rule]
	switch m.name {
	case "a send does not look at the context":
		end = "reader gone"
	case waitsForGood:
		end = "behind a reader gone"
	}
	return func(family string) bool { return strings.HasPrefix(family, end) }
}

// Designs are correct throttles of many makes, on each clock that they can take.
func Designs() []zoo.Design {
	var all []zoo.Design
	add := func(spec tt.Spec) {
		all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", spec.Name, spec.Time), Spec: spec})
	}
	for _, source := range []tt.TimeSource{tt.Injected, tt.PackageTime} {
		for _, spec := range []tt.Spec{
			timedSpec("", source), plainSpec("", source), serialSpec("", source), streamSpec("", source),
			erringSpec("", source), deliveredSpec("", source),
		} {
			add(spec)
		}
		for _, d := range designs(source) {
			spec := d.make()
			spec.Name = "design: " + d.name
			add(spec)
		}
	}
	add(timedSpec("", tt.Explicit, tt.Leading))
	return append(all, asynchronous()...)
}

// Plain are the choices of a throttle that can build every edge.
func Plain() tt.Traits {
	return tt.Traits{
		Edges:    []tt.Edges{tt.Trailing, tt.Leading, tt.LeadingAndTrailing},
		Boundary: tt.BoundaryPasses, BothSingle: tt.BothOnce, Payload: tt.LastPayload,
		Windows: tt.WindowsSliding, ClockBack: tt.BackBounded,
	}
}

// Choosing is a correct throttle on an injected clock that chooses so.
func Choosing(tr tt.Traits) tt.Spec {
	return choosySpec(tt.Injected, tr, ways{}, nil)
}

// Chosen are n correct throttles that choose all that may be chosen, drawn from a constant.
func Chosen(n int) []zoo.Design {
	return zoo.Named(chosen(n), func(s tt.Spec) string { return s.Name })
}

func (d *timed) drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !d.pending:
	case d.is("a dropped event opens an interval"):
		d.until = d.until.Add(d.cfg.Interval)
	case d.is("a drop begins the interval anew"):
		d.until = d.clock.Now().Add(d.cfg.Interval)
		d.arm(d.cfg.Interval)
	case d.is("a drop stops the timer and leaves the interval running"):
		d.timer.Stop()
	}
	d.pending = d.pending && d.is("drop leaves what is pending")
}
