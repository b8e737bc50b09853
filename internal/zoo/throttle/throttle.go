// Package throttle has the zoo's throttles.
package throttle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jonboulle/clockwork"

	tt "github.com/escapement-go/escapement/conformance/throttletest"
	"github.com/escapement-go/escapement/internal/zoo"
)

// kind is a way to write a throttle, and the mistakes that it can have.
type kind struct {
	name     string
	traits   tt.Traits
	make     func(b base) tt.Funcs
	mistakes []mistake
}

// base is what a throttle is made with, and its mistake, "" for none.
type base struct {
	clock  clockwork.Clock
	cfg    tt.Config
	emit   func(int)
	mutant string
}

func (b *base) is(mutant string) bool { return b.mutant == mutant }

// mistake is a mutant's name, and the rule that must catch it.
type mistake struct{ name, rule string }

// spec describes a throttle of a kind with a mistake, or with none.
func (k kind) spec(source tt.TimeSource, mutant string) tt.Spec {
	return tt.Spec{
		Name: k.name, Time: source, Traits: k.traits,
		New: func(env tt.Env, cfg tt.Config, emit func(int)) tt.Funcs {
			return k.make(base{env.Clock, cfg, emit, mutant})
		},
	}
}

func (k kind) named(name string) kind {
	k.name = name
	return k
}

// with is the kind with other mistakes.
func (k kind) with(mistakes ...mistake) kind {
	k.mistakes = mistakes
	return k
}

// Mutants are mistakes, each with the rule that must catch it.
func Mutants() (all []zoo.Mutant) {
	timed := timedKind()
	unanchored := timed.with(
		mistake{"an interval of 0 lasts until a timer ends it, and its callback must not bring events", "TH-ZERO"})
	unanchored.traits.Reentrancy, unanchored.traits.Anchor = tt.ReentrancyForbidden, 0
	for _, k := range slices.Concat(
		[]kind{streamKind, unanchored, timed, plainKind, serialKind}, designs(), choosyKinds(),
		[]kind{
			timed.with(mistake{zoo.LosesTime, "X-READ"}, mistake{"a reset is done by a goroutine", "X-EFFECT"}),
			deliveredKind, erringKind(), timed.with(timedCalls...),
		},
	) {
		for _, m := range k.mistakes {
			all = append(all, k.mutant(m))
		}
	}
	return all
}

// mutant is a throttle with a mistake.
func (k kind) mutant(m mistake) zoo.Mutant {
	spec := k.spec(tt.Injected, m.name)
	switch m.rule { // nobody breaks these who declares something else
	case "X-BACK":
		spec.Traits.ClockBack = tt.BackStands
	case "X-REENT":
		spec.Traits.Reentrancy = 0
	}
	mutant := zoo.Mutant{
		Name: m.name, Rule: m.rule, Spec: spec, Steps: steps[m.name],
		Hangs:  m.rule == "X-REENT" || strings.HasPrefix(m.name, "keeps a lock"),
		Chance: m.rule == "TH-ONEOF" || m.rule == "X-ROW",
	}
	if only := families[m.name]; only != "" {
		mutant.Only = func(family string) bool { return strings.HasPrefix(family, only) }
	}
	return mutant
}

// steps are those of the longest schedule that a mutant is run with, where it is longer than the one that is
// shown for it.
var steps = map[string]int{
	"a clock that is set back freezes it":                          40,
	"a clock that is set back freezes several":                     40,
	"a clock that is set back after the first interval freezes it": 40,
	"keys share sixteen intervals":                                 120,
	"remembers the newest hundred keys":                            250,
	"counts emissions in a byte":                                   400,
}

// families have the prefix of the names of the families that a mutant is run with. One that leaves goroutines after
// each run leaves few so, which make the looks of later runs long; and where an operation never returns, the
// callback that calls it does not either, which is another finding.
var families = map[string]string{
	"a context that ends is not looked at":                            "cancel",
	"the output is never closed":                                      "close",
	"a send does not look at the context":                             "reader gone",
	"an event that waits for the stream does not look at the context": "behind a reader gone",
	"a stop while a callback runs waits for ever":                     "busy 250ms stop leading",
}

// Designs are correct throttles of many kinds, on each clock that they can take.
func Designs() (all []zoo.Design) {
	timed := timedKind()
	add := func(source tt.TimeSource, k kind) {
		all = append(all, zoo.Design{Name: fmt.Sprintf("%s %s", k.name, source), Spec: k.spec(source, "")})
	}
	for _, source := range []tt.TimeSource{tt.Injected, tt.PackageTime} {
		for _, k := range slices.Concat(
			[]kind{timed, plainKind, serialKind, streamKind, erringKind(), deliveredKind}, designs(),
		) {
			add(source, k)
		}
	}
	timed.traits.Edges = []tt.Edges{tt.Leading}
	add(tt.Explicit, timed)
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
func Choosing(tr tt.Traits) tt.Spec { return choosyKind(tr, ways{}).spec(tt.Injected, "") }

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
	{"keys share what waits for the trailing edge", "TH-KEY"},
	{"a flush emits what is pending of one key only", "TH-KEY"},
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

// timedCalls are mistakes of what brings it events.
var timedCalls = []mistake{
	{"an event with the payload of the one before is none", "X-RENAME"},
	{"an event is handed over on a goroutine", "X-ROW"},
	{"counts without the lock", "X-RACE"},
}
