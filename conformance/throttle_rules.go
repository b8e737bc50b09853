package conformance

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// throttleRules are the rules of RunThrottle. Those of the model say which law the
// first difference breaks.
var throttleRules = []rule{
	thrRule("TH-FIRST", Core, "On the leading edge the very first event MUST be emitted at once, wherever on the time line the clock starts.", Leading, LeadingAndTrailing),
	thrRule("TH-LEADNEXT", Core, "On the leading edge an event that comes after the end of an interval MUST be emitted at once; at its very end, as declared.", Leading, LeadingAndTrailing),
	thrRule("TH-SPACE", Core, "Two emissions MUST be at least the interval apart."),
	thrRule("TH-DROP", Core, "With the leading edge alone an event within an interval MUST be dropped, and never emitted later.", Leading),
	thrRule("TH-LAST", Core, "On the trailing edge, what came last in an interval MUST be emitted at its end.", Trailing, LeadingAndTrailing),
	thrRule("TH-NOTDEB", Core, "Events that go on coming MUST NOT put off the end of an interval.", Trailing, LeadingAndTrailing),
	thrRule("TH-PAY", Core, "The trailing edge MUST emit the payload that is declared: of the newest event of the interval, or of its first.", Trailing, LeadingAndTrailing),
	thrRule("TH-SINGLE", Core, "With both edges a single event MUST be emitted once, or twice, as declared.", LeadingAndTrailing),
	thrRule("TH-TRAILONLY", Core, "With the trailing edge alone an event MUST NOT be emitted before the end of its interval.", Trailing),
	thrRule("TH-TRAILOPENS", Core, "An emission on the trailing edge MUST open an interval of its own.", Trailing, LeadingAndTrailing),
	thrRule("TH-NOSPON", Core, "Nothing MUST be emitted without an event since the last emission."),
	thrRule("TH-ZERO", Core, "With an interval of 0 every event MUST be emitted, unless the constructor refuses it."),
	thrRule("TH-NONE", Extended, "With no edge at all nothing MUST be emitted, unless the constructor refuses it.", NoEdges),
	thrRule("TH-RESET", Core, "After Reset the next event MUST be emitted, and begin an interval of full length.", Leading),
	{Rule: Rule{"TH-ONEOF", "Of events that many goroutines bring at one instant each edge MUST emit one, or the leading edge the k that are declared.", lawsLink + "th-oneof", Core},
		probe: (*contract).throttleConcurrent, skip: thrSkip("TH-ONEOF")},
	{Rule: Rule{"TH-STOP", "After Stop nothing MUST be emitted for an event that came before it: Stop drops what is pending.", lawsLink + "th-stop", Core},
		trace: (*exam).stopHolds, skip: thrSkip("TH-STOP")},
	thrRule("TH-RATE", Extended, "No interval MUST hold more than the k events that it lets pass, counted as declared.", Leading),
	thrRule("TH-MAXIMAL", Extended, "An event that finds less than k in its interval MUST be emitted at once.", Leading),
	thrRule("TH-ERR", Extended, "An error item MUST be passed on at once, in its place, whatever the interval."),
	thrRule("TH-ERRNEUT", Extended, "Errors MUST neither open nor put off an interval, nor count in one."),
	thrRule("TH-CTX", Extended, "When its context is cancelled the output MUST be closed at once, and nothing emitted any more."),
	thrRule("TH-CLOSE", Extended, "When its input ends the output MUST be closed, and what is pending treated as declared."),
	{Rule: Rule{"TH-BUSY", "A callback that takes time MUST change nothing in this: emissions begin at least the interval apart, none comes twice, and what came last on the trailing edge is emitted.", lawsLink + "th-busy", Core},
		trace: (*exam).throttleBusy, skip: thrSkip("TH-BUSY")},
	{Rule: Rule{"TH-CLOCKBACK", "When the clock is set back, events MUST be held up for one interval at most.", lawsLink + "th-clockback", Extended},
		trace: (*exam).throttleBack, skip: thrSkip("TH-CLOCKBACK")},
	{Rule: Rule{"X-BACK", "When the clock is set back, nothing MUST come sooner than on a clock that stands still until it is where it was.", lawsLink + "x-back", Extended},
		trace: (*exam).throttleBack, skip: thrSkip("X-BACK")},
	{Rule: Rule{"TH-KEY", "Each key MUST have an interval of its own.", lawsLink + "th-key", Extended},
		trace: (*exam).throttleApart, skip: thrSkip("TH-KEY")},
	{Rule: Rule{"X-ISO", "Instances MUST NOT share state.", lawsLink + "x-iso", Core},
		trace: (*exam).throttleApart, skip: thrSkip("X-ISO")},
	{Rule: Rule{"X-CLOCK1", "No other clock than the one injected MUST have any influence.", lawsLink + "x-clock1", Core},
		probe: (*contract).otherClock, skip: thrSkip("X-CLOCK1")},
	{Rule: Rule{"X-PANIC", "After the panic of a callback the throttle MUST work on, and the panic go where it is declared to go.", lawsLink + "x-panic", Extended},
		probe: (*contract).panics, skip: thrSkip("X-PANIC")},
	{Rule: Rule{"X-REENT", "An operation called from the callback MUST NOT deadlock.", lawsLink + "x-reent", Core},
		trace: func(x *exam) *violation { return x.xReent() }, skip: thrSkip("X-REENT")},
	{Rule: Rule{"X-CALLS", "Every operation of a legal schedule MUST return and MUST NOT panic.", lawsLink + "x-calls", Core},
		trace: func(x *exam) *violation { return x.thrCalls() }},
	{Rule: Rule{"X-LEAK", "When all is quiet, and after Stop, no goroutine and no armed timer MUST remain.", lawsLink + "x-leak", Core},
		trace: func(x *exam) *violation { return x.xLeft() }, skip: thrSkip("X-LEAK")},
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).throttleRace, skip: withoutRaceDetector, live: true},
}

func thrRule(id string, level Level, text string, edges ...Edges) rule {
	return rule{
		Rule: Rule{id, text, lawsLink + anchor(id), level},
		skip: thrSkip(id, edges...),
		trace: func(x *exam) *violation {
			if d := x.throttleDifference(); d.rule == id {
				return d.v
			}
			return x.outputLeftOpen(id)
		},
	}
}

// thrSkip says why a rule does not apply: it is about other edges, or an operation
// that is not there.
func thrSkip(id string, edges ...Edges) func(c *contract) string {
	return func(c *contract) string {
		switch has := c.thr.Traits.Edges; {
		case thrNeeds[id] != "" && !c.accepts(thrNeeds[id]):
			return "the implementation has no " + string(thrNeeds[id])
		case thrOptions[id] != nil && thrOptions[id](c.thr.Traits) != "":
			return thrOptions[id](c.thr.Traits)
		case id == "X-CLOCK1" && !(c.lab.bubble && c.time == Injected):
			return "only where a clock is injected and package time can be held does the difference show"
		case id == "X-BACK" && c.time == PackageTime, id == "TH-CLOCKBACK" && c.time == PackageTime:
			return "package time cannot be set back"
		case id == "X-REENT" && c.time == Explicit, id == "X-PANIC" && !c.accepts(opEmits):
			return "there is no callback"
		case (id == "TH-KEY" || id == "X-ISO" && c.accepts(opKeys)) && c.thr.Traits.Payload == NoPayload:
			return "declared: NoPayload, so nobody can tell for which key a callback runs"
		case id == "X-LEAK" && !c.lab.bubble:
			return "goroutines can only be told apart in a bubble"
		case id == "TH-DROP" && c.thr.Traits.BothSingle == 0 && len(has) == 0:
			return "trait Edges is undeclared"
		case len(edges) == 0 || len(has) == 0 && slices.Contains(edges, Leading):
			return ""
		case !slices.ContainsFunc(edges, func(e Edges) bool { return slices.Contains(has, e) }):
			return noSuchEdge
		}
		return ""
	}
}

// thrNeeds are the operations that rules are about.
var thrNeeds = map[string]Op{
	"TH-RESET": OpReset, "TH-STOP": OpStop, "TH-ERR": OpFault, "TH-ERRNEUT": OpFault, "TH-CTX": OpCancel, "TH-CLOSE": OpClose, "TH-KEY": opKeys,
}

// thrOptions say why a rule that rests on an optional trait is not in force.
var thrOptions = map[string]func(t ThrottleTraits) string{
	"TH-RATE":    func(t ThrottleTraits) string { return undeclared(t.Windows == 0, "Windows") },
	"TH-MAXIMAL": func(t ThrottleTraits) string { return undeclared(t.Windows == 0, "Windows") },
	"TH-CLOSE": func(t ThrottleTraits) string {
		trailing := slices.Contains(t.Edges, Trailing) || slices.Contains(t.Edges, LeadingAndTrailing)
		return undeclared(trailing && t.CloseFlush == 0, "CloseFlush")
	},
	"TH-CLOCKBACK": func(t ThrottleTraits) string { return undeclared(t.ClockBack != BackBounded, "ClockBack: BackBounded") },
	"X-BACK":       func(t ThrottleTraits) string { return undeclared(t.ClockBack != BackStands, "ClockBack: BackStands") },
	"X-PANIC":      func(t ThrottleTraits) string { return undeclared(t.PanicPolicy == 0, "PanicPolicy") },
	"X-REENT": func(t ThrottleTraits) string {
		if t.Reentrancy == ReentrancyForbidden {
			return "declared: ReentrancyForbidden"
		}
		return ""
	},
}

// undeclared says why a rule that rests on an optional trait is skipped, if it is.
func undeclared(yes bool, trait string) string {
	if yes {
		return "no " + trait + " is declared"
	}
	return ""
}

// noSuchEdge is why rules of edges that are not declared are skipped. They do not
// count as core then.
const noSuchEdge = "declared edges do not include it"

// throttleModel says what must be emitted in a schedule of settled steps, and up to
// which instant that is certain. With the trailing edge alone there are two correct
// throttles: an event that follows an emission waits for the end of the interval that
// the emission has opened or, if opens is false, opens one itself.
func (x *exam) throttleModel(opens bool) (want []edgeFire, certain time.Duration) {
	cfg, traits := x.Schedule.Config, x.c.thr.Traits
	edges := cfg.Edges
	if edges == 0 {
		edges = x.c.thr.edges()
	}
	if edges == NoEdges {
		for _, s := range x.Schedule.Steps {
			if s.Op == OpFault {
				want = append(want, edgeFire{at: s.At, value: s.N, kind: "error"})
			}
		}
		return want, far
	}
	if cfg.K > 1 {
		return x.windowModel()
	}
	certain = far
	running, pending := false, false
	var until time.Duration
	value, size := 0, 0
	pass := func(to time.Duration) {
		for running && until <= to {
			if !pending {
				running = until == to && traits.Boundary != BoundaryPasses
				return
			}
			want = append(want, edgeFire{at: until, value: value, kind: "trailing", size: size})
			pending, size = false, 0
			until += cfg.Interval
			running = opens
		}
	}
	for _, s := range x.Schedule.Steps {
		pass(s.At - 1)
		atEnd := running && s.At == until
		trailed := atEnd && pending
		if cfg.Interval == 0 && s.Op != OpFault {
			if last := len(want) - 1; traits.Boundary == BoundaryWaits && last >= 0 && want[last].at == s.At {
				certain = min(certain, s.At) // the very end of an interval is where it began
			}
			if s.Op == OpCall {
				want = append(want, edgeFire{at: s.At, value: s.N, kind: "zero"})
			}
			if traits.BothSingle == BothTwice && edges == LeadingAndTrailing {
				certain = 0
			}
			continue
		}
		if atEnd && (traits.Boundary == 0 || edges != Leading) && !trailed {
			certain = min(certain, s.At) // a timer may have closed the interval, or nobody
		}
		pass(s.At)
		switch {
		case s.Op == OpReset:
			running = false
		case s.Op == OpFault:
			want = append(want, edgeFire{at: s.At, value: s.N, kind: "error"})
		case s.Op == OpCancel:
			return want, certain
		case s.Op == OpClose:
			if pending && traits.CloseFlush == CloseFires {
				want = append(want, edgeFire{at: s.At, value: value, kind: "trailing", size: size})
			}
			if !pending || traits.CloseFlush != CloseAtDeadline {
				return want, certain
			}
			return append(want, edgeFire{at: until, value: value, kind: "trailing", size: size}), certain
		case s.Op != OpCall:
		case !running && edges&Leading != 0:
			want = append(want, edgeFire{at: s.At, value: s.N, kind: "leading", size: 1})
			running, until, size = true, s.At+cfg.Interval, 1
			if edges == LeadingAndTrailing && traits.BothSingle == BothTwice {
				pending, value = true, s.N
			}
		case !running:
			running, until, pending, value, size = true, s.At+cfg.Interval, true, s.N, 1
		case edges&Trailing != 0:
			if !pending || traits.Payload != FirstPayload {
				value = s.N
			}
			pending = true
			size++
		}
	}
	pass(far)
	return want, certain
}

// far is later than everything.
const far = 1 << 62

// windowModel says what a throttle emits that lets several events pass.
func (x *exam) windowModel() (want []edgeFire, certain time.Duration) {
	cfg, traits := x.Schedule.Config, x.c.thr.Traits
	var passed []time.Duration // in the interval that is running, oldest first
	certain = far
	again := math.MinInt // counts the events since a reset, of which the first must pass
	for _, s := range x.Schedule.Steps {
		switch s.Op {
		case OpReset:
			passed, again = nil, 1
			continue
		case OpStop:
			return want, certain
		}
		if again++; again == 3 {
			certain = min(certain, s.At)
		}
		over := func(t time.Duration) bool {
			if s.At-t == cfg.Interval && traits.Boundary == 0 {
				certain = min(certain, s.At)
			}
			return s.At-t > cfg.Interval || s.At-t == cfg.Interval && traits.Boundary == BoundaryPasses
		}
		switch {
		case traits.Windows == WindowsSliding:
			passed = slices.DeleteFunc(passed, over)
		case len(passed) > 0 && over(passed[0]):
			passed = nil
		}
		if len(passed) < cfg.K {
			passed = append(passed, s.At)
			want = append(want, edgeFire{at: s.At, value: s.N, kind: "leading"})
		}
	}
	return want, certain
}

// throttleDifference compares a run with the model.
func (x *exam) throttleDifference() *edgeFinding {
	if x.edge == nil && x.Schedule.racing() > 0 {
		x.edge = x.throttleLoose()
	}
	if x.edge == nil {
		find := func(opens bool) *edgeFinding {
			want, certain := x.throttleModel(opens)
			return x.findEdge(want, certain, x.c.thr.Traits.Payload, x.throttleRule)
		}
		x.edge = find(true)
		if x.edge.v != nil && x.edgesOf() == Trailing && find(false).v == nil {
			x.edge = &edgeFinding{}
		}
	}
	return x.edge
}

// throttleRule is the rule that a difference at the i-th emission breaks.
func (x *exam) throttleRule(want []edgeFire, i int, g *Fire) string {
	cfg := x.Schedule.Config
	var w *edgeFire
	if i < len(want) {
		w = &want[i]
	}
	has := func(op Op) bool {
		return slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return s.Op == op })
	}
	reset := has(OpReset)
	missing := w != nil && (g == nil || g.Began.At >= w.at)
	switch {
	case x.edgesOf() == NoEdges && !(missing && w.kind == "error"):
		return "TH-NONE"
	case has(OpCancel):
		return "TH-CTX"
	case has(OpClose):
		return "TH-CLOSE"
	case has(OpFault) && missing && w.kind == "error":
		return "TH-ERR"
	case has(OpFault):
		return "TH-ERRNEUT"
	case cfg.K > 1 && reset:
		return "TH-RESET"
	case cfg.K > 1 && missing:
		return "TH-MAXIMAL"
	case cfg.K > 1:
		return "TH-RATE"
	case cfg.Interval == 0:
		return "TH-ZERO"
	case missing && g != nil && g.Began.At == w.at:
		if w.kind == "leading" {
			return "TH-LEADNEXT"
		}
		return "TH-PAY"
	case missing && w.kind == "leading" && i == 0:
		return "TH-FIRST"
	case missing && w.kind == "leading" && reset:
		return "TH-RESET"
	case missing && w.kind == "leading":
		return "TH-LEADNEXT"
	case missing && w.size <= 1 && x.edgesOf() == LeadingAndTrailing && x.c.thr.Traits.BothSingle == BothTwice:
		return "TH-SINGLE"
	case missing && g != nil && x.calls(w.at-cfg.Interval, w.at) > 1:
		return "TH-NOTDEB"
	case missing:
		return "TH-LAST"
	case i == 0:
		return "TH-TRAILONLY" // an emission before the first that there should be
	}
	atCall := slices.ContainsFunc(x.Schedule.Steps, func(s Step) bool { return s.Op == OpCall && s.At == g.Began.At })
	if x.edgesOf() == Trailing && atCall && g.Began.At-want[i-1].at > cfg.Interval {
		return "TH-TRAILONLY"
	}
	last := want[i-1]
	gap := g.Began.At - last.at
	switch {
	case x.calls(last.at-1, g.Began.At) == 0 || x.calls(last.at, g.Began.At) == 0 && last.kind == "trailing":
		return "TH-NOSPON"
	case last.kind == "leading" && x.edgesOf() == LeadingAndTrailing && x.calls(last.at, g.Began.At) == 0:
		return "TH-SINGLE"
	case gap < cfg.Interval && last.kind == "trailing":
		return "TH-TRAILOPENS"
	case gap < cfg.Interval && reset:
		return "TH-RESET"
	case gap < cfg.Interval:
		return "TH-SPACE"
	case x.edgesOf() == Leading && !atCall:
		return "TH-DROP"
	case x.edgesOf() == Leading:
		return "TH-LEADNEXT" // at the very end of an interval, against what is declared
	}
	return "TH-NOSPON"
}

func (x *exam) edgesOf() Edges {
	if e := x.Schedule.Config.Edges; e != 0 {
		return e
	}
	return x.c.thr.edges()
}

// intervalBecause says why w, or nothing, must be emitted at that instant.
func (x *exam) intervalBecause(want []edgeFire, w *edgeFire, at time.Duration) string {
	interval := x.Schedule.Config.Interval
	switch {
	case interval == 0:
		return "the interval is 0"
	case w != nil && w.kind == "error":
		return fmt.Sprintf("item %d at %s is an error", w.value, duration(w.at))
	case x.Schedule.Config.K > 1:
		return fmt.Sprintf("%d events may pass in %s", x.Schedule.Config.K, duration(interval))
	case w != nil && w.kind == "leading":
		return fmt.Sprintf("call %d at %s finds no interval running", w.value, duration(w.at))
	case w != nil:
		return fmt.Sprintf("the interval of %s ends at %s with an event to emit", duration(interval), duration(w.at))
	}
	for i := len(want) - 1; i >= 0; i-- {
		if want[i].at <= at {
			return fmt.Sprintf("the emission at %s opened an interval of %s", duration(want[i].at), duration(interval))
		}
	}
	return ""
}

// thrCalls finds operations that panicked or did not return.
func (x *exam) thrCalls() *violation {
	if v := x.withoutEnd(); v != nil {
		return v
	}
	if x.Refused != "" && x.Schedule.Config.Interval > 0 {
		return &violation{Headline: fmt.Sprintf("the constructor refused %s: %s", x.Schedule.Config, x.Refused)}
	}
	for _, d := range x.Done {
		if d.Panic != "" {
			return &violation{Headline: fmt.Sprintf("%s panicked: %s", d.Step, d.Panic), At: d.At}
		}
		if x.Stuck && d.Ended.Seq == 0 && !d.Inside {
			return &violation{Headline: fmt.Sprintf("%s never returned", d.Step), At: d.At}
		}
	}
	return nil
}

// xLeft finds what a run has left behind.
func (x *exam) xLeft() *violation {
	switch {
	case len(x.Left) > 0:
		return &violation{Headline: "a goroutine is left: " + x.Left[0], At: x.End}
	case x.Armed:
		return &violation{Headline: "a timer is still armed", At: x.End}
	}
	return nil
}

// throttleFamilies lists what RunThrottle explores, in constants.
func throttleFamilies(c *contract) []family {
	call := []Step{{Op: OpCall}}
	number := func(all []Schedule) []Schedule {
		for _, s := range all {
			n := 0
			for i := range s.Steps {
				if s.Steps[i].Op == OpCall {
					n++
					s.Steps[i].N = n
				}
			}
		}
		return all
	}
	base := Config{}.With("interval", "100ms")
	edges := c.thr.kinds()
	grid := []time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1, 5 * wait / 2}
	var out []family
	out = append(out, family{name: leaks, look: true, schedules: number(sequences(base, call, []time.Duration{1, wait}, 3))})
	for _, e := range edges {
		cfg := base.With("edges", e.String())
		if e != c.thr.edges() {
			out = append(out, family{name: leaks + " " + e.String(), look: true, schedules: number(sequences(cfg, call, []time.Duration{1, wait}, 2))})
		}
		for _, interval := range []string{"333.333333ms", "2500h"} {
			odd := Config{}.With("interval", interval).With("edges", e.String())
			out = append(out, family{name: "odd interval " + e.String(), schedules: number(sequences(odd, call,
				[]time.Duration{1, odd.Interval - 1, odd.Interval, odd.Interval + 1}, 4))})
		}
		out = append(out,
			family{name: "edges " + e.String(), schedules: number(sequences(cfg, call, grid, 5))},
			family{name: "sustained " + e.String(), schedules: sustained(cfg)})
		if e != NoEdges {
			out = append(out, family{name: "zero " + e.String(), skip: unsettled(c),
				schedules: number(sequences(Config{}.With("interval", "0").With("edges", e.String()), call, []time.Duration{0, 1, wait}, 3))})
		}
		if c.time != PackageTime {
			for _, epoch := range epochs {
				out = append(out, family{name: "epoch " + epoch, schedules: number(sequences(cfg.With("epoch", epoch), call, grid, 3))})
			}
		}
	}
	if c.accepts(OpReset) && slices.Contains(edges, Leading) {
		out = append(out, family{name: "reset", schedules: number(sequences(base.With("edges", "leading"), []Step{{Op: OpCall}, {Op: OpReset}},
			[]time.Duration{1, wait / 2, wait - 1, wait + 1}, 4))})
	}
	return append(out, moreThrottleFamilies(c, edges, number)...)
}

// sustained are events that go on coming, faster and slower than the interval.
func sustained(cfg Config) []Schedule {
	var out []Schedule
	for _, gap := range []time.Duration{wait / 10, wait * 3 / 10, wait * 7 / 10, wait * 13 / 10} {
		s := Schedule{Config: cfg}
		for i := range 40 {
			s.Steps = append(s.Steps, Step{Op: OpCall, N: i + 1, At: time.Duration(i) * gap})
		}
		out = append(out, s)
	}
	return out
}

// throttleConcurrent has goroutines bring events at one instant.
func (c *contract) throttleConcurrent() (worst *violation, why string) {
	for _, edges := range c.thr.kinds() {
		if edges != NoEdges && worst == nil && why == "" {
			worst, why = c.throttleMeetings(edges)
		}
	}
	return worst, why
}

func (c *contract) throttleMeetings(edges Edges) (worst *violation, why string) {
	const each = 3
	k, wantLed, want := 1, int64(0), int64(0)
	if edges == Leading && c.thr.Traits.Windows != 0 {
		k = 3
	}
	if edges&Leading != 0 {
		wantLed, want = int64(k), int64(k)
	}
	if edges&Trailing != 0 {
		want++
	}
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{&watched{Clock: d.clock(), rec: rec, most: endless * places}, Config{}.start()}
		var met [places]meeting
		var impls [places]ThrottleFuncs
		emit := func(i int) func(int) { return func(int) { met[i].fire() } }
		for i := range impls {
			impls[i] = c.thr.New(env, ThrottleConfig{Interval: wait, Edges: edges, K: k}, emit(i))
		}
		for round := range meetings {
			at := time.Duration(round) * 10 * wait
			d.to(at)
			c.lab.meet(func(g, i int) {
				for range each {
					met[i].begun.Add(1)
					_ = catch(func() { impls[i].do(Step{Op: OpCall, N: g + 1}, env.Start.Add(at), c.time == Explicit, emit(i)) })
				}
			})
			d.settle()
			var led [places]int64
			for i := range led {
				led[i] = met[i].fires.Load()
			}
			d.to(at + 3*wait)
			d.settle()
			for i := range impls {
				all, late := met[i].end(each)
				if late && edges == LeadingAndTrailing && c.thr.Traits.BothSingle != BothTwice && all == wantLed {
					continue // it found them all, and they were one
				}
				if (led[i] != wantLed || all != want) && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("%d goroutines with %d events each at one instant brought %d emissions at once and %d in all, want %d and %d",
							meeters, each, led[i], all, wantLed, want),
						Because: fmt.Sprintf("no interval was running (edges=%s, round %d of %d), and no order of the calls emits another number", edges, round+1, meetings),
					}
				}
			}
		}
		for i := range impls {
			impls[i].release(false)
		}
		d.settle()
	})
	if l.once() != nil {
		return nil, "concurrent use made no progress"
	}
	return worst, ""
}

// throttleRace uses all operations of one throttle of each kind at once.
func (c *contract) throttleRace() (*violation, string) {
	why := ""
	for _, edges := range c.thr.kinds() {
		if why == "" && edges != NoEdges {
			why = c.throttleClash(edges)
		}
	}
	return nil, why
}

func (c *contract) throttleClash(edges Edges) string {
	why := c.clash(func(env Env) []func(int) {
		impl := c.thr.New(env, ThrottleConfig{Interval: wait, Edges: edges}, func(int) {})
		call := func(i int) {
			impl.do(Step{Op: OpCall, N: i}, env.Start.Add(time.Duration(i)), c.time == Explicit, func(int) {})
		}
		ops := []func(int){call, call}
		if impl.Reset != nil {
			ops = append(ops, func(int) { impl.Reset() })
		}
		if impl.CallKey != nil {
			ops = append(ops, func(i int) { impl.CallKey(i, i) }, func(i int) { impl.CallKey(i+1, i) })
		}
		return ops
	})
	if why != "" || !c.accepts(OpStop) {
		return why
	}
	return c.clash(func(env Env) []func(int) {
		impl := c.thr.New(env, ThrottleConfig{Interval: wait, Edges: edges}, func(int) {})
		stop := sync.OnceFunc(impl.Stop)
		return []func(int){func(i int) { impl.do(Step{Op: OpCall, N: i}, env.Start, c.time == Explicit, func(int) {}) }, func(i int) {
			if i == 2 {
				stop()
			}
		}}
	})
}
