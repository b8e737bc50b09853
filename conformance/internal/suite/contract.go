// Package suite is the engine that holds an implementation to a contract: it explores
// schedules, runs them where time can be driven, shows each trace to every rule, proves
// what hangs, and says what came of it all. It knows no contract: a contract is a value of
// [Contract], and brings its rules, its schedules and the way to play one of them.
package suite

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/internal/twins"
)

// Contract is one kind of implementation and its laws. T points to its traits, E is a
// trace in the contract's own terms.
type Contract[T, E any] interface {
	untyped
	// Rules are the laws in the order of their subtests, without CANARY and TRAITS.
	Rules() []Rule[T, E]
	// Traits are what the spec declares, and the same completed by what Learn has found, if it completes it. What is
	// declared is changed to go on otherwise, and Learn called then.
	Traits() (declared, complete T)
	// Table lists the choices of the traits t, which its functions read and set.
	Table(s *Suite, t T) []Choice
	// Exam puts a trace in the contract's own terms, with the traits t.
	Exam(t T, rec *Recording, job Job) E
}

// untyped is what a contract has that knows nothing of these types.
type untyped interface {
	// Profile says what the contract and its spec are.
	Profile() Profile
	// Learn looks at an instance that is thrown away and returns what the implementation
	// can do.
	Learn(s *Suite) map[conformance.Op]bool
	// Canary proves that time is taken from where the spec says. It returns what is wrong,
	// and tells the suite if runs cannot be settled exactly.
	Canary(s *Suite) string
	// Families are the schedules, smallest first.
	Families(s *Suite) []Family
	// Play runs the stage's schedule on a fresh instance.
	Play(s *Stage)
}

// contract is a [Contract] of any types: the engine is compiled once, and not again with each of them.
type contract interface {
	untyped
	of() any // the Contract, which may be one of the interfaces below
	laws() []*law
	complete() any // a copy of the traits, completed by what was found
	declare(t any)
	table(s *Suite, t any) []Choice
	exam(t any, rec *Recording, job Job) any
}

// law is a rule of such a contract.
type law = Rule[any, any]

// typed makes one of a contract of some types.
type typed[T, E any] struct{ Contract[*T, E] }

func (c typed[T, E]) of() any { return c.Contract }

func (c typed[T, E]) complete() any {
	_, complete := c.Traits()
	t := *complete
	return &t
}

func (c typed[T, E]) declare(t any) {
	declared, _ := c.Traits()
	*declared = *t.(*T)
}

func (c typed[T, E]) table(s *Suite, t any) []Choice { return c.Table(s, t.(*T)) }

func (c typed[T, E]) exam(t any, rec *Recording, job Job) any { return c.Exam(t.(*T), rec, job) }

// laws are its rules; TestTyped holds that none of their fields is forgotten.
func (c typed[T, E]) laws() (all []*law) {
	for _, r := range c.Rules() {
		all = append(all, &law{
			Rule: r.Rule, Ops: r.Ops, Declared: r.Declared,
			Absent: ofTraits(r.Absent), Unless: ofTraits(r.Unless),
			About: r.About, Sees: ofExam(r.Sees), Beyond: r.Beyond, Unusual: r.Unusual, Check: ofExam(r.Check),
			Owing: ofExams(r.Owing), Again: ofExams(r.Again), Probe: r.Probe, Mixed: r.Mixed, Cause: r.Cause,
			Meets: r.Meets, Live: r.Live,
		})
	}
	return all
}

func ofTraits[T any](f func(s *Suite, t T) string) func(s *Suite, t any) string {
	if f == nil {
		return nil
	}
	return func(s *Suite, t any) string { return f(s, t.(T)) }
}

func ofExam[E, R any](f func(e E) R) func(e any) R {
	if f == nil {
		return nil
	}
	return func(e any) R { return f(e.(E)) }
}

func ofExams[E, R any](f func(e E, again Rerun) R) func(e any, again Rerun) R {
	if f == nil {
		return nil
	}
	return func(e any, again Rerun) R { return f(e.(E), again) }
}

// Profile is what a spec says, what its contract is called, and in which few things its runs differ from those of
// others.
type Profile struct {
	// Name, Time and Known are those of the spec.
	Name  string
	Time  conformance.TimeSource
	Known []conformance.Known
	// Kind is the contract's name in reports.
	Kind string
	// Package is that of the spec, for literals that are to be pasted.
	Package string
	// Page is RULES.md: the schedule below a rule is the one that tells it best.
	Page string
	// Unmade is what the New of the spec is to make, "" if there is a New.
	Unmade string
	// OwnClock says what needs a clock of its own, "" if instants may be arguments; InBubble what can be done only in
	// a bubble, "" if anything can be done outside.
	OwnClock, InBubble string
	// Unfit returns why nothing else can be run here, or what else is wrong with the spec; "" for neither.
	Unfit func(s *Suite) (skip, misuse string)
	// Answers is the operation that is answered at once, with yes or no.
	Answers conformance.Op
	// Unsettled says that an implementation is judged even where its runs cannot be settled.
	Unsettled bool
	// Waiting says that operations may wait for their turn, by a lock too, so that only
	// those that must not wait, which run under [Promptly], prove that a lock is lost.
	Waiting bool
	// Asleep says what to declare where a method holds a lock while it waits for its time; ""
	// if there is no such declaration.
	Asleep string
	// Anyhow are operations that schedules may have though the implementation has none of
	// its own for them.
	Anyhow []conformance.Op
	// Refusals says that no other declaration explains why a constructor refused.
	Refusals bool
	// Receivers says that racing steps are run in [inside.OrderReceived] too.
	Receivers bool
	// Needs is the operation that a step needs, where some may be for a key, and then need another one than their
	// own; nil where none may.
	Needs func(s *Suite, st conformance.Step) conformance.Op
	// Signs are the marks of its timelines, beside those of all contracts.
	Signs []Sign
	// JudgesClock says that the fake clock is what is judged: in stacks its functions count
	// as the implementation's, not as the suite's.
	JudgesClock bool
}

// Rule is one law. Everything that decides whether it applies to an implementation, and to
// a run, stands in its literal.
type Rule[T, E any] struct {
	conformance.Rule
	// Ops are the operations that it needs, Declared the traits, by name: the rule is
	// skipped where one is missing.
	Ops      []conformance.Op
	Declared []string
	// Absent returns, in the words to print, why the implementation has nothing that the
	// rule is about, "" if it has. Such a rule does not count as core.
	Absent func(s *Suite, t T) string
	// Unless returns, in the words to print, what takes the rule out of force, "" if
	// nothing does: a declaration, or the way in which time is driven here.
	Unless func(s *Suite, t T) string
	// About selects the runs that the rule judges; nil selects all of them.
	About func(j Job) bool
	// Sees selects among these by the trace; nil selects all of them.
	Sees func(e E) bool
	// Beyond lists rules that are more basic: what this one finds does not count in a run that breaks one of
	// them, too.
	Beyond []string
	// Unusual reports whether a schedule has the unusual input that the rule is about. An
	// implementation that is known to break the rule may break any other after such input.
	Unusual func(s conformance.Schedule) bool
	// Check judges one run.
	Check func(e E) *Violation
	// Owing reports whether what Check finds in a run is owing to what the rule is about: whether a rerun without that
	// differs. Nil stands for yes.
	Owing func(e E, again Rerun) bool
	// Again judges one run by comparing it with reruns, for which it gets a function. A
	// Check cannot run anything.
	Again func(e E, again Rerun) *Violation
	// Probe judges by runs of its own, and returns a reason to skip, if any. A rule that
	// has a Check as well is probed only if no schedule was about it.
	Probe func(p *Probe) (broken *Violation, skip string)
	// Mixed says that the rule judges whatever no rule of one thing does, or what follows from what others judge,
	// so that one of these which fails too tells more.
	Mixed bool
	// Cause says that what the rule finds explains what others find: it tells most, and no declaration is
	// offered instead.
	Cause bool
	// Meets says that the Probe lets calls meet at one instant, so that what it finds is
	// chance.
	Meets bool
	// Live says that the Probe runs within the rule's subtest rather than before it,
	// because what finds the violation, the race detector, fails the test that is running.
	Live bool
}

// about reports whether the rule judges a run.
func (r *Rule[T, E]) about(j Job) bool { return r.About == nil || r.About(j) }

// sees reports whether the rule judges a run that left such a trace.
func (r *Rule[T, E]) sees(e E) bool { return r.Sees == nil || r.Sees(e) }

// probes reports whether the rule does not judge schedules, but what runs of its own show.
func (r *Rule[T, E]) probes() bool { return r.Check == nil && r.Again == nil }

// Rerun plays another schedule on a fresh instance, in the same bubble.
type Rerun func(s conformance.Schedule) *Recording

// Job is one run of a schedule.
type Job struct {
	Schedule conformance.Schedule
	Order    inside.Order
	Family   string
	// Look makes the run look for goroutines that are left at its end.
	Look bool
	text string // the schedule's, if it is at hand
	// Jump makes package time move an hour before each step on an injected clock.
	Jump bool
	// readings are those of a clock that goes on at each of them.
	readings *readings
	// Review says that a run which was judged before is judged once more, to find out what
	// another declaration would make of it: an Exam learns nothing from it.
	Review bool
}

// Family is a part of the exploration: schedules of one kind.
type Family struct {
	Name      string
	Schedules []conformance.Schedule
	// Make makes the schedules when the family's turn has come; nil where they are listed.
	Make func() []conformance.Schedule
	// Look makes each run look for what it leaves behind, in a bubble of its own.
	Look bool
	// Skip says why the family cannot be run.
	Skip string
}

// made returns the family with the schedules that it makes.
func (f Family) made() Family {
	if f.Make != nil {
		f.Schedules = f.Make()
	}
	return f
}

// Leaks is the name of the family that looks for what runs leave behind. It comes first:
// of an implementation that leaks, only the first runs of each other family are made, as
// many as fewer says.
const (
	Leaks = "leaks"
	fewer = 100
)

// The interfaces below are for contracts whose runs differ from those of the others.

// Orderly is a contract that chooses the orders in which a schedule is run.
type Orderly interface {
	Orders(s *Suite, schedule conformance.Schedule) []inside.Order
}

// Hanging is a contract that has more to say of a run without progress than [Suite] has.
// It reports whether the hang is dealt with.
type Hanging interface {
	Hung(s *Suite, h *Hang) (rule string, broken *Violation, done bool)
}

// Lacking is a contract that says which operation it is about that the implementation has not, so that it was never
// run: "" if there is none. A run without it is no whole verdict, and its test is skipped rather than passed.
type Lacking interface {
	Lacks(s *Suite) string
}

// Finding is a contract that finds the family to which a single schedule belongs.
type Finding interface {
	FamilyOf(s *Suite, schedule conformance.Schedule) string
}

// Related is a contract that another one resembles. Where what is observed fits that better,
// Other says so, in a sentence; it is said where traits are undeclared or rules fail, and
// accuses nobody.
type Related interface {
	Other(s *Suite) string
}

// Tidy is a contract in which a schedule can become illegal when steps are left out, and
// needs repair.
type Tidy interface {
	Tidied(s *Suite, schedule conformance.Schedule) conformance.Schedule
}

// Remembering is a contract whose Exam learns something from each run that it needs for
// later ones, such as which failures it has explained already. Rules do not see what it
// has learnt.
type Remembering interface {
	// Forget is called before anything is explored.
	Forget()
}

// Drawing is a contract that draws random schedules; see [conformance.Judge].
type Drawing interface {
	Draw(s *Suite, pick func(label string, n int) int) conformance.Schedule
	Fits(s *Suite, schedule conformance.Schedule) bool
	Twins(s *Suite) twins.Terms
}
