package debouncertest

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Canary proves that the implementation takes its time from where the spec says, and looks
// whether runs can be settled exactly.
func (c *contract) Canary(s *suite.Suite) string {
	if !s.Accepts(verb.Call) {
		return "New returned no Call: say how to bring an event"
	}
	kinds := []Edges{c.built()}
	for _, e := range c.kinds() {
		if !s.Bubble && e != NoEdges && e != kinds[0] { // its callbacks may have goroutines of their own
			kinds = append(kinds, e)
		}
	}
	fired, strange := 0, false
	for _, edges := range kinds {
		pulse := s.Sees(c.life(edges))
		switch {
		case pulse.Hang != nil:
			if where := s.WaitsForEver(pulse.Hang); where != "" {
				return suite.NeverReturned + ": " + where
			}
			return ""
		case pulse.Refused != "":
			return fmt.Sprintf("New refused a wait of %v: %s", wait, pulse.Refused)
		case pulse.Own == 0 && pulse.Other > 0:
			return suite.WrongClock("debouncertest")
		}
		fired += pulse.Own
		strange = strange || pulse.Strange
	}
	if s.Time == conformance.Injected && !s.Bubble && (strange || fired == 0) {
		s.Inexact = suite.OwnGoroutines
	}
	return ""
}

// life shows the canary a debouncer: events bring fires.
func (c *contract) life(edges Edges) suite.Life {
	var impl Funcs
	calls := 0
	return suite.Life{
		Make: func(env conformance.Env, sign func()) {
			impl = c.build(env, Config{Wait: wait, Edges: edges}, func(int, []int) { sign() })
		},
		Use: func() int {
			calls++
			impl.Call(calls)
			return 0
		},
		Beyond:  50 * wait,
		Release: func() { impl.release(false) },
	}
}

// concurrent lets goroutines bring events at one instant.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	kinds := c.kinds()
	for _, edges := range kinds {
		if v, skip := c.together(edges).Together(p); v != nil || skip != "" {
			return v, skip
		}
	}
	if p.Accepts(verb.Flush) && slices.Contains(kinds, Trailing) {
		return c.flushes(p)
	}
	return nil, ""
}

// together are events that goroutines bring at one instant to one kind of debouncer.
func (c *contract) together(edges Edges) edge.Burst {
	led, all := int64(0), int64(0)
	if edges&Leading != 0 {
		led, all = 1, 1
	}
	if edges&Trailing != 0 {
		all++
	}
	return edge.Burst{
		Make: func(env conformance.Env, fire func()) (func(time.Duration, int), func()) {
			impl := c.build(env, Config{Wait: wait, Edges: edges}, func(int, []int) { fire() })
			return func(_ time.Duration, v int) { impl.Call(v) }, func() { impl.release(false) }
		},
		Led: led, All: all,
		Once:  edges == LeadingAndTrailing && c.spec.Traits.BothSingle != BothTwice,
		Fires: "fires",
		Because: func(round int) string {
			return fmt.Sprintf("they are one burst (edges=%s, %s), and every sequential order of these calls "+
				"fires the same number",
				edges, suite.InRound(round))
		},
	}
}

// inARow brings events as fast as one goroutine can, and a cancel, flush, query or close right behind them.
func (c *contract) inARow(p *suite.Probe) (*suite.Violation, string) {
	payload := c.spec.Traits.Payload
	v, skip := edge.InARow(p, c.kinds(), payload,
		func(env conformance.Env, edges Edges, fire func(int)) (call func(int), release func()) {
			impl := c.build(env, Config{Wait: wait, Edges: edges}, counted(fire))
			return impl.Call, func() { impl.release(false) }
		})
	if v != nil || skip != "" || !slices.Contains(c.kinds(), Trailing) {
		return v, skip
	}
	for _, op := range p.Supported(verb.Cancel, verb.Flush, verb.Pending, verb.Close) {
		v, skip := edge.EndedInARow(p, op, payload,
			func(env conformance.Env, fire func(int)) (call func(int), end func() bool, release func()) {
				impl := c.build(env, Config{Wait: wait, Edges: Trailing}, counted(fire))
				end = func() bool {
					var d conformance.Done
					impl.do(conformance.Step{Op: op}, &d)
					return op == verb.Pending && !d.OK
				}
				return impl.Call, end, func() { impl.release(op == verb.Close) }
			})
		if v != nil || skip != "" {
			return v, skip
		}
	}
	return nil, ""
}

// counted fires with the value of an event, or with how many are handed over together: as events count from 1, that is
// the newest if none is lost.
func counted(fire func(int)) func(v int, all []int) {
	return func(v int, all []int) { fire(cmp.Or(len(all), v)) }
}

// flushed is a debouncer that is flushed while events come.
type flushed struct {
	Funcs
	fires atomic.Int64
}

// flushes lets a flush meet an event, or another flush of the same event.
func (c *contract) flushes(p *suite.Probe) (*suite.Violation, string) {
	twice := func(round int) bool { return round%2 == 1 }
	return suite.Meet(p, suite.Meeting[*flushed]{
		Make: func(env conformance.Env, _ int) *flushed {
			d := &flushed{}
			d.Funcs = c.build(env, Config{Wait: wait, Edges: Trailing}, func(int, []int) { d.fires.Add(1) })
			return d
		},
		Each:   1,
		Before: func(st *suite.Stage, round int) { st.To(time.Duration(round) * 10 * wait) },
		Prepare: func(d *flushed, round int) {
			if twice(round) {
				d.Call(round + 1)
			}
		},
		Call: func(d *flushed, round, g, _ int) {
			if twice(round) || g == 0 {
				d.Flush()
			} else {
				d.Call(round + 1)
			}
		},
		Pass: func(st *suite.Stage, _ int) { st.To(st.Now() + 3*wait) },
		Judge: func(d *flushed, _, round int) *suite.Violation {
			n := d.fires.Swap(0)
			if n == 1 {
				return nil
			}
			what := "a flush beside it"
			if twice(round) {
				what = "two flushes at one instant"
			}
			return suite.Broken(0, "every sequential order of these calls fires once ("+suite.InRound(round)+")",
				"one event and %s brought %d fires, want 1", what, n)
		},
		Release: func(d *flushed) { d.release(false) },
	})
}

// race uses all operations of one debouncer of each kind at once.
func (c *contract) race(p *suite.Probe) (skip string) {
	for _, edges := range c.kinds() {
		if edges == NoEdges {
			continue
		}
		if skip := c.clash(p, edges); skip != "" {
			return skip
		}
	}
	return ""
}

func (c *contract) clash(p *suite.Probe, edges Edges) (skip string) {
	build := func(env conformance.Env) Funcs {
		return c.build(env, Config{Wait: wait, Edges: edges}, func(int, []int) {})
	}
	skip = p.Clash(func(env conformance.Env) []func(int) {
		impl := build(env)
		ops := []func(int){impl.Call, func(i int) { impl.Call(-i) }}
		for _, op := range p.Supported(verb.Cancel, verb.Flush, verb.Pending) {
			ops = append(ops, func(int) { impl.do(conformance.Step{Op: op}, &conformance.Done{}) })
		}
		if impl.CallKey != nil {
			ops = append(ops, func(i int) { impl.CallKey(i, i) }, func(i int) { impl.CallKey(i+1, i) })
		}
		for _, ofKey := range []func(key int){impl.CancelKey, impl.FlushKey} {
			if ofKey != nil {
				ops = append(ops, ofKey)
			}
		}
		return ops
	})
	if skip != "" || !p.Accepts(verb.Stop) {
		return skip
	}
	return p.Clash(func(env conformance.Env) []func(int) {
		impl := build(env)
		stop := func(int) { impl.Stop() }
		return []func(int){impl.Call, stop, stop}
	})
}

// panics lets callbacks panic, with each kind of edges and with a bound.
func (c *contract) panics(p *suite.Probe) (*suite.Violation, string) {
	return c.panicsWith(p, &c.spec.Traits)
}

// panicsWith is panics with other traits.
func (c *contract) panicsWith(p *suite.Probe, traits *Traits) (*suite.Violation, string) {
	return edge.Panics(p, c.panicking(p.Suite, traits), p.Supported(verb.Call, verb.Flush),
		traits.PanicPolicy,
		func(rec *suite.Recording, j suite.Job) *suite.Violation { return c.Exam(traits, rec, j).broken() })
}

// panicking are the configurations in which callbacks panic: at once, after a call of their own,
// or after some time, in which something else may have come to wait for their end.
func (c *contract) panicking(s *suite.Suite, traits *Traits) []conformance.Config {
	kinds := edge.Kinds(traits.Edges, Trailing)
	var plain []conformance.Config
	for _, ed := range kinds {
		cfg, _ := on(ed, suite.Configured("wait", "100ms"), "")
		plain = append(plain, cfg)
		if ed == Trailing && traits.MaxWait != 0 {
			plain = append(plain, cfg.With("maxwait", "100ms"))
		}
		if ed == Trailing && traits.Full == FullFires {
			plain = append(plain, cfg.With("k", "2"))
		}
	}
	all := plain
	e := &explorer{Suite: s, traits: traits}
	calls := edge.NoReentry(s, traits.Reentrancy) == ""
	for _, cfg := range plain {
		if calls {
			all = append(all, cfg.With("inside", string(verb.Call)))
		}
		if e.slow() == "" && traits.Overlap != 0 {
			all = append(all, cfg.With("busy", "250ms"))
		}
	}
	zero := traits.ZeroWait == ZeroSync || traits.ZeroWait == ZeroNextTick && s.Bubble
	if slices.Contains(kinds, Trailing) && zero && calls && s.Unsettled() == "" && s.Livelocks() == "" {
		all = append(all, suite.Configured("wait", "0", "inside", string(verb.Call)))
	}
	return all
}
