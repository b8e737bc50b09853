package throttletest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// keyed are the schedules of instances, and of keys if there are any.
func (c *contract) keyed(s *suite.Suite, kinds []Edges) []suite.Family {
	short := func(cfg conformance.Config, e Edges, reset conformance.Op) []conformance.Schedule {
		near := []time.Duration{0, 1, suite.Wait / 2, suite.Wait + 1}
		out := edge.Keyed(numbered(cfg, calls, near, 3))
		if e == Leading && s.Accepts(reset) {
			out = append(out, edge.Keyed(withResets(cfg, 3))...)
			out = append(out, edge.OneKey(withResets(cfg, 4))...)
		}
		if e == LeadingAndTrailing { // an event of each key leads, and another one waits
			four := numbered(cfg, calls, []time.Duration{0}, 4)
			out = append(out, edge.Keyed(four[len(four)-1:])...)
		}
		out = append(out, edge.ManyKeys(cfg, suite.Wait/2, 2*suite.Wait))
		if e != NoEdges && c.noSlow(s) == "" {
			gaps := []time.Duration{0, suite.Wait / 2, suite.Wait + 10}
			out = append(out, edge.Keyed(numbered(cfg.With("busy", "250ms"), calls, gaps, 3))...)
		}
		return out
	}
	apart := short(base, c.built(), verb.Reset)
	if c.built()&Trailing != 0 && s.Accepts(verb.Flush) {
		steps := []conformance.Step{{Op: verb.Call}, {Op: verb.Flush}}
		all := numbered(base, steps, []time.Duration{1, suite.Wait / 2}, 3)
		apart = append(apart, edge.Keyed(suite.Having(all, verb.Flush))...)
	}
	out := []suite.Family{{Name: suite.Instances, Schedules: apart}}
	for _, e := range kinds {
		if cfg := base.With("edges", e.String()); s.Accepts(opKeys) {
			all := slices.Concat(short(cfg, e, opResetKey), c.crowds(s, cfg), edge.Swept(cfg, suite.Wait))
			if e&Trailing != 0 && s.Accepts(verb.Flush) {
				all = append(all, edge.FlushedKeys(cfg, suite.Wait)...)
			}
			if e == Leading && c.spec.Traits.Windows != 0 {
				for _, k := range []string{"2", "3"} {
					all = append(all, edge.Swept(cfg.With("k", k), suite.Wait)...)
				}
			}
			out = append(out, suite.Family{Name: suite.Keys, Schedules: all})
		}
		out = append(out, c.keyEnds(s, e)...)
		out = append(out, c.atOnce(s, e)...)
	}
	return out
}

// keyEnds stop a throttle, or end its input or its context, while it has something to emit for a key.
func (c *contract) keyEnds(s *suite.Suite, e Edges) []suite.Family {
	if e&Trailing == 0 || !s.Accepts(opKeys) {
		return nil
	}
	var out []suite.Family
	within := edge.Keyed(numbered(base.With("edges", e.String()), calls, []time.Duration{0, suite.Wait / 2}, 3))
	for _, end := range s.Supported(verb.Stop, verb.Cancel, verb.Close) {
		out = append(out, suite.Family{Name: "keys " + string(end) + " " + e.String(),
			Schedules: suite.Ending(within, end, []time.Duration{1})})
	}
	return out
}

// atOnce are callbacks of two keys that run at the same time and stop the throttle.
func (c *contract) atOnce(s *suite.Suite, e Edges) []suite.Family {
	if e == NoEdges || !s.Accepts(opKeys) || !s.Accepts(verb.Stop) || c.noSlow(s) != "" {
		return nil
	}
	cfg := base.With("edges", e.String()).With("busy", "250ms").With("inside", string(verb.Stop))
	return []suite.Family{{
		Name:      "keys inside stop " + e.String(),
		Schedules: edge.Keyed(numbered(cfg, calls, []time.Duration{0, suite.Wait / 2}, 2)),
	}}
}

// withResets are schedules with a reset, up to depth steps long.
func withResets(cfg conformance.Config, depth int) []conformance.Schedule {
	all := numbered(cfg, andResets, []time.Duration{1, suite.Wait / 2, suite.Wait + 1}, depth)
	return suite.Having(all, verb.Reset)
}

// crowds are the schedules of many keys: those that have come to rest come back, some soon and
// others late, and a reset comes to a key with an interval, or at rest.
func (c *contract) crowds(s *suite.Suite, cfg conformance.Config) []conformance.Schedule {
	gap := suite.Wait / 8
	out := []conformance.Schedule{
		edge.ComingBack(cfg, suite.Wait), edge.Flow(cfg, gap, 200), edge.Throng(cfg, suite.Wait),
	}
	if c.spec.Time != conformance.PackageTime {
		// before package time, and after it
		for _, epoch := range []string{"1970-01-01T00:00:00Z", "3000-01-01T00:00:00Z"} {
			gaps := []time.Duration{1, suite.Wait / 2}
			out = append(out, edge.Keyed(numbered(cfg.With("epoch", epoch), calls, gaps, 3))...)
		}
	}
	if cfg.Edges == Leading && s.Accepts(opResetKey) {
		const reset = verb.Reset
		out = append(out, edge.Flow(cfg, gap, 400, reset), edge.Ended(cfg, suite.Wait, reset))
	}
	if cfg.Edges != NoEdges && c.noSlow(s) == "" {
		out = append(out, edge.Flow(cfg.With("busy", "1s"), gap, 200))
	}
	return out
}

// noSlow is why callbacks that take time are not tried, "" if they are.
func (c *contract) noSlow(s *suite.Suite) string {
	re := c.spec.Traits.Reentrancy
	none := suite.If(!s.Accepts(opEmits) || s.Accepts(verb.Fault), "there is no callback")
	return cmp.Or(none, edge.Slow(s, re), edge.NoReentry(s, re))
}

// FamilyOf names the family of a schedule that is run alone.
func (c *contract) FamilyOf(s *suite.Suite, schedule conformance.Schedule) string {
	return edge.FamilyOf(schedule, func(op conformance.Op) bool { return s.Accepts(withKey[op]) })
}
