package conformance

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// moreThrottleFamilies are the schedules of what a throttle may have besides: several
// events per interval, errors, an end of the input, keys, callbacks that do something.
func moreThrottleFamilies(c *contract, edges []Edges, number func([]Schedule) []Schedule) []family {
	var out []family
	call := []Step{{Op: OpCall}}
	base := Config{}.With("interval", "100ms")
	if c.thr.Traits.Windows != 0 && slices.Contains(edges, Leading) {
		for _, k := range []string{"2", "3"} {
			cfg := base.With("edges", "leading").With("k", k)
			out = append(out, family{name: "k " + k, schedules: slices.Concat(
				number(sequences(cfg, call, []time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1}, 4)), sustained(cfg))})
			if c.accepts(OpReset) {
				out = append(out, family{name: "k " + k + " reset", schedules: number(sequences(cfg, []Step{{Op: OpCall}, {Op: OpReset}},
					[]time.Duration{1, wait / 2, wait + 1}, 5))})
			}
			if c.accepts(OpStop) {
				out = append(out, family{name: "k " + k + " stop", schedules: ending(
					number(sequences(cfg, call, []time.Duration{1, wait + 1}, 3)), OpStop, []time.Duration{0, wait / 2, wait + 1})})
			}
		}
	}
	for _, e := range edges {
		cfg := base.With("edges", e.String())
		if c.accepts(OpStop) {
			out = append(out, family{name: "stop " + e.String(), look: true, schedules: ending(
				number(sequences(cfg, call, []time.Duration{1, wait / 2, wait + 1}, 3)), OpStop, []time.Duration{0, wait / 2, wait + 1})})
		}
		switch {
		case c.time == Explicit || c.accepts(OpFault):
		case e&Trailing != 0:
			out = append(out, family{name: "racing " + e.String(), schedules: intervalEnds(cfg)})
		case e == Leading && c.accepts(OpReset):
			out = append(out, family{name: "racing reset", schedules: resetAtEnd(cfg)})
		}
		if c.accepts(OpFault) {
			out = append(out, family{name: "errors " + e.String(), schedules: numbered(
				sequences(cfg, []Step{{Op: OpCall}, {Op: OpFault}}, []time.Duration{0, 1, wait / 2, wait + 1}, 3))})
		}
		for _, end := range []Op{OpCancel, OpClose} {
			if c.accepts(end) {
				out = append(out, family{name: string(end) + " " + e.String(), look: true, schedules: ending(
					number(sequences(cfg, call, []time.Duration{1, wait + 1}, 2)), end, []time.Duration{0, wait / 2, wait + 1})})
			}
		}
		slow := ""
		if !c.slowCallbacks() {
			slow = "a callback that runs for a while needs a bubble to be driven exactly"
		} else if c.thr.Traits.Reentrancy == ReentrancyForbidden {
			slow = "declared: ReentrancyForbidden, so methods may wait for a running callback"
		}
		if e&Trailing != 0 {
			out = append(out, family{name: "zero payload " + e.String(), schedules: []Schedule{{cfg, []Step{{Op: OpCall, N: 1}, {Op: OpCall, At: 1}}}}})
		}
		if c.time == Explicit || e == NoEdges || c.accepts(OpFault) {
			continue // nothing of theirs calls back
		}
		for _, op := range []Op{OpCall, OpReset, OpStop} {
			if op == OpReset && e != Leading {
				continue
			}
			if c.accepts(op) && c.thr.Traits.Reentrancy != ReentrancyForbidden {
				out = append(out, family{name: "inside " + string(op) + " " + e.String(),
					schedules: number(sequences(cfg.With("inside", string(op)), call, []time.Duration{1, wait + 1}, 2))})
			}
		}
		for _, busy := range []time.Duration{wait * 3 / 10, wait * 5 / 2} {
			out = append(out, family{name: "busy " + duration(busy) + " " + e.String(), skip: slow, schedules: number(
				sequences(cfg.With("busy", duration(busy)), call, []time.Duration{1, wait / 2, wait + 1, busy + 1}, 3))})
		}
	}
	out = append(out, family{name: instances, schedules: keyed(number(sequences(base, call, []time.Duration{0, 1, wait / 2, wait + 1}, 3)))})
	if c.accepts(opKeys) {
		for _, e := range edges {
			out = append(out, family{name: keys, schedules: keyed(number(sequences(base.With("edges", e.String()), call, []time.Duration{0, 1, wait / 2, wait + 1}, 3)))})
		}
	}
	if c.time != PackageTime && c.thr.Traits.ClockBack != 0 {
		for _, e := range edges {
			if e != NoEdges {
				out = append(out, family{name: "back " + e.String(), schedules: setBack(base.With("edges", e.String()))})
			}
			if e == Leading && c.thr.Traits.Windows != 0 && c.thr.Traits.ClockBack == BackBounded {
				out = append(out, family{name: "back k", schedules: setBack(base.With("edges", e.String()).With("k", "2"))})
			}
		}
	}
	return out
}

// row counts the racing steps of one instant that begin with step i: nothing comes between
// them. Any other step is by itself.
func (s Schedule) row(i int) int {
	n := 1
	for ; i+n < len(s.Steps); n++ {
		if next := s.Steps[i+n]; !s.Steps[i].Racing || !next.Racing || next.At != s.Steps[i].At {
			break
		}
	}
	return n
}

// intervalEnds let a call, or two, meet the end of an interval with an event to emit, and
// another one follow.
func intervalEnds(cfg Config) []Schedule {
	var out []Schedule
	for _, gap := range []time.Duration{1, wait / 2, wait - 1} {
		tie := []Step{{Op: OpCall, N: 1}, {Op: OpCall, N: 2, At: gap}, {Op: OpCall, N: 3, At: wait, Racing: true}}
		out = append(out, Schedule{cfg, tie}, Schedule{cfg, append(slices.Clone(tie), Step{Op: OpCall, N: 4, At: wait, Racing: true})})
		for _, next := range []time.Duration{1, wait / 2, wait - 1, wait + 1} {
			out = append(out, Schedule{cfg, append(slices.Clone(tie), Step{Op: OpCall, N: 4, At: wait + next})})
		}
	}
	return append(out, Schedule{cfg, []Step{{Op: OpCall, N: 1}, {Op: OpCall, N: 2, At: wait, Racing: true}}})
}

// resetAtEnd lets a reset, or a reset and an event, meet the end of an interval, and
// another event come before that of the next.
func resetAtEnd(cfg Config) []Schedule {
	var out []Schedule
	for _, next := range []time.Duration{1, wait / 2, wait - 1} {
		for _, racing := range []bool{false, true} {
			out = append(out, Schedule{cfg, []Step{{Op: OpCall, N: 1}, {Op: OpReset, At: wait, Racing: true},
				{Op: OpCall, N: 2, At: wait, Racing: racing}, {Op: OpCall, N: 3, At: wait + next}}})
		}
	}
	return out
}

// stopHolds is TH-STOP: nothing is emitted once it has returned, until another event comes.
func (x *exam) stopHolds() *violation {
	for i, d := range x.Done {
		if d.Op != OpStop || d.Ended.Seq == 0 || d.Inside {
			continue
		}
		until := math.MaxInt
		if i+1 < len(x.Done) {
			until = x.Done[i+1].Began.Seq
		}
		for _, f := range x.Fires {
			if f.Began.Seq > d.Ended.Seq && f.Began.Seq < until {
				return &violation{Headline: fmt.Sprintf("emitted %d at %s, after stop", f.Value, duration(f.Began.At)),
					Because: fmt.Sprintf("stop had returned at %s, and drops what is pending", duration(d.Ended.At)), At: f.Began.At,
					Lanes: []lane{{"got", []laneMark{{f.Began.At, fireMark(f.Value)}}}}}
			}
		}
	}
	return nil
}

// throttleLoose judges what is certain whoever comes first where an event or a reset meets
// the end of an interval, and what callbacks do: emissions are the interval apart, none comes
// twice or after a newer one, and what came last is emitted on the trailing edge.
func (x *exam) throttleLoose() *edgeFinding {
	cfg, traits := x.Schedule.Config, x.c.thr.Traits
	twice := traits.BothSingle == BothTwice && x.edgesOf() == LeadingAndTrailing
	if x.Refused != "" || x.Stuck || twice {
		return &edgeFinding{}
	}
	order := map[int]int{} // of the events
	reset := 0             // the point at which one began
	// Calls in a row may each be on a goroutine of its own, and then come in any order.
	row := false
	for i := range x.Schedule.Steps {
		row = row || x.Schedule.row(i) > 1
	}
	for _, d := range x.Done {
		switch d.Op {
		case OpCall:
			order[d.N] = d.Began.Seq
		case OpReset:
			reset = d.Began.Seq
		}
	}
	got := lane{name: "got"}
	for _, f := range x.Fires {
		got.marks = append(got.marks, laneMark{f.Began.At, fireMark(f.Value)})
	}
	say := func(rule string, at time.Duration, because, headline string, args ...any) *edgeFinding {
		return &edgeFinding{rule, &violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at, Lanes: []lane{got}}}
	}
	for i := 1; i < len(x.Fires); i++ {
		f, before := x.Fires[i], x.Fires[i-1]
		if f.Began.At-before.Began.At < cfg.Interval && (before.Began.Seq > reset || f.Began.Seq < reset) {
			rule := "TH-SPACE"
			if reset > 0 {
				rule = "TH-RESET"
			}
			return say(rule, f.Began.At, fmt.Sprintf("the emission at %s opened an interval of %s", duration(before.Began.At), duration(cfg.Interval)),
				"emitted at %s, want %s at the earliest", duration(f.Began.At), duration(before.Began.At+cfg.Interval))
		}
		if traits.Payload == LastPayload && !row && order[f.Value] <= order[before.Value] {
			rule := "TH-PAY"
			if f.Value == before.Value {
				rule = "TH-NOSPON"
			}
			return say(rule, f.Began.At, fmt.Sprintf("%d had been emitted at %s", before.Value, duration(before.Began.At)),
				"emitted %d at %s, want a newer event", f.Value, duration(f.Began.At))
		}
	}
	if last := x.lostLast(); last != nil && !row {
		return say("TH-LAST", last.Began.At, "nothing came after it", "call %d at %s was not emitted by %s", last.N, duration(last.Began.At), duration(x.End))
	}
	return &edgeFinding{}
}

// lostLast returns the newest event if the trailing edge should have emitted it and has
// not. Without its payload an emission that begins after it is taken for its own.
func (x *exam) lostLast() *Done {
	if x.edgesOf()&Trailing == 0 {
		return nil
	}
	for i := len(x.Done) - 1; i >= 0; i-- {
		last := &x.Done[i]
		if last.Op != OpCall {
			continue
		}
		if slices.ContainsFunc(x.Fires, func(f Fire) bool {
			if x.c.thr.Traits.Payload == LastPayload {
				return f.Value == last.N
			}
			return f.Began.Seq > last.Began.Seq
		}) {
			return nil
		}
		return last
	}
	return nil
}

// The families of calls to two instances, and of calls with two keys.
const (
	instances = "instances"
	keys      = "keys"
)

// numbered gives calls and errors their numbers.
func numbered(all []Schedule) []Schedule {
	for _, s := range all {
		for i := range s.Steps {
			s.Steps[i].N = i + 1
		}
	}
	return all
}

// ending lets each schedule end in op, some time after its last step.
func ending(all []Schedule, op Op, gaps []time.Duration) []Schedule {
	var out []Schedule
	for _, s := range all {
		for _, gap := range gaps {
			at := s.Steps[len(s.Steps)-1].At + gap
			out = append(out, Schedule{s.Config, append(slices.Clone(s.Steps), Step{Op: op, At: at})})
		}
	}
	return out
}

// keyed gives each schedule of two calls and more the keys 1 and 2, in every way that
// starts with 1 and uses both.
func keyed(all []Schedule) []Schedule {
	var out []Schedule
	for _, s := range all {
		n := len(s.Steps)
		for bits := 1; bits < 1<<(n-1); bits++ {
			steps := slices.Clone(s.Steps)
			for i := range steps {
				steps[i].K = 1
				if i > 0 && bits>>(i-1)&1 == 1 {
					steps[i].K = 2
				}
			}
			out = append(out, Schedule{s.Config, steps})
		}
	}
	return out
}

// setBack sets the clock back after a call, by less and by more than an interval, and
// lets calls follow in a steady flow, or once.
func setBack(cfg Config) []Schedule {
	var out []Schedule
	for _, by := range []time.Duration{-1, -wait / 2, -wait, -time.Hour} {
		for _, at := range []time.Duration{1, wait / 2, wait - 1} {
			head := []Step{{Op: OpCall, N: 1}, {Op: OpWall, D: by, At: at}}
			one := append(slices.Clone(head), Step{Op: OpCall, N: 2, At: at + 1})
			flow := slices.Clone(head)
			for i := range 30 {
				flow = append(flow, Step{Op: OpCall, N: i + 2, At: at + time.Duration(i)*wait/10})
			}
			out = append(out, Schedule{cfg, one}, Schedule{cfg, flow})
		}
	}
	return out
}

// outputLeftOpen finds an output that should be closed and is not.
func (x *exam) outputLeftOpen(id string) *violation {
	if len(x.Done) == 0 || x.Refused != "" || x.Stuck {
		return nil
	}
	last := x.Done[len(x.Done)-1]
	switch {
	case id == "TH-CTX" && last.Op == OpCancel && !last.OK:
		return &violation{Headline: fmt.Sprintf("the output was still open when the context had been cancelled at %s", duration(last.At)), At: last.At}
	case id == "TH-CLOSE" && last.Op == OpClose && !x.Closed:
		return &violation{Headline: fmt.Sprintf("the output was never closed after the input had ended at %s", duration(last.At)), At: last.At}
	case id == "TH-CLOSE" && last.Op == OpClose && !last.OK && x.edgesOf() == Leading:
		return &violation{Headline: fmt.Sprintf("the output was still open when the input had ended at %s", duration(last.At)),
			Because: "nothing waits for its time on the leading edge", At: last.At}
	}
	return nil
}

// throttleBusy judges runs whose callbacks take time. Whether the interval counts from
// the start or the end of one is a choice, and so is what becomes of a call
// meanwhile; they leave this.
func (x *exam) throttleBusy() *violation {
	cfg := x.Schedule.Config
	if x.Refused != "" || x.Stuck {
		return nil
	}
	got := func(f Fire) []lane {
		return []lane{{"got", []laneMark{{f.Began.At, fireMark(f.Value)}}}}
	}
	for i, f := range x.Fires {
		if i == 0 {
			continue
		}
		before := x.Fires[i-1]
		if gap := f.Began.At - before.Began.At; gap < cfg.Interval && !(x.c.thr.Traits.BothSingle == BothTwice && x.edgesOf() == LeadingAndTrailing) {
			return &violation{Headline: fmt.Sprintf("emitted at %s, want %s at the earliest", duration(f.Began.At), duration(before.Began.At+cfg.Interval)),
				Because: fmt.Sprintf("the emission at %s began an interval of %s; its callback takes %s", duration(before.Began.At), duration(cfg.Interval), duration(cfg.Busy)),
				At:      f.Began.At}
		}
		if f.Value == before.Value && x.c.thr.Traits.Payload == LastPayload && x.c.thr.Traits.BothSingle != BothTwice {
			return &violation{Headline: fmt.Sprintf("emitted %d again at %s", f.Value, duration(f.Began.At)), At: f.Began.At}
		}
	}
	steps := x.Schedule.Steps
	for _, s := range steps { // no callback has run, and none begun, for an interval
		idle := !slices.ContainsFunc(x.Fires, func(f Fire) bool {
			return f.Began.At < s.At && (f.Ended.Seq == 0 || f.Ended.At >= s.At-cfg.Interval)
		})
		alone := !slices.ContainsFunc(steps, func(o Step) bool { return o.N < s.N && o.At >= s.At-cfg.Interval })
		if x.edgesOf()&Leading != 0 && s.Op == OpCall && idle && alone && x.c.thr.Traits.Payload != NoPayload &&
			!slices.ContainsFunc(x.Fires, func(f Fire) bool { return f.Value == s.N && f.Began.At == s.At }) {
			return &violation{Headline: fmt.Sprintf("call %d was not emitted at %s", s.N, duration(s.At)),
				Because: "no interval was running, and no callback", At: s.At}
		}
	}
	if last := x.lostLast(); last != nil && !last.Inside {
		v := &violation{Headline: fmt.Sprintf("call %d was not emitted by %s", last.N, duration(x.End)),
			Because: "nothing came after it", At: last.At}
		if len(x.Fires) > 0 {
			v.Lanes = got(x.Fires[len(x.Fires)-1])
		}
		return v
	}
	return nil
}

// throttleBack judges runs in which the clock is set back, as declared.
func (x *exam) throttleBack() *violation {
	if x.c.breaks(throttleLaws...) || x.Refused != "" || x.Stuck {
		return nil
	}
	cfg := x.Schedule.Config
	if x.c.thr.Traits.ClockBack == BackStands {
		return x.throttleStands()
	}
	var back Step
	for _, s := range x.Schedule.Steps {
		if s.Op == OpWall {
			back = s
			continue
		}
		if back.Op == "" {
			continue
		}
		// The first event behind the step; the flow brings another every tenth.
		by := s.At + cfg.Interval + wait/10
		steady := len(x.Schedule.Steps) > 3
		if x.edgesOf()&Trailing != 0 {
			by = s.At + 2*cfg.Interval
		} else if !steady {
			return nil
		}
		if last := x.Schedule.Steps[len(x.Schedule.Steps)-1]; steady && last.At < by {
			return nil
		}
		if !slices.ContainsFunc(x.Fires, func(f Fire) bool { return f.Began.At >= s.At && f.Began.At <= by }) {
			return &violation{Headline: fmt.Sprintf("nothing was emitted from %s to %s", duration(s.At), duration(by)),
				Because: fmt.Sprintf("the clock was set back by %s at %s, and that may hold events up for %s at most", duration(-back.D), duration(back.At), duration(cfg.Interval)),
				At:      by}
		}
		if !steady {
			return nil
		}
	}
	return nil
}

// throttleStands judges by the furthest instant that the clock has shown.
func (x *exam) throttleStands() *violation {
	cfg := x.Schedule.Config
	shown := func(at time.Duration) time.Duration { // the wall clock at that instant
		skew := time.Duration(0)
		for _, s := range x.Schedule.Steps {
			if s.Op == OpWall && s.At <= at {
				skew += s.D
			}
		}
		return at + skew
	}
	last, most := time.Duration(-far), time.Duration(-far)
	for _, f := range x.Fires {
		for _, s := range x.Schedule.Steps {
			if s.At <= f.Began.At && s.Op == OpCall {
				most = max(most, shown(s.At))
			}
		}
		at := max(most, shown(f.Began.At))
		if at-last < cfg.Interval {
			return &violation{Headline: fmt.Sprintf("emitted at %s, when the clock had come no further than %s", duration(f.Began.At), duration(at)),
				Because: fmt.Sprintf("the interval of %s since the emission before it was not over on that clock", duration(cfg.Interval)), At: f.Began.At}
		}
		last = at
	}
	return nil
}

// throttleLaws are those that hold of one throttle on a clock that only goes forward.
var throttleLaws = []string{"TH-FIRST", "TH-LEADNEXT", "TH-SPACE", "TH-DROP", "TH-LAST", "TH-NOTDEB", "TH-PAY", "TH-SINGLE",
	"TH-TRAILONLY", "TH-TRAILOPENS", "TH-NOSPON", "TH-NONE", "X-CALLS"}

// breaks reports whether one of the rules has been found broken so far.
func (c *contract) breaks(rules ...string) bool {
	return slices.ContainsFunc(rules, func(id string) bool { f := c.findings[id]; return f != nil && f.worst != nil })
}

// throttleApart judges what each key, or each instance, did for itself.
func (x *exam) throttleApart() *violation {
	if x.c.breaks(throttleLaws...) {
		return nil // what one alone gets wrong says nothing of two
	}
	for key := 1; key <= 2; key++ {
		own := *x.Trace
		own.Schedule.Steps, own.Fires = nil, nil
		mine := map[int]bool{}
		for _, s := range x.Schedule.Steps {
			if s.K == key {
				own.Schedule.Steps = append(own.Schedule.Steps, s)
				mine[s.N] = true
			}
		}
		for _, f := range x.Fires {
			if f.Key == key || f.Key == 0 && mine[f.Value] {
				own.Fires = append(own.Fires, f)
			}
		}
		apart := &exam{Trace: &own, c: x.c, job: x.job}
		if d := apart.throttleDifference(); d.v != nil {
			v := *d.v
			v.Headline = fmt.Sprintf("key %d: %s", key, v.Headline)
			return &v
		}
	}
	return nil
}
