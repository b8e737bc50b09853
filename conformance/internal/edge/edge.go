// Package edge has what the contracts of debouncers and throttles share: both fire on the
// leading edge, on the trailing edge or on both edges of a burst or an interval. A
// contract's model says what must fire; Compare finds the first difference. What the
// contracts of limiters and quotas share about keys is in keys.go, and how all contracts make their
// choices in choice.go.
package edge

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// Far is later than everything.
const Far = math.MaxInt64

// Fire is what a model wants to fire.
type Fire struct {
	At    time.Duration
	Value int
	Kind  Kind
	Burst int // the number of its burst
	Size  int // the number of events in that burst, or interval, by then
	// First is when the first event came that it is for, and Values are the payloads of all of them, where the contract
	// says so.
	First  time.Duration
	Values []int
	// Behind is how long it has had to wait for another callback.
	Behind time.Duration
}

// Kind is why something fires.
type Kind string

// The kinds.
const (
	Leading  Kind = "leading"
	Trailing Kind = "trailing"
	Bound    Kind = "bound"   // the wait has a bound, which has passed
	Brought  Kind = "brought" // an event after the bound brings it, for itself or for those before it
	Flushed  Kind = "flush"
	Filled   Kind = "full"  // the burst holds as many events as it may
	Fault    Kind = "error" // an error item of a stream
	Zero     Kind = "zero"  // there is no wait
)

// Model is what must fire in a schedule, and up to which instant that is certain: from
// there on correct implementations differ.
type Model struct {
	Want    []Fire
	Certain time.Duration
}

// Doubt says that nothing is certain from an instant on.
func (m *Model) Doubt(at time.Duration) { m.Certain = min(m.Certain, at) }

// Finding is the first difference between what should have fired and what did, and the
// rule that it breaks. The zero Finding is none.
type Finding struct {
	Rule string
	*suite.Violation
}

// Breaks returns the violation if it breaks that rule.
func (f *Finding) Breaks(rule string) *suite.Violation {
	if f.Rule != rule {
		return nil
	}
	return f.Violation
}

// Terms are how a contract names a difference and explains what should have happened.
type Terms struct {
	// Rule is the rule that a difference at the i-th fire breaks; got is nil where nothing
	// fired.
	Rule func(want []Fire, i int, got *conformance.Fire) string
	// Because says why w must fire, or, if it is nil, why nothing must, at that instant, where the difference breaks
	// rule; that is "" if the caller says what is wrong.
	Because func(rule string, want []Fire, w *Fire, at time.Duration) string
	// Fired is what a fire is called, as in "fired", Of what it fires, before its number, as in "the value of call":
	// "" without payloads.
	Fired, Of string
}

// Compare compares the fires of a run with those of a model. Payloads count unless there
// are none.
func Compare(rec *suite.Recording, m Model, payload trait.Payload, terms Terms) *Finding {
	if rec.Refused != "" || rec.Stuck || rec.Reentered() != nil {
		return &Finding{} // for X-CALLS and X-REENT
	}
	for i := range max(len(m.Want), len(rec.Fires)) {
		var w *Fire
		var g *conformance.Fire
		at := m.Certain // of the first difference: the earlier of the two
		if i < len(m.Want) {
			w = &m.Want[i]
			at = min(at, w.At)
		}
		if i < len(rec.Fires) {
			g = &rec.Fires[i]
			at = min(at, g.Began.At)
		}
		if w != nil && g != nil && w.At == g.Began.At &&
			(w.Value == g.Value || payload == trait.NoPayload || w.Kind == Brought) {
			continue
		}
		if at >= m.Certain {
			break
		}
		rule := terms.Rule(m.Want, i, g)
		return &Finding{rule, terms.Difference(rec, rule, m.Want, w, g, at)}
	}
	return &Finding{}
}

// Difference says that w should have fired and got did; either may be nil. Where both are,
// the caller says what is wrong.
func (t Terms) Difference(
	rec *suite.Recording, rule string, want []Fire, w *Fire, got *conformance.Fire, at time.Duration,
) *suite.Violation {
	v := &suite.Violation{At: at, Because: t.Because(rule, want, w, at)}
	switch {
	case w == nil && got == nil:
	case w == nil:
		v.Headline = t.Event(got.Value) + " at " + timeline.Duration(got.Began.At) + ", want nothing more"
	case got == nil:
		v.Headline = "nothing " + t.Fired + suite.If(t.Of != "", ", want"+t.of(w.Value)) +
			" at " + timeline.Duration(w.At)
	default:
		wanted := t.of(w.Value)
		if t.Of == "" || got.Value == w.Value {
			wanted = " it"
		}
		v.Headline = fmt.Sprintf("%s at %s, want%s at %s",
			t.Event(got.Value), timeline.Duration(got.Began.At), wanted, timeline.Duration(w.At))
	}
	shown := suite.Lane{Name: "want"}
	for _, f := range want {
		shown.Marks = append(shown.Marks, suite.Mark{At: f.At, Text: suite.FireMark(f.Value)})
	}
	v.Lanes = []suite.Lane{shown, rec.Got()}
	return v
}

// Event says that something was fired.
func (t Terms) Event(value int) string { return t.Fired + t.of(value) }

func (t Terms) of(value int) string { return suite.If(t.Of != "", fmt.Sprintf(" %s %d", t.Of, value)) }

// Missing reports whether the i-th fire that was wanted did not come, or came late, rather
// than another one in its place.
func Missing(want []Fire, i int, got *conformance.Fire) bool {
	return i < len(want) && (got == nil || got.Began.At >= want[i].At)
}

// Calls counts the events after from, up to and including to.
func Calls(s conformance.Schedule, from, to time.Duration) int {
	n := 0
	for _, st := range s.Steps {
		if st.Op == verb.Call && st.At > from && st.At <= to {
			n++
		}
	}
	return n
}

// Preferred returns first if it is among the edges or the list is empty; otherwise one of
// the edges that fires something, if there is one.
func Preferred(has []conformance.Edges, first conformance.Edges) conformance.Edges {
	if len(has) == 0 || slices.Contains(has, first) {
		return first
	}
	if i := slices.IndexFunc(has, func(e conformance.Edges) bool { return e != conformance.NoEdges }); i >= 0 {
		return has[i]
	}
	return has[0]
}

// Kinds returns the edges that are declared, or just first if none is.
func Kinds(has []conformance.Edges, first conformance.Edges) []conformance.Edges {
	if len(has) > 0 {
		return has
	}
	return []conformance.Edges{Preferred(has, first)}
}

// NoSuchEdge is why rules of edges that are not declared are skipped.
const NoSuchEdge = "declared edges do not include it"

// alter returns a run as if another edge had been configured, for hints; nil and false if
// that edge is declared already, or is the one that is built.
func alter(rec *suite.Recording, has []conformance.Edges, built, e conformance.Edges) (*suite.Recording, bool) {
	if configured := rec.Schedule.Config.Edges; configured != 0 {
		built = configured
	}
	if e == built || slices.Contains(has, e) {
		return nil, false
	}
	other := *rec
	other.Schedule.Config = other.Schedule.Config.Without("edges").With("edges", e.String())
	return &other, true
}

// Text is fmt.Sprintf with durations as schedules write them.
func Text(format string, args ...any) string {
	args = slices.Clone(args)
	for i, arg := range args {
		if d, ok := arg.(time.Duration); ok {
			args[i] = timeline.Duration(d)
		}
	}
	return fmt.Sprintf(format, args...)
}

// Broken makes a violation of a run, with durations as schedules write them. Its timeline shows what fired, also
// where nothing did.
func Broken(rec *suite.Recording, at time.Duration, because, headline string, args ...any) *suite.Violation {
	return &suite.Violation{Headline: Text(headline, args...), Because: because, At: at, Lanes: []suite.Lane{rec.Got()}}
}
