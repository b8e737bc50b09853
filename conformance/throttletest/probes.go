package throttletest

import (
	"fmt"
	"slices"
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
	return edge.Make(c.instance).Canary(s, "throttletest", []Edges{c.built()})
}

// concurrent lets goroutines bring events at one instant, for each kind of edge.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	b := edge.Burst{
		Kinds: c.kinds(), Twice: c.spec.Traits.BothSingle == BothTwice,
		Because: "no interval was running", Fires: "emissions", Brings: "emits",
	}
	if c.spec.Traits.Windows != 0 {
		b.Several = 3
	}
	return edge.Make(c.instance).Together(p, b)
}

// inARow brings events as fast as one goroutine can.
func (c *contract) inARow(p *suite.Probe) (*suite.Violation, string) {
	return edge.Make(c.instance).InARow(p, c.kinds(), c.spec.Traits.Payload)
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
	ops := []conformance.Op{verb.Reset, verb.Flush, verb.Flush}
	return edge.Make(c.instance).Race(p, c.kinds(), ops, withKey, false)
}
