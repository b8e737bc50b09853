package edge

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/conformance/internal/trait"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// manyKeys is more than the places of a table that a number of keys or instances may share, or
// that holds the newest ones only; half of allKeys is too.
const (
	manyKeys = 40
	allKeys  = 70
)

// ManyKeys are calls with many keys: one with each key at one instant, and after each of the gaps
// another one with each, the last key first.
func ManyKeys(cfg conformance.Config, gaps ...time.Duration) conformance.Schedule {
	s, at, keys := suite.Plan(cfg), time.Duration(0), keys(1, manyKeys, 1)
	each(&s, verb.Call, at, keys)
	for _, gap := range gaps {
		at += gap
		slices.Reverse(keys)
		each(&s, verb.Call, at, keys)
	}
	return s
}

// ComingBack are calls with many keys that have come to rest: after that with each key, and then
// with every other one again, within its wait or interval and after that of the others.
func ComingBack(cfg conformance.Config, wait time.Duration) conformance.Schedule {
	s := suite.Plan(cfg)
	all, other := keys(1, allKeys, 1), keys(1, allKeys, 2)
	each(&s, verb.Call, 0, all)
	each(&s, verb.Call, 3*wait, all)
	each(&s, verb.Call, 3*wait+wait/2, other)
	each(&s, verb.Call, 4*wait+wait/3, other)
	return s
}

// keys are those from one to another, of which each so many is taken.
func keys(from, to, every int) (out []int) {
	for k := from; k <= to; k += every {
		out = append(out, k)
	}
	return out
}

// each adds an operation with each of some keys.
func each(s *conformance.Schedule, op conformance.Op, at time.Duration, keys []int) {
	for _, k := range keys {
		st := conformance.Step{Op: op, At: at}
		if op.Counts() {
			st.N = suite.InsideNumber(*s)
		}
		s.Steps = append(s.Steps, WithKey(st, k))
	}
}

// Ended are calls with half of the keys, then op for each of these, while its callback runs if it
// takes time. Others come and are ended by op before they are due, and then those of the beginning
// are called again.
func Ended(cfg conformance.Config, wait time.Duration, op conformance.Op) conformance.Schedule {
	s := suite.Plan(cfg)
	half, others := keys(1, allKeys/2, 1), keys(allKeys/2+1, allKeys, 1)
	each(&s, verb.Call, 0, half)
	each(&s, op, 2*wait, half)
	each(&s, verb.Call, 2*wait, others)
	each(&s, op, 2*wait+wait/2, others)
	each(&s, verb.Call, 3*wait, half)
	return s
}

// EndedDue is a call with a key, op for it at the very instant at which it is due, and then a flow
// of calls with others.
func EndedDue(cfg conformance.Config, wait, gap time.Duration, op conformance.Op) conformance.Schedule {
	s := suite.Plan(cfg, conformance.Step{Op: verb.Call, N: 1, K: 1},
		conformance.Step{Op: op, N: 1, At: wait, Racing: true})
	for _, st := range Flow(cfg, gap, 150).Steps {
		st.N, st.K, st.At = st.N+1, st.K+1, st.At+2*wait
		s.Steps = append(s.Steps, st)
	}
	return s
}

// Flow is a steady flow of n steps, three of them at one instant: calls with as many keys as a table
// may have places for, and after three calls each one of the other operations, with some key. Each
// time a key comes back after another number of others: they go by the triangular numbers.
func Flow(cfg conformance.Config, gap time.Duration, n int, others ...conformance.Op) conformance.Schedule {
	const keys = 64
	key := func(i int) int { return 1 + i*(i+1)/2%keys }
	s := suite.Plan(cfg)
	calls := 0
	for i := range n {
		at := time.Duration(i/3) * gap
		if len(others) > 0 && i%4 == 3 {
			op := others[i/4%len(others)]
			s.Steps = append(s.Steps, WithKey(conformance.Step{Op: op, At: at}, key(3*i+5)))
			continue
		}
		calls++
		s.Steps = append(s.Steps, conformance.Step{Op: verb.Call, N: calls, K: key(calls), At: at})
	}
	return s
}

// Throng are more keys than most tables hold, in one wait or interval. The first ones come back in it.
func Throng(cfg conformance.Config, wait time.Duration) conformance.Schedule {
	s := suite.Plan(cfg)
	each(&s, verb.Call, 0, keys(1, 130, 1))
	each(&s, verb.Call, wait/2, keys(1, 4, 1))
	return s
}

// sweepAges are after how long a sweep may take a key for old that goes by when it came.
var sweepAges = []time.Duration{time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Swept are calls with a key, of which the last one is newer than those before; then comes another
// key, at which an implementation may forget those that are at rest, and the first one comes back as often
// as there is room in an interval. It is at rest by its newest call, not by its oldest one, nor by when it came.
func Swept(cfg conformance.Config, wait time.Duration) []conformance.Schedule {
	renewed := append([]time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1}, sweepAges...)
	var out []conformance.Schedule
	for _, newest := range renewed {
		for _, other := range []time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1} {
			for _, back := range []time.Duration{0, 1, wait / 2} {
				steps := []conformance.Step{{K: 1}, {K: 1, At: newest}, {K: 2, At: newest + other}}
				for range max(1, cfg.K) {
					steps = append(steps, conformance.Step{K: 1, At: newest + other + back})
				}
				for i := range steps {
					steps[i].Op, steps[i].N = verb.Call, i+1
				}
				out = append(out, suite.Plan(cfg, steps...))
			}
		}
	}
	return out
}

// FlushedKeys flush while something waits for one key, for several or for none; then one of them comes again,
// or nothing.
func FlushedKeys(cfg conformance.Config, wait time.Duration) []conformance.Schedule {
	call := func(key int, at time.Duration) conformance.Step {
		return conformance.Step{Op: verb.Call, K: key, At: at}
	}
	var leading []conformance.Step // so that the next event of each key waits
	if cfg.Edges&conformance.Leading != 0 {
		leading = []conformance.Step{call(1, 0), call(2, 0), call(3, 0)}
	}
	var out []conformance.Schedule
	for _, keys := range [][]int{nil, {1}, {1, 2}, {2, 1}, {1, 2, 1}, {1, 2, 3}} {
		head := slices.Clone(leading)
		for _, key := range keys {
			head = append(head, call(key, 0))
		}
		head = append(head, conformance.Step{Op: verb.Flush, At: wait / 2})
		for _, next := range []conformance.Step{
			{}, call(1, wait/2+1), call(2, wait/2+1), call(1, wait+1), call(2, 2*wait),
		} {
			s := suite.Plan(cfg, slices.Clone(head)...)
			if next.K > 0 {
				s.Steps = append(s.Steps, next)
			}
			if HasKeys(s) {
				out = append(out, s)
			}
		}
	}
	return suite.NumberedCalls(out)
}

// At is a step at an instant.
func At(op conformance.Op, at time.Duration) conformance.Step {
	return conformance.Step{Op: op, At: at}
}

// Racing is a step that races with what is due at its instant.
func Racing(op conformance.Op, at time.Duration) conformance.Step {
	return conformance.Step{Op: op, At: at, Racing: true}
}

// InsideTrailing are schedules with both edges, whose first callback is that of the leading one. The
// second does what is configured.
func InsideTrailing(s *suite.Suite, cfg conformance.Config) []conformance.Schedule {
	calls := []conformance.Op{verb.Call}
	cfg = cfg.With("insiderun", "2")
	out := suite.Enumerate(cfg, calls, []time.Duration{1, suite.Wait + 1}, 3)
	for _, op := range s.Supported(verb.Flush, verb.Stop) {
		out = append(out, suite.Ending(suite.Enumerate(cfg, calls, []time.Duration{1}, 2), op,
			[]time.Duration{suite.Wait / 2})...)
	}
	return out
}

// Months is a wait or an interval that has not ended an hour after a stop.
const Months = 2500 * time.Hour

// StopsSoon stops each schedule soon after its last step. If they are schedules of months, a goroutine that
// is left an hour later, or a timer that is armed, is none that soon ends by itself. Only a bubble tells.
func StopsSoon(s *suite.Suite, all []conformance.Schedule) []conformance.Schedule {
	if !s.Bubble || !s.Accepts(verb.Stop) {
		return nil
	}
	return suite.Ending(all, verb.Stop, []time.Duration{suite.Wait / 2})
}

// StopsInside stop a wait or an interval of months, which key names, in the first callback, and end soon after it.
func StopsInside(s *suite.Suite, key string, kinds []conformance.Edges, reentrancy trait.Reentrancy) []suite.Family {
	if s.Time != conformance.Injected || !s.Bubble || !s.Accepts(verb.Stop) || NoReentry(s, reentrancy) != "" {
		return nil
	}
	f := suite.Family{Name: "stop inside, of months", Look: true}
	for _, e := range kinds {
		cfg := suite.Configured(key, timeline.Duration(Months), "edges", e.String(), "inside", "stop").String()
		f.Schedules = append(f.Schedules,
			suite.ParseAll(cfg+" | call 1 @0", cfg+" | call 1 @0 | call 2 @1ns | idle 2500h")...)
	}
	return []suite.Family{f}
}

// StoppedSoon is the stop with which a schedule ends, or behind whose callback it does, long before its wait or
// interval ends; "" if there is none.
func StoppedSoon(s conformance.Schedule) conformance.Op {
	n, long := len(s.Steps), max(s.Config.Wait, s.Config.MaxWait, s.Config.Interval) >= Months
	if long && n > 0 && (s.Steps[n-1].Op == verb.Stop || s.Config.Inside == verb.Stop) {
		return verb.Stop
	}
	return ""
}

// StopsAgain reports whether d is a Stop behind another: only a debouncer must take one.
func StopsAgain(rec *suite.Recording, d conformance.Done) bool {
	before := func(o conformance.Done) bool { return o.Op == d.Op && o.Began.Seq < d.Began.Seq }
	return d.Op == verb.Stop && slices.ContainsFunc(rec.Done, before)
}

// ClosedFirst reports whether d is an event, and Close was called before it had returned: who waits in a send then
// panics if the input is a channel, which Close closes.
func ClosedFirst(rec *suite.Recording, d *conformance.Done) bool {
	return (d.Op == verb.Call || d.Op == verb.Put) && slices.ContainsFunc(rec.Done, func(o conformance.Done) bool {
		return o.Op == verb.Close && o.Began.Seq < d.Ended.Seq
	})
}
