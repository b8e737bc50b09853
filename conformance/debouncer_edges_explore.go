package conformance

import (
	"slices"
	"time"
)

// edgeFamilies are the schedules of the leading edge and of the bound. A leading
// debouncer may go by timestamps, so that no gap is exactly the wait.
func edgeFamilies(c *contract, ops []Op) []family {
	var out []family
	traits := c.deb.Traits
	few := []Op{OpCall}
	for _, op := range ops {
		if op == OpCancel && traits.AfterCancel != CancelFinal || op == OpFlush {
			few = append(few, op)
		}
	}
	base := Config{}.With("wait", "100ms")
	for _, e := range traits.Edges {
		if e == Trailing {
			continue
		}
		cfg, name := base.With("edges", e.String()), "edges "+e.String()
		out = append(out,
			family{name: name, schedules: enumerate(cfg, []Op{OpCall}, []time.Duration{0, 1, wait / 2, wait - 1, wait + 1, 3 * wait}, 5)},
			family{name: name + " cut", schedules: enumerate(cfg, few, []time.Duration{1, wait / 2, wait + 1, 3 * wait}, 4)})
		if e == NoEdges {
			continue
		}
		out = append(out, family{name: name + " racing", schedules: racingSchedules([]Op{OpCall}, cfg)})
		out = append(out, edgeExtras(c, name, cfg, ops, few)...)
		zero := Config{}.With("wait", "0").With("edges", e.String())
		if traits.BothSingle != BothTwice {
			out = append(out, family{name: name + " zero wait", skip: unsettled(c),
				schedules: enumerate(zero, []Op{OpCall}, []time.Duration{1, wait}, 3)})
		}
		slow := ""
		if !c.slowCallbacks() || traits.Reentrancy == ReentrancyForbidden {
			slow = "a callback that runs for a while cannot be driven exactly"
		}
		for _, busy := range []time.Duration{wait * 3 / 10, wait * 5 / 2} {
			out = append(out, family{name: name + " busy " + duration(busy), skip: slow, schedules: enumerate(
				cfg.With("busy", duration(busy)), []Op{OpCall}, []time.Duration{1, wait / 2, wait + 1, wait + 20*time.Millisecond, busy + 1, 5 * wait}, 3)})
		}
	}
	if traits.MaxWait == 0 {
		return out
	}
	if needsEdge(NoEdges)(traits) == "" {
		cfg := base.With("maxwait", "250ms").With("edges", NoEdges.String())
		out = append(out, family{name: "edges none bound", schedules: enumerate(cfg, []Op{OpCall}, []time.Duration{1, wait - 1, wait + 1}, 4)})
	}
	for _, e := range []Edges{Trailing, LeadingAndTrailing} {
		if needsEdge(e)(traits) != "" {
			continue
		}
		for _, bound := range []string{"250ms", "100ms"} {
			cfg, name, depth := base.With("maxwait", bound), "bound "+bound, 6
			if e != Trailing {
				cfg, name, depth = cfg.With("edges", e.String()), "edges "+e.String()+" "+name, 5
			}
			out = append(out,
				family{name: name, schedules: enumerate(cfg, []Op{OpCall}, []time.Duration{0, 1, wait * 6 / 10, wait - 1, wait + 1}, depth)},
				family{name: name + " cut", schedules: enumerate(cfg, few, []time.Duration{1, wait * 7 / 10, wait - 1, wait + 1}, 4)})
			if bound == "250ms" {
				out = append(out, edgeExtras(c, name, cfg, ops, few)...)
			}
			if bound == "250ms" && e == Trailing && c.accepts(OpCancel) && traits.AfterCancel == CancelReusable {
				out = append(out, family{name: name + " renewed", schedules: []Schedule{{cfg, []Step{{Op: OpCall, N: 1}, {Op: OpCall, N: 2, At: wait * 9 / 10},
					{Op: OpCall, N: 3, At: wait * 9 / 5}, {Op: OpCancel, At: cfg.MaxWait, Racing: true}, {Op: OpCall, N: 4, At: cfg.MaxWait, Racing: true}}}}})
			}
		}
	}
	return out
}

// edgeExtras are what any configuration with an edge or a bound is tried with.
func edgeExtras(c *contract, name string, cfg Config, ops, few []Op) []family {
	call := []Op{OpCall}
	out := []family{
		{name: name + " leaks", look: true, schedules: enumerate(cfg, ops, []time.Duration{1}, 2)},
		{name: name + " worn", schedules: worn(cfg, few)},
	}
	if c.accepts(OpStop) {
		out = append(out, family{name: name + " stop", schedules: stops(c, cfg)})
	}
	if c.accepts(OpPending) {
		out = append(out, family{name: name + " queries",
			schedules: enumerate(cfg, append(slices.Clone(few), OpPending), []time.Duration{wait * 7 / 10, wait + 1}, 4)})
	}
	if c.accepts(OpClose) && c.deb.Traits.CloseFlush != 0 {
		out = append(out, family{name: name + " close",
			schedules: ending(enumerate(cfg, few, []time.Duration{1, wait + 1}, 3), OpClose, []time.Duration{0, wait / 2, wait + 1})})
	}
	if c.accepts(opKeys) {
		out = append(out, family{name: keys, schedules: keyed(enumerate(cfg, call, []time.Duration{1, wait / 2, wait + 1}, 3))})
	}
	if c.time == Injected {
		for _, epoch := range epochs {
			out = append(out, family{name: name + " epoch " + epoch,
				schedules: enumerate(cfg.With("epoch", epoch), few, []time.Duration{1, wait - 1, wait + 1}, 3)})
		}
	}
	if c.deb.Traits.Reentrancy != ReentrancyForbidden {
		for _, op := range append(slices.Clone(ops), OpPending) {
			if c.accepts(op) {
				out = append(out, family{name: name + " inside " + string(op),
					schedules: enumerate(cfg.With("inside", string(op)), call, []time.Duration{1, wait * 7 / 10, 2 * wait}, 4)})
			}
		}
	}
	return out
}

// stops are schedules in which a stop comes, with anything that the debouncer can be asked
// to do behind it.
func stops(c *contract, cfg Config) []Schedule {
	out := enumerate(cfg, []Op{OpCall, OpStop}, []time.Duration{1, wait + 1}, 3)
	for calls := 1; calls <= 2; calls++ {
		var head []Step
		for i := range calls {
			head = append(head, Step{Op: OpCall, N: i + 1, At: time.Duration(i)})
		}
		head = append(head, Step{Op: OpStop, At: wait / 2})
		for _, op := range []Op{OpCancel, OpFlush, OpPending} {
			if !c.accepts(op) {
				continue
			}
			after := append(slices.Clone(head), Step{Op: op, At: wait/2 + 1})
			out = append(out, Schedule{cfg, after}, Schedule{cfg, append(slices.Clone(after), Step{Op: OpCall, N: calls + 1, At: 3 * wait})})
		}
	}
	return out
}

// worn are long schedules: bursts of many events, and many bursts.
func worn(cfg Config, few []Op) []Schedule {
	var out []Schedule
	for _, gap := range []time.Duration{wait * 3 / 10, wait * 7 / 10, wait + 1} {
		s := Schedule{Config: cfg}
		for i := range 40 {
			s.Steps = append(s.Steps, Step{Op: OpCall, N: i + 1, At: time.Duration(i) * gap})
		}
		out = append(out, s)
	}
	for _, op := range few {
		s, at, n := Schedule{Config: cfg}, time.Duration(0), 0
		for i := range 40 {
			for range 1 + i%3 {
				n++
				s.Steps = append(s.Steps, Step{Op: OpCall, N: n, At: at})
				at += wait * 3 / 10
			}
			if op != OpCall && i%2 == 0 {
				s.Steps = append(s.Steps, Step{Op: op, At: at})
			}
			at += wait + 7
		}
		out = append(out, s)
	}
	return out
}
