// Package leakybuckettest tests leaky buckets against their laws: bounded queues whose items
// leave one at a time, an interval apart, and limiters whose callers wait for such a turn.
// Package conformance says which contract fits which limiter.
//
//	func TestConformance(t *testing.T) {
//		leakybuckettest.Run(t, leakybuckettest.Spec{
//			Name: "mine",
//			Time: leakybuckettest.PackageTime,
//			New: func(_ leakybuckettest.Env, cfg leakybuckettest.Config, leave func(int)) leakybuckettest.Funcs {
//				b := mine.NewBucket(cfg.Interval, cfg.Backlog, leave)
//				return leakybuckettest.Funcs{Put: b.TryPut, Stop: b.Stop}
//			},
//			Traits: leakybuckettest.Traits{FirstItem: leakybuckettest.FirstAtOnce},
//		})
//	}
//
// Where callers wait for their turn, the spec has a Take:
//
//	return leakybuckettest.Funcs{Take: func() bool { l.Take(); return true }}
//
// Leave Traits out at first: the subtest TRAITS prints the literal to paste; or start from those
// of a similar library, such as [UberRatelimit].
package leakybuckettest

import (
	_ "embed"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/verb"
)

//go:embed RULES.md
var page string

// The types that a spec needs from package conformance, which documents them.
type (
	Env        = conformance.Env
	TimeSource = conformance.TimeSource
	Known      = conformance.Known
	Report     = conformance.Report
)

// The choices that other contracts have too.
type (
	// CloseFlush says what happens to waiting items when the input ends. With CloseAtDeadline each leaves at its time;
	// CloseDrops drops them.
	CloseFlush = trait.CloseFlush
	// ClockBack says what happens to items when the clock is set back. With BackBounded they are held up for one
	// interval at most; with BackStands nothing leaves until the clock is where it was.
	ClockBack = trait.ClockBack
	// Reentrancy says whether the function that gets the items may call the bucket. ReentrancyAllowed is the default;
	// ReentrancyForbidden says that such a call is documented to deadlock.
	Reentrancy = trait.Reentrancy
)

// Where a leaky bucket may take its time from, what may happen to waiting items when the input
// ends, what a clock that is set back may do, and whether functions may call the bucket.
const (
	Injected        = conformance.Injected
	PackageTime     = conformance.PackageTime
	CloseAtDeadline = trait.CloseAtDeadline // it comes at its time
	CloseDrops      = trait.CloseDrops      // it is dropped
	BackBounded     = trait.BackBounded     // it holds events up for one interval, or wait, at most
	BackStands      = trait.BackStands      // nothing comes sooner: time stands until the clock is where it was

	ReentrancyAllowed   = trait.ReentrancyAllowed   // the default
	ReentrancyForbidden = trait.ReentrancyForbidden // documented to deadlock
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from: Injected or PackageTime.
	Time TimeSource
	// New makes a bucket that calls leave with each item as it leaves. A constructor that
	// refuses cfg panics. Instances must not share state.
	New func(env Env, cfg Config, leave func(int)) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Config is what a leaky bucket is made with.
type Config struct {
	// Interval is the time between two items that leave. It is more than 0.
	Interval time.Duration
	// Backlog is the most items that wait. An item that leaves at once does not count; one
	// that a goroutine of the implementation holds until its time does. With a Backlog of 0,
	// which a constructor may refuse or take as a default or as unbounded, no item waits, or
	// none is accepted at all.
	Backlog int
}

// Funcs are the operations of one leaky bucket. One of Put and Take must be set; the rules of an
// operation that is nil are skipped.
type Funcs struct {
	// Put offers item v and reports whether it was accepted. It does not block until the
	// item leaves.
	Put func(v int) bool
	// Take is for a bucket whose callers block for their turn: it returns true when the turn
	// comes, and false if it never will, since the bucket was stopped, or at once if the backlog
	// is full. The suite calls it on a goroutine for each item, which leaves when Take returns;
	// the implementation then does not call leave.
	Take func() bool
	// Cancel takes item v out of the queue and reports whether it was there.
	Cancel func(v int) bool
	// Close ends the input. It may block until waiting items have left or are dropped.
	Close func()
	// Stop releases everything, and drops waiting items. A method that lets them leave is a Close.
	// Later operations return; their results are ignored. A second Stop may panic.
	Stop func()
}

// Run tests an implementation against the laws of a leaky bucket, one subtest for each
// rule, and returns what it found.
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
	spec      Spec
	suite     *suite.Suite
	slackSeen int // the Slack that was observed
}

// Profile names the contract.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "leaky bucket", Package: "leakybuckettest", Page: page,
		Unmade:   suite.If(c.spec.New == nil, "a leaky bucket"),
		OwnClock: "a leaky bucket needs a clock of its own", Unfit: c.unfit,
		Anyhow: []conformance.Op{verb.Wall},
		Signs:  []suite.Sign{{Like: `^F\d`, Means: "F is an item that leaves"}},
		Asleep: "If a waiter is meant to hold a lock while it sleeps, declare " +
			"leakybuckettest.Traits{HoldsLockWhileWaiting: true}: then single callers are judged."}
}

// unfit refuses traits that contradict each other.
func (c *contract) unfit(*suite.Suite) (skip, misuse string) {
	switch tr := c.spec.Traits; {
	case tr.CloseFlush == trait.CloseFires:
		return "", "with CloseFires waiting items would leave together; declare " +
			"CloseAtDeadline or CloseDrops"
	case tr.Slack < 0 || tr.Slack > 0 && tr.FirstItem > FirstAtOnce:
		return "", "a Slack needs FirstAtOnce, and must not be negative"
	}
	return "", ""
}

// opServes is the ability to call what items leave to, which may take its time.
const opServes conformance.Op = "put of items that leave to a function"

// Learn looks at an instance that is thrown away. A bucket that is made with a whole number of items per second refuses
// the hour in which nothing happens.
func (c *contract) Learn(s *suite.Suite) map[conformance.Op]bool {
	c.suite = s
	var f Funcs
	made := func(interval time.Duration) func() {
		return func() { f = c.spec.New(suite.Aside(), Config{interval, 3}, func(int) {}) }
	}
	if suite.Catch(made(time.Hour)) != "" {
		made(suite.Wait)()
	}
	serves := f.Put != nil
	f = f.withItems(func(int) {}, nil)
	suite.ThrowAway(f.end)
	return map[conformance.Op]bool{
		verb.Put: f.Put != nil, verb.Cancel: f.Cancel != nil, verb.Stop: f.Stop != nil,
		verb.Close: f.Close != nil && s.Bubble, // Close may block, which needs a bubble
		opServes:   serves,
	}
}
