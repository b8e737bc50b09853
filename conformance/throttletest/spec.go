// Package throttletest tests throttles against their laws: after an emission no other
// comes for an interval.
//
//	func TestConformance(t *testing.T) {
//		throttletest.Run(t, throttletest.Spec{
//			Name: "mine",
//			Time: throttletest.PackageTime,
//			New: func(_ throttletest.Env, cfg throttletest.Config, emit func(int)) throttletest.Funcs {
//				return throttletest.Funcs{Call: mine.NewThrottle(cfg.Interval, emit).Call}
//			},
//			Traits: throttletest.Traits{
//				Edges:    []throttletest.Edges{throttletest.Leading},
//				Boundary: throttletest.BoundaryPasses,
//			},
//		})
//	}
//
// Leave Traits out at first: the subtest TRAITS prints the literal to paste; or start from
// those of a similar library, such as [LoThrottle]. Package conformance explains what the suite
// does.
//
// An interval begins with an emission, or with an event that waits for its end; a sampler
// that emits on a fixed grid is not a throttle in this sense.
package throttletest

import (
	_ "embed"
	"testing"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
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

// The ways to take time.
const (
	Injected    = conformance.Injected
	PackageTime = conformance.PackageTime
	Explicit    = conformance.Explicit
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from. Explicit needs AllowAt.
	Time TimeSource
	// New makes a throttle that calls emit with the payload of what it emits. A constructor
	// that refuses cfg panics. Instances must not share state.
	New func(env Env, cfg Config, emit func(int)) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Config is what a throttle is made with.
type Config struct {
	// Interval is the least time between two emissions. A constructor may refuse 0,
	// less than a millisecond, and more than a hundred years.
	Interval time.Duration
	// Edges says on which edges of an interval to emit. It is one of the trait Edges.
	Edges Edges
	// K is the number of events that an interval lets pass; 0 stands for 1. It is 0 unless
	// the trait Windows is declared.
	K int
}

// Funcs are the operations of one throttle. One of Call, Allow and AllowAt must be set;
// the rules of an operation that is nil are skipped.
type Funcs struct {
	// Call is an event with a payload; its emission goes to emit.
	Call func(v int)
	// Allow is an event without one: true stands for an emission at once. Leading edge
	// only.
	Allow func() bool
	// AllowAt is the form with an explicit time, for Explicit runs.
	AllowAt func(t time.Time) bool
	// Reset forgets the last emission: the next event passes. Leading edge only.
	Reset func()
	// Flush emits the pending event now, and nothing if none is pending. With keys it must act on
	// all keys or do nothing.
	Flush func()
	// Drop drops the pending event, and the throttle goes on.
	Drop func()
	// Stop releases resources, and drops pending events. A call after it is harmless; a
	// second Stop may panic. A method that emits pending events is a Close.
	Stop func()

	// CallKey is Call for a throttle that keeps an interval for each key, ResetKey is Reset for
	// one key, which may be idle or new.
	CallKey  func(key, v int)
	ResetKey func(key int)

	// Fault is an error item of a stream, which goes to emit too. Close ends the input of a
	// stream, Cancel its context, and Closed reports whether its output is closed. Close and
	// Cancel may return before their work is done. Nothing is sent after them, and a waiting
	// event must not go on waiting once the context is cancelled, unless the spec itself
	// sends it on a channel. The output's reader calls emit: a reader whose emit does not
	// return counts as gone.
	Fault         func(v int)
	Close, Cancel func()
	Closed        func() bool
}

// Run tests an implementation against the laws of a throttle, one subtest for each
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
	spec Spec
	// nameless says that emissions on the leading edge alone bear no payload, though nothing is
	// declared about it.
	nameless bool
	said     edge.Said // what New was built with and did not show, by choice
}

// Profile names the contract.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "throttle", Package: "throttletest", Page: page, Receivers: true,
		Unmade: suite.If(c.spec.New == nil, "a throttle"),
		Anyhow: []conformance.Op{verb.Wall},
		Needs:  func(s *suite.Suite, st conformance.Step) conformance.Op { return edge.Needs(s, st, withKey) }}
}

// explicit reports whether instants are arguments.
func (c *contract) explicit() bool { return c.spec.Time == conformance.Explicit }

// built are the edges of a throttle whose schedule does not say.
func (c *contract) built() Edges { return c.spec.Traits.built() }

// kinds are the edges that are declared, or else built.
func (c *contract) kinds() []Edges { return edge.Kinds(c.spec.Traits.Edges, conformance.Leading) }

// Abilities that no step names, in the set of operations: a throttle that calls emit
// itself, and operations with a key.
const (
	opEmits    conformance.Op = "emit"
	opKeys     conformance.Op = "call with key"
	opResetKey conformance.Op = "reset with key"
)

// withKey are the same operations with a key.
var withKey = map[conformance.Op]conformance.Op{verb.Call: opKeys, verb.Reset: opResetKey}

// Learn looks at an instance that is thrown away.
func (c *contract) Learn(*suite.Suite) map[conformance.Op]bool {
	f := c.spec.New(suite.Aside(), Config{Interval: time.Hour, Edges: c.built()}, func(int) {})
	suite.ThrowAway(func() { f.release(false) })
	calls := f.AllowAt != nil
	if !c.explicit() {
		calls = f.Call != nil || f.Allow != nil
	}
	return map[conformance.Op]bool{
		verb.Call:   calls,
		verb.Reset:  f.Reset != nil,
		verb.Flush:  f.Flush != nil,
		verb.Stop:   f.Stop != nil,
		verb.Drop:   f.Drop != nil,
		verb.Fault:  f.Fault != nil,
		verb.Close:  f.Close != nil && f.Closed != nil,
		verb.Cancel: f.Cancel != nil && f.Closed != nil,
		opKeys:      f.CallKey != nil,
		opResetKey:  f.ResetKey != nil,
		opEmits:     !c.explicit() && f.Call != nil,
	}
}
