package quotatest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// The kinds of drawn schedules. Those without a name ask for one event at a time, or for as
// many as can be granted.
const (
	drawnPlain = 0 // one event at a time
	drawnOdd   = 1 // for nothing, less than nothing or too much in between
	drawnLarge = 5 // in windows of a thousand million events
	drawnLater = 6 // and not from the instant on at which the limiter is made
	drawnBack  = 7 // and at instants that go back
	drawnKinds = 8

	milliard = 1e9 // events in a window of [drawnLarge]
)

// drawing is one schedule that is drawn.
type drawing struct {
	cfg   conformance.Config
	kind  int
	limit int
	unit  time.Duration // the window; of GCRA the interval
	ops   []conformance.Op
	odd   int // the number of [drawnOdd], one in each schedule, as the laws of each are about nothing else
}

// Draw draws requests in bursts, polling, at the instants at which events leave the window
// and one nanosecond either side, after long idles, and looks between them. Some ask for odd
// numbers, and some, of limiters that are told the time, go back in it.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	d := c.drawing(s, pick)
	w, several := d.unit, s.Accepts(takesMany)
	gaps := append(suite.GapsAround(w), w/10, w*3/10, w*7/10, 3*w/2)
	out := suite.Plan(d.cfg)
	at := time.Duration(0)
	for i, m := range suite.Moves(pick, d.ops, len(gaps), 2*w, 19) {
		gap := m.Any
		if m.Gap < len(gaps) {
			gap = gaps[m.Gap]
		}
		switch {
		case i == 0 && d.kind != drawnLater:
		case d.kind == drawnBack && s.Time == conformance.Explicit && c.spec.Traits.BackTime != BackRewind && m.N >= 10:
			at = max(0, at-gap)
		default:
			at += gap
		}
		st := conformance.Step{Op: m.Op, At: at}
		if m.Op == conformance.OpAllow {
			st.N = 1
			switch {
			case !several:
			case d.limit == milliard:
				st.N = d.limit / 2 * (1 + m.N%2)
			case d.kind == drawnOdd && m.N%2 == 1:
				st.N = d.odd
			case d.kind > drawnOdd:
				st.N = 1 + m.N%d.limit
			}
		}
		out.Steps = append(out.Steps, st)
	}
	return out
}

// drawing draws what is the same for all moves of a schedule.
func (c *contract) drawing(s *suite.Suite, pick suite.Pick) drawing {
	configs := c.drawn()
	i := pick("limit", len(configs))
	d := drawing{cfg: configs[i], odd: 1}
	if s.Time != conformance.PackageTime && i == 0 && pick("epoch", 4) == 3 {
		starts := append([]string{"2000-01-01T00:00:00.3Z"}, suite.DrawnEpochs...)
		d.cfg = d.cfg.With("epoch", suite.OneOf(pick, "year", starts))
	}
	d.kind = pick("kind", drawnKinds)
	d.limit, d.unit = full(c.spec.Kind, d.cfg), d.cfg.Rate.Per
	if c.spec.Kind == GCRA {
		d.unit = d.cfg.Rate.Interval()
	}
	several := s.Accepts(takesMany)
	counts := c.spec.Kind == FixedWindow || c.spec.Kind == SlidingCounter
	if d.kind == drawnLarge && counts && several {
		d.limit, d.unit = milliard, time.Hour
		d.cfg = suite.Configured("rate", fmt.Sprintf("%d/1h", d.limit))
	}
	allow := []conformance.Op{conformance.OpAllow, conformance.OpAllow, conformance.OpAllow}
	d.ops = append(slices.Clone(allow), s.Able(conformance.OpTokens)...)
	if d.kind == drawnOdd && several {
		all := []int{d.limit + 1, -1, 0, -d.limit, 2 * d.limit, -3}
		if c.spec.Kind != SlidingLog { // one with a mistake would remember each event
			all = append(all, math.MaxInt32, math.MaxInt, math.MinInt, math.MaxInt32-1)
		}
		d.odd, d.ops = suite.OneOf(pick, "odd", all), allow
	}
	return d
}

// drawn lists the configurations of schedules that are drawn. Windows divide a day, so that
// they begin at the same places of it in each.
func (c *contract) drawn() []conformance.Config {
	var out []conformance.Config
	if c.spec.Kind != GCRA {
		for _, rate := range []string{"3/1s", "1/1s", "2/250ms", "10/1m", "4/24h"} {
			out = append(out, suite.Configured("rate", rate))
		}
		return out
	}
	for _, l := range [][2]string{{"10/1s", "3"}, {"10/1s", "1"}, {"5/1s", "2"}, {"1000/1s", "10"}, {"1/1s", "2"}} {
		out = append(out, suite.Configured("rate", l[0], "burst", l[1]))
	}
	return out
}

// Fits accepts requests that can be granted in what is drawn.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	most := full(c.spec.Kind, schedule.Config)
	return suite.Among(c.drawn(), schedule.Config) && s.Plain(schedule, "rate", "burst") &&
		!asks(schedule, func(n int) bool { return n < 1 || n > most || n > 1 && !s.Accepts(takesMany) })
}

// Twins puts the laws that compare two runs to a limiter; none to one with a Grain, where
// they hold only about.
func (c *contract) Twins(s *suite.Suite) conformance.Twins {
	if c.spec.Traits.Grain > 0 {
		return conformance.Twins{}
	}
	tw := conformance.Twins{
		Laws:     []string{"X-REPLAY", "X-SHIFT", "X-SCALE", "X-QUERY", "X-ISO", "X-EVICT"},
		Question: conformance.OpTokens,
		Windows:  c.spec.Kind == FixedWindow || c.spec.Kind == SlidingCounter,
		Long:     func(cfg conformance.Config) time.Duration { return 1000 * cfg.Rate.Per },
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			most := 1
			if s.Accepts(takesMany) {
				most = full(c.spec.Kind, cfg)
			}
			return suite.DrawClear(pick, cfg, []conformance.Op{conformance.OpAllow}, suite.Asking(most))
		},
	}
	for _, limit := range []int{3, 1, 10} {
		cfg := suite.Configured("rate", fmt.Sprintf("%d/%v", limit, suite.Unit))
		if c.spec.Kind == GCRA {
			cfg = suite.Configured("rate", "1/"+suite.Unit.String(), "burst", fmt.Sprint(limit))
		}
		tw.Configs = append(tw.Configs, cfg)
	}
	if !c.spec.Traits.Single {
		tw.Laws = append(tw.Laws, "RL-SPLIT")
	}
	return tw
}
