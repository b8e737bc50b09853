package concurrencytest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// overRelease is the family of releases of slots that nobody holds.
const overRelease = "over-release"

// Orders lists the orders in which a schedule is run. Where a select may find two channels
// ready, of which it chooses by chance, the schedule is run many times.
func (c *contract) Orders(s *suite.Suite, schedule conformance.Schedule) []inside.Order {
	racing := schedule.RacingSteps() > 0
	switch {
	case racing && s.Time == conformance.PackageTime:
		return slices.Repeat([]inside.Order{inside.OrderSampled}, often)
	case racing:
		each := []inside.Order{inside.OrderStepFirst, inside.OrderHeld, inside.OrderFireFirst}
		return append(each, slices.Repeat([]inside.Order{inside.OrderSampled}, often)...)
	case cancelsBefore(schedule) || schedule.Config.Has("timeout") && schedule.Config.Timeout == 0:
		return slices.Repeat([]inside.Order{inside.OrderSettled}, often)
	}
	return []inside.Order{inside.OrderSettled}
}

// bounded is a configuration with the bounds that the implementation has. A bound about
// which nothing is declared is so high that it does not matter.
func (tr *Traits) bounded(limit, backlog int, timeout string) conformance.Config {
	out := conformance.Config{}.With("limit", fmt.Sprint(limit))
	switch tr.Backlog {
	case BacklogBounded:
		out = out.With("backlog", fmt.Sprint(backlog))
	case BacklogNone:
		out = out.With("backlog", "0")
	case 0:
		out = out.With("backlog", "99")
	}
	switch tr.Timeout {
	case TimeoutBounded:
		out = out.With("timeout", timeout)
	case 0:
		out = out.With("timeout", "1h")
	}
	return out
}

// families collects what is explored.
type families struct {
	s   *suite.Suite
	tr  *Traits
	out []suite.Family

	contexts bool // end waits
	timeout  bool // ends waits
	oversize bool // what becomes of a request for more than the limit is known
	resized  bool // the limit is changed beside requests for several slots
}

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	tr := &c.traits
	if !s.Accepts(verb.Acquire) {
		return nil
	}
	f := &families{s: s, tr: tr, contexts: tr.contexts(), timeout: tr.Timeout == TimeoutBounded,
		oversize: tr.weighs() && tr.waitsForEver() == "",
		resized:  tr.weighs() && s.Accepts(verb.Resize) && tr.Oversize != OversizeClamped}
	f.slots()
	if f.timeout {
		f.timeouts()
	}
	if f.contexts {
		f.add("context done before", 1, 1, "1h", plan{depth: 4, early: true})
		for _, deadline := range []time.Duration{suite.Wait / 2, suite.Wait * 3 / 2} { // before and after the timeout
			f.add("deadline of the context", 1, 2, "100ms", plan{gaps: halves, depth: 3, deadline: deadline})
		}
	}
	if tr.weighs() {
		f.weights()
	}
	if s.Accepts(verb.Resize) {
		f.resizes()
	}
	if s.Accepts(verb.Try) {
		weights := []int{1, 2}
		if !tr.weighs() {
			weights = nil
		}
		f.add("try", 2, 2, "1h", plan{weights: weights, depth: 4, try: true})
	}
	f.handlers()
	if s.Accepts(verb.Release) && tr.OverRelease != 0 && tr.OverRelease != OverReleaseUndefined {
		f.overReleases(4)
	}
	return append(f.out,
		suite.Family{Name: "racing", Schedules: f.races()},
		suite.Family{Name: "scenarios", Schedules: f.scenarios()},
		suite.Family{Name: "long queue", Schedules: f.longQueues()},
		// The last, as one that counts slots without end tells nothing more.
		suite.Family{Name: "negative limits", Schedules: f.negative()})
}

// halves are multiples of half the wait.
var halves = []time.Duration{0, suite.Wait / 2, suite.Wait}

// add adds the family of a plan for limiters of one configuration.
func (f *families) add(name string, limit, backlog int, timeout string, p plan) {
	f.out = append(f.out, suite.Family{Name: name, Schedules: f.planned(limit, backlog, timeout, p)})
}

func (f *families) planned(limit, backlog int, timeout string, p plan) []conformance.Schedule {
	p.cfg = f.tr.bounded(limit, backlog, timeout)
	if p.epoch != "" {
		p.cfg = p.cfg.With("epoch", p.epoch)
	}
	return p.schedules(f.tr)
}

// slots are requests that come, go and give up at one instant.
func (f *families) slots() {
	leaks := f.planned(1, 1, "100ms", plan{gaps: []time.Duration{0, suite.Wait}, depth: 3, cancel: f.contexts})
	if f.contexts {
		leaks = append(leaks, f.with(1, 1, "1h", "acquire 1 @0 | acquire 2 @0 | cancel 2 @0 | "+
			"acquire 3 @0 | cancel 3 @0 | "+
			"acquire 4 @0 | cancel 4 @0 | idle 2h")...)
	}
	if f.timeout { // also one that has not come an hour after all
		leaks = append(leaks, f.planned(1, 1, "2500h", plan{gaps: []time.Duration{0}, depth: 3, cancel: f.contexts})...)
		leaks = append(leaks, f.with(1, 1, "100ms",
			"acquire 1 @0 | acquire 2 @0 | acquire 3 @150ms | acquire 4 @300ms | idle 1s")...)
	}
	f.out = append(f.out, suite.Family{Name: suite.Leaks, Look: true, Schedules: leaks})
	f.add("one slot", 1, 2, "1h", plan{depth: 6, cancel: f.contexts})
	f.add("two slots", 2, 1, "1h", plan{depth: 5, cancel: f.contexts, running: f.contexts})
	f.withoutBacklog()
}

// withoutBacklog are requests of which none may wait.
func (f *families) withoutBacklog() {
	if f.tr.Backlog != BacklogBounded {
		return
	}
	p := plan{depth: 5}
	f.add("no backlog", 1, 0, "1h", p)
	p.depth = 4
	if f.s.Accepts(verb.Resize) {
		p.resize = []int{1, 3}
		f.add("no backlog and resize", 2, 0, "1h", p)
		p.resize = nil
	}
	if f.tr.weighs() {
		p.weights = []int{1, 2}
		f.add("no backlog and weights", 2, 0, "1h", p)
	}
}

// timeouts are requests around the instants at which waits end.
func (f *families) timeouts() {
	around := []time.Duration{0, suite.Wait / 2, suite.Wait - 1, suite.Wait}
	f.out = append(f.out, suite.Family{Name: "timeout that is not round", Schedules: f.with(1, 1, "333.333333ms",
		onesTurn+" | idle 1s", onesTurn+" | release 1 @333.333332ms")},
		suite.Family{Name: "timeout of a nanosecond", Schedules: f.with(1, 1, "1ns", onesTurn+" | idle 1s")})
	near := []time.Duration{0, 1, suite.Wait / 2}
	f.add("several wait with a timeout", 1, 3, "100ms", plan{gaps: near, depth: 4,
		cancel: f.contexts, later: true})
	f.out = append(f.out, suite.Family{Name: "timeout of 0", Skip: f.s.Unsettled(),
		Schedules: f.planned(1, 2, "0", plan{depth: 4})})
	if f.s.Time != conformance.Injected {
		return
	}
	epochs := suite.Family{Name: "epochs"}
	for _, epoch := range suite.Epochs {
		epochs.Schedules = append(epochs.Schedules,
			f.planned(1, 1, "100ms", plan{epoch: epoch, gaps: around, depth: 3})...)
	}
	f.out = append(f.out, epochs)
}

// weights are requests for several slots.
func (f *families) weights() {
	f.add("weights", 3, 3, "1h", plan{weights: []int{1, 2, 3}, depth: 4, cancel: f.contexts})
	if f.oversize {
		f.add("more than the limit", 2, 5, "1h", plan{weights: []int{1, 3}, depth: 5, cancel: f.contexts})
	}
	if f.oversize && f.timeout {
		f.add("more than the limit, in time", 1, 2, "100ms", plan{weights: []int{1, 2}, gaps: halves, depth: 4})
	}
	f.out = append(f.out, suite.Family{Name: "large numbers", Schedules: f.large()})
}

// large are limits and weights that are more than some types hold, and such as are more than any
// type holds when something is added.
func (f *families) large() (all []conformance.Schedule) {
	for _, limit := range []int{high, 1<<16 + 1} {
		all = append(all, f.with(limit, 1, "1h",
			fmt.Sprintf("acquire 1 %d @0", limit),
			fmt.Sprintf("acquire 1 %d @0 | acquire 2 @0 | release 1 @0", limit-1),
			fmt.Sprintf("acquire 1 %d @0 | acquire 2 @0 | release 1 @0", limit))...)
	}
	if f.oversize {
		all = append(all, f.with(2, 1, "1h", fmt.Sprintf("acquire 1 @0 | acquire 2 %d @0", math.MaxInt))...)
		if f.s.Accepts(verb.Try) {
			all = append(all, f.with(2, 1, "1h", fmt.Sprintf("acquire 1 @0 | try 2 %d @0", math.MaxInt))...)
		}
	}
	return all
}

// resizes change the limit while requests run and wait.
func (f *families) resizes() {
	f.add("resize", 2, 2, "1h", plan{depth: 4, resize: []int{1, 3}})
	f.out = append(f.out, suite.Family{Name: "resize to nothing", Schedules: f.nothing()})
	if f.timeout {
		f.add("resize and a timeout", 1, 2, "100ms", plan{gaps: halves[:2], depth: 4, resize: []int{1, 2}, later: true})
	}
	if f.resized {
		weights := []int{1, 2}
		if f.oversize {
			weights = append(weights, 3)
		}
		f.add("resize and weights", 2, 3, "1h", plan{weights: weights, depth: 4, resize: []int{1, 3}})
	}
	if f.s.Accepts(verb.Try) {
		f.add("resize and try", 2, 2, "1h", plan{enter: verb.Try, depth: 4, resize: []int{1, 3}})
	}
}

// overReleases are releases of what nobody holds.
func (f *families) overReleases(depth int) {
	if !f.s.Accepts(opAgain) {
		f.add(overRelease, 1, 1, "1h", plan{depth: depth, over: true})
		return
	}
	f.add(overRelease, 1, 1, "1h", plan{depth: depth + 1, over: true, again: true})
	if f.s.Accepts(verb.Try) {
		f.add(overRelease, 1, 1, "1h", plan{enter: verb.Try, depth: depth + 1, over: true, again: true})
	}
}

// nothing lowers the limit to 0, and raises it again.
func (f *families) nothing() (all []conformance.Schedule) {
	add := func(steps ...string) { all = append(all, f.with(1, 5, "1h", steps...)...) }
	add("resize 0 @0", "resize 0 @0 | acquire 1 @0", "resize 0 @0 | acquire 1 @0 | resize 1 @0",
		"resize 0 @0 | resize 1 @0 | acquire 1 @0 | acquire 2 @0",
		"acquire 1 @0 | resize 0 @0 | acquire 2 @0 | acquire 3 @0", "acquire 1 @0 | resize 0 @0 | release 1 @0",
		onesTurn+" | resize 0 @0 | release 1 @0", onesTurn+" | resize 0 @0 | release 1 @0 | resize 1 @0",
		onesTurn+" | acquire 3 @0 | resize 0 @0 | release 1 @0 | resize 2 @0 | release 2 @0")
	if f.s.Accepts(verb.Try) {
		add("resize 0 @0 | try 1 @0", "try 1 @0 | resize 0 @0 | release 1 @0 | try 2 @0 | resize 1 @0 | try 3 @0")
	}
	if f.contexts {
		add(onesTurn + " | resize 0 @0 | release 1 @0 | cancel 2 @0 | resize 1 @0 | acquire 3 @0")
	}
	return all
}

// negative are limits that mean nothing.
func (f *families) negative() []conformance.Schedule {
	if !f.s.Accepts(verb.Resize) {
		return nil
	}
	return f.with(1, 5, "1h", "resize -1 @0", onesTurn+" | resize -1 @0 | release 1 @0")
}

// handlers give their slots back by returning.
func (f *families) handlers() {
	if f.s.Accepts(verb.Do) {
		f.add("handlers", 1, 1, "1h", plan{enter: verb.Do, depth: 5,
			ends: []conformance.Op{verb.Panic, verb.Exit}})
	}
	if !f.s.Accepts(opTwoWays) {
		return
	}
	if f.contexts {
		f.add("handlers and contexts", 1, 2, "1h", plan{enter: verb.Do, depth: 4,
			cancel: true, early: true, running: true})
	}
	if f.timeout {
		f.add("handlers and a timeout", 1, 1, "100ms", plan{enter: verb.Do, gaps: halves, depth: 3,
			later: true})
	}
}

// scenarios are longer schedules in which one step must let several requests run.
func (f *families) scenarios() []conformance.Schedule {
	var texts []string
	add := func(limit, backlog int, timeout, steps string) {
		texts = append(texts, f.tr.bounded(limit, backlog, timeout).String()+" | "+steps)
	}
	if f.tr.weighs() {
		const waiting = "acquire 1 @0 | acquire 2 3 @0 | acquire 3 @50ms | acquire 4 @50ms"
		add(3, 5, "1h", "acquire 1 3 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0 | release 1 @0")
		add(3, 5, "1h", waiting+" | acquire 5 @50ms | release 1 @60ms | release 2 @70ms")
		if f.contexts {
			add(3, 5, "1h", waiting+" | cancel 2 @60ms")
		}
		if f.timeout {
			add(3, 5, "100ms", waiting+" | idle 60ms")
		}
		if f.resized {
			const heavy = " | acquire 2 3 @0 | acquire 3 @0 | resize 2 @0"
			add(3, 5, "1h", waiting+" | resize 6 @60ms")
			add(3, 5, "1h", "acquire 1 @0"+heavy)
			add(3, 5, "1h", "acquire 1 2 @0"+heavy+" | release 1 @50ms")
			add(3, 5, "1h", "acquire 1 2 @0"+heavy+" | release 1 @50ms | resize 3 @60ms")
			f.belowWaiters(add)
		}
	}
	f.turnedAway(add)
	if f.s.Accepts(verb.Resize) {
		const five = "acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0"
		add(3, 5, "1h", five+" | resize 1 @0 | release 1 @0 | release 2 @0 | release 3 @0 | resize 3 @0")
		add(3, 5, "1h", five+" | resize 1 @0 | resize 2 @0 | resize 3 @0 | release 1 @0 | resize 4 @0")
		add(3, 5, "1h", "acquire 1 @0 | acquire 2 @0 | resize 1 @0 | acquire 3 @0 | acquire 4 @0 | "+
			"resize 2 @0 | resize 3 @0 | release 1 @0")
		add(1, 5, "1h", five+" | resize 2 @0 | resize 4 @0 | resize 4 @0 | "+
			"release 1 @0 | resize 2 @0 | release 2 @0 | release 3 @0")
		if f.contexts {
			add(1, 5, "1h", five+" | cancel 2 @0 | resize 2 @0 | cancel 4 @0 | resize 4 @0")
			add(3, 5, "1h", five+" | resize 1 @0 | cancel 4 @0 | release 1 @0 | release 2 @0 | release 3 @0")
		}
	}
	return suite.ParseAll(texts...)
}

// turnedAway let come what gets no slot and does not wait for one, behind two that do and stay in their order.
func (f *families) turnedAway(add func(limit, backlog int, timeout, steps string)) {
	const waiting, leave = "acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | ", " | release 1 @0 | release 2 @0"
	comes := []string{"acquire 4 @0"} // the backlog is full
	if f.contexts {
		comes = append(comes, "cancel 4 @0 | acquire 4 @0")
	}
	if f.s.Accepts(verb.Try) {
		comes = append(comes, "try 4 @0")
	}
	if f.tr.weighs() && f.oversize {
		comes = append(comes, "acquire 4 2 @0")
	}
	for _, one := range comes {
		add(1, 2, "1h", waiting+one+leave)
	}
}

// belowWaiters lower the limit below what one waits for, who may not run then, and may keep those behind it
// waiting, but no longer than it waits itself.
func (f *families) belowWaiters(add func(limit, backlog int, timeout, steps string)) {
	add(2, 5, "1h", "acquire 1 @0 | acquire 2 2 @0 | resize 1 @0 | release 1 @0")
	add(2, 5, "1h", "acquire 1 2 @0 | acquire 2 @0 | acquire 3 2 @0 | resize 1 @0 | release 1 @0")
	add(3, 5, "1h", "acquire 1 @0 | acquire 2 3 @0 | acquire 3 3 @0 | acquire 4 @0 | resize 2 @0") // two of them
	add(3, 5, "1h", "acquire 1 @0 | acquire 2 3 @0 | acquire 3 3 @0 | resize 2 @0 | acquire 4 @0")
	add(3, 5, "1h", "acquire 1 2 @0 | acquire 2 3 @0 | acquire 3 2 @0 | acquire 4 3 @0 | acquire 5 @0 | resize 2 @0 | "+
		"release 1 @0")
	if f.contexts {
		add(2, 5, "1h", "acquire 1 @0 | acquire 2 2 @0 | acquire 3 @0 | resize 1 @0 | release 1 @0 | cancel 2 @0")
	}
	if f.timeout {
		add(2, 5, "100ms", "acquire 1 @0 | acquire 2 2 @0 | acquire 3 @50ms | resize 1 @50ms | release 1 @50ms | "+
			"idle 50ms")
	}
}

// longQueues are many requests that come and go in turn.
func (f *families) longQueues() []conformance.Schedule {
	var out []conformance.Schedule
	for _, limit := range []int{1, 3} {
		s := conformance.Schedule{Config: f.tr.bounded(limit, 40, "1h")}
		for i := range 40 {
			s.Steps = append(s.Steps, conformance.Step{Op: verb.Acquire, N: i + 1, At: time.Duration(i)})
		}
		for i := range 40 {
			s.Steps = append(s.Steps, conformance.Step{Op: verb.Release, N: i + 1, At: time.Duration(40 + i)})
		}
		out = append(out, s)
	}
	return out
}

// often is how many runs show what is left to chance.
const often = 24

// cancelsBefore reports whether a context is cancelled before its request comes.
func cancelsBefore(s conformance.Schedule) bool {
	for i, st := range s.Steps {
		if st.Op == verb.Cancel && slices.ContainsFunc(s.Steps[i:], func(o conformance.Step) bool {
			return o.N == st.N && (o.Op == verb.Acquire || o.Op == verb.Do)
		}) {
			return true
		}
	}
	return false
}
