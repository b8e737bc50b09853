package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// Draw draws calls in bursts, after long idle times, at deadlines and one nanosecond
// before and after them. Cancels, flushes and queries come between calls, right after a
// fire, and at the same instant as one. Each schedule has one of the configurations that
// the implementation declares.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	ops := append([]conformance.Op{verb.Call, verb.Call, verb.Call}, others(s)...)
	cfg := suite.OneOf(pick, "config", suite.OneOf(pick, "kind", c.drawn(s)))
	if cfg.Busy > 0 || cfg.Inside != "" {
		return suite.DrawBusy(pick, cfg, cfg.Wait, ops)
	}
	out := conformance.Schedule{Config: cfg}
	at, last := time.Duration(0), time.Duration(0)
	calls, stopped, raced := 0, false, false
	gaps := append(gapsOf(cfg), suite.Deadline) // of the newest call
	for i, m := range suite.Moves(pick, ops, gaps, 2*cfg.Wait, 0) {
		if stopped && m.Op != verb.Call && m.Op != verb.Stop {
			continue
		}
		due := last + cfg.Wait
		switch {
		case i == 0:
		case m.After == suite.Deadline:
			at = max(at, due)
		default:
			at += m.After
		}
		st := conformance.Step{Op: m.Op, At: at}
		// A racing step must be the first at a deadline, and none may be due before it.
		first := calls > 0 && at == due && at > out.Steps[len(out.Steps)-1].At
		first = first && (cfg.MaxWait == 0 || at-out.Steps[0].At <= cfg.MaxWait) // no bound has passed
		if m.Race && cfg.Wait > 0 && first && m.Op != verb.Pending && !raced {
			st.Racing, raced = true, true
		}
		if m.Op == verb.Call {
			calls++
			st.N, last = calls, at
		}
		stopped = stopped || m.Op == verb.Stop
		out.Steps = append(out.Steps, st)
	}
	return out
}

// others are the operations of drawn schedules besides calls.
func others(s *suite.Suite) []conformance.Op {
	return s.Supported(verb.Cancel, verb.Flush, verb.Pending, verb.Stop)
}

// gapsOf are the gaps at which the deadlines of a configuration are met, or just missed.
func gapsOf(cfg conformance.Config) []time.Duration {
	gaps := suite.GapsAround(cfg.Wait)
	if cfg.Wait == 0 {
		gaps = []time.Duration{0, 1, time.Second}
	}
	if w, most := cfg.Wait, cfg.MaxWait; most > w {
		gaps = append(gaps, most-w, most-1, most, most+1, most-w/2)
	}
	return gaps
}

// drawn lists the configurations of schedules that are drawn, by kind, each kind as often
// as any other.
func (c *contract) drawn(s *suite.Suite) (kinds [][]conformance.Config) {
	for _, e := range c.kinds() {
		kinds = append(kinds, c.drawnOn(s, e)...)
	}
	return kinds
}

// drawnOn are those of one kind of edges.
func (c *contract) drawnOn(s *suite.Suite, e Edges) [][]conformance.Config {
	traits := c.spec.Traits
	base, _ := on(e, suite.Configured("wait", "100ms"), "")
	bounded := traits.MaxWait != 0 && (e == Trailing || e == LeadingAndTrailing)
	each := func(key string, values ...string) []conformance.Config { return suite.Each(base, key, values...) }
	kinds := [][]conformance.Config{{base}, each("wait", "333.333333ms", "1ms", "2500h")}
	if bounded {
		kinds = append(kinds, each("maxwait", "250ms", "100ms", "1s"))
	}
	if e == NoEdges {
		return kinds
	}
	if s.Bubble && traits.Reentrancy != ReentrancyForbidden {
		busy := each("busy", "30ms", "250ms")
		if bounded {
			busy = append(busy, base.With("maxwait", "250ms").With("busy", "350ms"))
		}
		kinds = append(kinds, busy)
		if e == Trailing {
			inside := []conformance.Config{base.With("inside", string(verb.Call))}
			for _, op := range others(s) {
				inside = append(inside, base.With("inside", string(op)))
			}
			kinds = append(kinds, inside)
		}
	}
	if s.Bubble && s.Time == conformance.Injected {
		elsewhere := each("epoch", suite.DrawnEpochs...)
		if e == Trailing || traits.BothSingle != BothTwice {
			elsewhere = append(each("wait", "0"), elsewhere...)
		}
		kinds = append(kinds, elsewhere)
	}
	return kinds
}

// Fits accepts any wait for which a timer can be made, declared edges and bounds, and,
// after a stop, nothing but calls and stops.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	cfg, edges := schedule.Config, schedule.Config.Edges
	if edges == 0 {
		edges = Trailing
	}
	bound := cfg.MaxWait == 0 ||
		c.spec.Traits.MaxWait != 0 && cfg.Edges == 0 && cfg.MaxWait >= cfg.Wait && suite.Measurable(cfg.MaxWait)
	if !s.Plain(schedule, "wait", "maxwait", "edges") || !suite.Measurable(cfg.Wait) || !bound ||
		!slices.Contains(c.spec.Traits.Edges, edges) {
		return false
	}
	stop := slices.IndexFunc(schedule.Steps, func(st conformance.Step) bool { return st.Op == verb.Stop })
	return stop < 0 || !slices.ContainsFunc(schedule.Steps[stop:], func(st conformance.Step) bool {
		return st.Op != verb.Stop && st.Op != verb.Call
	})
}

// Twins puts the laws that compare two runs to a debouncer.
func (c *contract) Twins(s *suite.Suite) twins.Terms {
	traits := c.spec.Traits
	ops := append([]conformance.Op{verb.Call, verb.Call}, s.Supported(verb.Flush)...)
	if traits.AfterCancel != CancelFinal {
		ops = append(ops, s.Supported(verb.Cancel)...)
	}
	tw := twins.Terms{
		Laws:     []string{"X-REPLAY", "X-SHIFT", "X-SCALE", "X-RENAME", "X-ISO", "X-EVICT", "DB-CONCAT"},
		Nameless: traits.Payload == NoPayload,
		Long:     func(cfg conformance.Config) time.Duration { return 100_000 * cfg.Wait },
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			return suite.DrawClear(pick, cfg, ops, suite.Bare)
		},
	}
	for _, e := range c.kinds() {
		cfg, _ := on(e, suite.Configured("wait", suite.Unit.String()), "")
		tw.Configs = append(tw.Configs, cfg)
	}
	if s.Accepts(verb.Pending) {
		tw.Question = verb.Pending
		tw.Laws = append(tw.Laws, "X-QUERY")
	}
	if !slices.Contains(traits.Edges, Leading) && traits.Payload != NoPayload {
		tw.Laws = append(tw.Laws, "DB-INSERT")
	}
	return tw
}
