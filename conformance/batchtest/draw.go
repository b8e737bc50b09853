package batchtest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/twins"
	"github.com/escapement-go/escapement/internal/verb"
)

// Draw draws items at the instants at which a batch is due, one nanosecond either side, and after idle time, with
// flushes among them and a Close at the end.
func (c *contract) Draw(s *suite.Suite, pick suite.Pick) conformance.Schedule {
	out := conformance.Schedule{Config: suite.OneOf(pick, "config", c.drawn())}
	ops := append([]conformance.Op{verb.Put, verb.Put, verb.Put},
		s.Supported(verb.Flush, verb.Close)...)
	gaps := suite.GapsAround(max(out.Config.Delay, time.Millisecond))
	at, items := time.Duration(0), 0
	for i, m := range suite.Moves(pick, ops, gaps, 2*delay, 0) {
		if i > 0 {
			at += m.After
		}
		st := conformance.Step{Op: m.Op, At: at}
		if items == 0 || m.Op == verb.Put {
			items++
			st.Op, st.N = verb.Put, items
		}
		if out.Steps = append(out.Steps, st); st.Op == verb.Close {
			break
		}
	}
	return out
}

// drawn lists the configurations of schedules that are drawn, the plainest first.
func (c *contract) drawn() []conformance.Config {
	var out []conformance.Config
	for _, size := range []string{"3", "2", "1", "8", ""} {
		out = append(out, sized(size, delay), sized(size, 333333333), sized(size, 0))
	}
	if c.spec.Traits.Busy != 0 && c.spec.Traits.Anchor == AnchorFirstItem {
		out = append(out, sized("2", delay).With("busy", "30ms"), sized("3", delay).With("busy", "250ms"))
	}
	return out
}

// Fits accepts what is configured and numbered as a drawn schedule is.
func (c *contract) Fits(s *suite.Suite, schedule conformance.Schedule) bool {
	again := legal([]conformance.Schedule{{Config: schedule.Config, Steps: slices.Clone(schedule.Steps)}})
	return suite.Among(c.drawn(), schedule.Config) && s.Plain(schedule, "size", "delay", "busy") &&
		len(again) == 1 && again[0].String() == schedule.String()
}

// Tidied numbers the items of a schedule from which steps were left out.
func (c *contract) Tidied(_ *suite.Suite, s conformance.Schedule) conformance.Schedule {
	return suite.NumberedCalls([]conformance.Schedule{s})[0]
}

// Twins puts the laws that compare two runs to a batcher.
func (c *contract) Twins(*suite.Suite) twins.Terms {
	tw := twins.Terms{
		Laws:    []string{"X-REPLAY", "X-SCALE", "X-RENAME", "X-ISO"},
		Windows: c.spec.Traits.Anchor != AnchorFirstItem,
		Long:    func(cfg conformance.Config) time.Duration { return 1000 * cfg.Delay },
		Configs: []conformance.Config{sized("2", suite.Unit), sized("5", suite.Unit)},
		Draw: func(cfg conformance.Config, pick suite.Pick) conformance.Schedule {
			return suite.DrawClear(pick, cfg, []conformance.Op{verb.Put}, suite.Bare)
		},
	}
	if !tw.Windows {
		tw.Laws = append(tw.Laws, "X-SHIFT", "X-EVICT")
	}
	return tw
}
