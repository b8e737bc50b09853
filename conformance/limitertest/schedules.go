package limitertest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Families lists what is explored, in constants.
func (c *contract) Families(s *suite.Suite) []suite.Family {
	all := slices.Concat(c.requestFamilies(s), c.rateFamilies(s), c.claimFamilies(s), c.keyFamilies(s))
	return c.onlyFamilies(s, all)
}

func limited(rate string, burst int) conformance.Config {
	return suite.Configured("rate", rate, "burst", fmt.Sprint(burst))
}

// steps parses steps that are written without instants.
func steps(texts ...string) []conformance.Step {
	return suite.MustParse(strings.Join(texts, " @0 | ") + " @0").Steps
}

// supported leaves the steps that the implementation can do.
func supported(s *suite.Suite, all []conformance.Step) []conformance.Step {
	return slices.DeleteFunc(all, func(st conformance.Step) bool {
		single := st.N == 1 || st.N == 0 && st.Op != verb.Allow && !claims(st) ||
			st.Op == verb.SetBurst || st.Op == verb.Cancel
		return !s.Accepts(st.Op) || !single && !s.Accepts(opSeveral) ||
			st.Op == verb.Wait && st.D != 0 && !s.Accepts(opContext) ||
			st.Op == verb.Allow && st.K != 0 && !s.Accepts(opKeys)
	})
}

// supports reports whether the implementation can do all steps of a schedule, and each
// cancel has something to cancel.
func supports(s *suite.Suite, schedule conformance.Schedule) bool {
	if len(supported(s, slices.Clone(schedule.Steps))) != len(schedule.Steps) {
		return false
	}
	claimed := 0
	for _, st := range schedule.Steps {
		switch {
		case claims(st):
			claimed++
		case st.Op == verb.Cancel:
			switch what := claimOf(schedule, st.N).Op; {
			case what == "",
				what == verb.Reserve && (st.N > claimed || !s.Accepts(opGiveUp)),
				what == verb.Wait && !s.Accepts(opContext),
				what == verb.Wait && st.N > claimed && st.At > 0:
				return false
			}
		}
	}
	return true
}

// asking is the operation by which tokens are asked for, "" if there is none.
func asking(s *suite.Suite) conformance.Op {
	for _, op := range s.Supported(verb.Allow, verb.Wait) {
		return op
	}
	return ""
}

// requestFamilies lists what is explored of requests that are answered at once.
func (c *contract) requestFamilies(s *suite.Suite) []suite.Family {
	ask := asking(s)
	if ask == "" {
		return nil
	}
	asks := func(burst int) []conformance.Step {
		out := []conformance.Step{{Op: ask, N: 1}}
		for n := 2; n <= burst && s.Accepts(opSeveral); n++ {
			out = append(out, conformance.Step{Op: ask, N: n})
		}
		return out
	}
	grid := func(name string, cfg conformance.Config, depth int) suite.Family {
		return suite.Family{Name: name, Make: func() []conformance.Schedule {
			return c.sequences(cfg, asks(cfg.Burst), depth)
		}}
	}
	usual := limited("10/1s", 3)
	if c.tied {
		usual = limited("3/1s", 3)
	}
	often := func(all ...conformance.Schedule) []conformance.Schedule { // who waits is asked less often
		if ask != verb.Allow {
			return nil
		}
		return all
	}
	var late []conformance.Schedule // requests that begin after a long time with a full bucket
	if c.spec.Traits.Initial == InitialFull {
		late = suite.Later(suite.Sequences(usual, asks(3), []time.Duration{0, usual.Rate.Interval()}, 3), c.long(usual))
	}
	out := []suite.Family{
		{Name: suite.Leaks, Look: true,
			Schedules: append(suite.Sequences(usual, asks(1), []time.Duration{0, time.Second}, 2), leavings(s)...)},
		grid("burst 1", limited("10/1s", 1), 5),
		grid("burst 3", limited("10/1s", 3), 4),
		grid("thirds", limited("3/1s", 2), 4),
		grid("thirteenths", limited("10/13s", 2), 3),
		grid("slow", limited("1/24h", 2), 3),
		grid("fast", limited("600000000/1s", 1), 4),
		grid("uneven", limited("15/1s", 1), 3),
		grid("uneven", limited("700/1s", 1), 3),
		grid("uneven", limited("80000/1s", 1), 3),
		grid("uneven", limited("300000/1s", 2), 3),
		{Name: "uneven", Schedules: often(asksEach(suite.Plan(limited("15/1s", 1)), ask, 40, 100*time.Millisecond),
			asksEach(suite.Plan(limited("7/1s", 2)), ask, 40, 100*time.Millisecond))},
		{Name: "full", Schedules: full(ask, c.long)},
		{Name: "late", Schedules: late},
		{Name: "polling", Schedules: often(polling(limited("10/1s", 1), limited("10/1s", 5), limited("3/1s", 1),
			limited("1000/1s", 2), limited("1/7s", 1))...)},
		{Name: "polling", Schedules: often(inStep(limited("10/1s", 1), limited("3/1s", 1), limited("10/1s", 2),
			limited("600000000/1s", 1))...)},
	}
	add := func(name string, all ...conformance.Schedule) {
		out = append(out, suite.Family{Name: name, Schedules: all})
	}
	if c.tied { // most other configurations are refused
		two := limited("2/1s", 2)
		out = append(out, grid("a burst a second", limited("3/1s", 3), 3))
		add("a burst a second", c.sequences(two, asks(1), 5)...)
		add("a burst a second", often(polling(two, limited("3/1s", 3), limited("10/1s", 10))...)...)
	}
	if s.Accepts(verb.Tokens) {
		add("queries", c.sequences(limited("10/1s", 2), append(asks(1), lastTokens), 4)...)
	}
	if s.Accepts(opSeveral) {
		for _, n := range []int{0, -1, -3, 4, math.MaxInt32, math.MaxInt, math.MinInt} {
			allow := steps("allow 3", fmt.Sprintf("allow %d", n), "allow 1")
			add("odd numbers", suite.Sequences(usual, allow, []time.Duration{0, interval / 2, interval}, 3)...)
		}
	}
	if s.Accepts(verb.Fault) {
		add("faults", c.allFitted(suite.Sequences(limited("10/1s", 2), steps("allow 1", "fault 1", "fault 0"),
			[]time.Duration{0, interval / 2, 2 * interval}, 5))...)
	}
	if s.Time == Explicit && s.Accepts(verb.Allow) {
		two, gaps := limited("1/1s", 2), []time.Duration{0, time.Second, -time.Second}
		add("back in time", c.allFitted(slices.Concat(
			suite.Sequences(two, supported(s, steps("allow 1", "allow 2", "allow 0")), gaps, 4),
			suite.EveryThird(two, supported(s, steps("allow 1", "allow 2")), gaps, 5),
			toAndFro(limited("1/1s", 5)), toAndFro(limited("1000000000/1s", 5))))...)
	}
	return append(out, c.epochs(s, ask, grid)...)
}

// epochs lists what is explored on clocks that start elsewhere.
func (c *contract) epochs(s *suite.Suite, ask conformance.Op,
	grid func(name string, cfg conformance.Config, depth int) suite.Family) []suite.Family {
	var out []suite.Family
	for _, epoch := range s.Epochs() {
		name := "epoch " + epoch
		cfg := c.fitted(conformance.Schedule{Config: limited("10/1s", 2)}).Config.With("epoch", epoch)
		out = append(out, grid(name, cfg, 3))
		if t := cfg.Rate.Interval(); s.Accepts(verb.Tokens) {
			out = append(out, suite.Family{Name: name, Schedules: suite.Sequences(cfg,
				[]conformance.Step{lastTokens, {Op: ask, N: 1}}, []time.Duration{0, t, c.far(cfg)}, 3)})
		}
	}
	return out
}

// long is a time in which a bucket of the schedules has been full for long.
func (c *contract) long(cfg conformance.Config) time.Duration {
	if c.spec.Traits.Resolution > 0 {
		return min(2*time.Minute, c.far(cfg))
	}
	return time.Hour
}

// far is the longest gap between two requests, in which a bucket is full, and more than full if it has no bound. A
// ticker ticks through all of it, in every schedule, so that a limiter that counts in its ticks has the least such gap.
func (c *contract) far(cfg conformance.Config) time.Duration {
	t := cfg.Rate.Interval()
	if grain := c.spec.Traits.Resolution; grain > 0 {
		return max(t*time.Duration(cfg.Burst+2), 4*grain)
	}
	return 100 * t
}

// fitted returns a schedule of a limiter of a burst of 2 or more as one of a limiter whose
// constructor takes only bursts of 1, or only as many tokens per second as the burst: what is
// within the burst stays within it, and all instants are the same in intervals. Other
// schedules, and those of other constructors, stay as they are.
func (c *contract) fitted(s conformance.Schedule) conformance.Schedule {
	old := s.Config
	if c.usual.Burst > 1 && !c.tied || c.usual.Burst < 1 || old.Rate.Interval() == 0 || old.Burst < 1 {
		return s
	}
	to := Config{perSecond(old.Burst), old.Burst}
	if !c.tied {
		to = Config{old.Rate, 1}
	}
	return recast(s, to, func(d time.Duration) time.Duration {
		if d <= 0 || to.Rate == old.Rate {
			return d
		}
		return time.Duration(float64(d) * float64(to.Rate.Interval()) / float64(old.Rate.Interval()))
	})
}

// recast returns a schedule as one of another configuration, with its times scaled: what is within the burst stays
// within it, and what is more, unless that is a huge number, is as much more.
func recast(s conformance.Schedule, to Config, scale func(time.Duration) time.Duration) conformance.Schedule {
	burst := s.Config.Burst
	s.Config = s.Config.Without("rate").Without("burst").With("rate", to.Rate.String()).
		With("burst", fmt.Sprint(to.Burst))
	s.Steps = slices.Clone(s.Steps)
	for i := range s.Steps {
		st := &s.Steps[i]
		st.At, st.D = scale(st.At), scale(st.D)
		switch asks := st.Op == verb.Allow || claims(*st); {
		case asks && st.N <= burst:
			st.N = min(st.N, to.Burst)
		case asks && st.N <= suite.Many:
			st.N += to.Burst - burst
		}
	}
	return s
}

// allFitted returns the schedules as they fit the constructor, each once.
func (c *contract) allFitted(all []conformance.Schedule) []conformance.Schedule {
	if c.usual.Burst > 1 && !c.tied {
		return all
	}
	var out []conformance.Schedule
	seen := map[string]bool{}
	for _, s := range all {
		f := c.fitted(s)
		if text := f.String(); !seen[text] {
			seen[text] = true
			out = append(out, f)
		}
	}
	return out
}

// sequences lists every schedule of up to depth of the steps, with gaps at which a token is just there, and those far
// from it. The longest are a third of all, and if there are several steps without the gaps that fill the bucket, after
// which all is as at first.
func (c *contract) sequences(cfg conformance.Config, all []conformance.Step, depth int) []conformance.Schedule {
	t := cfg.Rate.Interval()
	gaps := []time.Duration{0, t / 2, max(0, t-2), t, t + 2}
	filling := append(slices.Clone(gaps), t*time.Duration(cfg.Burst), c.far(cfg))
	if depth < 4 {
		return suite.Sequences(cfg, all, filling, depth)
	}
	if len(all) == 1 {
		gaps = filling
	}
	return append(suite.Sequences(cfg, all, filling, depth-1), suite.EveryThird(cfg, all, gaps, depth)...)
}

// toAndFro asks now and an interval earlier in turn.
func toAndFro(cfg conformance.Config) []conformance.Schedule {
	var out []conformance.Schedule
	for n := 4; n <= 24; n += 4 {
		s := conformance.Schedule{Config: cfg}
		for i := range n {
			s.Steps = append(s.Steps, conformance.Step{Op: verb.Allow, N: 1,
				At: time.Duration(1-i%2) * cfg.Rate.Interval()})
		}
		out = append(out, s)
	}
	return out
}

// full asks for the burst at first and after a long time, at rates whose interval is not a
// round number: a conversion of tokens to time and back may end just below the burst.
func full(ask conformance.Op, long func(conformance.Config) time.Duration) []conformance.Schedule {
	var out []conformance.Schedule
	for _, per := range []int{7, 13, 29} {
		for events := 1; events < per; events++ {
			for burst := 1; burst <= 3; burst++ {
				cfg := limited(fmt.Sprintf("%d/%ds", events, per), burst)
				first, again := conformance.Step{Op: ask, N: 1}, conformance.Step{Op: ask, N: 1, At: long(cfg)}
				out = append(out, suite.Plan(cfg, slices.Concat(slices.Repeat([]conformance.Step{first}, burst),
					slices.Repeat([]conformance.Step{again}, burst))...))
			}
		}
	}
	return out
}

// polling asks often, at fractions of the interval that divide it, and at others.
func polling(configs ...conformance.Config) (out []conformance.Schedule) {
	for _, cfg := range configs {
		t := cfg.Rate.Interval()
		for _, gap := range []time.Duration{t * 3 / 10, t / 10, t * 7 / 10, t - 1, t/3 + 1, t} {
			out = append(out, asksEach(suite.Plan(cfg), verb.Allow, 60, gap))
		}
	}
	return out
}

// asksEach adds n requests for a token to a schedule, from its start on: each a gap after the one before it, in turn.
func asksEach(s conformance.Schedule, ask conformance.Op, n int, gaps ...time.Duration) conformance.Schedule {
	at := time.Duration(0)
	for i := range n {
		s.Steps = append(s.Steps, conformance.Step{Op: ask, N: 1, At: at})
		at += gaps[i%len(gaps)]
	}
	return s
}

// inStep asks each time that the bucket may be full, and a little before in between: that is where
// a limiter may decide from the instant of the last token alone, and differ from what it does at
// other times.
func inStep(configs ...conformance.Config) (out []conformance.Schedule) {
	for _, cfg := range configs {
		t := cfg.Rate.Per / time.Duration(cfg.Rate.Events) // in whole nanoseconds, and not more than it takes
		full := (t + 1) * time.Duration(cfg.Burst)
		for _, gaps := range [][]time.Duration{{full}, {full, t}, {full, full, t / 2}, {full, full, full, 0},
			{3 * full, 3 * full, t, t, t, t, t, t}, {3 * full, 3 * full, 0, t, 0, t, 0, t}} {
			out = append(out, asksEach(suite.Plan(cfg), verb.Allow, 60, gaps...))
		}
	}
	return out
}

// leavings are schedules in which a wait is given up in each way.
func leavings(s *suite.Suite) []conformance.Schedule {
	return slices.DeleteFunc(suite.ParseAll(
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 @0",
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 @0 | cancel 2 @50ms",
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 50ms @0",
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 -1ns @0",
		"rate=10/1s burst=1 | wait 1 @0 | wait 1 @0 | wait 1 @0 | cancel 2 @50ms | cancel 3 @50ms",
	), func(schedule conformance.Schedule) bool { return !supports(s, schedule) })
}

// again asks often, each gap, so that each way to ask comes several times in a row: the first of them
// finds the bucket full, or has asked for nothing before.
func again(s *suite.Suite, cfg conformance.Config, ask conformance.Op,
	gaps ...time.Duration) []conformance.Schedule {
	heads := [][]conformance.Step{nil}
	if ask == verb.Allow && s.Accepts(opSeveral) {
		heads = append(heads, steps("allow 0", "allow 0"))
	}
	var out []conformance.Schedule
	for _, head := range heads {
		for _, gap := range gaps {
			out = append(out, asksEach(suite.Plan(cfg, head...), ask, 8, gap))
		}
	}
	return out
}

// read are schedules of requests of an empty bucket around the instants at which tokens come.
func (c *contract) read(s *suite.Suite) (out []conformance.Schedule) {
	cfg := limited("10/1s", 2)
	if only := c.onlyConfigs(); len(only) > 0 {
		cfg = only[0]
	}
	ask, interval := conformance.Step{Op: verb.Allow, N: 1}, cfg.Rate.Interval()
	if cfg.Burst > suite.Many || !s.Accepts(opRequest) {
		return nil
	}
	for _, tail := range suite.Sequences(cfg, []conformance.Step{ask}, append(suite.Around(interval), interval/2), 4) {
		tail.Steps = slices.Concat(slices.Repeat([]conformance.Step{ask}, cfg.Burst-1), tail.Steps)
		out = append(out, tail)
	}
	return out
}
