// Package zoo has the implementations on which the suite is proved: for each contract
// mutants, which are one mistake away from correct code, and correct designs of many
// kinds. Each contract has a folder with one list of either.
package zoo

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/conformance"
)

// Mutant is a mistake, with the rule that must catch it.
type Mutant struct {
	// Name says what is wrong. It is unique within its contract.
	Name string
	// Rule is the id of the rule.
	Rule string
	// Spec describes the implementation.
	Spec conformance.Spec

	// Hangs says that a run ends only when the watchdog has looked, so that it needs a
	// process of its own.
	Hangs bool
	// Steps is the longest schedule that it is run with, and Only chooses the families,
	// where to explore more takes too long; 0 and nil leave nothing out.
	Steps int
	Only  func(family string) bool
	// Family is one in which its rule finds it: who wants no more than that explores no
	// other. "" stands for all of them.
	Family string
	// Chance says that numbers in the text are chance.
	Chance bool
}

// Design is a correct implementation.
type Design struct {
	// Name is unique within its contract.
	Name string
	Spec conformance.Spec
}

// Named are designs under the names that name gives them.
func Named[S conformance.Spec](specs []S, name func(S) string) (all []Design) {
	for _, spec := range specs {
		all = append(all, Design{Name: name(spec), Spec: spec})
	}
	return all
}

// LeaveForGood starts a goroutine that never ends.
func LeaveForGood() { go forGood() }

//go:noinline
func forGood() { select {} }

// Handed hands things out by a goroutine, each once it is back from the one before: who asks at once is
// denied what is there.
type Handed struct{ away atomic.Bool }

// Out reports whether take grants something, and the goroutine is there to hand it out.
func (h *Handed) Out(take func() bool) bool {
	if h.away.Load() || !take() {
		return false
	}
	h.away.Store(true)
	go h.away.Store(false)
	return true
}

// LosesTime is the name of mutants that lose what passes between two readings of their clock.
const LosesTime = "what passes between two readings is lost"

// LosingTime returns a clock that adds up what passes between its readings, and reads the one that it is made from
// twice for each. It has no mistake if that stands between the two.
func LosingTime(of clockwork.Clock) clockwork.Clock {
	now := of.Now()
	return &losing{Clock: of, now: now, last: now}
}

type losing struct {
	clockwork.Clock
	mu        sync.Mutex
	now, last time.Time
}

func (l *losing) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(l.Clock.Since(l.last))
	l.last = l.Clock.Now()
	return l.now
}

func (l *losing) Since(t time.Time) time.Duration { return l.Now().Sub(t) }
func (l *losing) Until(t time.Time) time.Duration { return t.Sub(l.Now()) }

// LockIf locks again what was unlocked, which only mistakes do.
func LockIf(mu *sync.Mutex, yes bool) {
	if yes {
		mu.Lock()
	}
}

// InTurn runs all of runs, whatever one of them panics with: the panic goes on when the
// others are done.
func InTurn(runs []func()) {
	if len(runs) > 0 {
		defer InTurn(runs[1:])
		runs[0]()
	}
}
