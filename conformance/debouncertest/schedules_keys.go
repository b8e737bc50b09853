package debouncertest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// keyed are the schedules of instances and of keys on the edge that is built, with what ends a
// burst, which must end that of no other.
func (e *explorer) keyed(base conformance.Config) []suite.Family {
	gaps := []time.Duration{0, 1, wait - 1, wait + 1}
	calls := append(edge.Keyed(suite.Enumerate(base, onlyCalls, gaps, 3)), edge.ManyKeys(base, wait/2, 2*wait))
	instances := append(slices.Clone(calls), ending(base, e.endings(e.Accepts))...)
	out := []suite.Family{{Name: suite.Instances, Schedules: append(instances, e.busyKeys(base)...)}}
	if !e.Accepts(opKeys) {
		return out
	}
	keys := append(calls, ending(base, e.endings(e.acceptsKey))...)
	keys = append(keys, e.busyKeys(base)...)
	keys = append(keys, e.oneKey(base)...)
	if e.Accepts(opCancelAll) && e.traits.AfterCancel.usable() {
		keys = append(keys, cancelledKeys(base)...)
	}
	if e.Accepts(verb.Stop) {
		keys = append(keys, ending(base, []conformance.Op{verb.Stop})...)
		keys = append(keys, stopped(base, e.endings(e.acceptsKey))...)
	}
	for _, op := range e.endings(e.acceptsKey) {
		if e.Time == conformance.Injected { // where the orders of the two can be brought about
			keys = append(keys, edge.EndedDue(base, wait, wait/8, op), endedAndBack(base, op),
				suite.MustParse(base.String()+" | call 1 1 @0 | "+string(op)+" 1 @100ms~ | call 2 1 @100ms~"))
		}
	}
	keys = append(keys, atOncePending(base, 130), atOncePending(base, 1030))
	keys = append(keys, e.flushedOrSwept(base)...)
	if e.Accepts(opFlushAll) && e.traits.built() == Trailing { // what waits for other keys is not lost
		keys = append(keys, edge.FlushedKeys(base.With("panics", "1"), wait)...)
	}
	return append(out, suite.Family{Name: suite.Keys, Schedules: append(keys, e.crowds(base)...)})
}

// atOncePending are calls with so many keys that they are more than a bound that somebody may set on how
// many are known, like 128 or 1000.
func atOncePending(cfg conformance.Config, keys int) conformance.Schedule {
	out := suite.Plan(cfg)
	for k := 1; k <= keys; k++ {
		out.Steps = append(out.Steps, conformance.Step{Op: verb.Call, N: k, K: k, At: time.Duration(k - 1)})
	}
	return out
}

// keys are the schedules of keys where an edge or a bound is configured.
func (e *explorer) keys(cfg conformance.Config) []conformance.Schedule {
	out := edge.Keyed(suite.Enumerate(cfg, onlyCalls, []time.Duration{1, wait / 2, wait + 1}, 3))
	out = append(out, ending(cfg, e.endings(e.acceptsKey))...)
	out = append(out, e.flushedOrSwept(cfg)...)
	return append(out, e.crowds(cfg)...)
}

// flushedOrSwept are schedules of keys that a flush without one may be for, or that another key may sweep
// away.
func (e *explorer) flushedOrSwept(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	if cfg.MaxWait == 0 { // which does not make a key rest any sooner
		out = edge.Swept(cfg, wait)
	}
	if e.Accepts(opFlushAll) && cfg.Edges != Leading && cfg.Edges != NoEdges {
		out = append(out, edge.FlushedKeys(cfg, wait)...)
	}
	return out
}

// acceptsKey reports whether the implementation has an operation with a key.
func (e *explorer) acceptsKey(op conformance.Op) bool { return e.Accepts(withKey[op]) }

// endings are the operations that end a burst and let the next event begin one.
func (e *explorer) endings(accepts func(conformance.Op) bool) []conformance.Op {
	var out []conformance.Op
	for _, op := range []conformance.Op{verb.Cancel, verb.Flush} {
		if accepts(op) && (op != verb.Cancel || e.traits.AfterCancel.usable()) {
			out = append(out, op)
		}
	}
	return out
}

// ending are short schedules of two keys that have one of the operations.
func ending(cfg conformance.Config, ops []conformance.Op) []conformance.Schedule {
	var out []conformance.Schedule
	for _, op := range ops {
		all := suite.Enumerate(cfg, []conformance.Op{verb.Call, op}, []time.Duration{1, wait / 2, wait + 1}, 3)
		out = append(out, suite.Having(all, op)...)
	}
	return edge.Keyed(out)
}

// oneKey are short schedules of a single key with all that ends a burst.
func (e *explorer) oneKey(cfg conformance.Config) []conformance.Schedule {
	ops := append([]conformance.Op{verb.Call}, e.endings(e.acceptsKey)...)
	return edge.OneKey(suite.Enumerate(cfg, ops, []time.Duration{1, wait / 2, wait + 1}, 3))
}

// cancelledKeys cancel what is pending of two keys, by a cancel without one, after which one of them may come again.
func cancelledKeys(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for _, s := range edge.Keyed(suite.Enumerate(cfg, onlyCalls, []time.Duration{1, wait / 2}, 2)) {
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Cancel, At: s.Steps[len(s.Steps)-1].At + 1})
		again := suite.Plan(cfg, append(slices.Clone(s.Steps),
			conformance.Step{Op: verb.Call, N: 3, K: 1, At: wait})...)
		out = append(out, s, again)
	}
	return out
}

// stopped are schedules of two keys that are stopped while something is pending, after which one of
// the operations comes to either of them, and a call then, or much later a call alone.
func stopped(cfg conformance.Config, ops []conformance.Op) []conformance.Schedule {
	head := cfg.String() + " | call 1 1 @0 | call 2 2 @1ns | stop @50ms"
	var out []conformance.Schedule
	for _, key := range []string{"1", "2"} {
		call := " | call 3 " + key + " @300ms"
		out = append(out, suite.MustParse(head+call))
		for _, op := range ops {
			last := head + " | " + string(op) + " " + key + " @50.000001ms"
			out = append(out, suite.ParseAll(last, last+call)...)
		}
	}
	return out
}

// busyKeys are short schedules of callbacks that take time.
func (e *explorer) busyKeys(base conformance.Config) []conformance.Schedule {
	if e.slow() != "" {
		return nil
	}
	cfg := base.With("busy", "250ms")
	return edge.Keyed(suite.Enumerate(cfg, onlyCalls, []time.Duration{0, wait / 2, wait + 20*time.Millisecond}, 3))
}

// crowds are the schedules of many keys: those that have come to rest come back, some soon and
// others late, and what ends a burst comes to a key with a burst, with a callback, or at rest.
func (e *explorer) crowds(cfg conformance.Config) []conformance.Schedule {
	ends := e.endings(e.acceptsKey)
	out := []conformance.Schedule{edge.ComingBack(cfg, wait), edge.Flow(cfg, wait/8, 200)}
	for keys := 9; keys <= 16; keys++ {
		out = append(out, comings(cfg, keys))
	}
	if len(ends) > 0 {
		out = append(out, edge.Flow(cfg, wait/8, 400, ends...))
	}
	busy := cfg.With("busy", "1s")
	if e.slow() == "" {
		out = append(out, edge.Flow(busy, wait/8, 200, ends...))
	}
	for _, op := range ends {
		out = append(out, edge.Ended(cfg, wait, op))
		if e.slow() == "" {
			out = append(out, edge.Ended(busy, wait, op))
		}
	}
	return out
}

// comings are calls with a number of keys, each of which and the gap before it are drawn from a
// constant: some keys come back within their wait, and others when they have come to rest.
func comings(cfg conformance.Config, keys int) conformance.Schedule {
	rnd := rand.New(rand.NewPCG(1, uint64(keys)))
	gaps := []time.Duration{0, wait / 8, wait / 4, wait / 2}
	if keys > 12 { // as many of them at rest
		gaps = []time.Duration{0, 0, wait / 8, wait / 3}
	}
	out := suite.Plan(cfg)
	at := time.Duration(0)
	for i := range 300 {
		at += gaps[rnd.IntN(len(gaps))]
		out.Steps = append(out.Steps, conformance.Step{Op: verb.Call, N: i + 1, K: 1 + rnd.IntN(keys), At: at})
	}
	return out
}

// endedAndBack is a call with a key and op for it at the very instant at which it is due. Then it
// comes back now and then, while others come once.
func endedAndBack(cfg conformance.Config, op conformance.Op) conformance.Schedule {
	out := suite.MustParse(cfg.String() + " | call 1 1 @0 | " + string(op) + " 1 @100ms~")
	for i := range 40 {
		st := edge.WithKey(edge.At(verb.Call, 2*wait+time.Duration(i)*wait/8), i+1)
		if i%9 == 0 {
			st.K = 1
		}
		st.N = i + 2
		out.Steps = append(out.Steps, st)
	}
	return out
}

// atOnce are the schedules of callbacks that call the debouncer while others run: of another
// key, or of the same one if they may overlap.
func (e *explorer) atOnce(base conformance.Config) []suite.Family {
	var out []suite.Family
	of := func(name string, op conformance.Op, schedules func(cfg conformance.Config) []conformance.Schedule) {
		if e.Accepts(op) && e.slow() == "" {
			cfg := base.With("busy", "250ms").With("inside", string(op))
			out = append(out, suite.Family{Name: name + " inside " + string(op), Schedules: schedules(cfg)})
		}
	}
	if e.Accepts(opKeys) {
		of("keys", verb.Stop, func(cfg conformance.Config) []conformance.Schedule {
			return edge.Keyed(suite.Enumerate(cfg, onlyCalls, []time.Duration{0, wait / 2}, 2))
		})
	}
	for _, op := range []conformance.Op{verb.Cancel, verb.Flush, verb.Stop} {
		if e.traits.Overlap == Parallel {
			of("callbacks at once", op, func(cfg conformance.Config) []conformance.Schedule {
				return suite.Enumerate(cfg, onlyCalls, []time.Duration{wait + 20*time.Millisecond}, 2)
			})
		}
	}
	return out
}
