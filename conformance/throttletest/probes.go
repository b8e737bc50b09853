package throttletest

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Canary proves that time is taken from where the spec says.
func (c *contract) Canary(s *suite.Suite) string {
	if !s.Accepts(verb.Call) {
		return fmt.Sprintf("New returned nothing that %v can use: set Call or Allow, or AllowAt for Explicit", s.Time)
	}
	if c.spec.Time != conformance.Injected {
		return ""
	}
	var impl Funcs
	var emit func(int)
	pulse := s.Sees(suite.Life{
		Make: func(env conformance.Env, sign func()) {
			emit = func(int) { sign() }
			impl = c.spec.New(env, Config{Interval: suite.Wait, Edges: c.built()}, emit)
		},
		Use: func() int {
			for i := range 3 {
				impl.do(conformance.Step{Op: verb.Call, N: i}, time.Time{}, false, emit)
			}
			return 0
		},
		Beyond:  time.Hour,
		Release: func() { impl.release(false) },
	})
	switch {
	case pulse.Own == 0 && pulse.Other > 0:
		return suite.WrongClock("throttletest")
	case !s.Bubble && (pulse.Strange || pulse.Own == 0):
		s.Inexact = suite.OwnGoroutines
	}
	return ""
}

// concurrent lets goroutines bring events at one instant, for each kind of edge.
func (c *contract) concurrent(p *suite.Probe) (worst *suite.Violation, skip string) {
	for _, e := range c.kinds() {
		if e != NoEdges && worst == nil && skip == "" {
			worst, skip = c.together(p, e)
		}
	}
	return worst, skip
}

// inARow brings events as fast as one goroutine can.
func (c *contract) inARow(p *suite.Probe) (*suite.Violation, string) {
	return edge.InARow(p, c.kinds(), c.spec.Traits.Payload,
		func(env conformance.Env, edges Edges, emit func(int)) (call func(int), release func()) {
			f := c.spec.New(env, Config{Interval: suite.Wait, Edges: edges}, emit)
			return f.Call, func() { f.release(false) }
		})
}

// effects reset a throttle within its interval, and bring an event.
func (c *contract) effects(p *suite.Probe) []suite.Script {
	if !p.Accepts(verb.Reset) || !slices.Contains(c.kinds(), Leading) {
		return nil
	}
	return []suite.Script{{Text: "a reset and an event", Play: func(st *suite.Stage, pause func()) []string {
		var emitted atomic.Int64
		emit := func(int) { emitted.Add(1) }
		f := c.spec.New(st.Plain(), Config{Interval: suite.Wait, Edges: Leading}, emit)
		event := func(v int) { f.event(conformance.Step{N: v}, time.Time{}, false, emit) }
		event(1)
		st.Settle()
		f.Reset()
		pause()
		event(2)
		st.Settle()
		f.release(false)
		return []string{suite.YesNo(emitted.Load() == 2)}
	}}}
}

func (c *contract) together(p *suite.Probe, edges Edges) (*suite.Violation, string) {
	b := edge.Burst{Fires: "emissions", Once: edges == LeadingAndTrailing && c.spec.Traits.BothSingle != BothTwice}
	k := 1
	if edges == Leading && c.spec.Traits.Windows != 0 {
		k = 3
	}
	if edges&Leading != 0 {
		b.Led, b.All = int64(k), int64(k)
	}
	if edges&Trailing != 0 {
		b.All++
	}
	b.Make = func(env conformance.Env, fire func()) (func(time.Duration, int), func()) {
		emit := func(int) { fire() }
		f := c.spec.New(env, Config{Interval: suite.Wait, Edges: edges, K: k}, emit)
		call := func(at time.Duration, v int) {
			f.do(conformance.Step{Op: verb.Call, N: v}, env.Start.Add(at), c.explicit(), emit)
		}
		return call, func() { f.release(false) }
	}
	b.Because = func(round int) string {
		return fmt.Sprintf("no interval was running (edges=%s, %s), and every sequential order of these "+
			"calls emits as many",
			edges, suite.InRound(round))
	}
	return b.Together(p)
}

// panics lets callbacks panic, with each kind of edge.
func (c *contract) panics(p *suite.Probe) (*suite.Violation, string) {
	return c.panicsWith(p, &c.spec.Traits)
}

// panicsWith is panics with other traits.
func (c *contract) panicsWith(p *suite.Probe, tr *Traits) (*suite.Violation, string) {
	var configs []conformance.Config
	for _, e := range edge.Kinds(tr.Edges, conformance.Leading) {
		configs = append(configs, base.With("edges", e.String()))
		if edge.Slow(p.Suite, tr.Reentrancy) == "" {
			configs = append(configs, base.With("edges", e.String()).With("busy", "250ms"))
		}
	}
	return edge.Panics(p, configs, []conformance.Op{verb.Call}, tr.PanicPolicy,
		func(rec *suite.Recording, j suite.Job) *suite.Violation {
			x := c.Exam(tr, rec, j)
			if j.Schedule.Config.Busy > 0 {
				return x.bounded().Violation
			}
			return x.difference().Violation
		})
}

// race uses all operations of one throttle of each kind at once.
func (c *contract) race(p *suite.Probe) (skip string) {
	for _, e := range c.kinds() {
		if skip == "" && e != NoEdges {
			skip = c.clash(p, e)
		}
	}
	return skip
}

func (c *contract) clash(p *suite.Probe, edges Edges) (skip string) {
	made := func(env conformance.Env) (Funcs, func(i int)) {
		f := c.spec.New(env, Config{Interval: suite.Wait, Edges: edges}, func(int) {})
		return f, func(i int) {
			call, at := conformance.Step{Op: verb.Call, N: i}, env.Start.Add(time.Duration(i))
			f.do(call, at, c.explicit(), func(int) {})
		}
	}
	skip = p.Clash(func(env conformance.Env) []func(int) {
		impl, call := made(env)
		ops := []func(int){call, call}
		for _, op := range p.Supported(verb.Reset, verb.Flush, verb.Flush) {
			ops = append(ops, func(int) { impl.do(conformance.Step{Op: op}, time.Time{}, false, nil) })
		}
		if impl.CallKey != nil {
			ops = append(ops, func(i int) { impl.CallKey(i, i) }, func(i int) { impl.CallKey(i+1, i) })
		}
		if impl.ResetKey != nil {
			ops = append(ops, impl.ResetKey)
		}
		return ops
	})
	if skip != "" || !p.Accepts(verb.Stop) {
		return skip
	}
	return p.Clash(func(env conformance.Env) []func(int) {
		impl, call := made(env)
		stop := sync.OnceFunc(impl.Stop)
		ops := []func(int){call, func(i int) {
			if i == 2 {
				stop()
			}
		}}
		if impl.CallKey != nil {
			ops = append(ops, func(i int) { impl.CallKey(i, i) })
		}
		return ops
	})
}
