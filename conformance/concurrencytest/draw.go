package concurrencytest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// Draw draws requests in bursts, with weights or with deadlines, that are released in any
// order and right at the instant at which another's wait ends, cancels of one of several
// that wait, handlers that panic, and limits that change. At most one step races.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	d := &drawing{cfg: suite.OneOf(pick, "config", c.drawn()), tr: &c.spec.Traits, kind: pick("kind", 8)}
	d.wait = d.cfg.Timeout
	if d.wait == 0 {
		d.wait = suite.Wait
	}
	gaps := slices.Concat([]time.Duration{0, 0, 0}, suite.GapsAround(d.wait), []time.Duration{suite.Deadline})
	d.deadlines = d.kind == 4 && s.Accepts(verb.Cancel)
	moves := suite.Moves(pick, d.ops(s), gaps, 2*d.wait, 19)
	if d.tr.Fair == FairNone {
		moves = moves[:min(len(moves), 10)] // the more requests, the more orders are right, and all are tried
	}
	for i, m := range moves {
		d.move(i, m)
	}
	if len(d.steps) == 0 {
		d.steps = []conformance.Step{{Op: verb.Acquire, N: 1}}
	}
	return conformance.Schedule{Config: d.cfg, Steps: d.steps}
}

// drawing is a schedule that is being drawn.
type drawing struct {
	cfg       conformance.Config
	tr        *Traits
	kind      int // what it is about
	wait      time.Duration
	deadlines bool

	steps    []conformance.Step
	c        callers
	at       time.Duration
	last     time.Duration // when the newest request came
	together int           // how many came then
}

// ops are the operations of a schedule of this kind, those that are more frequent twice.
func (d *drawing) ops(s *suite.Suite) []conformance.Op {
	out := s.Supported(verb.Acquire, verb.Acquire, verb.Try, verb.Do)
	out = append(out, verb.Release, verb.Release)
	out = append(out, s.Supported(verb.Cancel)...)
	if d.kind == 5 {
		out = append(out, s.Supported(verb.Resize)...)
	}
	if d.kind == 6 && s.Accepts(verb.Do) {
		out = append(out, verb.Panic, verb.Exit)
	}
	return out
}

// move makes a step of a move, if it can be made.
func (d *drawing) move(i int, m suite.Move) {
	before := d.at
	switch {
	case i == 0:
	case m.After == suite.Deadline:
		d.at = max(d.at, d.last+d.wait) // the wait of the newest ends
	default:
		d.at += m.After
	}
	st := conformance.Step{Op: m.Op, At: d.at}
	switch m.Op {
	case verb.Acquire, verb.Try, verb.Do:
		if d.together++; d.at > d.last {
			d.together = 1
		} else if d.together > 5 {
			return // their waits would end together, in any order
		}
		d.last = d.at
		d.request(&st, m)
	case verb.Cancel:
		st.N = d.c.cancel(m.N, d.kind == 7)
	case verb.Resize:
		if st.N = 1 + m.N%4; m.N >= 18 {
			st.N = 18 - m.N // 0 or -1
		}
	default:
		st.N = d.c.leave(m.Op, m.N, d.cfg.Limit)
	}
	if st.N == 0 && m.Op != verb.Resize {
		d.at = before
		return
	}
	races := m.Op == verb.Acquire || m.Op == verb.Release || m.Op == verb.Cancel
	raced := conformance.Schedule{Steps: d.steps}.RacingSteps() > 0
	st.Racing = m.Race && races && len(d.steps) > 0 && !raced
	d.steps = append(d.steps, st)
}

// request draws what a request asks for.
func (d *drawing) request(st *conformance.Step, m suite.Move) {
	clamps := d.tr.Oversize == OversizeClamped // which is not judged beside Resize
	if (d.kind/2 == 1 || d.kind == 5) && d.tr.weighs() && !clamps && m.Op != verb.Do {
		ended := d.tr.Context == ContextHonoured || d.tr.Timeout == TimeoutBounded
		over := d.tr.Oversize == OversizeFails || d.tr.Oversize == OversizeBlocks && ended
		st.K = 1 + m.N%d.cfg.Limit
		switch {
		case over && m.N == 19:
			st.K = d.cfg.Limit + 1
		case over && m.N == 18:
			st.K = math.MaxInt
		}
		if st.K == 1 {
			st.K = 0 // the text form of one slot has no weight
		}
	}
	if d.deadlines && m.Op != verb.Try && m.N%3 == 2 {
		st.D = []time.Duration{d.wait / 2, d.wait, d.wait - 1, 1}[m.N%4]
	}
	st.N = d.c.enter(m.Op)
}

// drawn lists the configurations of schedules that are drawn.
func (c *contract) drawn() []conformance.Config {
	var out []conformance.Config
	tr := &c.spec.Traits
	for _, timeout := range []string{"100ms", "333.333333ms", "1h"} {
		out = append(out, tr.bounded(1, 2, timeout), tr.bounded(2, 1, timeout), tr.bounded(3, 4, timeout))
	}
	out = append(out, tr.bounded(1, 5, "100ms"), tr.bounded(2, 0, "100ms"))
	if c.spec.Time == conformance.Injected && tr.Timeout == TimeoutBounded {
		out = append(out, tr.bounded(2, 2, "0")) // zero timers crash some bubbles
		out = append(out, suite.Each(tr.bounded(1, 2, "100ms"), "epoch", suite.DrawnEpochs...)...)
	}
	return out
}

// callers knows which requests have come, and which were released or cancelled.
type callers struct {
	came []conformance.Op
	live []int // not released
	gone []int // whose contexts were cancelled
}

func (c *callers) enter(op conformance.Op) int {
	c.came = append(c.came, op)
	c.live = append(c.live, len(c.came))
	return len(c.came)
}

// leave returns one of the oldest requests, 0 if none can leave by that operation: a
// request that does not run has nothing to release.
func (c *callers) leave(op conformance.Op, n, limit int) int {
	if len(c.live) == 0 {
		return 0
	}
	i := n % min(len(c.live), limit)
	id := c.live[i]
	if op != verb.Release && c.came[id-1] != verb.Do {
		return 0
	}
	c.live = slices.Delete(c.live, i, i+1)
	return id
}

// cancel returns one of the newest requests, or the next to come, 0 if it cannot be
// cancelled.
func (c *callers) cancel(n int, early bool) int {
	id := len(c.came) - n%4
	if early && n >= 15 {
		id = len(c.came) + 1
	}
	if id < 1 || slices.Contains(c.gone, id) || id <= len(c.came) && c.came[id-1] == verb.Try {
		return 0
	}
	c.gone = append(c.gone, id)
	return id
}

// Fits accepts what is configured and numbered as a drawn schedule is, with no more than five requests at one instant.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	cfg := schedule.Config
	if !suite.Among(c.drawn(), cfg) || !s.Plain(schedule, "limit", "backlog", "timeout", "epoch") ||
		c.Tidied(s, schedule).String() != schedule.String() {
		return false
	}
	var came []conformance.Step
	for _, st := range schedule.Steps {
		fits := true
		switch st.Op {
		case verb.Acquire, verb.Try, verb.Do:
			came = append(came, st)
			light := st.K == 0 || c.spec.Traits.weighs() && st.Op != verb.Do && st.K > 1 && st.K <= cfg.Limit
			fits = light && st.D == 0 && st.N == len(came) && (st.N <= 5 || came[st.N-6].At < st.At)
		case verb.Panic, verb.Exit:
			fits = st.N <= len(came) && came[st.N-1].Op == verb.Do
		case verb.Resize:
			fits = st.N >= -1 && st.N <= 4
		}
		if !fits {
			return false
		}
	}
	return true
}

// Twins puts the laws that compare two runs to a limiter that serves first come, first served:
// in any other order two runs may differ.
func (c *contract) Twins(s *suite.Suite) twins.Terms {
	if c.spec.Traits.Fair != FairFIFO {
		return twins.Terms{}
	}
	ops := s.Supported(verb.Acquire, verb.Acquire, verb.Try, verb.Do,
		verb.Release, verb.Release, verb.Cancel)
	return twins.Terms{
		Laws: []string{"X-REPLAY", "X-SHIFT", "X-SCALE", "X-ISO"},
		Configs: []conformance.Config{
			c.spec.Traits.bounded(1, 2, suite.Unit.String()), c.spec.Traits.bounded(2, 3, suite.Unit.String()),
		},
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			var all callers
			step := func(m suite.Move) conformance.Step { return all.step(m, cfg.Limit) }
			return suite.DrawClear(pick, cfg, ops, step)
		},
	}
}

// step lets a request come, go or give up; nothing if none can.
func (c *callers) step(m suite.Move, limit int) conformance.Step {
	st := conformance.Step{Op: m.Op}
	switch m.Op {
	case verb.Cancel:
		st.N = c.cancel(m.N, false)
	case verb.Release:
		st.N = c.leave(m.Op, m.N, limit)
	default:
		st.N = c.enter(m.Op)
	}
	if st.N == 0 {
		st.Op = ""
	}
	return st
}

// Tidied repairs a schedule from which steps were left out: requests are numbered in the
// order in which they first occur, and nothing is done to a request that never comes.
func (c *contract) Tidied(_ *suite.Suite, s conformance.Schedule) conformance.Schedule {
	cancels := func(op conformance.Op) bool { return op == verb.Cancel } // perhaps before its request comes
	ends := func(op conformance.Op) bool { return cancels(op) || slices.Contains(leaving, op) }
	return suite.Recounted(s, comes, ends, cancels)
}
