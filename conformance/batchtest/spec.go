// Package batchtest tests batchers against their laws: items are handed over together when the batch
// is full, when its first item has reached an age, or by Flush and Close. Package conformance says
// which contract fits which implementation.
//
//	func TestConformance(t *testing.T) {
//		batchtest.Run(t, batchtest.Spec{
//			Name: "mine",
//			Time: batchtest.PackageTime,
//			New: func(_ batchtest.Env, cfg batchtest.Config, batch func([]int)) batchtest.Funcs {
//				b := mine.New(cfg.Size, cfg.Delay, batch)
//				return batchtest.Funcs{Add: b.Add, Flush: b.Flush, Close: b.Close}
//			},
//		})
//	}
//
// Leave Traits out at first: the subtest TRAITS prints the literal to paste. Batchers are driven in
// bubbles: where the toolchain has none the suite skips. Weights are not judged.
package batchtest

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
	// CloseFlush says what happens to the open batch when the input ends. CloseFires hands it over at once,
	// CloseAtDeadline when its delay ends; CloseDrops drops it.
	CloseFlush = trait.CloseFlush
	// Reentrancy says whether the consumer may call the batcher. ReentrancyAllowed is the default; ReentrancyForbidden
	// says that such a call is documented to deadlock.
	Reentrancy = trait.Reentrancy
)

// Where a batcher may take its time from, what may happen to an open batch when the input ends,
// and whether the consumer may call the batcher.
const (
	Injected    = conformance.Injected
	PackageTime = conformance.PackageTime

	CloseFires      = trait.CloseFires      // it is handed over at once
	CloseAtDeadline = trait.CloseAtDeadline // it is handed over when its delay ends
	CloseDrops      = trait.CloseDrops      // it is dropped

	ReentrancyAllowed   = trait.ReentrancyAllowed   // the default
	ReentrancyForbidden = trait.ReentrancyForbidden // documented to deadlock
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from: Injected or PackageTime.
	Time TimeSource
	// New makes a batcher that calls batch with the items of each batch. The slice must not change
	// before batch has returned. A constructor that refuses cfg panics. Instances must not share
	// state.
	New func(env Env, cfg Config, batch func([]int)) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Config is what a batcher is made with. A constructor may refuse a 0, and every Size but 0 if it has none.
type Config struct {
	// Size is the number of items that fill a batch; 0 means unbounded.
	Size int
	// Delay is the age of its first item at which a batch is handed over. 0 means
	// unlimited, or at once: either is correct.
	Delay time.Duration
}

// Funcs are the operations of one batcher. Add or Put must be set; the rules of an operation that is
// nil are skipped.
type Funcs struct {
	// Add hands an item in. One that comes after Close is ignored, or panics.
	Add func(v int)
	// Put is Add for a batcher that may refuse: it returns an error if it has not taken the item.
	// It is used instead of Add.
	Put func(v int) error
	// Flush hands over the current batch, and may wait until the consumer has returned.
	Flush func()
	// Close ends the input, and may wait until the consumer has returned. It releases all
	// resources, and is called once.
	Close func()
}

// Run tests an implementation against the laws of a batcher, one subtest for each rule, and
// returns what it found.
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
	spec  Spec
	suite *suite.Suite
	size  int // that a constructor takes: it may refuse every bound
}

// Profile names the contract.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "batcher", Package: "batchtest", Page: page, Receivers: true,
		Unmade:   suite.If(c.spec.New == nil, "a batcher"),
		OwnClock: "a batcher needs a clock of its own", InBubble: "a batcher can only be settled",
		Signs: []suite.Sign{{Like: `^\{`, Means: "{1,2} is a batch that is handed over"}}}
}

// opRefuses is the ability to refuse an item.
const opRefuses conformance.Op = "put that returns an error"

// Learn looks at an instance that is thrown away.
func (c *contract) Learn(s *suite.Suite) map[conformance.Op]bool {
	c.suite = s
	f, make := Funcs{}, func(size int) Funcs {
		return c.spec.New(suite.Aside(), Config{size, time.Hour}, func([]int) {})
	}
	if c.size = 9; suite.Catch(func() { f = make(c.size) }) != "" {
		c.size = 0
		f = make(c.size)
	}
	if f.Close != nil {
		suite.ThrowAway(f.Close)
	}
	return map[conformance.Op]bool{
		verb.Put: f.Add != nil || f.Put != nil, opRefuses: f.Put != nil,
		verb.Flush: f.Flush != nil, verb.Close: f.Close != nil,
	}
}
