// Package quotatest tests quotas against their laws: limiters that answer at once, by counting
// in windows or by GCRA, perhaps with what remains and when to try again. Package conformance
// says which contract fits which limiter.
//
//	func TestConformance(t *testing.T) {
//		quotatest.Run(t, quotatest.Spec{
//			Name: "mine",
//			Time: quotatest.Explicit,
//			Kind: quotatest.SlidingLog,
//			New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
//				l := mine.NewLog(cfg.Limit, cfg.Window)
//				return quotatest.Funcs{TakeAt: func(t time.Time, n int) quotatest.Answer {
//					return quotatest.Answer{OK: l.AllowN(t, n)}
//				}}
//			},
//			Traits: quotatest.Traits{Edge: quotatest.EdgeHalfOpen}, // TRAITS prints all of it
//		})
//	}
//
// A limiter with a count for each key has a TakeKey; one that asks a server has the traits
// Latency and Errors, and a Fail. Rules named SW are about a SlidingLog, SC about a
// SlidingCounter, FW about a FixedWindow, and GC about GCRA; but GC rules about answers, such as
// what remains and when to try again, and about requests that leave no trace hold for every kind.
package quotatest

import (
	_ "embed"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/verb"
	"github.com/escapement-go/escapement/synctestcompat"
)

//go:embed RULES.md
var page string

// The types that a spec needs from package conformance, which documents them.
type (
	Env        = conformance.Env
	TimeSource = conformance.TimeSource
	Known      = conformance.Known
	Report     = conformance.Report
	// Answer is a limiter's answer to a request. Only OK and the fields that the trait
	// Fields lists are read.
	Answer = conformance.Answer
)

// BackTime says how an instant before the newest one is treated. With BackClamp it counts as the newest; with
// BackReject nothing is granted; with BackRewind the limiter goes back in time, so callers must not pass such instants.
type BackTime = trait.BackTime

// Where a quota may take its time from, and how it may treat an instant before the
// newest one.
const (
	Injected    = conformance.Injected
	PackageTime = conformance.PackageTime
	Explicit    = conformance.Explicit
	BackClamp   = trait.BackClamp  // it counts as the newest instant
	BackReject  = trait.BackReject // nothing is granted
	BackRewind  = trait.BackRewind // the limiter goes back in time: callers must not pass such instants
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from. Explicit needs TakeAt.
	Time TimeSource
	// Kind is the algorithm: what the implementation promises.
	Kind Kind
	// New makes a limiter. A constructor that refuses cfg panics. Instances must not share
	// state.
	New func(env Env, cfg Config) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Kind is an algorithm, and with it a promise.
type Kind int

// The kinds.
const (
	// FixedWindow grants at most Limit in each window of a sequence.
	FixedWindow Kind = iota + 1
	// SlidingLog grants at most Limit in any period as long as Window.
	SlidingLog
	// SlidingCounter grants at most Limit by an estimate: it counts the events of the
	// current window, and those of the window before as if they had come evenly, so that
	// they fade out while the current window passes.
	SlidingCounter
	// GCRA grants what a token bucket of Burst tokens grants that is full at first and
	// gets Limit tokens per Window, one at a time.
	GCRA
)

// String returns the name of the constant.
func (k Kind) String() string {
	return [...]string{"undeclared", "FixedWindow", "SlidingLog", "SlidingCounter", "GCRA"}[k]
}

// Config is what a limiter is made with.
type Config struct {
	// Limit is how many events a window grants, Window how long it is: more than 0. A
	// constructor may refuse a Limit of 0.
	Limit  int
	Window time.Duration
	Burst  int // GCRA only
}

// Funcs are the operations of one limiter; the rules of an operation that is nil are
// skipped. One of Take, TakeAt, TakeKey and TakeKeyAt must be set.
type Funcs struct {
	// Take asks for n events now. A limiter for single events panics for another n and
	// declares OneAtATime.
	Take func(n int) Answer
	// TakeAt is the form with an explicit time, for Explicit runs.
	TakeAt func(t time.Time, n int) Answer
	// TakeKey is Take for a limiter that counts for each key, as for each user. The keys are 1 to
	// 130: make the limiter with room for them. Without Take, TakeKey of key 1 is used for it.
	// TakeKeyAt is the form for Explicit runs. Keys are tested over time for every Kind; with Resolution
	// or Buckets at one instant only, and with Latency not at all.
	TakeKey   func(key, n int) Answer
	TakeKeyAt func(t time.Time, key, n int) Answer
	// Peek and PeekAt answer without taking anything, with keys about key 1; the OK of their
	// answers is ignored.
	Peek   func() Answer
	PeekAt func(t time.Time) Answer
	// GiveBack refunds n of the newest events, in the window of their request: their caller did not use them.
	// Reset forgets every event. With keys both are about key 1.
	GiveBack func(n int)
	Reset    func()
	// Fail makes later requests fail, as when a remote limiter cannot be reached, or lets
	// them work again. Answers then have an Err.
	Fail func(failing bool)
	// Stop releases resources, if the limiter holds any. A second one may panic.
	Stop func()
}

// Run tests an implementation against the laws of its kind, one subtest for each rule,
// and returns what it found.
func Run(t *testing.T, spec Spec) *Report {
	t.Helper()
	return spec.Run(t)
}

// Run is the function [Run].
func (spec Spec) Run(t *testing.T) *Report {
	t.Helper()
	return suite.Run(t, &contract{spec: spec})
}

// Judge returns what runs single schedules.
func (spec Spec) Judge(t *testing.T) conformance.Judge {
	t.Helper()
	return suite.NewExaminer(t, &contract{spec: spec})
}

// Examine is for the tests of this module.
func (spec Spec) Examine(t *testing.T, o inside.Options) *Report {
	t.Helper()
	return suite.Examine(t, &contract{spec: spec}, o)
}

// Rules are the laws, in the order of their subtests.
func Rules() []conformance.Rule { return suite.Laws(&contract{}) }

// contract is the spec in the terms of the suite.
type contract struct {
	spec Spec
	trip time.Duration // how long a request took, where that can be seen
	seen *observations // made once they are asked for
}

// Profile names the contract.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "quota", Package: "quotatest", Page: page, Answers: verb.Allow, Refusals: true,
		Unmade: suite.If(c.spec.New == nil, "a limiter"), Unfit: c.unfit, Needs: needs,
		Signs: []suite.Sign{{Like: `^y$`, Means: "y is granted"}, {Like: `^n$`, Means: "n is denied"},
			{Like: `^\?$`, Means: "? is either"}}}
}

// unfit refuses specs that cannot be run.
func (c *contract) unfit(s *suite.Suite) (skip, misuse string) {
	switch spec := c.spec; {
	case spec.Kind < FixedWindow || spec.Kind > GCRA:
		return "", "the spec has no Kind; " +
			"say what the limiter promises: FixedWindow, SlidingLog, SlidingCounter or GCRA"
	case spec.Kind == SlidingCounter && spec.Traits.Align == AlignFirstUse:
		return "", "the windows of a SlidingCounter are adjacent, as each fades during the " +
			"next; declare AlignEpoch, AlignUnix or AlignCreation"
	case spec.Traits.Latency > 0 && s.Time == conformance.Injected && !synctestcompat.Available:
		return "requests that take time can only be driven in a bubble: " + synctestcompat.Reason, ""
	}
	return "", ""
}

// Abilities that no step names, in the set of operations: to take another number of events than one, and to count
// for each key.
const (
	takesMany conformance.Op = "way to take several tokens"
	takesKeys conformance.Op = "take with key"
	givesBack conformance.Op = "way to give back"
)

// Learn looks at an instance that is thrown away.
func (c *contract) Learn(s *suite.Suite) map[conformance.Op]bool {
	var f Funcs
	make := func(limit, burst int) {
		if c.spec.Kind != GCRA {
			burst = 0
		}
		f = c.spec.made(suite.Aside(), Config{Limit: limit, Window: time.Second, Burst: burst})
	}
	if suite.Catch(func() { make(10, 3) }) != "" && suite.Catch(func() { make(10, 1) }) != "" {
		make(1, 1) // a constructor may refuse more
	}
	if f.Stop != nil {
		suite.ThrowAway(f.Stop)
	}
	if s.Bubble && s.Time != conformance.Explicit && f.TakeAt != nil {
		c.trip = c.measured(s)
	}
	allow := f.TakeAt != nil
	return map[conformance.Op]bool{
		verb.Allow:  allow,
		takesMany:   allow && !c.spec.Traits.OneAtATime,
		takesKeys:   f.TakeKeyAt != nil,
		verb.Tokens: f.PeekAt != nil,
		givesBack:   allow && f.GiveBack != nil,
		verb.Reset:  allow && f.Reset != nil,
		verb.Fault:  f.Fail != nil,
		verb.Stop:   f.Stop != nil,
	}
}
