package leakybuckettest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// Draw draws items in bursts, a little faster and slower than they leave, at the instants
// at which they do and one nanosecond either side, and after long idles; cancels of any of
// them, the input that ends, a Stop, two of these, and functions that call back.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	cfg := suite.OneOf(pick, "config", c.drawn())
	kinds := [][]conformance.Op{nil} // what comes beside items
	for _, op := range s.Supported(verb.Cancel, verb.Close, verb.Stop) {
		kinds = append(kinds, []conformance.Op{op})
	}
	if s.Accepts(verb.Close) {
		for _, op := range s.Supported(verb.Cancel, verb.Stop) {
			kinds = append(kinds, []conformance.Op{verb.Close, op})
		}
	}
	var others []conformance.Op
	inside := false
	all := 2*len(kinds) + 1
	if c.spec.Traits.Reentrancy == ReentrancyForbidden {
		all--
	}
	if k := pick("kind", all); k < 2*len(kinds) {
		others = kinds[k/2]
	} else {
		inside = true
		back := s.Supported(verb.Put, verb.Cancel, verb.Close)
		cfg = cfg.With("inside", string(suite.OneOf(pick, "inside", back)))
	}
	d := cfg.Interval
	gaps := []time.Duration{0, d, d - 1, d + 1, 1, d / 2, d * 3 / 10, d * 13 / 10, 5 * d / 2, 100 * d}
	switch {
	case inside:
		gaps = gaps[:2]
	case len(others) > 1: // so that items wait
		gaps = []time.Duration{0, 1, d / 2, d}
	}
	out := conformance.Schedule{Config: cfg}
	at, items, ended := time.Duration(0), 0, conformance.Op("")
	ops := append([]conformance.Op{verb.Put, verb.Put, verb.Put}, others...)
	for i, m := range suite.Moves(pick, ops, gaps, 2*d, 19) {
		if i > 0 && (m.Gap < len(gaps) || !inside) {
			at += m.After
		}
		st := conformance.Step{Op: m.Op, At: at}
		switch {
		case items == 0 || m.Op == verb.Put || !mayFollow(m.Op, ended):
			items++
			st.Op, st.N = verb.Put, items
		case m.Op == verb.Cancel:
			newest := items
			if m.N%5 > 0 { // which are more likely to wait
				newest = min(items, 4)
			}
			st.N = items - m.N%newest
		default:
			ended = m.Op
		}
		out.Steps = append(out.Steps, st)
	}
	return out
}

// mayFollow reports whether an operation comes after the input has ended, or the bucket was stopped:
// either comes once, and a Stop goes last.
func mayFollow(op, ended conformance.Op) bool {
	switch op {
	case verb.Close:
		return ended == ""
	case verb.Stop:
		return ended != verb.Stop
	}
	return true
}

// drawn lists the configurations of schedules that are drawn.
func (c *contract) drawn() []conformance.Config {
	var out []conformance.Config
	for _, cfg := range suite.Each(suite.Configured(), "interval", "100ms", "333.333333ms", "7ns", "24h") {
		out = append(out, suite.Each(cfg, "backlog", "2", "1", "3", "8")...)
	}
	if c.spec.Time != conformance.PackageTime {
		out = append(out, suite.Each(out[0], "epoch", suite.DrawnEpochs...)...)
	}
	return out
}

// Fits accepts what is configured and numbered as a drawn schedule is.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	items, ended := 0, conformance.Op("")
	odd := func(st conformance.Step) bool {
		late := !mayFollow(st.Op, ended)
		switch st.Op {
		case verb.Put: // numbered as Plain asks for
			items++
		case verb.Cancel:
			return st.N < 1 || st.N > items
		case verb.Close, verb.Stop:
			ended = st.Op
		}
		return late || items == 0
	}
	return suite.Among(c.drawn(), schedule.Config) && s.Plain(schedule, "interval", "backlog", "epoch") &&
		!slices.ContainsFunc(schedule.Steps, odd)
}

// Tidied numbers the items of a schedule from which steps were left out.
func (c *contract) Tidied(_ *suite.Suite, s conformance.Schedule) conformance.Schedule {
	return suite.Recounted(s,
		func(op conformance.Op) bool { return op == verb.Put },
		func(op conformance.Op) bool { return op == verb.Cancel },
		func(conformance.Op) bool { return false })
}

// Twins puts the laws that compare two runs to a bucket.
func (c *contract) Twins(*suite.Suite) twins.Terms {
	tr := c.spec.Traits
	tw := twins.Terms{
		Laws:    []string{"X-REPLAY", "X-SCALE", "X-RENAME", "X-ISO"},
		Windows: tr.FirstItem == FirstOnGrid,
		Long:    func(cfg conformance.Config) time.Duration { return 1000 * cfg.Interval },
		Configs: []conformance.Config{
			suite.Configured("interval", suite.Unit.String(), "backlog", "2"),
			suite.Configured("interval", suite.Unit.String(), "backlog", "5"),
		},
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			return suite.DrawClear(pick, cfg, []conformance.Op{verb.Put}, suite.Bare)
		},
	}
	if tr.Slack == 0 { // else idle time is saved up
		tw.Laws = append(tw.Laws, "X-SHIFT")
		if !tw.Windows { // the grid goes on
			tw.Laws = append(tw.Laws, "X-EVICT")
		}
	}
	return tw
}
