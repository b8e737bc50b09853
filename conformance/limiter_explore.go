package conformance

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// limiterFamilies lists what RunLimiter explores, in constants.
func limiterFamilies(c *contract) []family {
	return slices.Concat(requestFamilies(c), extremeFamilies(c), heldFamilies(c))
}

// requestFamilies lists what is explored of requests that are answered at once.
func requestFamilies(c *contract) []family {
	cfg := func(rate string, burst int) Config {
		return Config{}.With("rate", rate).With("burst", fmt.Sprint(burst))
	}
	if !c.accepts(OpAllow) && !c.accepts(OpWait) {
		return nil
	}
	ask := OpAllow
	if !c.accepts(OpAllow) {
		ask = OpWait
	}
	asks := func(burst int) []Step {
		out := []Step{{Op: ask, N: 1}}
		for n := 2; n <= burst && c.accepts(opMany); n++ {
			out = append(out, Step{Op: ask, N: n})
		}
		return out
	}
	gaps := func(c Config) []time.Duration {
		t := c.Rate.Interval()
		return []time.Duration{0, t / 2, max(0, t-2), t, t + 2, t * time.Duration(c.Burst), 100 * t}
	}
	grid := func(name string, c Config, depth int) family {
		return family{name: name, schedules: sequences(c, asks(c.Burst), gaps(c), depth)}
	}
	usual := cfg("10/1s", 3)
	if c.tied {
		usual = cfg("3/1s", 3)
	}
	var late []Schedule // what was full all the time has a past as well
	if c.lim.Traits.Initial == InitialFull {
		late = shifted(sequences(usual, asks(3), []time.Duration{0, usual.Rate.Interval()}, 3), time.Hour)
	}
	out := []family{
		{name: leaks, look: true, schedules: append(sequences(usual, asks(1), []time.Duration{0, time.Second}, 2), c.leavings()...)},
		grid("burst 1", cfg("10/1s", 1), 5),
		grid("burst 3", cfg("10/1s", 3), 4),
		grid("thirds", cfg("3/1s", 2), 4),
		grid("thirteenths", cfg("10/13s", 2), 3),
		grid("slow", cfg("1/24h", 2), 3),
		grid("fast", cfg("600000000/1s", 1), 4),
		{name: "full", schedules: full(ask)},
		{name: "late", schedules: late},
		{name: "polling", schedules: polling(ask, cfg("10/1s", 1), cfg("10/1s", 5), cfg("3/1s", 1), cfg("1000/1s", 2), cfg("1/7s", 1))},
	}
	if c.tied { // most of the others are refused
		out = append(out, grid("a burst a second", cfg("3/1s", 3), 3),
			family{name: "a burst a second", schedules: sequences(cfg("2/1s", 2), asks(1), gaps(cfg("2/1s", 2)), 5)},
			family{name: "a burst a second", schedules: polling(ask, cfg("2/1s", 2), cfg("3/1s", 3), cfg("10/1s", 10))})
	}
	if c.accepts(OpTokens) {
		out = append(out, family{name: "queries", schedules: sequences(cfg("10/1s", 2), append(asks(1), Step{Op: OpTokens}), gaps(cfg("10/1s", 2)), 4)})
	}
	if c.accepts(opMany) {
		for _, n := range []int{0, -1, -3, 4, math.MaxInt32, math.MaxInt, math.MinInt} {
			out = append(out, family{name: "odd numbers", schedules: sequences(usual,
				[]Step{{Op: OpAllow, N: 3}, {Op: OpAllow, N: n}, {Op: OpAllow, N: 1}}, []time.Duration{0, 50 * time.Millisecond, 100 * time.Millisecond}, 3)})
		}
	}
	if c.time == Explicit && c.accepts(OpAllow) {
		out = append(out, family{name: "back in time", schedules: append(sequences(cfg("1/1s", 2),
			[]Step{{Op: OpAllow, N: 1}, {Op: OpAllow, N: 2}, {Op: OpAllow, N: 0}}, []time.Duration{0, time.Second, -time.Second}, 5),
			toAndFro(cfg("1/1s", 5))...)})
	}
	if c.time != PackageTime {
		for _, epoch := range epochs {
			out = append(out, grid("epoch "+epoch, cfg("10/1s", 2).With("epoch", epoch), 3))
		}
	}
	return out
}

// sequences lists every schedule of up to depth of the given steps with the given
// gaps between them.
func sequences(cfg Config, steps []Step, gaps []time.Duration, depth int) []Schedule {
	gaps = slices.Clone(gaps)
	slices.Sort(gaps)
	gaps = slices.Compact(gaps)
	number, longest := 0, len(steps)
	for range depth {
		number += longest
		longest *= len(gaps) * len(steps)
	}
	out := make([]Schedule, 0, number)
	var grow func(done []Step, left int)
	grow = func(done []Step, left int) {
		if left == 0 {
			out = append(out, Schedule{cfg, slices.Clone(done)})
			return
		}
		for _, s := range steps {
			if len(done) == 0 {
				grow(append(done, s), left-1)
				continue
			}
			for _, gap := range gaps {
				s.At = done[len(done)-1].At + gap
				grow(append(done, s), left-1)
			}
		}
	}
	for n := 1; n <= depth; n++ {
		grow(nil, n)
	}
	return out
}

// toAndFro asks now and a second earlier by turns.
func toAndFro(c Config) []Schedule {
	var out []Schedule
	for n := 4; n <= 24; n += 4 {
		s := Schedule{Config: c}
		for i := range n {
			s.Steps = append(s.Steps, Step{Op: OpAllow, N: 1, At: time.Duration(1-i%2) * time.Second})
		}
		out = append(out, s)
	}
	return out
}

// full asks for the burst at first, and after a long time, at rates whose tokens take
// no round time: the way from tokens to a time and back may end just below the burst.
func full(ask Op) []Schedule {
	var out []Schedule
	for _, per := range []int{7, 13, 29} {
		for events := 1; events < per; events++ {
			for burst := range 3 {
				cfg := Config{}.With("rate", fmt.Sprintf("%d/%ds", events, per)).With("burst", fmt.Sprint(burst+1))
				one := []Step{{Op: ask, N: 1}}
				s := Schedule{cfg, slices.Repeat(one, burst+1)}
				again := slices.Clone(s.Steps)
				for i := range again {
					again[i].At = time.Hour
				}
				out = append(out, Schedule{cfg, append(s.Steps, again...)})
			}
		}
	}
	return out
}

// polling asks often: at fractions of the interval that do and do not divide it.
func polling(ask Op, configs ...Config) []Schedule {
	var out []Schedule
	if ask != OpAllow {
		return nil
	}
	for _, c := range configs {
		t := c.Rate.Interval()
		for _, gap := range []time.Duration{t * 3 / 10, t / 10, t * 7 / 10, t - 1, t/3 + 1, t} {
			s := Schedule{Config: c}
			for i := range 60 {
				s.Steps = append(s.Steps, Step{Op: OpAllow, N: 1, At: time.Duration(i) * gap})
			}
			out = append(out, s)
		}
	}
	return out
}

// limiterCanary proves that the implementation takes its time from where the spec
// says: it spends what there is and sees which clock brings more.
func limiterCanary(c *contract) string {
	if !c.accepts(OpAllow) && !c.accepts(OpWait) {
		return fmt.Sprintf("New returned nothing that %v can use: set Allow, AllowN or Wait, or AllowAt for Explicit", c.time)
	}
	if c.time == Injected && !c.lab.bubble && c.accepts(OpWait) {
		c.exact = "a wait can only be driven exactly in a bubble"
		c.limOps[OpWait] = false
		if !c.accepts(OpAllow) {
			return ""
		}
	}
	if c.time != Injected || !c.lab.bubble || !c.accepts(OpAllow) {
		return ""
	}
	const beyond = time.Hour
	var own, other bool
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), Config{}.start()}
		impl, _, _ := c.lim.first(env, 10, 3)
		allow := func() bool {
			var done Done
			impl.do(Step{Op: OpAllow, N: 1}, env.Start, 0, &done)
			return done.OK
		}
		for i := 0; i < 10 && allow(); i++ {
		}
		d.to(beyond)
		own = allow()
		for i := 0; i < 10 && allow(); i++ {
		}
		time.Sleep(beyond)
		other = allow()
		if impl.Stop != nil {
			impl.Stop()
		}
		d.settle()
	})
	l.once()
	if !own && other {
		return "the spec says Injected, but moving Env.Clock brought no token and moving package time did: " +
			"hand Env.Clock to the implementation, or set Time: conformance.PackageTime"
	}
	return ""
}
