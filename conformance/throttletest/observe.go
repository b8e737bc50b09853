package throttletest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// observer tries an implementation. A result of 0 means that nothing fits, or that nothing was
// seen: a run was refused or hung.
type observer struct {
	*suite.Suite
	traits *Traits
	c      *contract
}

// tried runs a schedule, and returns nil if nothing can be seen in the run.
func (o observer) tried(format string, args ...any) *suite.Recording {
	return o.Settled(fmt.Sprintf(format, args...))
}

// on returns the first of the edges that is declared, 0 if none is.
func (o observer) on(edges ...Edges) Edges {
	for _, e := range edges {
		if o.traits.has(e) {
			return e
		}
	}
	return 0
}

// boundary puts events around the end of the interval that a single one began. What comes there
// is told by its instant, so that no payload is needed. Of both edges nothing can be told: what
// still belongs to the interval is emitted at its end.
func (o observer) boundary() int {
	if o.on(Leading) == 0 {
		return 0
	}
	passes := func(at time.Duration) (passes, seen bool) {
		last := edge.LastFire(o.tried("interval=100ms edges=leading | call 1 @0 | call 2 @%v", at))
		return last != nil && last.Began.At == at, last != nil
	}
	before, seen := passes(suite.Wait - 1)
	at, _ := passes(suite.Wait)
	after, _ := passes(suite.Wait + 1)
	switch {
	case !seen:
		return 0
	case before || !after:
		return int(BoundaryRounded)
	case at:
		return int(BoundaryPasses)
	}
	return int(BoundaryWaits)
}

// stopBarrier tries a stop that meets the end of an interval.
func (o observer) stopBarrier() int {
	e := o.on(Trailing, LeadingAndTrailing)
	if !o.Accepts(verb.Stop) || e == 0 {
		return 0
	}
	text := fmt.Sprintf("interval=100ms edges=%s | call 1 @0 | call 2 @50ms | stop @100ms~", e)
	late := func(rec *suite.Recording) bool {
		return len(rec.Done) == 3 && (&exam{Recording: rec, traits: &Traits{}}).stopHolds() != nil
	}
	for _, order := range []inside.Order{inside.OrderHeld, inside.OrderReceived} {
		if suite.Share(o.TryText(text, order), late) >= suite.Chance {
			return int(NoBarrier)
		}
	}
	return 0
}

func (o observer) bothSingle() int {
	return edge.Twice(o.tried("interval=100ms edges=both | call 1 @0"))
}

// payload looks at what the trailing edge emits, or else at the only event so far. What is emitted without a
// payload is the same whatever the events are.
func (o observer) payload() int {
	e := o.on(Trailing, LeadingAndTrailing, Leading)
	if e == 0 {
		return 0
	}
	f := edge.LastFire(o.tried("interval=100ms edges=%s | call 7 @0 | call 8 @1ms | call 9 @2ms", e))
	other := edge.LastFire(o.tried("interval=100ms edges=%s | call 17 @0 | call 18 @1ms | call 19 @2ms", e))
	switch {
	case f == nil, e != Leading && f.Began.At == 0:
		return 0
	case other != nil && f.Value == other.Value:
		return int(NoPayload)
	case e != Leading && (f.Value == 7 || f.Value == 8):
		return int(FirstPayload)
	}
	return int(LastPayload)
}

// afterFlush brings an event soon after a flush that has emitted another. Nobody can tell a throttle of
// the trailing edge alone whose emissions open nothing from one whose flush ends the interval.
func (o observer) afterFlush() int {
	e := o.on(LeadingAndTrailing, Trailing)
	if e == 0 || !o.Accepts(verb.Flush) {
		return 0
	}
	rec := o.tried("interval=100ms edges=%s | call 1 @0 | call 2 @1ms | flush @50ms | call 3 @60ms", e)
	if rec == nil || len(rec.Fires) < 2 || rec.Fires[len(rec.Fires)-2].Began.At != suite.Wait/2 {
		return 0
	}
	return map[time.Duration]int{
		suite.Wait * 3 / 2: int(FlushOpensInterval), suite.Wait: int(FlushKeepsInterval),
		suite.Wait * 6 / 10: int(FlushEndsInterval),
	}[rec.Fires[len(rec.Fires)-1].Began.At]
}

// windows lets two events pass in an interval: the third comes when the first is an interval
// old, which empties one that began with it.
func (o observer) windows() int {
	if o.on(Leading) == 0 {
		return 0
	}
	const steps = " | call 1 @0 | call 2 @60ms | call 3 @61ms | call 4 @101ms | call 5 @102ms | call 6 @161ms"
	rec := o.tried("interval=100ms edges=leading k=2%s", steps)
	if !edge.Differ(o.tried("interval=100ms edges=leading%s", steps), rec) {
		return o.c.said.Note("Windows", "Spec.New does the same with cfg.K = 2 as without: if your code takes a K, "+
			"hand it on, and declare Windows.")
	}
	passed := func(ms int) bool {
		return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool {
			return f.Began.At == time.Duration(ms)*time.Millisecond
		})
	}
	if !passed(102) && passed(161) {
		return int(WindowsSliding)
	}
	return int(WindowsFromFirst)
}

// anchor brings an event an interval after the start of a callback, and one after its end.
func (o observer) anchor() int {
	if o.on(Leading) == 0 || !o.Accepts(opEmits) || o.slow() != "" || o.Accepts(verb.Fault) {
		return 0
	}
	passes := func(at time.Duration) bool {
		rec := o.tried("interval=100ms edges=leading busy=30ms | call 1 @0 | call 2 @%v", at)
		return rec != nil && len(rec.Fires) == 2 && rec.Fires[1].Began.At == at
	}
	switch {
	case passes(suite.Wait + 10):
		return int(AnchorStart)
	case passes(suite.Wait + 30*time.Millisecond + 10):
		return int(AnchorEnd)
	}
	return 0
}

// slow is why callbacks that take time cannot be driven exactly, "" if they can.
func (o observer) slow() string { return edge.Slow(o.Suite, o.traits.Reentrancy) }

func (o observer) closeFlush() int {
	e := o.on(Trailing, LeadingAndTrailing)
	if e == 0 || !o.Accepts(verb.Close) {
		return 0
	}
	rec := o.tried("interval=100ms edges=%s | call 1 @0 | call 2 @1ms | close @50ms", e)
	if rec == nil {
		return 0
	}
	closes := CloseDrops
	if last := edge.LastFire(rec); last != nil && last.Began.At == suite.Wait/2 {
		closes = CloseFires
	} else if last != nil && last.Began.At == suite.Wait {
		closes = CloseAtDeadline
	}
	return int(closes)
}

// reentrancy looks for an operation that never returns to the callback, or not while another
// one runs.
func (o observer) reentrancy() int {
	if !o.Accepts(opEmits) { // there is no callback
		return 0
	}
	var texts []string
	for _, e := range o.traits.Edges {
		if e == NoEdges || o.Accepts(verb.Fault) { // its reader calls emit
			continue
		}
		cfg := base.With("edges", e.String())
		for _, op := range o.Supported(verb.Call, verb.Reset, verb.Stop) {
			if op != verb.Reset || e == Leading {
				inside := cfg.With("inside", string(op))
				texts = append(texts, inside.String()+" | call 1 @0")
				if e == LeadingAndTrailing {
					texts = append(texts, inside.With("insiderun", "2").String()+" | call 1 @0 | call 2 @1ns")
				}
			}
		}
		if o.Bubble {
			texts = append(texts, cfg.With("busy", "250ms").String()+" | call 1 @0 | call 2 @1ms | call 3 @101ms")
		}
	}
	return int(edge.Reentrancy(o.Suite, texts...))
}

// clockBack sees what the rule of one interval at most would see.
func (o observer) clockBack() int {
	if o.Time == conformance.PackageTime || len(o.traits.Edges) == 0 {
		return 0
	}
	traits := *o.traits
	traits.ClockBack = BackBounded
	for _, f := range o.c.setBack(o.Suite, traits.Edges, &traits) {
		for _, s := range f.Schedules {
			runs := o.Try(s, inside.OrderSettled, 1)
			if len(runs) == 0 || o.c.Exam(&traits, runs[0], suite.Job{}).heldUp() != nil {
				return int(BackStands)
			}
		}
	}
	return int(BackBounded)
}

// canPanic reports whether callbacks may be tried that panic.
func (o observer) canPanic() bool {
	return len(o.traits.Edges) > 0 && o.Accepts(opEmits) && !o.CannotReenter
}

// panicsAs sees what the rule about a policy would see.
func (o observer) panicsAs(policy PanicPolicy) (*suite.Violation, string) {
	traits := *o.traits
	traits.PanicPolicy = policy
	return o.c.panicsWith(&suite.Probe{Suite: o.Suite}, &traits)
}

// Other says so if one event alone is not emitted at once, and so many at one instant are, before any time has passed:
// that is a batcher of a size. One of a delay only is a throttle of the trailing edge.
func (c *contract) Other(s *suite.Suite) string {
	o := observer{s, &c.spec.Traits, c}
	e := o.on(Trailing)
	if e == 0 || !s.Accepts(verb.Call) {
		return ""
	}
	atOnce := func(n int) bool {
		steps := ""
		for v := 1; v <= n; v++ {
			steps += fmt.Sprintf(" | call %d @0", v)
		}
		rec := o.tried("interval=100ms edges=%s%s", e, steps)
		return rec != nil && len(rec.Fires) > 0 && rec.Fires[0].Began.At == 0
	}
	if atOnce(1) || !atOnce(largestBatch) {
		return ""
	}
	return "one event emits nothing at once, but many at one instant do: it seems to collect batches, which " +
		"package batchtest judges."
}

// largestBatch is how many events are tried, to find out whether as many make a batch.
const largestBatch = 128
