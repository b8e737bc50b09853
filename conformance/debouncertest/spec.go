// Package debouncertest tests debouncers: one event of a burst fires, at its end, its beginning, or both.
//
//	func TestConformance(t *testing.T) {
//		debouncertest.Run(t, debouncertest.Spec{
//			Name: "mine",
//			Time: debouncertest.PackageTime,
//			New: func(_ debouncertest.Env, cfg debouncertest.Config, fire func(int)) debouncertest.Funcs {
//				d := mine.NewDebouncer(cfg.Wait, fire)
//				return debouncertest.Funcs{Call: d.Call, Cancel: d.Cancel, Stop: d.Close}
//			}, // Traits is left out at first: the subtest TRAITS prints the literal to paste
//		})
//	}
//
// Package conformance explains what the suite does.
package debouncertest

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

// Where a debouncer may take its time from.
const (
	Injected    = conformance.Injected
	PackageTime = conformance.PackageTime
)

// Spec describes an implementation.
type Spec struct {
	// Name is the implementation's name in reports.
	Name string
	// Time says where it takes its time from: Injected or PackageTime.
	Time TimeSource
	// New makes a debouncer that calls fire with the payload of what it fires for. A
	// constructor that refuses cfg panics. Instances must not share state.
	New func(env Env, cfg Config, fire func(int)) Funcs
	// NewBatch is set instead of New if the callback gets all events of a burst. The
	// callback owns the slice until it returns.
	NewBatch func(env Env, cfg Config, fire func([]int)) Funcs
	// Traits are the choices of the implementation. Undeclared ones fail the subtest
	// TRAITS, which prints the observed values and asks for decisions.
	Traits Traits
	// KnownFailing lists known failures.
	KnownFailing []Known
}

// Config is what a debouncer is made with.
type Config struct {
	// Wait is how long events must pause for a burst to end. Some schedules have a wait of 0
	// or less, of a few nanoseconds, or of 292 years, which a constructor may refuse.
	Wait time.Duration
	// MaxWait is the bound on the wait; 0 stands for none. It is 0 unless the trait
	// MaxWait is declared, or tried as it says. In some schedules it is shorter than the wait: a constructor may
	// refuse that, or take it for the wait.
	MaxWait time.Duration
	// Edges says on which edges to fire. It is one of the trait Edges.
	Edges Edges
	// Full is how many events fill a burst; 0 means unbounded. It is 0 unless the trait
	// Full is declared, or tried.
	Full int
}

// Funcs are the operations of one debouncer. Only Call must be set; the rules of an
// operation that is nil are skipped.
type Funcs struct {
	// Call is an event with a payload.
	Call func(int)
	// Cancel discards the pending event. An implementation whose cancel reports something sets
	// CancelReports instead: true means that nothing will run for the cancelled event. With keys it
	// must act on all keys or do nothing.
	Cancel        func()
	CancelReports func() bool
	// Flush fires the pending event now, and nothing if there is none. With keys it must act
	// on all keys or do nothing.
	Flush func()
	// Pending reports whether an event is pending. With keys it is not judged.
	Pending func() bool
	// Stop ends the debouncer for good. A call after it does nothing, nor does a second Stop.
	Stop func()
	// Close ends the input of a stream or batch. It may return before its work is done.
	// No event comes after it, not even from a callback.
	Close func()
	// CallKey is Call for a debouncer that keeps a wait for each key. CancelKey and FlushKey
	// are Cancel and Flush for one key, which may be idle or new. Without Cancel and Flush those of
	// key 1 are used, and CallKey of key 1 for Call.
	CallKey             func(key, v int)
	CancelKey, FlushKey func(key int)
}

// Run tests an implementation against the laws of a debouncer, one subtest for each
// rule, and returns what it found. [Rules] lists the rules.
//
// Every event of a schedule has its own payload, 1, 2, 3 and so on, so that a rule can
// tell what a callback fired for. Implementations whose callback takes no payload declare
// Payload: NoPayload and call fire with any number.
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
	said edge.Said // what New was built with and did not show, by choice
}

// Profile names the contract.
func (c *contract) Profile() suite.Profile {
	return suite.Profile{Name: c.spec.Name, Time: c.spec.Time, Known: c.spec.KnownFailing,
		Kind: "debouncer", Package: "debouncertest", Page: page, Receivers: true,
		Unmade:   suite.If(c.spec.New == nil && c.spec.NewBatch == nil, "a debouncer"),
		OwnClock: "a debouncer needs a clock of its own",
		Anyhow:   []conformance.Op{verb.Wall},
		Needs:    func(s *suite.Suite, st conformance.Step) conformance.Op { return edge.Needs(s, st, withKey) }}
}

// Operations that an implementation may have and that no step names.
const (
	opReports   conformance.Op = "cancel reports"
	opKeys      conformance.Op = "call with key"
	opCancelKey conformance.Op = "cancel with key"
	opFlushKey  conformance.Op = "flush with key"
	opCancelAll conformance.Op = "cancel of all keys"
	opFlushAll  conformance.Op = "flush of all keys"
)

// withKey are the same operations with a key.
var withKey = map[conformance.Op]conformance.Op{
	verb.Call: opKeys, verb.Cancel: opCancelKey, verb.Flush: opFlushKey,
}

// Learn looks at an instance that is thrown away.
func (c *contract) Learn(*suite.Suite) map[conformance.Op]bool {
	cfg := Config{Wait: time.Hour, Edges: c.built()}
	made := c.bare(suite.Aside(), cfg, func(int, []int) {})
	suite.ThrowAway(func() { made.release(false) })
	cancels, flushes := made.Cancel != nil || made.CancelReports != nil, made.Flush != nil
	f := made.ofOneKey()
	return map[conformance.Op]bool{
		verb.Call: f.Call != nil, verb.Cancel: f.Cancel != nil || f.CancelReports != nil,
		verb.Flush: f.Flush != nil, verb.Pending: f.Pending != nil, verb.Stop: f.Stop != nil,
		verb.Close: f.Close != nil, opReports: f.CancelReports != nil, opKeys: f.CallKey != nil,
		opCancelKey: f.CancelKey != nil, opFlushKey: f.FlushKey != nil,
		opCancelAll: cancels, opFlushAll: flushes,
	}
}

// ofOneKey are the operations of a debouncer with keys where one key is used, if it has Cancel and Flush only with a
// key. No schedule with several keys has a cancel or flush of all of them then.
func (f Funcs) ofOneKey() Funcs {
	if f.CallKey == nil || f.Cancel != nil || f.CancelReports != nil || f.Flush != nil {
		return f
	}
	key := f
	if key.CancelKey != nil {
		f.Cancel = func() { key.CancelKey(1) }
	}
	if key.FlushKey != nil {
		f.Flush = func() { key.FlushKey(1) }
	}
	if f.Cancel != nil || f.Flush != nil || f.Call == nil {
		f.Call = func(v int) { key.CallKey(1, v) }
	}
	return f
}

// built are the edges of a debouncer whose schedule does not say.
func (c *contract) built() Edges { return c.spec.Traits.built() }

// kinds are the edges that are declared, or else built.
func (c *contract) kinds() []Edges { return edge.Kinds(c.spec.Traits.Edges, Trailing) }

// build makes a debouncer of either kind, of which all operations can be used without a key.
func (c *contract) build(env Env, cfg Config, fire func(v int, all []int)) Funcs {
	return c.bare(env, cfg, fire).ofOneKey()
}

// bare makes a debouncer as the spec has it.
func (c *contract) bare(env Env, cfg Config, fire func(v int, all []int)) Funcs {
	if c.spec.NewBatch == nil {
		return c.spec.New(env, cfg, func(v int) { fire(v, nil) })
	}
	return c.spec.NewBatch(env, cfg, func(all []int) {
		v := 0
		if len(all) > 0 {
			v = all[len(all)-1]
		}
		fire(v, all)
	})
}

// FamilyOf names the family of a schedule that is run alone: schedules with keys are
// judged only by the rules made for them.
func (c *contract) FamilyOf(s *suite.Suite, schedule conformance.Schedule) string {
	return edge.FamilyOf(schedule, func(op conformance.Op) bool { return s.Accepts(withKey[op]) })
}
