package debouncertest

import (
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
	return edge.Make(c.instance).Canary(s, "debouncertest", kinds)
}

// concurrent lets goroutines bring events at one instant.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	v, skip := edge.Make(c.instance).Together(p, edge.Burst{
		Kinds: c.kinds(), Twice: c.spec.Traits.BothSingle == BothTwice,
		Because: "they are one burst", Fires: "fires", Brings: "fires",
	})
	if v == nil && skip == "" && p.Accepts(verb.Flush) && slices.Contains(c.kinds(), Trailing) {
		return c.flushes(p)
	}
	return v, skip
}

// inARow brings events as fast as one goroutine can, and a cancel, flush, query or close right behind them.
func (c *contract) inARow(p *suite.Probe) (*suite.Violation, string) {
	return edge.Make(c.instance).InARow(p, c.kinds(), c.spec.Traits.Payload,
		verb.Cancel, verb.Flush, verb.Pending, verb.Close)
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
	ops := []conformance.Op{verb.Cancel, verb.Flush, verb.Pending}
	return edge.Make(c.instance).Race(p, c.kinds(), ops, withKey, true)
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
