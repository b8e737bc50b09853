package edge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
)

// every lists the edges in the order in which a choice names them.
var every = []conformance.Edges{
	conformance.Trailing, conformance.Leading, conformance.LeadingAndTrailing, conformance.NoEdges,
}

// several is where the values of a choice begin that stand for more than one of the edges.
const several = 1 << 4

// Chosen is the value by which a choice stands for a list of edges: that of the edges if there
// is one, 0 if there is none.
func Chosen(list []conformance.Edges) (value int) {
	if len(list) == 1 {
		return int(list[0])
	}
	for i, e := range every {
		if slices.Contains(list, e) {
			value |= several << i
		}
	}
	return value
}

// Listed is the list of edges for which a value of [Chosen] stands.
func Listed(value int) (list []conformance.Edges) {
	if value > 0 && value < several {
		return []conformance.Edges{conformance.Edges(value)}
	}
	for i, e := range every {
		if value&(several<<i) != 0 {
			list = append(list, e)
		}
	}
	return list
}

// names are those of the constants.
var names = map[conformance.Edges]string{
	conformance.Trailing: "Trailing", conformance.Leading: "Leading",
	conformance.LeadingAndTrailing: "LeadingAndTrailing", conformance.NoEdges: "NoEdges",
}

// literal returns what writes a value of [Chosen] in the terms of a package.
func literal(pkg string) func(value int) string {
	return func(value int) string {
		var list []string
		for _, e := range Listed(value) {
			list = append(list, pkg+"."+names[e])
		}
		return fmt.Sprintf("[]%s.Edges{%s}", pkg, strings.Join(list, ", "))
	}
}

// single are the values of a choice that stand for one of the edges, as literal writes them.
func single(pkg string) (values []string) {
	for _, e := range every[:3] {
		values = append(values, literal(pkg)(int(e)))
	}
	return values
}

// Means says what each value of a choice of edges means: of each edge, in the order in which a choice names them.
func Means(each ...string) []string {
	all := make([]string, several<<len(every)-1)
	for value := range len(all) {
		var said []string
		for i, e := range every {
			if slices.Contains(Listed(value+1), e) {
				said = append(said, each[i])
			}
		}
		all[value] = strings.Join(said, "; ")
	}
	return all
}

// What New is tried with: events whose fires show on which edges they are, and single ones, bursts and events that
// go on coming, after pauses.
const (
	twoEvents = " | call 1 @0 | call 2 @1ms"
	bursts    = " | call 1 @0 | call 2 @500ms | call 3 @501ms" +
		" | call 4 @1s | call 5 @1.06s | call 6 @1.12s | call 7 @1.18s"
)

// alike are edges with which an implementation does the same.
type alike struct {
	edges []conformance.Edges
	first *suite.Recording // of two events
	fires string           // all that fires, in words
}

// EdgesChoice is the choice of the edges that New builds, of a package, and what each value of it means. Preferred is
// what is built where a schedule does not say; run is that of observed.
func EdgesChoice(s *suite.Suite, pkg string, declared *[]conformance.Edges, preferred conformance.Edges, means []string,
	said *Said, run func(e conformance.Edges, steps string) *suite.Recording) suite.Choice {
	return suite.Choice{
		Name: "Edges", Declared: Chosen(*declared), Values: single(pkg), Literal: literal(pkg), Means: means,
		Needless: suite.Always, Shown: said.Of("Edges"),
		Observe: func() int {
			value, why := observed(s, pkg, run)
			said.Note("Edges", why)
			return value
		},
		Set: func(v int) { *declared = Listed(v) },
		Alter: func(v int, rec *suite.Recording) (*suite.Recording, bool) {
			return alter(rec, *declared, Preferred(*declared, preferred), conformance.Edges(v))
		},
	}
}

// observed returns the edges that New responds to, as a value of [Chosen], and what is to be said of others. Where it
// does with some edges what it does with no others it can build these, whatever fires. Of edges with which it does the
// same, those on which something fires are the ones that it builds. Run plays the steps of a text with some edges,
// and returns nil if they cannot be built, or if it hangs: those that hang are built, and their rules say so.
func observed(
	s *suite.Suite, pkg string, run func(e conformance.Edges, steps string) *suite.Recording,
) (value int, said string) {
	var groups []*alike
	var hanging []conformance.Edges
	for _, e := range every {
		hung := s.Hung
		first := run(e, twoEvents)
		if s.Hung > hung {
			hanging = append(hanging, e)
		}
		if first == nil {
			continue
		}
		g := &alike{[]conformance.Edges{e}, first, firing(first) + "; " + firing(run(e, bursts))}
		i := slices.IndexFunc(groups, func(o *alike) bool { return o.fires == g.fires })
		if i < 0 {
			groups = append(groups, g)
			continue
		}
		groups[i].edges = append(groups[i].edges, e)
	}
	off := len(groups) > 1 && slices.ContainsFunc(groups, func(g *alike) bool {
		return g.silent() && slices.Contains(g.edges, conformance.NoEdges)
	})
	var list []conformance.Edges
	for _, g := range groups {
		builds := g.edges[0]
		if e := shown(g.first.Fires); slices.Contains(g.edges, e) {
			builds = e
		}
		others := without(g.edges, builds)
		switch {
		case builds == conformance.NoEdges && !g.silent():
			said += fmt.Sprintf("Spec.New was asked for NoEdges too: %s.\n", g.inWords())
		case off, g.silent() && len(groups) > 1:
			list = append(list, g.edges...)
		case len(groups) == 1: // whatever it can build, New does not ask for it
			said = "Spec.New does the same whatever cfg.Edges is: if your code can build others, hand it on.\n"
			list = append(list, builds)
		case len(others) > 0:
			said += fmt.Sprintf("Spec.New was asked for %s too, and does the same as with %s.%s: %s. "+
				"Declare what it can build.\n", strings.Join(others, ", "), pkg, names[builds], g.inWords())
			fallthrough
		default:
			list = append(list, builds)
		}
	}
	if len(list) > 0 {
		list = append(list, hanging...)
	}
	return Chosen(list), strings.TrimSpace(said)
}

// silent reports whether nothing fires.
func (g *alike) silent() bool { return g.fires == firing(nil)+"; "+firing(nil) }

// inWords says what fires for two events.
func (g *alike) inWords() string {
	rec := g.first
	return fmt.Sprintf("in %s fires %s",
		suite.Plan(rec.Schedule.Config.Without("edges"), rec.Schedule.Steps...), firing(rec))
}

// without names the edges but one.
func without(edges []conformance.Edges, e conformance.Edges) (others []string) {
	for _, o := range edges {
		if o != e {
			others = append(others, names[o])
		}
	}
	return others
}

// firing says what fires in a run.
func firing(rec *suite.Recording) string {
	if rec == nil || len(rec.Fires) == 0 {
		return "nothing"
	}
	var fires []string
	for _, f := range rec.Fires {
		fires = append(fires, fmt.Sprintf("%s at %s", suite.FireMark(f.Value), timeline.Duration(f.Began.At)))
	}
	return strings.Join(fires, ", ")
}

// shown are the edges on which something fired, at once or later.
func shown(fires []conformance.Fire) (seen conformance.Edges) {
	for _, f := range fires {
		if f.Began.At < suite.Wait/2 {
			seen |= conformance.Leading
		} else {
			seen |= conformance.Trailing
		}
	}
	return seen
}

// Differ reports whether runs of the same steps show that New responds to something that is configured in one of
// them alone.
func Differ(plain, configured *suite.Recording) bool {
	if plain == nil || configured == nil {
		return false
	}
	same := func(a, b conformance.Fire) bool { return a.Began.At == b.Began.At && a.Value == b.Value }
	return !slices.EqualFunc(plain.Fires, configured.Fires, same)
}

// Choice completes a choice by its trait, and by its values, each followed by what it means: a number has none.
func Choice[T ~int | ~int64](trait *T, c suite.Choice, values ...string) suite.Choice {
	c.Declared, c.Set = int(*trait), func(v int) { *trait = T(v) }
	for i := 0; i < len(values); i += 2 {
		c.Values, c.Means = append(c.Values, values[i]), append(c.Means, values[i+1])
	}
	return c
}

// Flag completes a choice that is true or not declared. Without observe only the documentation shows it.
func Flag(trait *bool, c suite.Choice, observe func() bool, means string) suite.Choice {
	c.Declared, c.Set = suite.Number(*trait), func(v int) { *trait = v == 1 }
	c.Literal, c.Means = suite.Flag, []string{means}
	if observe != nil {
		c.Observe = func() int { return suite.Number(observe()) }
	}
	return c
}

// Learnt is a choice whose trait was looked for before, and found to be learnt: with that value it is not declared,
// unless the spec has one.
func Learnt[T comparable](c suite.Choice, trait, spec, learnt T) suite.Choice {
	if none := *new(T); spec == none && trait == learnt {
		c.Declared = 0
	}
	return c
}

// InUnits writes a duration as Go has it.
func InUnits(d int) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "Second"}, {time.Millisecond, "Millisecond"}, {time.Microsecond, "Microsecond"}} {
		if n := time.Duration(d) / u.unit; n*u.unit == time.Duration(d) {
			return fmt.Sprintf("%d * time.%s", n, u.name)
		}
	}
	return fmt.Sprint(d)
}

// Said is what New was built with and did not show, by choice.
type Said map[string]string

// Note notes that of a choice, and returns that nothing was observed.
func (s *Said) Note(choice, said string) int {
	if *s == nil {
		*s = Said{}
	}
	(*s)[choice] = said
	return 0
}

// Of returns what was noted about a choice.
func (s *Said) Of(choice string) func() string { return func() string { return (*s)[choice] } }

// Slow is why callbacks that take time cannot be driven exactly, "" if they can.
func Slow(s *suite.Suite, declared trait.Reentrancy) string {
	switch {
	case !s.Bubble:
		return "a callback that runs for a while needs a bubble to be driven exactly"
	case declared == trait.ReentrancyForbidden:
		return "declared: ReentrancyForbidden, so methods may wait for a running callback"
	}
	return ""
}

// SlowAfterTrial is Slow for schedules whose calls wait for a running callback or do not: where
// callbacks must not call the implementation, they are tried. One whose methods wait for the callback on a
// channel can be driven, and one in which they do so for a lock cannot.
func SlowAfterTrial(s *suite.Suite, declared trait.Reentrancy, schedules []conformance.Schedule) string {
	why := Slow(s, declared)
	if s.Bubble && declared == trait.ReentrancyForbidden && s.Progresses(schedules) {
		return ""
	}
	return why
}

// NoReentry is why callbacks must not call the implementation, nor take time, for which methods
// may have to wait; "" if they may.
func NoReentry(s *suite.Suite, declared trait.Reentrancy) string {
	switch {
	case declared == trait.ReentrancyForbidden:
		return "declared: ReentrancyForbidden"
	case declared == 0 && s.Undeclared():
		return "trait Reentrancy is undeclared, and so are others"
	}
	return ""
}

// Reentrancy observes whether the callback may do what schedules let it do, inside: an operation that never returns to
// it, or to another one that runs meanwhile, it must not use.
func Reentrancy(s *suite.Suite, texts ...string) trait.Reentrancy {
	if s.CannotReenter {
		return trait.ReentrancyForbidden
	}
	for _, text := range texts {
		runs := s.TryText(text, inside.OrderSettled)
		if len(runs) == 0 || runs[0].Reentered() != nil {
			return trait.ReentrancyForbidden
		}
	}
	return trait.ReentrancyAllowed
}

// PanicPolicy is the choice of where the panic of a callback goes, where that can be tried. With judges by the rule
// about it.
func PanicPolicy(declared *trait.PanicPolicy, said *Said, can func() bool,
	with func(trait.PanicPolicy) (broken *suite.Violation, skip string)) suite.Choice {
	const name = "PanicPolicy"
	return Choice(declared, suite.Choice{
		Name: name, Apart: true, Shown: said.Of(name),
		Observe: func() int {
			if !can() {
				return 0
			}
			policy, why := panicsAs(with)
			said.Note(name, why)
			return policy
		},
	},
		"PanicPropagates", "a callback's panic propagates on its goroutine",
		"PanicRecovered", "a callback's panic is recovered")
}

// panicsAs returns the policy that is not broken, as the rule about it would see; where both are, the one that takes
// a longer schedule to break. It returns 0 and why if nobody can tell.
func panicsAs(with func(trait.PanicPolicy) (broken *suite.Violation, skip string)) (policy int, why string) {
	up, skip := with(trait.PanicPropagates)
	if skip != "" {
		return 0, skip
	}
	kept, _ := with(trait.PanicRecovered)
	switch {
	case up == nil && kept == nil:
		return 0, "no operation runs the callback, so nothing shows where its panic goes"
	case up == nil, kept != nil && up.Run.Schedule.Compare(kept.Run.Schedule) >= 0:
		return int(trait.PanicPropagates), ""
	}
	return int(trait.PanicRecovered), ""
}

// LastFire is what fired last in a run, nil if nothing did or there is no run.
func LastFire(rec *suite.Recording) *conformance.Fire {
	if rec == nil || len(rec.Fires) == 0 {
		return nil
	}
	return &rec.Fires[len(rec.Fires)-1]
}

// Twice tells from a run of a single event with both edges whether it fires on both: at once, and when the wait or
// interval is over. It returns 0 if there is no such run.
func Twice(rec *suite.Recording) int {
	switch {
	case rec == nil || len(rec.Fires) == 0:
		return 0
	case len(rec.Fires) == 2 && rec.Fires[1].Began.At == suite.Wait:
		return int(trait.BothTwice)
	}
	return int(trait.BothOnce)
}
