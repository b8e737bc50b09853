package limitertest

import (
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// drawnLimits are the rates and bursts of drawn schedules, the plainest first.
var drawnLimits = []conformance.Config{
	limited("10/1s", 3), limited("10/1s", 1), limited("3/1s", 2), limited("10/13s", 2), limited("1/24h", 2),
	limited("1000/1s", 10), limited("600000000/1s", 1),
}

// drawnTied are those of limiters whose burst is what comes in the Per of the rate, or 1.
var drawnTied = []conformance.Config{
	limited("3/1s", 3), limited("10/1s", 1), limited("2/1s", 2), limited("3/1s", 1), limited("10/1s", 10),
}

// Draw draws requests in bursts, polling, at the instant at which a token is there and two
// nanoseconds before and after it, and after long idle times. Where the implementation has
// reservations, several are made at once and cancelled in any order, and limits are set
// while tokens are owed. Some schedules ask for unusual numbers of tokens, and some, of
// limiters that are told the time, go back in time.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	limits := drawnLimits
	if c.tied {
		limits = drawnTied
	}
	if len(c.spec.Only) > 0 {
		limits = c.onlyConfigs()
	}
	cfg := suite.OneOf(pick, "limit", limits)
	if s.Time != PackageTime && pick("epoch", 8) == 7 {
		cfg = cfg.With("epoch", suite.OneOf(pick, "year", suite.DrawnEpochs))
	}
	interval := cfg.Rate.Interval()
	gaps := []time.Duration{0, interval, max(0, interval-2), interval + 2, interval / 2, interval / 10, interval / 3,
		interval * time.Duration(cfg.Burst), 100 * interval}
	kind := pick("kind", 6)
	d := &drawer{Suite: s, cfg: cfg, unusual: kind == 4, credit: c.spec.Traits.Overdraft}
	back := kind/2 == 1 && s.Time == Explicit && s.Accepts(verb.Allow)
	ops := drawnOps(s, kind == 5)
	if s.Accepts(opKeys) && c.oneBucket(s, &c.spec.Traits) == "" && pick("keys", 3) == 2 {
		d.keys, d.unusual, back, ops = 3, false, false, []conformance.Op{verb.Allow}
	}
	out := conformance.Schedule{Config: cfg}
	at := time.Duration(0)
	for i, m := range suite.Moves(pick, ops, gaps, 2*interval, 19) {
		switch {
		case i == 0:
		case back && m.N >= 10:
			at -= min(m.After, time.Hour)
		default:
			at += m.After
		}
		if st := d.step(m); st.Op != "" {
			st.At = at
			out.Steps = append(out.Steps, st)
		}
	}
	if len(out.Steps) == 0 {
		out.Steps = []conformance.Step{{Op: asking(s), N: 1}}
	}
	return out
}

// drawnOps are the operations of a drawn schedule: requests as often as everything else,
// or requests and waits.
func drawnOps(s *suite.Suite, waits bool) []conformance.Op {
	ask := asking(s)
	if waits {
		return s.Supported(slices.Compact([]conformance.Op{ask, verb.Wait})...)
	}
	all := append([]conformance.Op{ask, ask},
		s.Supported(verb.Tokens, verb.Reserve, verb.SetLimit, verb.SetBurst)...)
	if s.Accepts(opGiveUp) {
		all = append(all, verb.Cancel)
	}
	return all
}

// drawer makes steps out of moves.
type drawer struct {
	*suite.Suite
	cfg      conformance.Config
	unusual  bool // some steps ask for unusual numbers of tokens
	credit   bool // and may get them
	keys     int  // each request is for one of so many; 0: for none
	reserved int
}

// step is the step of a move, without its instant; one without an operation if nothing can
// be cancelled.
func (d *drawer) step(m suite.Move) conformance.Step {
	st := conformance.Step{Op: m.Op}
	switch m.Op {
	case verb.Allow:
		if st.N = d.number(m.N); d.keys > 0 {
			st.N, st.K = d.number(m.N/d.keys), 1+m.N%d.keys
		}
	case verb.Reserve:
		st.N = d.number(m.N)
		d.reserved++
	case verb.Wait:
		st.N = 1
	case verb.Cancel:
		if d.reserved == 0 {
			return conformance.Step{}
		}
		st.N = 1 + m.N%d.reserved // not always the newest
	case verb.SetLimit:
		st.Rate = Rate{Events: 1 + m.N, Per: d.cfg.Rate.Per}
	case verb.SetBurst:
		st.N = 1 + m.N
	}
	return st
}

func (d *drawer) number(n int) int {
	burst := d.cfg.Burst
	switch {
	case !d.Accepts(opSeveral):
		return 1
	case d.unusual && n >= 10:
		n = []int{burst + 1, 0, -1, math.MaxInt32, math.MaxInt, -3, math.MinInt, -burst, 2 * burst,
			math.MaxInt32 - 1}[n-10]
		if d.credit { // what is owed then shows how finely the limiter counts, and nothing else
			n = min(n, 2*burst)
		}
		return n
	}
	return 1 + n%burst
}

// Fits accepts what is configured and asked for in the ranges of drawn schedules.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	cfg := schedule.Config
	if !s.Plain(schedule, "rate", "burst") || cfg.Rate.Events < 1 || cfg.Rate.Events > 1e9 || cfg.Rate.Per < 1 ||
		cfg.Rate.Per > 24*time.Hour || cfg.Rate.Interval() < 1 || cfg.Burst < 1 || cfg.Burst > 1000 {
		return false
	}
	return !slices.ContainsFunc(schedule.Steps, func(st conformance.Step) bool {
		switch st.Op {
		case verb.Allow, verb.Reserve:
			return st.N < 1 || st.N > cfg.Burst || st.N > 1 && !s.Accepts(opSeveral)
		case verb.Wait:
			return st.N != 1
		case verb.SetLimit:
			return st.Rate.Events < 1 || st.Rate.Per < 1
		case verb.SetBurst:
			return st.N < 1 || st.N > 1000
		case verb.Cancel:
			return st.N < 1 || !s.Accepts(opGiveUp)
		}
		return false
	})
}

// Twins puts the laws that compare two runs to a limiter.
func (c *contract) Twins(s *suite.Suite) twins.Terms {
	tr := c.spec.Traits
	if len(c.spec.Only) > 0 || !s.Accepts(opRequest) || tr.Resolution > 0 || tr.scale() > 0 || tr.Latency > 0 {
		return twins.Terms{} // they need AllowN, Allow or AllowAt, and compare to the nanosecond
	}
	tw := twins.Terms{
		Laws:     []string{"X-REPLAY", "X-SCALE", "X-QUERY", "X-ISO"},
		Question: verb.Tokens,
		Windows:  tr.RefillSize > 0,
		Long: func(cfg conformance.Config) time.Duration {
			return 1000 * cfg.Rate.Interval() * time.Duration(cfg.Burst)
		},
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			most := cfg.Burst
			if !s.Accepts(opSeveral) {
				most = 1
			}
			return suite.DrawClear(pick, cfg, []conformance.Op{verb.Allow}, suite.Asking(most))
		},
	}
	for _, burst := range []int{3, 1, 10} {
		tw.Configs = append(tw.Configs, limited("1/"+suite.Unit.String(), burst))
	}
	if tr.Initial == InitialFull { // else it fills up before the first request
		tw.Laws = append(tw.Laws, "X-SHIFT")
		if tr.RefillSize == 0 { // a limiter whose tokens come at instants of its own differs from a new one
			tw.Laws = append(tw.Laws, "X-EVICT")
		}
	}
	if !tr.OneAtATime && !tr.Overdraft {
		tw.Laws = append(tw.Laws, "RL-SPLIT")
	}
	return tw
}
