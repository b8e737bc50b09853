package limitertest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// unlistable reports whether a configuration cannot be one of the list.
func (cfg Config) unlistable() bool { return cfg.Burst < 1 || cfg.Rate.Interval() < 1 }

// excludes says why New is not called with a configuration: the spec has a list, and it is not on it.
func (c *contract) excludes(cfg Config) string {
	if only := c.spec.Only; len(only) == 0 || slices.Contains(only, cfg) {
		return ""
	}
	return fmt.Sprintf("the spec's Only has no rate=%s burst=%d", cfg.Rate, cfg.Burst)
}

// onlyConfigs are the configurations of the list as schedules have them.
func (c *contract) onlyConfigs() (out []conformance.Config) {
	for _, cfg := range c.spec.Only {
		out = append(out, limited(cfg.Rate.String(), cfg.Burst))
	}
	return out
}

// onlyFamilies are the families with each schedule as one of a configuration on the list, in turn, and what empties
// and fills the whole bucket of each.
func (c *contract) onlyFamilies(s *suite.Suite, families []suite.Family) []suite.Family {
	if len(c.spec.Only) == 0 {
		return families
	}
	ask, seen, turn := asking(s), map[string]bool{}, 0
	fit := func(all []conformance.Schedule) (out []conformance.Schedule) {
		for _, one := range all {
			moved, ok := c.moved(one, c.spec.Only[turn%len(c.spec.Only)], ask, s.Accepts(opSeveral))
			if text := moved.String(); ok && !seen[text] {
				seen[text] = true
				turn++
				out = append(out, moved)
			}
		}
		return out
	}
	for i, f := range families {
		families[i].Schedules = fit(f.Schedules)
		if f.Make != nil {
			families[i].Make = func() []conformance.Schedule { return fit(f.Make()) }
		}
	}
	for _, cfg := range c.onlyConfigs() {
		all := []conformance.Step{{Op: ask, N: 1}}
		if s.Accepts(opSeveral) && cfg.Burst > 1 {
			all = append(all, conformance.Step{Op: ask, N: cfg.Burst})
		}
		families = append(families, suite.Family{Name: "the whole burst", Make: func() []conformance.Schedule {
			return fit(c.sequences(cfg, all, 4))
		}})
	}
	return families
}

// near is how far from a multiple of the interval an instant may be to be meant as one at its boundary.
const near = 3 * time.Nanosecond

// moved is a schedule as one of another configuration: its instants are as many intervals from the start, and as
// far from a boundary. What a key's bucket holds above the schedule's burst is taken first. Schedules that set the
// rate or the burst, are about a rate or burst of their own, or about the ends of time, have no such form.
func (c *contract) moved(
	s conformance.Schedule, to Config, ask conformance.Op, several bool,
) (out conformance.Schedule, ok bool) {
	old, interval := Config{s.Config.Rate, s.Config.Burst}, s.Config.Rate.Interval()
	if slices.Contains(c.spec.Only, old) {
		return s, true
	}
	apart := slices.ContainsFunc(s.Steps, func(st conformance.Step) bool {
		return st.Op == verb.SetLimit || st.Op == verb.SetBurst || st.At.Abs() > math.MaxInt64/4
	})
	if apart || interval <= 0 || old.Burst < 1 || old.Burst > suite.Many {
		return s, false
	}
	ok = true
	scale := func(d time.Duration) time.Duration {
		whole := d.Round(interval)
		rest := d - whole
		if rest.Abs() > near {
			whole, rest = d, 0
		}
		ns := math.Ceil(float64(whole) / float64(interval) * float64(to.Rate.Per) / float64(to.Rate.Events))
		if ok = ok && math.Abs(ns) < math.MaxInt64/4; !ok {
			return d
		}
		return time.Duration(ns) + rest
	}
	s = recast(s, to, scale)
	out.Config = s.Config
	more, begun := to.Burst-old.Burst, map[int]bool{}
	for _, st := range s.Steps {
		first := conformance.Step{Op: ask, N: 1, K: st.K, At: st.At}
		switch {
		case begun[st.K] || c.spec.Traits.Initial != InitialFull || ask != verb.Allow:
		case several && more > 0:
			first.N = more
			out.Steps = append(out.Steps, first)
		case more <= 2*old.Burst+10: // one by one, if they are few
			out.Steps = append(out.Steps, slices.Repeat([]conformance.Step{first}, max(0, more))...)
		}
		begun[st.K] = true
		out.Steps = append(out.Steps, st)
	}
	return out, ok
}
