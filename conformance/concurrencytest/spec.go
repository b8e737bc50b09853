// Package concurrencytest tests concurrency limiters against their laws: a limited
// number of requests run at once, and the others wait or are rejected. Examples are
// semaphores, bulkheads and throttling middleware, but not limiters that poll for
// slots, and so get them later than they are free.
//
//	func TestConformance(t *testing.T) {
//		concurrencytest.Run(t, concurrencytest.Spec{
//			Name: "mine",
//			Time: concurrencytest.PackageTime,
//			New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
//				s := mine.NewSemaphore(cfg.Limit)
//				return concurrencytest.Funcs{Acquire: s.Acquire, Release: s.Release}
//			},
//		})
//	}
//
// Leave Traits out at first: the subtest TRAITS prints the literal to paste. Requests wait on
// goroutines, which can only be driven exactly in a bubble: where the toolchain has no bubbles the suite
// skips. A schedule ends with its last step; the suite then releases everything it started. So if a
// schedule of your own is to show that a wait ends by itself, end it with an idle step. Package
// conformance explains what the suite does.
package concurrencytest

import (
	"cmp"
	"context"
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

// Fairness says in which order waiters are served. With FairFIFO it is the order in which they came, and later requests
// do not overtake them; with FairNone a later request may.
type Fairness = trait.Fairness

// Where a concurrency limiter may take its time from, and in which order waiters may get
// slots.
const (
	Injected    = conformance.Injected
	PackageTime = conformance.PackageTime
	FairFIFO    = trait.FairFIFO // in the order in which they came, and before whoever comes later
	FairNone    = trait.FairNone // the first to come once something is free gets it, so it can overtake a waiter
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from: Injected or PackageTime. It matters only if
	// there is a timeout.
	Time TimeSource
	// New makes a limiter. A constructor that refuses cfg panics. Instances must not share
	// state.
	New func(env Env, cfg Config) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Config is what a concurrency limiter is made with.
type Config struct {
	// Limit is the number of slots, at least 1.
	Limit int
	// Backlog is how many requests may wait, 0 included. It is -1 and meaningless with
	// BacklogUnbounded, and always 0 with BacklogNone.
	Backlog int
	// Timeout is how long a request may wait, 0 included. It is -1 and meaningless with
	// TimeoutNone or BacklogNone. New must refuse a 0, here or as Backlog, unless it means
	// that no request waits.
	Timeout time.Duration
	// OnReject is the hook to install, for an implementation that declares HookOnce or
	// HookFits.
	OnReject func()
}

// Funcs are the operations of one concurrency limiter; those that are nil are not tried.
// One of Acquire, Take, Lock and Do must be set, or TryAcquire or TryTake if the
// implementation declares BacklogNone.
type Funcs struct {
	// Acquire blocks until it has taken weight slots, and returns nil, or until the request is
	// rejected. An implementation without weights declares OneAtATime and ignores it; one whose
	// weights are narrower than int rejects larger ones.
	Acquire func(ctx context.Context, weight int) error
	// Lock is Acquire for an implementation that has neither contexts nor errors.
	Lock func(weight int)
	// TryAcquire takes weight slots, now or not at all.
	TryAcquire func(weight int) bool
	// Release releases weight slots that Acquire, Lock or TryAcquire took.
	Release func(weight int)
	// Take and TryTake are Acquire and TryAcquire for an implementation that returns a
	// function to release the slots, such as the method of a permit, a token or a
	// listener's connection. They are used instead of Acquire, TryAcquire and Release. An
	// extra release calls such a function again.
	Take    func(ctx context.Context, weight int) (release func(), err error)
	TryTake func(weight int) (release func(), ok bool)
	// Do is the form of middleware: it takes one slot, calls run and releases the slot. It
	// returns an error if the request was rejected.
	Do func(ctx context.Context, run func()) error
	// Resize changes the limit. With a limit of 0 nothing runs until it is raised; an implementation
	// for which 0 means something else panics. A negative limit may do anything, but must return.
	Resize func(limit int)
	// Stop releases resources, if the limiter holds any. A second one may panic.
	Stop func()
}

// Run tests an implementation against the laws of a concurrency limiter, one subtest for
// each rule, and returns what it found.
func Run(t *testing.T, spec Spec) *Report {
	t.Helper()
	return spec.Run(t)
}

// Run is the function [Run].
func (spec Spec) Run(t *testing.T) *Report {
	t.Helper()
	return suite.Run(t, newContract(spec))
}

// Judge returns what runs single schedules.
func (spec Spec) Judge(t *testing.T) conformance.Judge {
	t.Helper()
	return suite.NewExaminer(t, newContract(spec))
}

// Examine is for the tests of this module.
func (spec Spec) Examine(t *testing.T, o inside.Options) *Report {
	t.Helper()
	return suite.Examine(t, newContract(spec), o)
}

// Rules are the laws, in the order of their subtests.
func Rules() []conformance.Rule { return suite.Laws(newContract(Spec{})) }

// contract is the spec in the terms of the suite.
type contract struct {
	spec Spec
	// traits are those that are declared, completed by what Learn has found, which is learnt as
	// long as it is not declared.
	traits, learnt Traits
	suite          *suite.Suite
	triesOnly      bool // a request can do no more than try
	// parked says that a request was seen that waits for a slot, and not by waiting for a
	// lock.
	parked bool
	// cuts counts the requests whose contexts end as they are decided.
	cuts int64
	// sleeps says whether one who waits holds a lock, nil if that was not found out.
	sleeps *bool
}

func newContract(spec Spec) *contract { return &contract{spec: spec, traits: spec.Traits} }

// leaving are the operations by which a request gives its slots back.
var leaving = []conformance.Op{verb.Release, verb.Panic, verb.Exit}

// endLane is the lane of what the suite does after the last step.
const endLane = "end"

// Profile names the contract.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "concurrency", Package: "concurrencytest", Page: page,
		Anyhow:   leaving, // slots may end with a function, and handlers as they are told to
		Unmade:   suite.If(c.spec.New == nil, "a limiter"),
		OwnClock: "waiters need a clock of their own", InBubble: "waiters can only be settled",
		Signs: []suite.Sign{{Like: `^\d+\+$`, Means: "+ runs"}, {Like: `^\d+w$`, Means: "w waits"},
			{Like: `^\d+x$`, Means: "x is rejected"},
			{Lane: endLane, Like: `^all$`, Means: "all is where the suite releases all running requests"}},
		Asleep: "If a waiter is meant to hold a lock meanwhile, declare " +
			"concurrencytest.Traits{HoldsLockWhileWaiting: true}: what happens while one waits is judged " +
			"then."}
}

// Lacks says that nothing can wait for a slot, unless that is declared.
func (c *contract) Lacks(*suite.Suite) string {
	return suite.If(c.triesOnly && c.spec.Traits.Backlog != BacklogNone,
		"acquire was never run: the spec has no Acquire, Lock or Do, so waiting for a slot could not be judged")
}

// Learn looks at a limiter that is thrown away. Undeclared choices on which the rules of
// other choices depend are observed.
func (c *contract) Learn(s *suite.Suite) map[conformance.Op]bool {
	s.T.Helper()
	c.suite, c.traits = s, c.spec.Traits
	f := c.sample(s)
	c.triesOnly = f.triesOnly()
	c.traits.OneAtATime = c.traits.OneAtATime || f.handles(verb.Acquire)
	if c.triesOnly { // nothing waits, and hooks are for those who do not merely try
		c.traits.Backlog, c.traits.Hook = BacklogNone, HookNone
	}
	ops := f.operations(c.traits)
	if !ops[opContext] {
		c.traits.Context = ContextIgnored
	}
	if c.traits.Backlog == 0 && ops[verb.Acquire] {
		c.traits.HoldsLockWhileWaiting = c.traits.HoldsLockWhileWaiting || c.asleep(s)
		if c.observeBacklog(s) == BacklogNone {
			c.traits.Backlog = BacklogNone // then nothing waits, which most rules must know
		}
	}
	if c.traits.SeatHeld == 0 && c.traits.Backlog == BacklogBounded { // TRAITS reports that it is undeclared
		c.traits.SeatHeld = c.observeSeatHeld(s)
	}
	if c.traits.Backlog == BacklogNone { // there is nothing to choose
		c.traits.Timeout, c.traits.Fair = TimeoutNone, FairNone
	}
	c.learnt = c.traits
	return ops
}

// sample makes a limiter that is thrown away. A constructor may refuse bounds that it does not
// have: of the choices that are undeclared it gets the first that it takes.
func (c *contract) sample(s *suite.Suite) (f Funcs) {
	s.T.Helper()
	backlogs, timeouts := []Backlog{c.traits.Backlog}, []Timeout{c.traits.Timeout}
	if backlogs[0] == 0 {
		backlogs = append(backlogs, BacklogUnbounded, BacklogNone)
	}
	if timeouts[0] == 0 {
		timeouts = append(timeouts, TimeoutNone)
	}
	first, because := c.traits.many(1, 1), ""
	for _, c.traits.Backlog = range backlogs {
		for _, c.traits.Timeout = range timeouts {
			why := suite.Catch(func() {
				if f = c.spec.New(suite.Aside(), c.traits.many(1, 1)); f.Stop != nil {
					f.Stop()
				}
			})
			if why == "" {
				return f
			}
			because = cmp.Or(because, why)
		}
	}
	s.T.Fatalf("conformance: New panics with Limit %d, Backlog %d, Timeout %s: %s\n"+
		"It may refuse a Backlog or a Timeout of 0, but must take this. If nothing can wait, declare "+
		"BacklogNone;\nif there is no bound on how many wait, or how long, BacklogUnbounded or TimeoutNone.",
		first.Limit, first.Backlog, first.Timeout, because)
	return f
}

// Abilities that no step names, in the set of operations: opTwoWays is a Do beside an
// Acquire or Lock, opContext that requests are given contexts, and opAgain that slots are given
// back by what was handed out.
const (
	opTwoWays conformance.Op = "Do beside Acquire"
	opContext conformance.Op = "context"
	opAgain   conformance.Op = "permit"
)
