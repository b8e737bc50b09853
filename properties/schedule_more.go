package properties

import (
	"fmt"
	"math"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/escapement-go/escapement/conformance"
)

// Concurrencies draws schedules for a concurrency limiter: requests in bursts, with
// weights or with deadlines, that are released in any order and right at the instant at
// which another's wait ends, cancels of one of several that wait, handlers that panic, and
// limits that change. At most one step meets the timers of its instant.
func Concurrencies(j *conformance.Judge, spec conformance.ConcurrencySpec) *rapid.Generator[conformance.Schedule] {
	enter := accepted(j, conformance.OpAcquire, conformance.OpAcquire, conformance.OpTry, conformance.OpDo)
	configs := crowds(spec)
	traits := spec.Traits
	ended := traits.Context == conformance.ContextHonoured || traits.Timeout == conformance.TimeoutBounded
	over := traits.Oversize == conformance.OversizeFails || traits.Oversize == conformance.OversizeBlocks && ended
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		cfg := rapid.SampledFrom(configs).Draw(t, "config")
		kind := rapid.IntRange(0, 7).Draw(t, "kind")
		weights := kind/2 == 1 && !traits.Single
		deadlines := kind == 4 && j.Accepts(conformance.OpCancel)
		ops := append(slices.Clone(enter), conformance.OpRelease, conformance.OpRelease)
		ops = append(ops, accepted(j, conformance.OpCancel)...)
		if kind == 5 {
			ops = append(ops, accepted(j, conformance.OpResize)...)
		}
		if kind == 6 && j.Accepts(conformance.OpDo) {
			ops = append(ops, conformance.OpPanic, conformance.OpExit)
		}
		wait := cfg.Timeout
		if wait == 0 {
			wait = 100 * time.Millisecond
		}
		gaps := append([]time.Duration{0, 0, 0}, around(wait)...)
		drawn := moves(ops, len(gaps)+1, 2*wait, 19).Draw(t, "moves")
		if traits.Fair == conformance.FairNone {
			drawn = drawn[:min(len(drawn), 10)] // any order is right, and there are many
		}
		s := conformance.Schedule{Config: cfg}
		c := crowd{gone: map[int]bool{}}
		at, last, together := time.Duration(0), time.Duration(0), 0
		for i, m := range drawn {
			before := at
			switch {
			case i == 0:
			case m.gap < len(gaps):
				at += gaps[m.gap]
			case m.gap == len(gaps):
				at = max(at, last+wait) // the wait of the newest ends
			default:
				at += m.any
			}
			st := conformance.Step{Op: m.op, At: at}
			switch m.op {
			case conformance.OpAcquire, conformance.OpTry, conformance.OpDo:
				if together++; at > last {
					together = 1
				} else if together > 5 {
					continue // whose waits would end together, in any order
				}
				last = at
				if weights && m.op != conformance.OpDo {
					if st.K = 1 + m.n%cfg.Limit; over && m.n == 19 {
						st.K = cfg.Limit + 1
					}
					if st.K == 1 {
						st.K = 0 // the text says nothing of it
					}
				}
				if deadlines && m.op != conformance.OpTry && m.n%3 == 2 {
					st.D = []time.Duration{wait / 2, wait, wait - 1, 1}[m.n%4]
				}
				st.N = c.enter(m.op)
			case conformance.OpCancel:
				st.N = c.cancel(m.n, kind == 7)
			case conformance.OpResize:
				st.N = 1 + m.n%4
			default:
				st.N = c.leave(m.op, m.n, cfg.Limit)
			}
			if st.N == 0 {
				at = before
				continue
			}
			st.Racing = m.race && len(s.Steps) > 0 && !raced(s) &&
				(m.op == conformance.OpAcquire || m.op == conformance.OpRelease || m.op == conformance.OpCancel)
			s.Steps = append(s.Steps, st)
		}
		if len(s.Steps) == 0 {
			s.Steps = []conformance.Step{{Op: conformance.OpAcquire, N: 1}}
		}
		return s
	})
}

// crowds lists the configurations in which a concurrency limiter is tried.
func crowds(spec conformance.ConcurrencySpec) []conformance.Config {
	var out []conformance.Config
	for _, timeout := range []string{"100ms", "333.333333ms", "1h"} {
		out = append(out, bounds(spec, "1", "2", timeout), bounds(spec, "2", "1", timeout), bounds(spec, "3", "4", timeout))
	}
	out = append(out, bounds(spec, "1", "5", "100ms"), bounds(spec, "2", "0", "100ms"))
	if spec.Time == conformance.Injected && spec.Traits.Timeout == conformance.TimeoutBounded {
		out = append(out, bounds(spec, "2", "2", "0")) // zero timers crash some bubbles
		for _, epoch := range epochs {
			out = append(out, bounds(spec, "1", "2", "100ms").With("epoch", epoch))
		}
	}
	return out
}

// bounds is a configuration of what the implementation bounds. What is undeclared has a
// bound that is never met.
func bounds(spec conformance.ConcurrencySpec, limit, backlog, timeout string) conformance.Config {
	cfg := config("limit", limit)
	switch spec.Traits.Backlog {
	case conformance.BacklogBounded:
		cfg = cfg.With("backlog", backlog)
	case conformance.BacklogNone:
		cfg = cfg.With("backlog", "0")
	case 0:
		cfg = cfg.With("backlog", "99")
	}
	switch spec.Traits.Timeout {
	case conformance.TimeoutBounded:
		cfg = cfg.With("timeout", timeout)
	case 0:
		cfg = cfg.With("timeout", "1h")
	}
	return cfg
}

// crowd remembers which requests came, and which were told to go.
type crowd struct {
	came []conformance.Op
	live []int // not released
	gone map[int]bool
}

func (c *crowd) enter(op conformance.Op) int {
	c.came = append(c.came, op)
	c.live = append(c.live, len(c.came))
	return len(c.came)
}

// leave is one of the oldest requests, 0 if there is none that can leave so. Those that
// do not run have nothing to release.
func (c *crowd) leave(op conformance.Op, n, limit int) int {
	if len(c.live) == 0 {
		return 0
	}
	i := n % min(len(c.live), limit)
	id := c.live[i]
	if op != conformance.OpRelease && c.came[id-1] != conformance.OpDo {
		return 0
	}
	c.live = slices.Delete(c.live, i, i+1)
	return id
}

// cancel is one of the newest requests, or the next to come; 0 if it cannot be.
func (c *crowd) cancel(n int, early bool) int {
	id := len(c.came) - n%4
	if early && n >= 15 {
		id = len(c.came) + 1
	}
	if id < 1 || c.gone[id] || id <= len(c.came) && c.came[id-1] == conformance.OpTry {
		return 0
	}
	c.gone[id] = true
	return id
}

// LeakyBuckets draws schedules for a leaky bucket: items in bursts, a little faster and
// slower than they leave, at the instants at which they do and one nanosecond either side,
// and after long idles; cancels of any of them, the input that ends, and functions that
// call back.
func LeakyBuckets(j *conformance.Judge, spec conformance.LeakyBucketSpec) *rapid.Generator[conformance.Schedule] {
	configs := buckets(spec)
	put := []conformance.Op{conformance.OpPut, conformance.OpPut, conformance.OpPut}
	kinds := [][]conformance.Op{put}
	for _, op := range accepted(j, conformance.OpCancel, conformance.OpClose) {
		kinds = append(kinds, append(slices.Clone(put), op))
	}
	inside := accepted(j, conformance.OpPut, conformance.OpCancel, conformance.OpClose)
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		cfg := rapid.SampledFrom(configs).Draw(t, "config")
		ops, insides := put, false
		if k := rapid.IntRange(0, 2*len(kinds)).Draw(t, "kind"); k < 2*len(kinds) {
			ops = kinds[k/2]
		} else {
			insides = true
			cfg = cfg.With("inside", string(rapid.SampledFrom(inside).Draw(t, "inside")))
		}
		d := cfg.Interval
		gaps := []time.Duration{0, d, d - 1, d + 1, 1, d / 2, d * 3 / 10, d * 13 / 10, 5 * d / 2, 100 * d}
		if insides {
			gaps = gaps[:2]
		}
		s := conformance.Schedule{Config: cfg}
		at, items, closed := time.Duration(0), 0, false
		for i, m := range moves(ops, len(gaps), 2*d, 19).Draw(t, "moves") {
			if i > 0 && m.gap < len(gaps) {
				at += gaps[m.gap]
			} else if i > 0 && !insides {
				at += m.any
			}
			st := conformance.Step{Op: m.op, At: at}
			switch {
			case items == 0 || m.op == conformance.OpPut || closed:
				items++
				st.Op, st.N = conformance.OpPut, items
			case m.op == conformance.OpCancel:
				st.N = items - m.n%items
			case m.op == conformance.OpClose:
				closed = true
			}
			s.Steps = append(s.Steps, st)
		}
		return s
	})
}

// buckets lists the configurations in which a leaky bucket is tried.
func buckets(spec conformance.LeakyBucketSpec) []conformance.Config {
	var out []conformance.Config
	for _, interval := range []string{"100ms", "333.333333ms", "7ns", "24h"} {
		for _, backlog := range []string{"2", "1", "3", "8"} {
			out = append(out, config("interval", interval, "backlog", backlog))
		}
	}
	if spec.Time != conformance.PackageTime {
		for _, epoch := range epochs {
			out = append(out, config("interval", "100ms", "backlog", "2", "epoch", epoch))
		}
	}
	return out
}

// quotas lists the limits with which a quota is tried. Windows divide a day, so that they
// begin alike however they are counted.
func quotas(kind conformance.QuotaKind) []conformance.Config {
	if kind != conformance.GCRA {
		return []conformance.Config{config("rate", "3/1s"), config("rate", "1/1s"), config("rate", "2/250ms"), config("rate", "10/1m"), config("rate", "4/24h")}
	}
	var out []conformance.Config
	for _, l := range [][2]string{{"10/1s", "3"}, {"10/1s", "1"}, {"5/1s", "2"}, {"1000/1s", "10"}, {"1/1s", "2"}} {
		out = append(out, config("rate", l[0], "burst", l[1]))
	}
	return out
}

// Quotas draws histories for a quota: requests in bursts, polling, at the instants at which
// windows end and one nanosecond either side of them, off the grid, and after long idles;
// looks between them, numbers that are odd, and, of limiters that are told the time,
// instants that go back.
func Quotas(j *conformance.Judge, spec conformance.QuotaSpec) *rapid.Generator[conformance.Schedule] {
	limits := quotas(spec.Kind)
	ops := append([]conformance.Op{conformance.OpAllow, conformance.OpAllow, conformance.OpAllow}, accepted(j, conformance.OpTokens)...)
	starts := append([]string{"2000-01-01T00:00:00.3Z"}, epochs...)
	return rapid.Custom(func(t *rapid.T) conformance.Schedule {
		i := rapid.IntRange(0, len(limits)-1).Draw(t, "limit")
		cfg := limits[i]
		if spec.Time != conformance.PackageTime && i == 0 && rapid.IntRange(0, 3).Draw(t, "epoch") == 3 {
			cfg = cfg.With("epoch", rapid.SampledFrom(starts).Draw(t, "year"))
		}
		kind := rapid.IntRange(0, 7).Draw(t, "kind")
		limit, w := cfg.Rate.Events, cfg.Rate.Per
		if spec.Kind == conformance.GCRA {
			limit, w = cfg.Burst, cfg.Rate.Interval()
		}
		if kind == 5 && (spec.Kind == conformance.FixedWindow || spec.Kind == conformance.SlidingCounter) && j.Several() {
			limit, w = 1e9, time.Hour
			cfg = config("rate", fmt.Sprintf("%d/1h", limit))
		}
		odd, asks := 1, ops
		if kind == 1 && j.Several() { // one of them, as the laws of each are about nothing else
			all := []int{limit + 1, -1, 0, -limit, 2 * limit, -3}
			if spec.Kind != conformance.SlidingLog { // one with a mistake would remember each event
				all = append(all, math.MaxInt32, math.MaxInt, math.MinInt, math.MaxInt32-1)
			}
			odd, asks = rapid.SampledFrom(all).Draw(t, "odd"), ops[:1]
		}
		gaps := append(around(w), w/10, w*3/10, w*7/10, 3*w/2)
		s := conformance.Schedule{Config: cfg}
		at := time.Duration(0)
		for i, m := range moves(asks, len(gaps), 2*w, 19).Draw(t, "moves") {
			gap := m.any
			if m.gap < len(gaps) {
				gap = gaps[m.gap]
			}
			switch {
			case i == 0 && kind != 6:
			case kind == 7 && spec.Time == conformance.Explicit && spec.Traits.BackTime != conformance.BackRewind && m.n >= 10:
				at = max(0, at-gap)
			default:
				at += gap
			}
			st := conformance.Step{Op: m.op, At: at}
			if m.op == conformance.OpAllow {
				st.N = 1
				switch {
				case !j.Several():
				case limit == 1e9:
					st.N = limit / 2 * (1 + m.n%2)
				case kind == 1 && m.n%2 == 1:
					st.N = odd
				case kind >= 2:
					st.N = 1 + m.n%limit
				}
			}
			s.Steps = append(s.Steps, st)
		}
		return s
	})
}
