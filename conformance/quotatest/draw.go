package quotatest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// The kinds of drawn schedules. The numbers without a name stand for schedules with
// requests for any number that can be granted.
const (
	drawnPlain   = 0 // one event at a time
	drawnUnusual = 1 // some requests are for 0 events, fewer, or too many
	drawnLarge   = 5 // the limit is a thousand million
	drawnLater   = 6 // the same, and the first request comes later than the limiter is made
	drawnBack    = 7 // the same, and some instants go back
	drawnKinds   = 8

	milliard = 1e9 // events in a window of [drawnLarge]
)

// few are limits that few requests for a key use up, of windows and of GCRA.
var few = map[bool][]conformance.Config{
	false: {suite.Configured("rate", "1/1s"), suite.Configured("rate", "2/1h"), suite.Configured("rate", "1/24h")},
	true: {suite.Configured("rate", "10/1s", "burst", "1"), suite.Configured("rate", "1/1h", "burst", "2"),
		suite.Configured("rate", "1/24h", "burst", "1")},
}

// drawing is one schedule that is drawn.
type drawing struct {
	cfg     conformance.Config
	kind    int
	limit   int
	unit    time.Duration // the window; of GCRA the interval
	ops     []conformance.Op
	unusual int // the number of [drawnUnusual], one in each schedule, as each has a rule of its own
	keys    int // each request is for one of so many; 0: for none
}

// Draw draws requests in bursts, polling, at the instants at which events leave the window
// and one nanosecond before and after, after long idle times, and with peeks between them.
// Some schedules ask for unusual numbers, and some, of limiters that are told the time, go
// back in time.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	d := c.drawing(s, pick)
	w, several := d.unit, s.Accepts(takesMany)
	gaps := append(suite.GapsAround(w), w/10, w*3/10, w*7/10, 3*w/2)
	out := suite.Plan(d.cfg)
	at := time.Duration(0)
	for i, m := range suite.Moves(pick, d.ops, gaps, 2*w, 19) {
		switch {
		case i == 0 && d.kind != drawnLater:
		case d.kind == drawnBack && s.Time == conformance.Explicit && c.spec.Traits.BackTime != BackRewind && m.N >= 10:
			at = max(0, at-m.After)
		default:
			at += m.After
		}
		st := conformance.Step{Op: m.Op, At: at}
		if m.Op == verb.Allow {
			st.N = 1
			switch {
			case !several:
			case d.limit == milliard:
				st.N = d.limit / 2 * (1 + m.N%2)
			case d.kind == drawnUnusual && m.N%2 == 1:
				st.N = d.unusual
			case d.kind > drawnUnusual:
				st.N = 1 + m.N%d.limit
			}
			if d.keys > 0 {
				st.K = 1 + m.N%d.keys
			}
		}
		out.Steps = append(out.Steps, st)
	}
	return out
}

// drawing draws what all moves of a schedule share.
func (c *contract) drawing(s *suite.Suite, pick suite.Pick) drawing {
	configs := c.drawn()
	i := pick("limit", len(configs))
	d := drawing{cfg: configs[i], unusual: 1}
	if s.Time != conformance.PackageTime && i == 0 && pick("epoch", 8) == 7 {
		starts := append([]string{"2000-01-01T00:00:00.3Z"}, suite.DrawnEpochs...)
		d.cfg = d.cfg.With("epoch", suite.OneOf(pick, "year", starts))
	}
	d.kind = pick("kind", drawnKinds)
	keyed := s.Accepts(takesKeys) && c.oneForAll(s, &c.spec.Traits) == "" && pick("keys", 3) == 2
	if keyed {
		d.cfg = suite.OneOf(pick, "few", few[c.spec.Kind == GCRA])
	}
	d.limit, d.unit = full(c.spec.Kind, d.cfg), unit(c.spec.Kind, d.cfg)
	if keyed {
		d.keys, d.kind, d.ops = 3, drawnPlain, []conformance.Op{verb.Allow}
		return d
	}
	several := s.Accepts(takesMany)
	counts := c.spec.Kind == FixedWindow || c.spec.Kind == SlidingCounter
	if d.kind == drawnLarge && counts && several {
		d.limit, d.unit = milliard, time.Hour
		d.cfg = suite.Configured("rate", fmt.Sprintf("%d/1h", d.limit))
	}
	allow := []conformance.Op{verb.Allow, verb.Allow, verb.Allow}
	d.ops = append(slices.Clone(allow), s.Supported(verb.Tokens)...)
	if d.kind == drawnUnusual && several {
		all := []int{d.limit + 1, -1, 0, -d.limit, 2 * d.limit, -3}
		if c.spec.Kind != SlidingLog { // a log with a mistake would remember each event
			all = append(all, math.MaxInt32, math.MaxInt, math.MinInt, math.MaxInt32-1)
		}
		d.unusual, d.ops = suite.OneOf(pick, "odd", all), allow
	}
	return d
}

// drawn lists the configurations of schedules that are drawn. A day is a whole number of
// windows, so that windows begin at the same times of each day.
func (c *contract) drawn() []conformance.Config {
	var out []conformance.Config
	if c.spec.Kind != GCRA {
		return suite.Each(suite.Configured(), "rate", "3/1s", "1/1s", "2/2.5ms", "10/1m", "4/24h")
	}
	for _, l := range [][2]string{{"10/1s", "3"}, {"10/1s", "1"}, {"400/1s", "2"}, {"1000/1s", "10"}, {"1/1s", "2"}} {
		out = append(out, suite.Configured("rate", l[0], "burst", l[1]))
	}
	return out
}

// Fits accepts requests that can be granted, with limits and windows in the ranges of those that are drawn.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	cfg, largest := schedule.Config, 1000 // of what may be remembered one by one
	most := full(c.spec.Kind, cfg)
	if c.spec.Kind == FixedWindow || c.spec.Kind == SlidingCounter {
		largest = milliard
	}
	return s.Plain(schedule, "rate", "burst") && !mayRefuse(c.spec.Kind, cfg) && most <= largest &&
		suite.Measurable(cfg.Rate.Per) && cfg.Rate.Per <= 24*time.Hour &&
		!asks(schedule, func(n int) bool { return n < 1 || n > most || n > 1 && !s.Accepts(takesMany) })
}

// Twins puts the laws that compare two runs to a limiter. With a grain there are none,
// since they hold only approximately.
func (c *contract) Twins(s *suite.Suite) twins.Terms {
	if !c.spec.Traits.exact() {
		return twins.Terms{}
	}
	tw := twins.Terms{
		Laws:     []string{"X-REPLAY", "X-SHIFT", "X-SCALE", "X-QUERY", "X-ISO", "X-EVICT"},
		Question: verb.Tokens,
		Windows:  c.spec.Kind == FixedWindow || c.spec.Kind == SlidingCounter,
		Long:     func(cfg conformance.Config) time.Duration { return 1000 * cfg.Rate.Per },
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			most := 1
			if s.Accepts(takesMany) {
				most = full(c.spec.Kind, cfg)
			}
			return suite.DrawClear(pick, cfg, []conformance.Op{verb.Allow}, suite.Asking(most))
		},
	}
	for _, limit := range []int{3, 1, 10} {
		cfg := suite.Configured("rate", fmt.Sprintf("%d/%v", limit, suite.Unit))
		if c.spec.Kind == GCRA {
			cfg = suite.Configured("rate", "1/"+suite.Unit.String(), "burst", fmt.Sprint(limit))
		}
		tw.Configs = append(tw.Configs, cfg)
	}
	if !c.spec.Traits.OneAtATime {
		tw.Laws = append(tw.Laws, "RL-SPLIT")
	}
	return tw
}
