package properties

import (
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/synctestcompat"
)

// move is one step of a schedule before it has an instant. Its zero value is the
// plainest, so that rapid, which makes numbers smaller, makes schedules plainer.
type move struct {
	op   conformance.Op
	gap  int // an index into the gaps, or past them
	any  time.Duration
	n    int
	race bool
}

// most is the number of moves of the longest schedule that is drawn.
const most = 20

// moves draws between one and most moves.
func moves(ops []conformance.Op, gaps int, span time.Duration, largest int) *rapid.Generator[[]move] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		m := move{
			op:  rapid.SampledFrom(ops).Draw(t, "op"),
			gap: rapid.IntRange(0, gaps).Draw(t, "gap"),
			n:   rapid.IntRange(0, largest).Draw(t, "n"),
		}
		if m.gap == gaps {
			m.any = time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "ns"))
		}
		m.race = rapid.IntRange(0, 7).Draw(t, "race") == 7
		return m
	}), 1, most)
}

// around lists the gaps at which timers of the given lengths are met, just missed, or
// left alone for long, the plainest first. A gap of 0 makes bursts and ties.
func around(lengths ...time.Duration) []time.Duration {
	out := []time.Duration{0}
	for _, d := range lengths {
		for _, gap := range []time.Duration{d, d - 1, d + 1, 1, d / 2, 3 * d, 1000 * d} {
			if gap > 0 && gap < math.MaxInt64/1000 && !slices.Contains(out, gap) {
				out = append(out, gap)
			}
		}
	}
	return out
}

// config builds a configuration from keys and values.
func config(pairs ...string) conformance.Config {
	var c conformance.Config
	for i := 0; i < len(pairs); i += 2 {
		c = c.With(pairs[i], pairs[i+1])
	}
	return c
}

// accepted are the operations that an implementation has.
func accepted(j *conformance.Judge, ops ...conformance.Op) []conformance.Op {
	return slices.DeleteFunc(ops, func(op conformance.Op) bool { return !j.Accepts(op) })
}

// Debouncers draws schedules for a debouncer: calls in bursts, after long idles, at
// deadlines and one nanosecond either side of them, and cancels, flushes and queries
// between them, right after a fire, and meeting one. Each schedule has one of the
// configurations that the implementation declares.
func Debouncers(j *conformance.Judge, spec conformance.DebouncerSpec) *rapid.Generator[conformance.Schedule] {
	others := accepted(j, conformance.OpCancel, conformance.OpFlush, conformance.OpPending, conformance.OpStop)
	ops := append([]conformance.Op{conformance.OpCall, conformance.OpCall, conformance.OpCall}, others...)
	kinds := configs(spec, others)
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		cfg := rapid.SampledFrom(rapid.SampledFrom(kinds).Draw(t, "kind")).Draw(t, "config")
		switch {
		case cfg.Busy > 0, cfg.Inside != "":
			return clear(cfg, cfg.Wait, ops).Draw(t, "schedule")
		}
		gaps := around(cfg.Wait)
		if cfg.Wait == 0 {
			gaps = []time.Duration{0, 1, time.Second}
		}
		if cfg.MaxWait > cfg.Wait {
			gaps = append(gaps, cfg.MaxWait-cfg.Wait, cfg.MaxWait-1, cfg.MaxWait, cfg.MaxWait+1, cfg.MaxWait-cfg.Wait/2)
		}
		// The last gap is to the deadline of the newest call.
		drawn := moves(ops, len(gaps)+1, 2*cfg.Wait, 0).Draw(t, "moves")
		s := conformance.Schedule{Config: cfg}
		at, last := time.Duration(0), time.Duration(0)
		calls, stopped := 0, false
		plain := cfg.MaxWait == 0 && cfg.Edges == 0 && cfg.Wait > 0
		for i, m := range drawn {
			if stopped && m.op != conformance.OpCall && m.op != conformance.OpStop {
				continue
			}
			switch {
			case i == 0:
			case m.gap < len(gaps):
				at += gaps[m.gap]
			case m.gap == len(gaps):
				at = max(at, last+cfg.Wait)
			default:
				at += m.any
			}
			st, due := conformance.Step{Op: m.op, At: at}, last+cfg.Wait
			if m.op == conformance.OpCall {
				calls++
				st.N, last = calls, at
			}
			// A racing step must be the first at a deadline, and none may be due before it.
			if m.race && plain && m.op != conformance.OpPending && calls > 0 && at == due && at > s.Steps[len(s.Steps)-1].At && !raced(s) {
				st.Racing = true
			}
			stopped = stopped || m.op == conformance.OpStop
			s.Steps = append(s.Steps, st)
		}
		return s
	})
}

// configs lists the configurations in which a debouncer is tried, by kind, each kind as
// often as any other.
func configs(spec conformance.DebouncerSpec, others []conformance.Op) [][]conformance.Config {
	var kinds [][]conformance.Config
	traits := spec.Traits
	if len(traits.Edges) == 0 || slices.Contains(traits.Edges, conformance.Trailing) {
		kinds = append(kinds, []conformance.Config{config("wait", "100ms")},
			[]conformance.Config{config("wait", "333.333333ms"), config("wait", "1ms"), config("wait", "2500h")})
		if traits.MaxWait != 0 {
			kinds = append(kinds, []conformance.Config{config("wait", "100ms", "maxwait", "250ms"),
				config("wait", "100ms", "maxwait", "100ms"), config("wait", "100ms", "maxwait", "1s")})
		}
		if synctestcompat.Available && traits.Reentrancy != conformance.ReentrancyForbidden {
			kinds = append(kinds, []conformance.Config{config("wait", "100ms", "busy", "30ms"), config("wait", "100ms", "busy", "250ms")})
			var inside []conformance.Config
			for _, op := range append([]conformance.Op{conformance.OpCall}, others...) {
				inside = append(inside, config("wait", "100ms", "inside", string(op)))
			}
			kinds = append(kinds, inside)
		}
		if synctestcompat.Available && spec.Time == conformance.Injected {
			odd := []conformance.Config{config("wait", "0")}
			for _, epoch := range epochs {
				odd = append(odd, config("wait", "100ms", "epoch", epoch))
			}
			kinds = append(kinds, odd)
		}
	}
	for _, e := range traits.Edges {
		if e == conformance.Trailing {
			continue
		}
		edge := []conformance.Config{config("wait", "100ms", "edges", e.String())}
		kinds = append(kinds, edge, edge) // twice as often
		if traits.MaxWait != 0 && e == conformance.LeadingAndTrailing {
			kinds = append(kinds, []conformance.Config{config("wait", "100ms", "maxwait", "250ms", "edges", e.String()),
				config("wait", "100ms", "maxwait", "100ms", "edges", e.String())})
		}
		if synctestcompat.Available && traits.Reentrancy != conformance.ReentrancyForbidden && e != conformance.NoEdges {
			kinds = append(kinds, []conformance.Config{config("wait", "100ms", "edges", e.String(), "busy", "30ms"),
				config("wait", "100ms", "edges", e.String(), "busy", "250ms")})
		}
		if synctestcompat.Available && spec.Time == conformance.Injected && e != conformance.NoEdges {
			var odd []conformance.Config
			if traits.BothSingle != conformance.BothTwice {
				odd = append(odd, config("wait", "0", "edges", e.String()))
			}
			for _, epoch := range epochs {
				odd = append(odd, config("wait", "100ms", "edges", e.String(), "epoch", epoch))
			}
			kinds = append(kinds, odd)
		}
	}
	return kinds
}

// epochs are instants at which implementations keep sentinels or overflow.
var epochs = []string{"0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2261-01-01T00:00:00Z"}

// clear draws schedules for callbacks that take time or call back. Where a step meets the
// start or the end of one, several outcomes are right; so each gap is a little longer
// than the deadlines are apart.
func clear(cfg conformance.Config, wait time.Duration, ops []conformance.Op) *rapid.Generator[conformance.Schedule] {
	gaps := []time.Duration{0, wait / 2, wait, wait + wait/5, wait * 5 / 2, 10 * wait}
	return rapid.Map(moves(ops, len(gaps)-1, 0, 0), func(drawn []move) conformance.Schedule {
		s := conformance.Schedule{Config: cfg}
		at, stopped := time.Duration(0), false
		for i, m := range drawn {
			if stopped && m.op != conformance.OpCall && m.op != conformance.OpStop {
				continue
			}
			if i > 0 {
				at += gaps[min(m.gap, len(gaps)-1)] + time.Duration(7*i)*time.Microsecond
			}
			stopped = stopped || m.op == conformance.OpStop
			s.Steps = append(s.Steps, conformance.Step{Op: m.op, At: at})
		}
		return number(s)
	})
}

func raced(s conformance.Schedule) bool {
	return slices.ContainsFunc(s.Steps, func(st conformance.Step) bool { return st.Racing })
}

// Throttles draws schedules for a throttle: sustained calls, bursts, calls at the end of an
// interval and one nanosecond either side of it, resets between them, a stop at the end, and
// callbacks that take time.
func Throttles(j *conformance.Judge, spec conformance.ThrottleSpec) *rapid.Generator[conformance.Schedule] {
	edges := spec.Traits.Edges
	if len(edges) == 0 {
		edges = []conformance.Edges{conformance.Leading}
	}
	var configs []conformance.Config
	for _, d := range []string{"100ms", "333.333333ms", "1ms", "2500h"} {
		for _, e := range edges {
			configs = append(configs, config("interval", d, "edges", e.String()))
		}
	}
	for _, e := range edges {
		if spec.Time == conformance.PackageTime {
			break // bubbles start when they start, and zero timers crash some of them
		}
		for _, epoch := range epochs {
			configs = append(configs, config("interval", "100ms", "edges", e.String(), "epoch", epoch))
		}
		if e&conformance.Leading != 0 || e == conformance.Trailing && synctestcompat.Available {
			configs = append(configs, config("interval", "0", "edges", e.String()))
		}
	}
	if spec.Traits.Windows != 0 && slices.Contains(edges, conformance.Leading) {
		for _, k := range []string{"2", "3", "10"} {
			configs = append(configs, config("interval", "100ms", "edges", "leading", "k", k))
		}
	}
	var busy []conformance.Config
	if synctestcompat.Available && spec.Time != conformance.Explicit && spec.Traits.Reentrancy != conformance.ReentrancyForbidden && !j.Accepts(conformance.OpFault) {
		for _, e := range edges {
			if e != conformance.NoEdges {
				busy = append(busy, config("interval", "100ms", "edges", e.String(), "busy", "30ms"), config("interval", "100ms", "edges", e.String(), "busy", "250ms"))
			}
		}
	}
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		kind := rapid.IntRange(0, 9).Draw(t, "kind")
		if kind == 9 && len(busy) > 0 {
			cfg := rapid.SampledFrom(busy).Draw(t, "config")
			return clear(cfg, cfg.Interval, []conformance.Op{conformance.OpCall}).Draw(t, "schedule")
		}
		cfg := rapid.SampledFrom(configs).Draw(t, "config")
		ops := []conformance.Op{conformance.OpCall, conformance.OpCall, conformance.OpCall}
		if cfg.Edges == conformance.Leading {
			ops = append(ops, accepted(j, conformance.OpReset)...)
		}
		gaps := around(cfg.Interval)
		if cfg.Interval == 0 {
			gaps = []time.Duration{0, 1, time.Second}
		}
		s := conformance.Schedule{Config: cfg}
		at, calls := time.Duration(0), 0
		for i, m := range moves(ops, len(gaps), 2*cfg.Interval, 0).Draw(t, "moves") {
			if i > 0 && m.gap < len(gaps) {
				at += gaps[m.gap]
			}
			at += m.any
			st := conformance.Step{Op: m.op, At: at}
			if m.op == conformance.OpCall {
				calls++
				st.N = calls
			}
			s.Steps = append(s.Steps, st)
		}
		if kind == 8 && j.Accepts(conformance.OpStop) {
			s.Steps = append(s.Steps, conformance.Step{Op: conformance.OpStop, At: at + []time.Duration{1, 0, cfg.Interval / 2, cfg.Interval + 1}[calls%4]})
		}
		return s
	})
}

// limits are the rates and bursts of the limiters that are drawn, the plainest first.
var limits = [][2]string{{"10/1s", "3"}, {"10/1s", "1"}, {"3/1s", "2"}, {"10/13s", "2"}, {"1/24h", "2"}, {"1000/1s", "10"}, {"600000000/1s", "1"}}

// Limiters draws histories for a rate limiter: requests in bursts, polling, at the instant at
// which a token is there and two nanoseconds either side of it, after long idles, and,
// where the implementation has them, several reservations at once, cancelled in any
// order, and limits that are set while some are in debt. Some ask for odd numbers of
// tokens, and some, of limiters that are told the time, go back in it.
func Limiters(j *conformance.Judge, spec conformance.LimiterSpec) *rapid.Generator[conformance.Schedule] {
	asks := accepted(j, conformance.OpAllow)
	if len(asks) == 0 {
		asks = accepted(j, conformance.OpWait)
	}
	more := accepted(j, conformance.OpTokens, conformance.OpReserve, conformance.OpSetLimit, conformance.OpSetBurst)
	if j.GivesUp() {
		more = append(more, conformance.OpCancel)
	}
	waits := asks
	if asks[0] != conformance.OpWait {
		waits = append(slices.Clone(asks), accepted(j, conformance.OpWait)...)
	}
	asks = append(slices.Clone(asks), asks...) // as often as everything else
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		limit := rapid.SampledFrom(limits).Draw(t, "limit")
		cfg := config("rate", limit[0], "burst", limit[1])
		if spec.Time != conformance.PackageTime && rapid.IntRange(0, 7).Draw(t, "epoch") == 7 {
			cfg = cfg.With("epoch", rapid.SampledFrom(epochs).Draw(t, "year"))
		}
		interval := cfg.Rate.Interval()
		gaps := []time.Duration{0, interval, max(0, interval-2), interval + 2, interval / 2, interval / 10, interval / 3, interval * time.Duration(cfg.Burst), 100 * interval}
		ops, kind := append(slices.Clone(asks), more...), rapid.IntRange(0, 5).Draw(t, "kind")
		if kind == 5 {
			ops = waits
		}
		s := conformance.Schedule{Config: cfg}
		at, reserved := time.Duration(0), 0
		for i, m := range moves(ops, len(gaps), 2*interval, 19).Draw(t, "moves") {
			gap := m.any
			if m.gap < len(gaps) {
				gap = gaps[m.gap]
			}
			switch {
			case i == 0:
			case kind/2 == 1 && spec.Time == conformance.Explicit && m.n >= 10 && asks[0] == conformance.OpAllow:
				at -= min(gap, time.Hour)
			default:
				at += gap
			}
			st := conformance.Step{Op: m.op, At: at}
			switch m.op {
			case conformance.OpAllow, conformance.OpReserve:
				st.N = 1
				if j.Several() {
					st.N = 1 + m.n%cfg.Burst
					if kind == 4 && m.n >= 10 {
						st.N = []int{cfg.Burst + 1, 0, -1, math.MaxInt32, math.MaxInt, -3, math.MinInt, -cfg.Burst, 2 * cfg.Burst, math.MaxInt32 - 1}[m.n-10]
					}
				}
				if m.op == conformance.OpReserve {
					reserved++
				}
			case conformance.OpWait:
				st.N = 1
			case conformance.OpCancel:
				if reserved == 0 {
					continue
				}
				st.N = 1 + m.n%reserved // by no means always the newest
			case conformance.OpSetLimit:
				st.Rate = cfg.Rate
				st.Rate.Events = 1 + m.n
			case conformance.OpSetBurst:
				st.N = 1 + m.n
			}
			s.Steps = append(s.Steps, st)
		}
		if len(s.Steps) == 0 {
			s.Steps = []conformance.Step{{Op: asks[0], N: 1}}
		}
		return s
	})
}

// Clocks draws programs for a fake clock: timers, tickers, functions, sleepers and
// contexts that are made, stopped and re-armed, also by the functions that they run.
func Clocks(j *conformance.Judge) *rapid.Generator[conformance.Schedule] {
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		n := rapid.IntRange(1, 40).Draw(t, "steps")
		return j.Program(rapid.Uint64().Draw(t, "program"), n)
	})
}
