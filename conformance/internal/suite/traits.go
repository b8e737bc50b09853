package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/escapement-go/escapement/conformance/internal/inside"
)

// Choice is one trait of a contract, in the terms of the subtest TRAITS.
//
// A choice is strict, nominal, or a number. A strict one has an Order: its first value, under which most is
// judged, is assumed until a run refutes it, and each other is a decision that only the author can take. The values
// of a nominal one are as good as each other, so that the one that was observed is assumed. Numbers, and what is true
// or not declared, say that less is to be expected: they are decisions, too.
type Choice struct {
	// Name is that of the field of the contract's traits.
	Name string
	// Declared is the value that is declared, counted from 1; 0 is none. Of a trait that is
	// a number it is that number, of one that is true or false 1 or 0.
	Declared int
	// Values are the names of the values, in the order of the constants, for the literal;
	// nil for traits that are no list of constants, "" for one that the contract refuses. Means says in a few
	// words what each of them means. A choice that nobody need declare, with no Observe, has Means if only the
	// documentation shows it: the condition, as in "only if". Of a number Means says what it counts or measures.
	Values, Means []string
	// Order are the values of a strict choice, the one under which most is judged first; nil for others. A
	// value that is not among them takes nothing out of force: it is assumed where it is observed.
	Order []int
	// Literal writes a value where it has no name; see [Flag].
	Literal func(value int) string
	// Nominal says that a choice with a Literal and no Values is no number.
	Nominal bool
	// Needless reports whether the implementation lacks what the choice is about, so that
	// it need not be declared; nil is for choices that never need be.
	Needless func() bool
	// Observe tries the implementation and returns the value that fits, 0 if none does or
	// none can be told. It is nil for choices that cannot be observed.
	Observe func() int
	// Sure says that Observe leaves nothing to chance: no run that breaks a rule casts doubt on what it saw.
	Sure bool
	// Shown says what the implementation was built with and did not show, "" for nothing; nil where nothing is.
	Shown func() string
	// Set declares another value.
	Set func(value int)
	// Apart says that another value is never offered as an explanation of a failure.
	Apart bool
	// Alter is for choices that a schedule can configure too: it returns a run as if it
	// had been configured with that value, and false if that cannot be.
	Alter func(value int, rec *Recording) (*Recording, bool)
	// Blind are values with which nearly nothing is judged, so that they are never offered
	// as an explanation.
	Blind []string
}

// Flag writes the value of a choice that is true or not declared.
func Flag(int) string { return "true" }

// Number is the value of such a choice.
func Number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Ranked is the Order of a strict choice whose constants are in it: the first of n values is the one
// under which most is judged.
func Ranked(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i + 1
	}
	return order
}

// optional reports whether nobody need declare the choice.
func (c Choice) optional() bool { return c.Needless == nil }

// measured reports whether the choice is a number, or true or not declared.
func (c Choice) measured() bool { return c.Literal != nil && len(c.Values) < 2 && !c.Nominal }

// number reports whether the values of the choice are numbers, and can be observed.
func (c Choice) number() bool { return c.Values == nil && c.Literal != nil && c.Observe != nil }

// weak reports whether less is judged with a value than with another, so that only the author can choose it.
func (c Choice) weak(value int) bool {
	return value != 0 && (c.measured() || slices.Index(c.Order, value) > 0)
}

// strict is the value that is assumed until a run refutes it; 0 is that the choice is undeclared.
func (c Choice) strict() int {
	if len(c.Order) == 0 {
		return 0
	}
	return c.Order[0]
}

// Kind says of which kind the choice is.
func (c Choice) Kind() string {
	switch {
	case len(c.Order) > 0:
		return "strict"
	case c.Literal != nil && len(c.Values) == 0 && !c.Nominal && c.Literal(1) != Flag(1):
		return "number"
	case c.measured():
		return "strict"
	}
	return "nominal"
}

// documented reports whether the choice is one that only the documentation of an implementation
// shows, and that few make.
func (c Choice) documented() bool { return c.optional() && c.Observe == nil && len(c.Means) > 0 }

// pointless reports whether the implementation lacks what the choice is about.
func (c Choice) pointless() bool { return !c.optional() && c.Needless() }

// Always is the Needless of a choice that everybody must declare.
func Always() bool { return false }

// missing reports whether the choice must be declared, and is not.
func (c Choice) missing() bool { return c.Declared == 0 && !c.optional() && !c.Needless() }

// left reports whether the choice need not be declared, is not, and can be observed.
func (c Choice) left() bool {
	return c.Declared == 0 && c.optional() && c.Observe != nil && c.strict() != 0
}

// named reports whether a value can be written.
func (c Choice) named(value int) bool {
	return value > 0 && (c.Literal != nil || value <= len(c.Values) && c.Values[value-1] != "")
}

// literal is a value of the choice as Go has it.
func (c Choice) literal(value int, pkg string) string {
	if c.Literal != nil {
		return c.Literal(value)
	}
	if name := c.Values[value-1]; strings.Contains(name, ".") {
		return name
	}
	return pkg + "." + c.Values[value-1]
}

// declared are the choices that a spec makes, as fields of a literal.
func declared(choices []Choice) []string {
	var fields []string
	for _, c := range choices {
		if c.named(c.Declared) {
			fields = append(fields, c.Name+": "+strings.TrimPrefix(c.literal(c.Declared, ""), "."))
		}
	}
	return fields
}

// means says what a value means, "" where nothing does.
func (c Choice) means(value int) string {
	if c.Values == nil {
		value = min(value, 1)
	}
	if value < 1 || value > len(c.Means) {
		return ""
	}
	return c.Means[value-1]
}

// settled is a choice with what becomes of it where it is undeclared.
type settled struct {
	Choice
	assumed int    // the value with which the run goes on; 0 if it is left open
	seen    int    // the value that was observed; 0 if none was
	tried   []job  // the runs by which it was observed
	telling string // a schedule that tells the value, if the observer says which
	because string // what that schedule shows
}

// shown is the run that shows what was observed, and what it shows, as far as that can be said: an operation that
// panicked, or one that did not return.
func (s *settled) shown() (schedule, what string) {
	for _, j := range s.tried {
		for _, d := range j.rec.Done {
			if d.Panic != "" && d.Panic != PlannedPanic {
				return j.rec.Schedule.String(), fmt.Sprintf(", where %s panicked: %s", d.Step, d.Panic)
			}
			if d.Ended.Seq == 0 && d.Inside {
				return j.rec.Schedule.String(), fmt.Sprintf(", where %s called by the callback never returned", d.Op)
			}
		}
	}
	if s.telling == "" && len(s.tried) > 0 {
		return s.tried[0].rec.Schedule.String(), ""
	}
	return s.telling, s.because
}

// open reports whether what was observed is to be decided on.
func (s *settled) open() bool { return s.Declared == 0 && s.weak(s.seen) }

// job is a run that was made before.
type job struct {
	Job
	rec      *Recording
	observed bool // it was made to observe something
	fresh    bool // it was made just now, so that others can be made in its bubble
}

// told is the choice as tests are told of it.
func (s *settled) told() inside.Choice {
	return inside.Choice{
		Name: s.Name, Value: cmp.Or(s.Declared, s.assumed, s.seen), Strict: s.strict(),
		Decision: s.open(), Seen: s.seen != 0,
	}
}

// settle observes the choices that are undeclared, and returns all of them. What is observed counts in the choices
// that come after it. Where nobody must declare more, only those are observed that may excuse something.
func (e *engine) settle() (all []settled) {
	seen := e.c.complete()
	defer func() { e.attempted = nil }()
	for i := range e.c.table(e.Suite, seen) {
		c := e.c.table(e.Suite, seen)[i]
		s := settled{Choice: c}
		if c.Declared == 0 && !c.pointless() && c.Observe != nil && (e.undeclared || c.left()) {
			e.attempted = func(j Job, rec *Recording) {
				s.tried = append(s.tried, job{Job: j, rec: rec, observed: true})
			}
			e.telling, e.because = "", ""
			s.seen = c.Observe()
			s.telling, s.because = e.telling, e.because
			if !c.named(s.seen) || e.insists[c.Name] == c.strict() && c.strict() != 0 {
				s.seen = 0
			}
			if s.seen != 0 && c.Set != nil {
				c.Set(s.seen)
			}
			switch {
			case s.seen != 0 && (!c.weak(s.seen) || e.insists[c.Name] == s.seen):
				s.assumed = s.seen
			case s.seen == 0 && !c.optional():
				s.assumed = cmp.Or(c.strict(), e.insists[c.Name]) // nothing refutes it, or each is refuted
			}
		}
		all = append(all, s)
	}
	return all
}

// adopt goes on as if what is undeclared, and is not to be decided, had been declared as it was observed. On the replay
// of a decision the strict value is assumed, so that the schedule shows what refutes it.
func (e *engine) adopt() {
	defer func() { // what is observed may be what must not be done, and is shown by the replay of a decision
		e.lab.leaving, e.lab.leaks = nil, false
		e.CannotReenter = e.CannotReenter && !e.replayed
	}()
	if !e.undeclared && !slices.ContainsFunc(e.choices, Choice.left) {
		return
	}
	if e.settled = e.settle(); !e.undeclared && !e.excuses() {
		e.settled = nil
		return
	}
	e.optional, e.undeclared = !e.undeclared, true
	if tell := e.options.Settled; tell != nil {
		for i := range e.settled {
			tell(e.settled[i].told())
		}
	}
	t := e.c.complete()
	for i, c := range e.c.table(e.Suite, t) {
		s, value := &e.settled[i], e.settled[i].assumed
		if e.replayed && s.open() {
			value = s.strict()
		}
		if value != 0 && c.Set != nil {
			c.Set(value)
		}
	}
	e.declare(t)
	e.traits = e.c.complete()
	e.choices = e.c.table(e.Suite, e.traits)
	clear(e.otherwise)
}

// excuses reports whether a choice that need not be declared, and is not, excuses what was observed: then its author is
// asked for it, too, if a value explains it. Others stay as they are: what they would excuse breaks a rule.
func (e *engine) excuses() (some bool) {
	for i := range e.settled {
		s := &e.settled[i]
		if !s.open() {
			continue
		}
		if s.strict() != 0 && e.compare(e.runsFor(s), e.with(s.Name, s.strict()), e.with(s.Name, 0)) != nil {
			some = true
		} else {
			s.seen, s.assumed = 0, 0
		}
	}
	return some
}

// list tells of the choices of the contract.
func (e *engine) list(tell func(inside.Trait)) {
	e.prepare()
	for k, c := range e.choices {
		t := inside.Trait{Name: c.Name, Kind: c.Kind(), Means: c.Means, Order: c.Order, Optional: c.optional()}
		t.On, t.Off, t.Needed = e.forces(k)
		if !c.measured() {
			t.Values = c.Values
		}
		tell(t)
	}
}

// forces says with which values of a choice a rule is in force, by its ID; with which it is out of force, if another
// or none leaves it in force; and which rules are out of force while the choice is undeclared, if a value leaves them
// in force.
func (e *engine) forces(choice int) (on, off map[string][]string, needed []string) {
	c := e.choices[choice]
	on, off = map[string][]string{}, map[string][]string{}
	if c.Set == nil {
		return on, off, nil
	}
	names := []string{""} // of none
	for value := 1; value <= max(1, len(c.Values)); value++ {
		name := c.Name
		if c.Values != nil || c.Kind() == "strict" {
			name += ": " + strings.TrimPrefix(c.literal(value, ""), ".")
		}
		names = append(names, name)
	}
	for _, r := range e.rules {
		in := make([]bool, len(names)) // force with each value
		for value := range names {
			d := e.declared(otherwise{choice, value, ""})
			in[value] = skip(e.Suite, r, d.traits, d.choices).why == ""
		}
		for value, name := range names {
			switch {
			case value > 0 && in[value]:
				on[r.ID] = append(on[r.ID], name)
			case in[value] || !slices.Contains(in, true):
			case value > 0:
				off[r.ID] = append(off[r.ID], name)
			default:
				needed = append(needed, r.ID)
			}
		}
	}
	return on, off, needed
}

// skipped is why a rule is not in force.
type skipped struct {
	why string
	// absent says that the implementation has nothing that the rule is about, so that the
	// rule does not count as core.
	absent bool
}

// lacking begins the reason why the rules of an operation that is nil are skipped.
const lacking = "the implementation has no "

// skip returns why a rule is not in force with the traits t, whose table is choices.
func skip(s *Suite, r *law, t any, choices []Choice) skipped {
	if r.Absent != nil {
		if why := r.Absent(s, t); why != "" {
			return skipped{why, true}
		}
	}
	for _, op := range r.Ops {
		if !s.Accepts(op) {
			return skipped{lacking + string(op), true}
		}
	}
	for _, name := range r.Declared {
		switch i := slices.IndexFunc(choices, func(c Choice) bool { return c.Name == name }); {
		case i >= 0 && choices[i].Declared != 0:
		case i >= 0 && choices[i].optional():
			return skipped{"no " + name + " is declared", false}
		case i >= 0 && choices[i].pointless():
			return skipped{"the trait " + name + " does not apply", false}
		default:
			return skipped{"trait " + name + " is undeclared", false}
		}
	}
	if r.Unless != nil {
		if why := r.Unless(s, t); why != "" {
			return skipped{why, false}
		}
	}
	return skipped{}
}

// InForce reports whether a rule of the contract judges a run with the traits t. It is for
// contracts that compare runs with a model, where a difference may break one rule or
// another.
func InForce[T, E any](s *Suite, c Contract[*T, E], t *T, j Job, id string) bool {
	rules := typed[T, E]{c}.laws()
	i := slices.IndexFunc(rules, func(r *law) bool { return r.ID == id })
	return i >= 0 && skip(s, rules[i], t, c.Table(s, t)).why == "" && rules[i].about(j)
}

// other says which other contract fits better, "" if none does.
func (e *engine) other() string {
	if c, ok := e.c.of().(Related); ok && !e.hangs() {
		return c.Other(e.Suite)
	}
	return ""
}

// TRAITS is the subtest that says what is undeclared, and what is to be decided.
const TRAITS = "TRAITS"
