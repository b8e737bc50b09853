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
	f.list(suite.Family{Name: suite.Leaks, Look: true}, f.leaks()...)
	f.add("one slot", 1, 2, "1h", plan{depth: 6, cancel: true})
	f.add("two slots", 2, 1, "1h", plan{depth: 5, cancel: true, running: true})
	f.add("no backlog", 1, 0, "1h", plan{depth: 5})
	f.add("no backlog and resize", 2, 0, "1h", plan{depth: 4, resize: []int{1, 3}})
	f.add("no backlog and weights", 2, 0, "1h", plan{depth: 4, weights: []int{1, 2}})
	if f.timeout {
		f.timeouts()
	}
	f.add("context done before", 1, 1, "1h", plan{depth: 4, early: true})
	for _, deadline := range []time.Duration{suite.Wait / 2, suite.Wait * 3 / 2} { // before and after the timeout
		f.add("deadline of the context", 1, 2, "100ms", plan{gaps: halves, depth: 3, deadline: deadline})
	}
	f.add("weights", 3, 3, "1h", plan{weights: []int{1, 2, 3}, depth: 4, cancel: true})
	f.add("more than the limit", 2, 5, "1h", plan{weights: []int{1, 3}, depth: 5, cancel: true})
	if f.timeout {
		f.add("more than the limit, in time", 1, 2, "100ms", plan{weights: []int{1, 2}, gaps: halves, depth: 4})
	}
	f.list(suite.Family{Name: "large numbers"}, f.rows(largeNumbers...)...)
	f.resizes()
	weights := []int{1, 2}
	if !tr.weighs() {
		weights = nil
	}
	f.add("try", 2, 2, "1h", plan{weights: weights, depth: 4, try: true})
	f.handlers()
	if s.Accepts(verb.Release) && tr.OverRelease != 0 && tr.OverRelease != OverReleaseUndefined {
		f.overReleases(4)
	}
	f.list(suite.Family{Name: "racing"}, f.races()...)
	f.list(suite.Family{Name: "scenarios"}, f.rows(scenarios...)...)
	f.list(suite.Family{Name: "long queue"}, f.longQueues()...)
	// The last, as one that counts slots without end tells nothing more.
	f.list(suite.Family{Name: "negative limits"},
		f.with(5, "1h", "resize -1 @0", onesTurn+" | resize -1 @0 | release 1 @0")...)
	return f.out
}

// halves are multiples of half the wait.
var halves = []time.Duration{0, suite.Wait / 2, suite.Wait}

// list adds a family of these schedules, if there are any.
func (f *families) list(family suite.Family, all ...conformance.Schedule) {
	if family.Schedules = all; len(all) > 0 {
		f.out = append(f.out, family)
	}
}

// add adds the family of a plan for limiters of one configuration, if it is one for this implementation.
func (f *families) add(name string, limit, backlog int, timeout string, p plan) {
	heaviest := slices.Max(append(p.weights, 1))
	lacks := backlog == 0 && f.tr.Backlog != BacklogBounded || (p.early || p.deadline > 0) && !f.contexts ||
		heaviest > 1 && !f.tr.weighs() || heaviest > limit && !f.oversize ||
		p.enter != "" && !f.s.Accepts(p.enter) || p.try && !f.s.Accepts(verb.Try) ||
		p.resize != nil && (!f.s.Accepts(verb.Resize) || heaviest > 1 && !f.resized)
	if !lacks {
		f.list(suite.Family{Name: name}, f.planned(limit, backlog, timeout, p)...)
	}
}

func (f *families) planned(limit, backlog int, timeout string, p plan) []conformance.Schedule {
	p.cancel, p.running = p.cancel && f.contexts, p.running && f.contexts
	p.cfg = f.tr.bounded(limit, backlog, timeout)
	if p.epoch != "" {
		p.cfg = p.cfg.With("epoch", p.epoch)
	}
	return p.schedules(f.tr)
}

// row is a schedule for limiters of one configuration.
type row struct {
	limit, backlog int
	timeout, steps string
}

// rows are the schedules that are some for this implementation. One with another timeout than an hour is about that.
func (f *families) rows(rows ...row) (all []conformance.Schedule) {
	for _, r := range rows {
		s := suite.MustParse(f.tr.bounded(r.limit, r.backlog, r.timeout).String() + " | " + r.steps)
		lacks := func(st conformance.Step) bool {
			switch ends := st.Op == verb.Cancel || st.D > 0 && comes(st.Op); {
			case ends && !f.contexts, st.K > 1 && !f.tr.weighs(), st.K > r.limit && !f.oversize:
				return true
			case st.Op == verb.Resize && weighs(s) && !f.resized:
				return true
			}
			return (comes(st.Op) || st.Op == verb.Resize) && !f.s.Accepts(st.Op)
		}
		if (f.timeout || r.timeout == "1h") && !slices.ContainsFunc(s.Steps, lacks) {
			all = append(all, s)
		}
	}
	return all
}

// weighs reports whether a request asks for several slots.
func weighs(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return st.K > 1 })
}

// with are rows of one configuration, with a limit of 1.
func (f *families) with(backlog int, timeout string, texts ...string) (all []conformance.Schedule) {
	for _, text := range texts {
		all = append(all, f.rows(row{1, backlog, timeout, text})...)
	}
	return all
}

// leaks are runs that must leave nothing behind, also before what ends a wait comes after all.
func (f *families) leaks() []conformance.Schedule {
	out := f.planned(1, 1, "100ms", plan{gaps: []time.Duration{0, suite.Wait}, depth: 3, cancel: true})
	out = append(out, f.with(1, "1h", "acquire 1 @0 | acquire 2 @0 | cancel 2 @0 | "+
		"acquire 3 @0 | cancel 3 @0 | acquire 4 @0 | cancel 4 @0 | idle 2h")...)
	if f.timeout { // also one that has not come an hour after all
		out = append(out, f.planned(1, 1, "2500h", plan{gaps: []time.Duration{0}, depth: 3, cancel: true})...)
	}
	return append(out, f.with(1, "100ms",
		"acquire 1 @0 | acquire 2 @0 | acquire 3 @150ms | acquire 4 @300ms | idle 1s")...)
}

// timeouts are requests around the instants at which waits end.
func (f *families) timeouts() {
	around := []time.Duration{0, suite.Wait / 2, suite.Wait - 1, suite.Wait}
	f.list(suite.Family{Name: "timeout that is not round"}, f.with(1, "333.333333ms",
		onesTurn+" | idle 1s", onesTurn+" | release 1 @333.333332ms")...)
	f.list(suite.Family{Name: "timeout of a nanosecond"}, f.with(1, "1ns", onesTurn+" | idle 1s")...)
	near := []time.Duration{0, 1, suite.Wait / 2}
	f.add("several wait with a timeout", 1, 3, "100ms", plan{gaps: near, depth: 4, cancel: true, later: true})
	f.list(suite.Family{Name: "timeout of 0", Skip: f.s.Unsettled()}, f.planned(1, 2, "0", plan{depth: 4})...)
	for _, epoch := range f.s.Epochs() {
		f.add("epochs", 1, 1, "100ms", plan{epoch: epoch, gaps: around, depth: 3})
	}
}

// largeNumbers are limits and weights that are more than some types hold, and such as are more than any
// type holds when something is added.
var largeNumbers = []row{
	{300, 1, "1h", "acquire 1 300 @0"},
	{300, 1, "1h", "acquire 1 299 @0 | acquire 2 @0 | release 1 @0"},
	{300, 1, "1h", "acquire 1 300 @0 | acquire 2 @0 | release 1 @0"},
	{65537, 1, "1h", "acquire 1 65537 @0"},
	{65537, 1, "1h", "acquire 1 65536 @0 | acquire 2 @0 | release 1 @0"},
	{65537, 1, "1h", "acquire 1 65537 @0 | acquire 2 @0 | release 1 @0"},
	{2, 1, "1h", fmt.Sprintf("acquire 1 @0 | acquire 2 %d @0", math.MaxInt)},
	{2, 1, "1h", fmt.Sprintf("acquire 1 @0 | try 2 %d @0", math.MaxInt)},
}

// resizes change the limit while requests run and wait.
func (f *families) resizes() {
	f.add("resize", 2, 2, "1h", plan{depth: 4, resize: []int{1, 3}})
	f.list(suite.Family{Name: "resize to nothing"}, f.with(5, "1h", nothing...)...)
	if f.timeout {
		f.add("resize and a timeout", 1, 2, "100ms", plan{gaps: halves[:2], depth: 4, resize: []int{1, 2}, later: true})
	}
	weights := []int{1, 2}
	if f.oversize {
		weights = append(weights, 3)
	}
	f.add("resize and weights", 2, 3, "1h", plan{weights: weights, depth: 4, resize: []int{1, 3}})
	f.add("resize and try", 2, 2, "1h", plan{enter: verb.Try, depth: 4, resize: []int{1, 3}})
}

// overReleases are releases of what nobody holds.
func (f *families) overReleases(depth int) {
	if !f.s.Accepts(opAgain) {
		f.add(overRelease, 1, 1, "1h", plan{depth: depth, over: true})
		return
	}
	f.add(overRelease, 1, 1, "1h", plan{depth: depth + 1, over: true, again: true})
	f.add(overRelease, 1, 1, "1h", plan{enter: verb.Try, depth: depth + 1, over: true, again: true})
}

// nothing lowers the limit to 0, and raises it again.
var nothing = []string{
	"resize 0 @0", "resize 0 @0 | acquire 1 @0", "resize 0 @0 | acquire 1 @0 | resize 1 @0",
	"resize 0 @0 | resize 1 @0 | acquire 1 @0 | acquire 2 @0",
	"acquire 1 @0 | resize 0 @0 | acquire 2 @0 | acquire 3 @0", "acquire 1 @0 | resize 0 @0 | release 1 @0",
	onesTurn + " | resize 0 @0 | release 1 @0", onesTurn + " | resize 0 @0 | release 1 @0 | resize 1 @0",
	onesTurn + " | acquire 3 @0 | resize 0 @0 | release 1 @0 | resize 2 @0 | release 2 @0",
	"resize 0 @0 | try 1 @0", "try 1 @0 | resize 0 @0 | release 1 @0 | try 2 @0 | resize 1 @0 | try 3 @0",
	onesTurn + " | resize 0 @0 | release 1 @0 | cancel 2 @0 | resize 1 @0 | acquire 3 @0",
}

// handlers give their slots back by returning.
func (f *families) handlers() {
	f.add("handlers", 1, 1, "1h", plan{enter: verb.Do, depth: 5, ends: []conformance.Op{verb.Panic, verb.Exit}})
	if !f.s.Accepts(opTwoWays) {
		return
	}
	f.add("handlers and contexts", 1, 2, "1h", plan{enter: verb.Do, depth: 4, cancel: true, early: true, running: true})
	if f.timeout {
		f.add("handlers and a timeout", 1, 1, "100ms", plan{enter: verb.Do, gaps: halves, depth: 3, later: true})
	}
}

const (
	heavyWaits = "acquire 1 @0 | acquire 2 3 @0 | acquire 3 @50ms | acquire 4 @50ms"
	thenHeavy  = " | acquire 2 3 @0 | acquire 3 @0 | resize 2 @0"
	twosLeave  = " | release 1 @0 | release 2 @0"
	five       = "acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0"
)

// scenarios are longer schedules, in which one step must let several requests run.
var scenarios = []row{
	{3, 5, "1h", "acquire 1 3 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0 | release 1 @0"},
	{3, 5, "1h", heavyWaits + " | acquire 5 @50ms | release 1 @60ms | release 2 @70ms"},
	{3, 5, "1h", heavyWaits + " | cancel 2 @60ms"},
	{3, 5, "100ms", heavyWaits + " | idle 60ms"},
	{3, 5, "1h", heavyWaits + " | resize 6 @60ms"},
	{3, 5, "1h", "acquire 1 @0" + thenHeavy},
	{3, 5, "1h", "acquire 1 2 @0" + thenHeavy + " | release 1 @50ms"},
	{3, 5, "1h", "acquire 1 2 @0" + thenHeavy + " | release 1 @50ms | resize 3 @60ms"},

	// Below the limit is what one waits for, who may not run then, and may keep those behind it waiting, but no longer
	// than it waits itself.
	{2, 5, "1h", "acquire 1 @0 | acquire 2 2 @0 | resize 1 @0 | release 1 @0"},
	{2, 5, "1h", "acquire 1 2 @0 | acquire 2 @0 | acquire 3 2 @0 | resize 1 @0 | release 1 @0"},
	{3, 5, "1h", "acquire 1 @0 | acquire 2 3 @0 | acquire 3 3 @0 | acquire 4 @0 | resize 2 @0"}, // two of them
	{3, 5, "1h", "acquire 1 @0 | acquire 2 3 @0 | acquire 3 3 @0 | resize 2 @0 | acquire 4 @0"},
	{3, 5, "1h", "acquire 1 2 @0 | acquire 2 3 @0 | acquire 3 2 @0 | acquire 4 3 @0 | acquire 5 @0 | resize 2 @0 | " +
		"release 1 @0"},
	{2, 5, "1h", "acquire 1 @0 | acquire 2 2 @0 | acquire 3 @0 | resize 1 @0 | release 1 @0 | cancel 2 @0"},
	{2, 5, "100ms", "acquire 1 @0 | acquire 2 2 @0 | acquire 3 @50ms | resize 1 @50ms | release 1 @50ms | idle 50ms"},

	// What gets no slot and does not wait for one comes behind two that do and stay in their order.
	{1, 2, "1h", twosTurn + " | acquire 4 @0" + twosLeave}, // the backlog is full
	{1, 2, "1h", twosTurn + " | cancel 4 @0 | acquire 4 @0" + twosLeave},
	{1, 2, "1h", twosTurn + " | try 4 @0" + twosLeave},
	{1, 2, "1h", twosTurn + " | acquire 4 2 @0" + twosLeave},

	{3, 5, "1h", five + " | resize 1 @0 | release 1 @0 | release 2 @0 | release 3 @0 | resize 3 @0"},
	{3, 5, "1h", five + " | resize 1 @0 | resize 2 @0 | resize 3 @0 | release 1 @0 | resize 4 @0"},
	{3, 5, "1h", onesTurn + " | resize 1 @0 | acquire 3 @0 | acquire 4 @0 | resize 2 @0 | resize 3 @0 | release 1 @0"},
	{1, 5, "1h", five + " | resize 2 @0 | resize 4 @0 | resize 4 @0 | " +
		"release 1 @0 | resize 2 @0 | release 2 @0 | release 3 @0"},
	{1, 5, "1h", five + " | cancel 2 @0 | resize 2 @0 | cancel 4 @0 | resize 4 @0"},
	{3, 5, "1h", five + " | resize 1 @0 | cancel 4 @0 | release 1 @0 | release 2 @0 | release 3 @0"},
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

// races are schedules in which a slot comes free, or is asked for, at the instant at which a
// wait ends.
func (f *families) races() (out []conformance.Schedule) {
	for _, backlog := range []int{1, 2} {
		out = append(out, f.with(backlog, "100ms", ties...)...)
		out = append(out, f.with(backlog, "1h", atOnce...)...)
	}
	return append(out, f.rows(heavyTies...)...)
}

const (
	onesTurn = "acquire 1 @0 | acquire 2 @0"
	twosTurn = "acquire 1 @0 | acquire 2 @0 | acquire 3 @0"
)

// ties let steps race with the timeouts of requests that wait.
var ties = []string{
	onesTurn + " | release 1 @100ms~",
	twosTurn + " | release 1 @100ms~",
	onesTurn + " | acquire 3 @50ms | release 1 @100ms~",
	onesTurn + " | acquire 3 @100ms~",
	onesTurn + " | release 1 @100ms~ | acquire 3 @100ms~",
	onesTurn + " | acquire 3 @100ms~ | release 1 @100ms~",
	onesTurn + " | cancel 2 @100ms~",
	onesTurn + " | release 1 @100ms~ | cancel 2 @100ms~",
	"acquire 1 @0 | acquire 2 100ms @0 | release 1 @100ms~",
	onesTurn + " | release 1 @50ms | try 3 @50ms~ | release 3 @200ms", // 2 is woken, and finds that the slot is gone
	onesTurn + " | resize 2 @100ms~",
}

// atOnce are steps without a pause between them, and contexts that end by themselves.
var atOnce = []string{
	onesTurn + " | release 1 @0 | acquire 3 @0~",
	onesTurn + " | acquire 3 @0 | release 1 @0~",
	onesTurn + " | release 1 @0 | cancel 2 @0~",
	onesTurn + " | cancel 2 @0 | release 1 @0~",
	twosTurn + " | release 1 @0 | cancel 2 @0~",
	twosTurn + " | cancel 2 @0 | release 1 @0~",
	onesTurn + " | cancel 2 @0 | acquire 3 @0~",
	onesTurn + " | acquire 3 @0 | cancel 3 @0~",
	"acquire 1 @0 | cancel 1 @0~",
	"acquire 1 @0 | acquire 2 100ms @0 | release 1 @100ms~",
	"acquire 1 @0 | acquire 2 100ms @0 | acquire 3 @0 | release 1 @100ms~",
	"do 1 @0 | do 2 @0 | release 1 @0 | do 3 @0~",
	"do 1 @0 | do 2 @0 | release 1 @0 | cancel 2 @0~",
}

// heavyTies are ties of requests for several slots, and of a limit that is raised.
var heavyTies = []row{
	{3, 2, "1h", "acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @0 | release 1 @0 | cancel 2 @0~"},
	{3, 2, "1h", "acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @0 | cancel 2 @0 | release 1 @0~"},
	{3, 2, "100ms", "acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @50ms | release 1 @100ms~"},
	{3, 1, "1h", "acquire 1 3 @0 | acquire 2 3 @0 | acquire 3 @0 | cancel 2 @0 | resize 2 @0~"}, // which may reject 2
	{3, 1, "100ms", "acquire 1 3 @0 | acquire 2 3 @0 | acquire 3 @0 | resize 2 @100ms~"},
	{1, 2, "1h", onesTurn + " | resize 2 @0 | cancel 2 @0~"},
}
