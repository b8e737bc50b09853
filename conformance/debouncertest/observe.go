package debouncertest

import (
	"fmt"
	"slices"
	"strings"
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

// noTrailing reports that a choice of the trailing edge is needless, as there is none.
func (o observer) noTrailing() bool {
	return len(o.traits.Edges) > 0 && !slices.Contains(o.traits.Edges, Trailing)
}

// without reports that the choices of an operation are needless, as there is none.
func (o observer) without(op conformance.Op) func() bool {
	return func() bool { return !o.Accepts(op) }
}

// configured begins a schedule on an edge that is built: the first of those that are asked for,
// or else the one that is built anyway.
func (o observer) configured(first ...Edges) (Edges, string) {
	e := o.traits.built()
	if i := slices.IndexFunc(first, func(e Edges) bool { return slices.Contains(o.traits.Edges, e) }); i >= 0 {
		e = first[i]
	}
	cfg, _ := on(e, suite.Configured("wait", "100ms"), "")
	return e, cfg.String()
}

func (o observer) bothSingle() int {
	return edge.Twice(o.Settled("wait=100ms edges=both | call 1 @0"))
}

// payload looks at what fires last. On the leading edge alone that is the only event so far. A callback without a
// payload gets the same whatever the events are.
func (o observer) payload() int {
	e, cfg := o.configured(Trailing, LeadingAndTrailing)
	f := edge.LastFire(o.Settled(cfg + " | call 7 @0 | call 9 @50ms"))
	other := edge.LastFire(o.Settled(cfg + " | call 17 @0 | call 19 @50ms"))
	switch {
	case f == nil:
		return 0
	case len(f.Values) > 0:
		return int(AllPayloads)
	case other != nil && f.Value == other.Value:
		return int(NoPayload)
	case e != Leading && f.Value == 7:
		return int(FirstPayload)
	}
	return int(LastPayload)
}

// firedWith reports whether a callback started at the instant of step i of the schedule.
func firedWith(rec *suite.Recording, i int) bool {
	at := rec.Schedule.Steps[i].At
	return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool { return f.Began.At == at })
}

// firedBehind is firedWith for callbacks that started after the step had returned.
func firedBehind(rec *suite.Recording, i int) bool {
	at, ended := rec.Schedule.Steps[i].At, rec.Done[i].Ended.Seq
	return slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool {
		return f.Began.At == at && ended != 0 && f.Began.Seq > ended
	})
}

const tieSchedule = "wait=100ms | call 1 @0 | call 2 @100ms~"

func (o observer) tie() int {
	old := func(rec *suite.Recording) bool { return firedWith(rec, 1) }
	seen := append(o.Tried(tieSchedule, inside.OrderStepFirst), o.Tried(tieSchedule, inside.OrderHeld)...)
	if !slices.ContainsFunc(seen, func(rec *suite.Recording) bool { return len(rec.Fires) > 0 }) {
		return 0
	}
	switch share := suite.Share(seen, old); {
	case share == 1 && o.Time == conformance.PackageTime: // in a bubble due timers go before who sleeps, elsewhere not
		return int(EitherTie)
	case share == 1:
		return int(FireFirst)
	case share == 0:
		if slices.ContainsFunc(o.Tried(tieSchedule+" | call 3 @200ms~", inside.OrderStepFirst), firedAtTie) {
			return int(EitherTie)
		}
		return int(ResetFirst)
	}
	return int(EitherTie)
}

// firedAtTie reports whether something fired at the second of two ties, though nothing did at the
// first.
func firedAtTie(rec *suite.Recording) bool {
	return firedWith(rec, 2) && !firedWith(rec, 1)
}

func (o observer) staleFire() int {
	behind := func(rec *suite.Recording) bool { return firedBehind(rec, 1) }
	held := o.Tried(tieSchedule, inside.OrderHeld)
	if len(held) == 0 {
		return 0
	}
	for _, seen := range [][]*suite.Recording{held, o.Tried(tieSchedule, inside.OrderReceived)} {
		if len(seen) > 0 && suite.Share(seen, behind) >= suite.Chance {
			return int(StaleAllowed)
		}
	}
	return int(StaleForbidden)
}

// cancelBarrier can see that there is no promise, and that what Cancel reports is true. Whether
// it has seen a promise or luck it cannot tell.
func (o observer) cancelBarrier() int {
	if o.noTrailing() {
		return int(NoBarrier) // nothing is ever due
	}
	var promised, late bool
	for _, rec := range o.Tried("wait=100ms | call 1 @0 | cancel @100ms~", inside.OrderHeld) {
		behind := firedBehind(rec, 1)
		promised = promised || behind && (rec.Done[1].OK || !o.Accepts(opReports))
		late = late || behind
	}
	switch {
	case promised:
		return int(NoBarrier)
	case late:
		return int(CommitBarrier)
	}
	return 0
}

func (o observer) afterCancel() int {
	_, cfg := o.configured(Trailing)
	again := o.Settled(cfg + " | call 1 @0 | cancel @10ms | call 2 @500ms")
	if again == nil {
		return 0
	}
	if !slices.ContainsFunc(again.Fires, func(f conformance.Fire) bool { return f.Began.At >= 5*wait }) {
		return int(CancelFinal)
	}
	e, cfg := o.configured(Leading, LeadingAndTrailing)
	if e&Leading == 0 {
		return int(CancelReusable)
	}
	switch rec := o.Settled(cfg + " | call 1 @0 | cancel @10ms | call 2 @20ms"); {
	case rec == nil:
		return 0
	case firedWith(rec, 2):
		return int(CancelReusable)
	}
	return int(CancelKeepsBurst)
}

func (o observer) stopPending() int {
	_, cfg := o.configured(Trailing, LeadingAndTrailing)
	rec := o.Settled(cfg + " | call 1 @0 | call 2 @5ms | stop @10ms")
	switch {
	case rec == nil:
		return 0
	case firedWith(rec, 2):
		return int(StopFlushes)
	}
	return int(StopDrops)
}

// stopBarrier tries a stop that meets the deadline, and one behind a callback.
func (o observer) stopBarrier() int {
	if !o.Accepts(verb.Stop) || o.traits.StopPending != StopDrops || o.noTrailing() {
		return 0
	}
	late := false
	for _, order := range []inside.Order{inside.OrderHeld, inside.OrderReceived} {
		seen := o.Tried("wait=100ms | call 1 @0 | stop @100ms~", order)
		behind := func(rec *suite.Recording) bool { return firedBehind(rec, 1) }
		late = late || suite.Share(seen, behind) >= suite.Chance
	}
	if !late && o.traits.Overlap == Serial && o.slow() == "" {
		rec := o.Settled("wait=100ms busy=250ms | call 1 @0 | call 2 @120ms | stop @230ms")
		late = rec != nil && slices.ContainsFunc(rec.Fires, func(f conformance.Fire) bool {
			return rec.Done[2].Ended.Seq != 0 && f.Began.Seq > rec.Done[2].Ended.Seq
		})
	}
	if late {
		return int(NoBarrier)
	}
	return 0
}

// zeroWait tells a call that runs its callback from one that is as fast as an actor by a
// callback that takes time.
func (o observer) zeroWait() int {
	const one = "wait=0 | call 1 @0"
	for _, rec := range o.TryText(one, inside.OrderSettled) {
		if rec.Refused != "" {
			return int(ZeroRefused)
		}
	}
	rec := o.Settled(one)
	switch {
	case rec == nil:
		return 0
	case len(rec.Fires) != 1 || rec.Fires[0].Began.Seq > rec.Done[0].Ended.Seq:
		return int(ZeroNextTick)
	}
	if o.slow() != "" {
		return int(ZeroSync)
	}
	slow := o.Settled("wait=0 busy=30ms | call 1 @0")
	switch {
	case slow == nil:
		return 0
	case slow.Done[0].Ended.At >= 30*time.Millisecond:
		return int(ZeroSync)
	}
	return int(ZeroNextTick)
}

// slow is why callbacks that take time cannot be tried, "" if they can.
func (o observer) slow() string { return edge.Slow(o.Suite, o.traits.Reentrancy) }

func (o observer) overlap() int {
	if o.slow() != "" {
		return 0
	}
	rec := o.Settled("wait=100ms busy=250ms | call 1 @0 | call 2 @120ms")
	switch {
	case rec == nil || len(rec.Fires) < 2:
		return 0
	case rec.Fires[1].Began.Seq < rec.Fires[0].Ended.Seq:
		return int(Parallel)
	case rec.Fires[1].Began.At > rec.Fires[0].Ended.At:
		return int(SerialReceiver)
	}
	return int(Serial)
}

// bounded are events that keep coming, every 90ms, and again after a pause: a bound of 250ms brings a fire at 250ms,
// or the next event does, and from one or the other the next bound counts.
const bounded = " | call 1 @0 | call 2 @90ms | call 3 @180ms | call 4 @270ms | call 5 @360ms | call 6 @450ms" +
	" | call 7 @540ms | call 8 @1s | call 9 @1.09s | call 10 @1.18s | call 11 @1.27s | call 12 @1.36s"

// maxWait looks for the choice that explains all that fires.
func (o observer) maxWait() int {
	e, cfg := o.configured(Trailing, LeadingAndTrailing)
	if e&Trailing == 0 {
		return 0
	}
	rec := o.Settled(strings.Replace(cfg, "wait=100ms", "wait=100ms maxwait=250ms", 1) + bounded)
	if !edge.Differ(o.Settled(cfg+bounded), rec) {
		return o.c.said.Note("MaxWait", "Spec.New does the same with cfg.MaxWait = 250ms as without: if your "+
			"code takes a bound, hand it on, and declare MaxWait.")
	}
	for _, how := range []MaxWait{MaxWaitFromFirst, MaxWaitFromFire, MaxWaitOnCall} {
		traits := *o.traits
		traits.MaxWait = how
		if o.c.Exam(&traits, rec, suite.Job{Schedule: rec.Schedule}).broken() == nil {
			return int(how)
		}
	}
	return int(MaxWaitFromFirst)
}

// afterFlush brings an event soon after a flush that has fired.
func (o observer) afterFlush() int {
	if !o.Accepts(verb.Flush) || !slices.Contains(o.traits.Edges, LeadingAndTrailing) {
		return 0
	}
	rec := o.Settled("wait=100ms edges=both | call 1 @0 | call 2 @10ms | flush @20ms | call 3 @30ms")
	switch {
	case rec == nil || !firedWith(rec, 2):
		return 0
	case firedWith(rec, 3):
		return int(FlushEndsBurst)
	}
	return int(FlushKeepsBurst)
}

// full lets a third event come where a burst may hold two.
func (o observer) full() int {
	if o.noTrailing() {
		return 0
	}
	const steps = " | call 1 @0 | call 2 @1ms | call 3 @2ms"
	rec := o.Settled("wait=100ms k=2" + steps)
	switch {
	case !edge.Differ(o.Settled("wait=100ms"+steps), rec):
		return o.c.said.Note("Full", "Spec.New does the same with cfg.Full = 2 as without: if your code takes a "+
			"number, hand it on, and declare Full.")
	case !firedWith(rec, 1) && firedWith(rec, 2):
		return int(FullMakesRoom)
	}
	return int(FullFires)
}

// reentrancy looks for an operation that never returns to the callback.
func (o observer) reentrancy() int {
	_, cfg := o.configured(Trailing)
	var texts []string
	if o.Bubble { // a method that waits for the callback holds up everything
		texts = append(texts, cfg+" busy=250ms | call 1 @0 | call 2 @100ms")
	}
	for _, op := range o.Supported(verb.Call, verb.Cancel, verb.Flush,
		verb.Pending, verb.Stop, verb.Close) {
		texts = append(texts, cfg+" inside="+string(op)+" | call 1 @0")
		if slices.Contains(o.traits.Edges, LeadingAndTrailing) {
			texts = append(texts, "wait=100ms edges=both inside="+string(op)+" insiderun=2 | call 1 @0 | call 2 @1ns")
		}
	}
	return int(edge.Reentrancy(o.Suite, texts...))
}

func (o observer) closeFlush() int {
	if !o.Accepts(verb.Close) || o.noTrailing() {
		return 0
	}
	rec := o.Settled("wait=100ms | call 1 @0 | close @50ms")
	switch {
	case rec == nil:
		return 0
	case len(rec.Fires) == 0:
		return int(CloseDrops)
	}
	return int(map[time.Duration]CloseFlush{wait / 2: CloseFires, wait: CloseAtDeadline}[rec.Fires[0].Began.At])
}

// clockBack sees what the rule about it would see.
func (o observer) clockBack() int {
	if o.Time != conformance.Injected || len(o.traits.Edges) == 0 {
		return 0
	}
	e := &explorer{Suite: o.Suite, traits: o.traits}
	base, _ := on(o.traits.built(), suite.Configured("wait", "100ms"), "")
	for _, s := range e.setBack(base) {
		seen := o.Try(s, inside.OrderSettled, 1)
		if len(seen) == 0 || o.c.Exam(o.traits, seen[0], suite.Job{}).back() != nil {
			return int(BackStands)
		}
	}
	return int(BackBounded)
}

// canPanic reports whether callbacks may be tried that panic.
func (o observer) canPanic() bool { return len(o.traits.Edges) > 0 && !o.CannotReenter }

// panicsAs sees what the rule about a policy would see.
func (o observer) panicsAs(policy PanicPolicy) (*suite.Violation, string) {
	traits := *o.traits
	traits.PanicPolicy = policy
	return o.c.panicsWith(&suite.Probe{Suite: o.Suite}, &traits)
}

// Other says so if events are collected in batches, by time from the first of them or by their number: that is no
// debouncer with a mistake, and no pause is what it waits for.
func (c *contract) Other(s *suite.Suite) string {
	o := observer{s, &c.spec.Traits, c}
	if o.noTrailing() {
		return ""
	}
	_, cfg := o.configured(Trailing)
	const batches = "it seems to collect batches, where a debouncer waits for a pause; package batchtest " +
		"judges batchers"
	at := func(rec *suite.Recording, want ...time.Duration) bool {
		return rec != nil && slices.EqualFunc(rec.Fires, want, func(f conformance.Fire, at time.Duration) bool {
			return f.Began.At == at
		})
	}
	rec := o.Settled(cfg + " | call 1 @0 | call 2 @50ms | call 3 @150ms | call 4 @220ms")
	if at(rec, wait, 150*time.Millisecond+wait) {
		return "each fire came a wait after the first of its events, not after the newest: " + batches +
			". If the callback gets one of the events only, it is a throttle on the trailing edge: use " +
			"package throttletest."
	}
	if !at(o.Settled(cfg + " | call 1 @0")) {
		return ""
	}
	calls := cfg
	for n := 1; n <= largestBatch; n++ {
		calls += fmt.Sprintf(" | call %d @0", n)
	}
	if rec := o.Settled(calls); rec != nil && len(rec.Fires) > 0 && rec.Fires[len(rec.Fires)-1].Began.At == 0 {
		return "after a pause nothing fired, and after so many events at one instant something did: " + batches + "."
	}
	return ""
}

// largestBatch is how many events are tried, to find out whether as many make a batch.
const largestBatch = 128
