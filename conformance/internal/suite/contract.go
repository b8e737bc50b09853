// Package suite is the engine that holds an implementation to a contract: it explores
// schedules, runs them where time can be driven, shows each trace to every rule, proves
// what hangs, and says what came of it all. It knows no contract: a contract is a value of
// [Contract], and brings its rules, its schedules and the way to play one of them.
package suite

import (
	"github.com/escapement-go/escapement/conformance"
)

// Contract is one kind of implementation and its laws. T is the type of its traits, E a
// trace in the contract's own terms.
type Contract[T, E any] interface {
	// Profile says what the contract is called.
	Profile() Profile
	// Rules are the laws in the order of their subtests, but those that every contract has.
	Rules() []Rule[T, E]
	// Traits returns a copy of what is declared.
	Traits() *T
	// Table lists the choices of the traits t, which its functions read and set.
	Table(s *Suite, t *T) []Choice
	// Unfit says why nothing can be run here, and what is wrong with the spec.
	Unfit(s *Suite) (skip, misuse string)
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
	// Exam puts a trace in the contract's own terms, with the traits t.
	Exam(t *T, rec *Recording, job Job) E
}

// Profile is what a contract is called, and the few things in which its runs differ from
// those of the others.
type Profile struct {
	// Kind is its name in reports, and with a rule's id the rule's place in RULES.md.
	Kind string
	// Package is the package of its spec, for literals that are to be pasted.
	Package string
	// Spares says that an implementation need not have every operation to be judged as a
	// whole: rules that lack one do not count.
	Spares bool
	// Waiting says that operations may wait for their turn, by a lock too, so that only
	// those that must not wait, which run under [Promptly], prove that a lock is lost.
	Waiting bool
	// OneProcessor says that every run needs a process with one processor.
	OneProcessor bool
	// Refusals says that another declaration cannot explain that a constructor refused.
	Refusals bool
	// OwnClock says that the fake clock is what is judged: its code is foreign in stacks.
	OwnClock bool
}

// Rule is one law. All that decides whether and when it judges stands in its literal.
type Rule[T, E any] struct {
	conformance.Rule
	// Ops are the operations that it needs, Declared the traits, by name: the rule is
	// skipped where one is missing.
	Ops      []conformance.Op
	Declared []string
	// Absent says, in the words printed, that there is nothing that the rule is about:
	// the implementation is of another kind. Such a rule does not count as core.
	Absent func(s *Suite, t *T) string
	// Unless says, in the words printed, what takes the rule out of force: a declaration,
	// or how time is driven here.
	Unless func(s *Suite, t *T) string
	// About selects the runs that concern the rule; nil is every run. Others do not count
	// as judged.
	About func(j Job) bool
	// Sees selects by the trace, where the job does not tell.
	Sees func(e E) bool
	// Beyond lists rules without which this one means nothing: what breaks one of them is
	// no news here.
	Beyond []string
	// Odd tells schedules with the input out of the ordinary that the rule is about. What
	// is known to break the rule may break any other once such input has come.
	Odd func(s conformance.Schedule) bool
	// Check judges one run.
	Check func(e E) *Violation
	// Again judges one run by comparing it with others: the only way to run anything.
	Again func(e E, again Rerun) *Violation
	// Probe judges by runs of its own, and returns a reason to skip, if any. With a Check
	// as well it runs only where no schedule concerned that.
	Probe func(p *Probe) (broken *Violation, skip string)
	// Live rules run in their subtest rather than before it: what they look for fails
	// whatever test is running.
	Live bool
}

// Rerun plays another schedule on a fresh instance, in the same bubble.
type Rerun func(s conformance.Schedule) *Recording

// Job is one run of a schedule.
type Job struct {
	Schedule conformance.Schedule
	Order    conformance.Order
	Family   string
	// Look makes the run look for goroutines that are left at its end.
	Look bool
	// Jump makes package time move an hour before each step on an injected clock.
	Jump bool
	// Review says that a run which was judged before is judged once more, to find out what
	// another declaration would make of it: an Exam learns nothing from it.
	Review bool
}

// Family is a part of the exploration: schedules of one kind.
type Family struct {
	Name      string
	Schedules []conformance.Schedule
	// Look makes each run look for what it leaves behind, in a bubble of its own.
	Look bool
	// Skip says why the family cannot be run.
	Skip string
}

// Leaks is the family that looks for what runs leave behind. It comes first; an
// implementation that leaks is explored no further than fewer runs of each family.
const (
	Leaks = "leaks"
	fewer = 100
)

// The interfaces below are for contracts whose runs differ from those of the others.

// Orderly is a contract that chooses the orders in which a schedule is run.
type Orderly interface {
	Orders(s *Suite, schedule conformance.Schedule) []conformance.Order
}

// Hanging is a contract that has more to say of a run without progress than [Suite] has.
// It reports whether the hang is dealt with.
type Hanging interface {
	Hung(s *Suite, h *Hang) (rule string, broken *Violation, done bool)
}

// Finding is a contract that finds the family to which a single schedule belongs.
type Finding interface {
	FamilyOf(s *Suite, schedule conformance.Schedule) string
}

// Tidy is a contract in which schedules from which steps were taken must be made legal.
type Tidy interface {
	Tidied(s *Suite, schedule conformance.Schedule) conformance.Schedule
}

// Remembering is a contract whose Exam learns from each run something that it needs for
// those that come after it, such as what was explained before and at what cost. Rules do
// not see it.
type Remembering interface {
	// Forget is called before anything is explored.
	Forget()
}

// Drawing is a contract that draws random schedules; see [conformance.Judge].
type Drawing interface {
	Draw(s *Suite, pick func(label string, n int) int) conformance.Schedule
	Fits(s *Suite, schedule conformance.Schedule) bool
	Twins(s *Suite) conformance.Twins
}
