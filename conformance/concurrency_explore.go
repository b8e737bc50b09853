package conformance

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// concurrencyOrders lists the orders in which a schedule is run. Where a select may
// find two things ready, which it takes is chance.
func (c *contract) concurrencyOrders(s Schedule) []Order {
	const often = 24
	switch {
	case s.racing() > 0 && c.time == PackageTime:
		return slices.Repeat([]Order{OrderSampled}, often)
	case s.racing() > 0:
		return append([]Order{OrderStepFirst, OrderHeld, OrderFireFirst}, slices.Repeat([]Order{OrderSampled}, often)...)
	case preCancelled(s) || s.Config.has("timeout") && s.Config.Timeout == 0:
		return slices.Repeat([]Order{OrderSettled}, often)
	}
	return []Order{OrderSettled}
}

// concurrencyPlan is a part of the exploration: every schedule of these steps.
type concurrencyPlan struct {
	cfg     Config
	enter   Op // OpAcquire if it is not set
	weights []int
	gaps    []time.Duration
	depth   int

	cancel, early, running bool // contexts are cancelled: while it waits, before it comes, while it runs
	deadline               time.Duration
	resize                 []int
	try, over              bool
	later                  bool // each ends once more with time for every timeout
	ends                   []Op // how a handler ends, besides by returning
}

// concurrencyFamilies lists what RunConcurrency explores, in constants.
func concurrencyFamilies(c *contract) []family {
	tr := c.con.Traits
	if !c.accepts(OpAcquire) {
		return nil
	}
	cfg := func(limit, backlog int, timeout string) Config {
		out := Config{}.With("limit", fmt.Sprint(limit))
		switch tr.Backlog {
		case BacklogBounded:
			out = out.With("backlog", fmt.Sprint(backlog))
		case BacklogNone:
			out = out.With("backlog", "0")
		case 0:
			out = out.With("backlog", "99") // more than ever wait here
		}
		switch tr.Timeout {
		case TimeoutBounded:
			out = out.With("timeout", timeout)
		case 0:
			out = out.With("timeout", "1h")
		}
		return out
	}
	context := conContext(c) == ""
	timeout := tr.Timeout == TimeoutBounded
	now := []time.Duration{0}
	around := []time.Duration{0, wait / 2, wait - 1, wait}
	var out []family
	add := func(name string, p concurrencyPlan) {
		out = append(out, family{name: name, schedules: c.plan(p)})
	}
	out = append(out, family{name: leaks, look: true, schedules: c.plan(concurrencyPlan{cfg: cfg(1, 1, "100ms"), gaps: []time.Duration{0, wait}, depth: 3, cancel: context})})
	add("one slot", concurrencyPlan{cfg: cfg(1, 2, "1h"), gaps: now, depth: 6, cancel: context})
	add("two slots", concurrencyPlan{cfg: cfg(2, 1, "1h"), gaps: now, depth: 5, cancel: context, running: context})
	add("three slots", concurrencyPlan{cfg: cfg(3, 1, "1h"), gaps: now, depth: 6})
	if tr.Backlog == BacklogBounded {
		add("no backlog", concurrencyPlan{cfg: cfg(2, 0, "1h"), gaps: now, depth: 5})
	}
	if timeout {
		add("timeout", concurrencyPlan{cfg: cfg(1, 1, "100ms"), gaps: around, depth: 4, cancel: context})
		add("several wait with a timeout", concurrencyPlan{cfg: cfg(1, 3, "100ms"), gaps: []time.Duration{0, wait / 2}, depth: 4, cancel: context, later: true})
		out = append(out, family{name: "timeout of 0", skip: unsettled(c),
			schedules: c.plan(concurrencyPlan{cfg: cfg(1, 2, "0"), gaps: now, depth: 4})})
		if c.time == Injected {
			for _, epoch := range epochs {
				add("epoch "+epoch, concurrencyPlan{cfg: cfg(1, 1, "100ms").With("epoch", epoch), gaps: around, depth: 3})
			}
		}
	}
	if context {
		add("context done before", concurrencyPlan{cfg: cfg(1, 1, "1h"), gaps: now, depth: 4, early: true})
		add("deadline of the context", concurrencyPlan{cfg: cfg(1, 2, "100ms"), gaps: []time.Duration{0, wait / 2, wait}, depth: 3, deadline: wait / 2})
	}
	if !tr.Single {
		add("weights", concurrencyPlan{cfg: cfg(3, 3, "1h"), weights: []int{1, 2, 3}, gaps: now, depth: 4, cancel: context})
		add("heavy and light", concurrencyPlan{cfg: cfg(2, 3, "1h"), weights: []int{1, 2}, gaps: now, depth: 5, cancel: context})
		if timeout {
			add("weights and a timeout", concurrencyPlan{cfg: cfg(3, 3, "100ms"), weights: []int{1, 3}, gaps: []time.Duration{0, wait / 2}, depth: 4})
		}
		if conOver(c) == "" {
			add("more than the limit", concurrencyPlan{cfg: cfg(2, 5, "1h"), weights: []int{1, 3}, gaps: now, depth: 5, cancel: context})
		}
	}
	if c.accepts(OpResize) {
		add("resize", concurrencyPlan{cfg: cfg(2, 2, "1h"), gaps: now, depth: 4, resize: []int{1, 3}})
		add("resize by two", concurrencyPlan{cfg: cfg(1, 2, "1h"), gaps: now, depth: 4, resize: []int{3}})
		if timeout {
			add("resize and a timeout", concurrencyPlan{cfg: cfg(1, 2, "100ms"), gaps: []time.Duration{0, wait / 2}, depth: 4, resize: []int{1, 2}, later: true})
		}
		if !tr.Single {
			weights := []int{1, 2}
			if conOver(c) == "" {
				weights = append(weights, 3)
			}
			add("resize and weights", concurrencyPlan{cfg: cfg(2, 3, "1h"), weights: weights, gaps: now, depth: 4, resize: []int{1, 3}})
		}
		if c.accepts(OpTry) {
			add("resize and try", concurrencyPlan{cfg: cfg(2, 2, "1h"), enter: OpTry, gaps: now, depth: 4, resize: []int{1, 3}})
		}
	}
	if c.accepts(OpTry) {
		weights := []int{1, 2}
		if tr.Single {
			weights = nil
		}
		add("try", concurrencyPlan{cfg: cfg(2, 2, "1h"), weights: weights, gaps: now, depth: 4, try: true})
	}
	if c.accepts(OpDo) {
		add("handlers", concurrencyPlan{cfg: cfg(1, 1, "1h"), enter: OpDo, gaps: now, depth: 5, ends: []Op{OpPanic, OpExit}})
	}
	if c.accepts(opTwoWays) {
		add("handlers without a backlog", concurrencyPlan{cfg: cfg(1, 0, "1h"), enter: OpDo, gaps: now, depth: 3})
		if context {
			add("handlers and contexts", concurrencyPlan{cfg: cfg(1, 2, "1h"), enter: OpDo, gaps: now, depth: 4, cancel: true, early: true, running: true})
		}
		if timeout {
			add("handlers and a timeout", concurrencyPlan{cfg: cfg(1, 1, "100ms"), enter: OpDo, gaps: []time.Duration{0, wait / 2, wait}, depth: 3, later: true})
		}
	}
	if c.accepts(OpRelease) && c.declared("OverRelease") && tr.OverRelease != OverReleaseUndefined {
		add("over-release", concurrencyPlan{cfg: cfg(1, 1, "1h"), gaps: now, depth: 4, over: true})
	}
	return append(out, family{name: "racing", schedules: c.racing(cfg)}, family{name: "scenarios", schedules: c.scenarios(cfg)},
		family{name: "long queue", schedules: longQueue(cfg)})
}

// scenarios are longer schedules in which one step must let several others run.
func (c *contract) scenarios(cfg func(limit, backlog int, timeout string) Config) []Schedule {
	var texts []string
	if !c.con.Traits.Single {
		crowd := " | acquire 1 @0 | acquire 2 3 @0 | acquire 3 @50ms | acquire 4 @50ms"
		texts = append(texts,
			cfg(3, 5, "1h").String()+" | acquire 1 3 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0 | release 1 @0",
			cfg(3, 5, "1h").String()+crowd+" | acquire 5 @50ms | release 1 @60ms | release 2 @70ms")
		if conContext(c) == "" {
			texts = append(texts, cfg(3, 5, "1h").String()+crowd+" | cancel 2 @60ms")
		}
		if c.con.Traits.Timeout == TimeoutBounded {
			texts = append(texts, cfg(3, 5, "100ms").String()+crowd+" | idle 60ms")
		}
		if c.accepts(OpResize) {
			texts = append(texts, cfg(3, 5, "1h").String()+crowd+" | resize 6 @60ms")
		}
	}
	if c.accepts(OpResize) {
		five := " | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0"
		texts = append(texts, cfg(3, 5, "1h").String()+five+" | resize 1 @0 | release 1 @0 | release 2 @0 | release 3 @0 | resize 3 @0",
			cfg(3, 5, "1h").String()+five+" | resize 1 @0 | resize 2 @0 | resize 3 @0 | release 1 @0 | resize 4 @0",
			cfg(3, 5, "1h").String()+" | acquire 1 @0 | acquire 2 @0 | resize 1 @0 | acquire 3 @0 | acquire 4 @0 | resize 2 @0 | resize 3 @0 | release 1 @0",
			cfg(1, 5, "1h").String()+five+" | resize 2 @0 | resize 4 @0 | resize 4 @0 | release 1 @0 | resize 2 @0 | release 2 @0 | release 3 @0")
		if conContext(c) == "" {
			texts = append(texts, cfg(1, 5, "1h").String()+five+" | cancel 2 @0 | resize 2 @0 | cancel 4 @0 | resize 4 @0",
				cfg(3, 5, "1h").String()+five+" | resize 1 @0 | cancel 4 @0 | release 1 @0 | release 2 @0 | release 3 @0")
		}
	}
	return parseAll(texts)
}

func parseAll(texts []string) []Schedule {
	out := make([]Schedule, len(texts))
	for i, text := range texts {
		s, err := ParseSchedule(text)
		if err != nil {
			panic(err)
		}
		out[i] = s
	}
	return out
}

// plan lists every schedule of a plan, of up to its depth. Requests are numbered in
// the order in which they come; only those are released that run, and only those
// cancelled that wait, as far as the order is given.
func (c *contract) plan(p concurrencyPlan) []Schedule {
	if p.enter == "" {
		p.enter = OpAcquire
	}
	if p.weights == nil {
		p.weights = []int{0}
	}
	traits := c.con.Traits
	traits.Fair = FairFIFO
	var out []Schedule
	var grow func(steps []Step)
	grow = func(steps []Step) {
		if len(steps) > 0 {
			out = append(out, Schedule{p.cfg, slices.Clone(steps)})
			if last := steps[len(steps)-1]; p.later {
				out = append(out, Schedule{p.cfg, append(slices.Clone(steps), Step{Op: OpIdle, D: wait, At: last.At + wait})})
			}
		}
		if len(steps) == p.depth {
			return
		}
		gaps, at := p.gaps, time.Duration(0)
		if len(steps) == 0 {
			gaps = []time.Duration{0}
		} else {
			at = steps[len(steps)-1].At
		}
		for _, gap := range gaps {
			for _, s := range p.next(c.con.config(p.cfg, nil), traits, steps, at+gap) {
				s.At = at + gap
				grow(append(slices.Clone(steps), s))
			}
		}
	}
	grow(nil)
	return out
}

// next lists what can be done at an instant after steps.
func (p concurrencyPlan) next(cfg ConcurrencyConfig, traits ConcurrencyTraits, steps []Step, at time.Duration) []Step {
	m := newConcurrencyModel(cfg, traits)
	index, early := map[int]int{}, map[int]bool{}
	always := func(time.Duration) bool { return true }
	for _, s := range steps {
		m.pass(s.At, true, always)
		switch s.Op {
		case OpAcquire, OpTry, OpDo:
			index[s.N] = m.add(modelRequest{weight: max(1, s.K), at: s.At, try: s.Op == OpTry, gone: early[s.N], handler: s.Op == OpDo})
			if s.D > 0 {
				m.requests[index[s.N]].expires = s.At + s.D
			}
		case OpCancel:
			if _, ok := index[s.N]; !ok {
				early[s.N] = true
				continue
			}
		case OpRelease:
			if _, ok := index[s.N]; !ok {
				continue
			}
		}
		if s.Op != OpResize {
			s.N = index[s.N]
		}
		m.group([]Step{s}, nil)
	}
	m.pass(at, true, always)
	var out []Step
	id := 1
	for ; ; id++ {
		r, ok := index[id]
		if !ok {
			break
		}
		switch m.states[0].fates[r] {
		case fateRuns:
			out = append(out, Step{Op: OpRelease, N: id})
			for _, end := range p.ends {
				out = append(out, Step{Op: end, N: id})
			}
			if p.running {
				out = append(out, Step{Op: OpCancel, N: id})
			}
		case fateWaits:
			if p.cancel {
				out = append(out, Step{Op: OpCancel, N: id})
			}
		}
	}
	for _, k := range p.weights {
		if len(p.resize) > 0 && k > m.states[0].limit && m.bigWaits {
			continue // whether it runs after a Resize is nobody's law
		}
		if k == 1 {
			k = 0 // the text says nothing of it
		}
		out = append(out, Step{Op: p.enter, N: id, K: k})
		if p.try {
			out = append(out, Step{Op: OpTry, N: id, K: k})
		}
		if p.deadline > 0 {
			out = append(out, Step{Op: p.enter, N: id, K: k, D: p.deadline})
		}
	}
	if p.early && !early[id] {
		out = append(out, Step{Op: OpCancel, N: id})
	}
	for _, n := range p.resize {
		// What becomes of a request that waits for more than a lowered limit is open.
		if !slices.ContainsFunc(m.states[0].waiting(), func(r int) bool { return m.requests[r].weight > n }) {
			out = append(out, Step{Op: OpResize, N: n})
		}
	}
	if p.over && !slices.ContainsFunc(steps, func(s Step) bool { return s.N == 9 }) {
		switch used := m.states[0].used; {
		case used == 0:
			out = append(out, Step{Op: OpRelease, N: 9})
		case traits.OverRelease == OverReleasePanics && !traits.Single:
			out = append(out, Step{Op: OpRelease, N: 9, K: used + 1})
		}
	}
	return out
}

// racing lists schedules in which a slot comes free, or is asked for, at the instant
// at which a wait ends.
func (c *contract) racing(cfg func(limit, backlog int, timeout string) Config) []Schedule {
	var texts []string
	add := func(text string) { texts = append(texts, text) }
	one, two := "acquire 1 @0 | acquire 2 @0", "acquire 1 @0 | acquire 2 @0 | acquire 3 @0"
	for _, backlog := range []int{1, 2} {
		if c.con.Traits.Timeout == TimeoutBounded {
			conf := cfg(1, backlog, "100ms").String()
			add(conf + " | " + one + " | release 1 @100ms~")
			add(conf + " | " + two + " | release 1 @100ms~")
			add(conf + " | " + one + " | acquire 3 @50ms | release 1 @100ms~")
			add(conf + " | " + one + " | acquire 3 @100ms~")
			add(conf + " | " + one + " | release 1 @100ms~ | acquire 3 @100ms~")
			add(conf + " | " + one + " | acquire 3 @100ms~ | release 1 @100ms~")
			if conContext(c) == "" {
				add(conf + " | " + one + " | cancel 2 @100ms~")
				add(conf + " | " + one + " | release 1 @100ms~ | cancel 2 @100ms~")
				add(conf + " | acquire 1 @0 | acquire 2 100ms @0 | release 1 @100ms~")
			}
			if c.accepts(OpResize) {
				add(conf + " | " + one + " | resize 2 @100ms~")
			}
		}
		conf := cfg(1, backlog, "1h").String()
		add(conf + " | " + one + " | release 1 @0 | acquire 3 @0~")
		add(conf + " | " + one + " | acquire 3 @0 | release 1 @0~")
		if conContext(c) == "" {
			add(conf + " | " + one + " | release 1 @0 | cancel 2 @0~")
			add(conf + " | " + one + " | cancel 2 @0 | release 1 @0~")
			add(conf + " | " + two + " | release 1 @0 | cancel 2 @0~")
			add(conf + " | " + two + " | cancel 2 @0 | release 1 @0~")
			add(conf + " | " + one + " | cancel 2 @0 | acquire 3 @0~")
			add(conf + " | acquire 1 @0 | cancel 1 @0~")
			add(conf + " | acquire 1 @0 | acquire 2 100ms @0 | release 1 @100ms~")
			add(conf + " | acquire 1 @0 | acquire 2 100ms @0 | acquire 3 @0 | release 1 @100ms~")
		}
		if c.accepts(OpDo) {
			add(conf + " | do 1 @0 | do 2 @0 | release 1 @0 | do 3 @0~")
			if conContext(c) == "" {
				add(conf + " | do 1 @0 | do 2 @0 | release 1 @0 | cancel 2 @0~")
			}
		}
	}
	if !c.con.Traits.Single {
		heavy := " | acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @0"
		if conContext(c) == "" {
			add(cfg(3, 2, "1h").String() + heavy + " | release 1 @0 | cancel 2 @0~")
			add(cfg(3, 2, "1h").String() + heavy + " | cancel 2 @0 | release 1 @0~")
		}
		if c.con.Traits.Timeout == TimeoutBounded {
			add(cfg(3, 2, "100ms").String() + " | acquire 1 3 @0 | acquire 2 2 @0 | acquire 3 3 @50ms | release 1 @100ms~")
		}
	}
	if c.accepts(OpResize) && conContext(c) == "" {
		add(cfg(1, 2, "1h").String() + " | " + one + " | resize 2 @0 | cancel 2 @0~")
	}
	return parseAll(texts)
}

// longQueue are many requests that come and go in turn.
func longQueue(cfg func(limit, backlog int, timeout string) Config) []Schedule {
	var out []Schedule
	for _, limit := range []int{1, 3} {
		s := Schedule{Config: cfg(limit, 40, "1h")}
		for i := range 40 {
			s.Steps = append(s.Steps, Step{Op: OpAcquire, N: i + 1, At: time.Duration(i)})
		}
		for i := range 40 {
			s.Steps = append(s.Steps, Step{Op: OpRelease, N: i + 1, At: time.Duration(40 + i)})
		}
		out = append(out, s)
	}
	return out
}

// concurrencyCanary proves that the timeout is measured on the clock that the spec
// says.
func concurrencyCanary(c *contract) string {
	if !c.accepts(OpAcquire) {
		return "New returned nothing that can be used: set Acquire or Lock, and Release, or Do; where nothing waits TryAcquire and Release will do"
	}
	if c.time != Injected || c.con.Traits.Timeout != TimeoutBounded {
		return ""
	}
	own, other := false, false
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		late := func(move func()) bool {
			f := c.con.New(Env{d.clock(), Config{}.start()}, ConcurrencyConfig{Limit: 1, Backlog: 5, Timeout: time.Hour, OnReject: func() {}})
			leave := make(chan struct{})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			done := make(chan struct{})
			go func() {
				_ = catch(func() { _ = f.enter()(ctx, 1, func() { <-leave }) })
				if f.Release != nil {
					_ = catch(func() { f.Release(1) })
				}
			}()
			d.settle()
			go func() {
				defer close(done)
				_ = catch(func() {
					if f.enter()(ctx, 1, func() {}) == nil && f.Release != nil {
						f.Release(1)
					}
				})
			}()
			d.settle()
			move()
			d.settle()
			out := false
			select {
			case <-done:
				out = true
			default:
			}
			close(leave)
			cancel()
			d.settle()
			if f.Stop != nil {
				f.Stop()
			}
			d.settle()
			return out
		}
		own = late(func() { d.to(d.now() + 2*time.Hour) })
		other = late(func() { time.Sleep(2 * time.Hour) })
	}).once()
	if other && !own {
		return "the spec says Injected, but a wait ended when package time moved and not when Env.Clock did: " +
			"hand Env.Clock to the implementation, or set Time: conformance.PackageTime"
	}
	return ""
}
