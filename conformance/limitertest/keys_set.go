package limitertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// changes are the operations that are for all keys.
var changes = ops(verb.SetLimit, verb.SetBurst)

// decidedAlone judges the run of one key. A key for which nobody has asked may have a bucket, as may one that is
// full, or be made when it is asked for: with the limit and the burst of then.
func (x *exam) decidedAlone() *suite.Violation {
	if !x.beyondRequests() {
		return x.model()
	}
	own := *x.Recording
	i := slices.IndexFunc(own.Done, func(d conformance.Done) bool { return d.Op == verb.Allow })
	if i < 0 || fullWhenRaised(&own) {
		return nil
	}
	for _, d := range own.Done[:i] {
		switch d.Op {
		case verb.SetLimit:
			own.Schedule.Config.Rate = d.Rate
		case verb.SetBurst:
			own.Schedule.Config.Burst = d.N
		}
	}
	own.Schedule.Steps, own.Done = own.Schedule.Steps[i:], own.Done[i:]
	of := &exam{Recording: &own, traits: x.traits, stops: x.stops, first: x.first}
	if !of.accountable() {
		return nil
	}
	if d := accounted(&own.Trace, x.traits); d != nil {
		return x.broken(d.at, d.because, "%s", d.headline)
	}
	return nil
}

// fullWhenRaised reports whether the bucket of a key may be full when the burst is raised: nobody asked for it at
// that instant.
func fullWhenRaised(own *suite.Recording) bool {
	burst, asked := own.Schedule.Config.Burst, time.Duration(-1)
	for _, d := range own.Done {
		switch d.Op {
		case verb.Allow:
			asked = d.At
		case verb.SetBurst:
			if d.N > burst && asked != d.At {
				return true
			}
			burst = d.N
		}
	}
	return false
}

// keyedChanges set a limit or a burst when several keys have been asked for, and ask for each of them, and for a new
// one, when it shows: within an instant only, or later.
func keyedChanges(s *suite.Suite, cfg conformance.Config, atOnce bool) []conformance.Schedule {
	t, rate, burst := cfg.Rate.Interval(), cfg.Rate, cfg.Burst
	faster, slower := rate, rate
	faster.Events, slower.Per = 2*rate.Events, 2*rate.Per
	type change struct {
		set   conformance.Step
		later time.Duration // when the keys are asked for again,
		asks  int           // so often
	}
	limit := func(r Rate, at time.Duration) conformance.Step {
		return conformance.Step{Op: verb.SetLimit, Rate: r, At: at}
	}
	bursts := func(n int) conformance.Step { return conformance.Step{Op: verb.SetBurst, N: n} }
	all := []change{{limit(faster, 0), 0, 1}, {limit(slower, 0), 0, 1}, {bursts(burst + 1), 0, 1}}
	if !atOnce {
		soon, late := 3*t/4, 3*t/2
		all = append(all, change{limit(faster, 0), soon, 2}, change{limit(slower, 0), late, 1},
			change{limit(faster, soon), soon, 1}, change{limit(slower, late), late, 1},
			change{bursts(burst + 1), 4 * t, burst + 2})
		if burst > 1 {
			all = append(all, change{bursts(burst - 1), 4 * t, burst})
		}
	}
	many := make([]int, 40)
	for i := range many {
		many[i] = i + 1
	}
	var out []conformance.Schedule
	for _, keys := range [][]int{{1, 2}, {2, 1}, {1, 65}, {1, 2, 3}, many} {
		for _, ch := range all {
			if !s.Accepts(ch.set.Op) {
				continue
			}
			for used := 1; used <= burst; used++ {
				steps := slices.Concat(edge.Ask(0, used, keys...), []conformance.Step{ch.set},
					edge.Ask(ch.later, ch.asks+burst-used, keys...))
				out = append(out, suite.Plan(cfg, steps...))
				if len(keys) == 2 && used == burst {
					newcomer := edge.Ask(ch.later, burst, 3)
					out = append(out, suite.Plan(cfg, slices.Concat(steps, newcomer)...))
				}
			}
		}
	}
	return out
}

// sweptLater asks for a key before it is full: at the old limit, after a new one came at which it would be, and at a
// new limit, when it would be at the old one, and whether or not it was full, and forgotten, as that came.
func sweptLater(cfg conformance.Config) []conformance.Schedule {
	t, faster, slower := cfg.Rate.Interval()/2, cfg.Rate, cfg.Rate
	faster.Per /= 60
	slower.Per *= 60
	set := func(r Rate, at time.Duration) []conformance.Step {
		return []conformance.Step{{Op: verb.SetLimit, Rate: r, At: at}}
	}
	used := edge.Ask(0, 1, 1)
	return []conformance.Schedule{
		suite.Plan(cfg, slices.Concat(used, set(faster, t), edge.Ask(t, 1, 2, 1))...),
		suite.Plan(cfg, slices.Concat(used, set(slower, 0), edge.Ask(3*t, 1, 2, 1))...),
		suite.Plan(cfg, slices.Concat(used, edge.Ask(3*t, 1, 2), set(slower, 3*t), edge.Ask(3*t, 1, 1),
			edge.Ask(6*t, 1, 1))...),
	}
}
