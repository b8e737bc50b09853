package limitertest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// keyFamilies lists what is explored of a limiter that keeps a bucket for each key.
func (c *contract) keyFamilies(s *suite.Suite) []suite.Family {
	if !s.Accepts(opKeys) || c.takesTime(s, &c.spec.Traits) != "" {
		return nil
	}
	atOnce := c.oneBucket(s, &c.spec.Traits) != ""
	var all []conformance.Schedule
	for _, burst := range []int{1, 2} {
		cfg := c.fitted(conformance.Schedule{Config: limited("10/1s", burst)}).Config
		gap := cfg.Rate.Interval()
		if atOnce {
			gap = 0
		}
		all = append(all, edge.KeyedRequests(cfg, gap, cfg.Burst, s.Accepts(opSeveral))...)
		if !atOnce && s.Time != PackageTime {
			all = append(all, edge.KeysElsewhere(cfg, gap, cfg.Burst)...)
		}
		if c.usual.Burst > 1 && !c.tied {
			all = append(all, keyedChanges(s, cfg, atOnce)...)
		}
	}
	if atOnce {
		return []suite.Family{{Name: suite.Keys, Schedules: all}}
	}
	for _, slow := range []conformance.Config{limited("1/1h", 1), limited("1/24h", 3), limited("1/1m", 30)} {
		cfg := c.fitted(conformance.Schedule{Config: slow}).Config
		full := time.Duration(cfg.Burst) * cfg.Rate.Interval()
		all = append(all, edge.SweptRequests(cfg, full, cfg.Burst, s.Accepts(opSeveral))...)
		if s.Accepts(verb.SetLimit) && cfg.Burst == 1 {
			all = append(all, sweptLater(cfg)...)
		}
	}
	return []suite.Family{
		{Name: suite.Leaks, Look: true, Schedules: suite.ParseAll("rate=10/1s burst=1 | allow 1 1 @0 | allow 1 2 @0",
			"rate=10/1s burst=1 | allow 1 1 @0 | allow 1 2 @0 | allow 1 1 @50ms | allow 1 3 @200ms")},
		{Name: suite.Keys, Schedules: all},
	}
}

// keyRules are the laws of a limiter that keeps a bucket for each key.
func (c *contract) keyRules() []rule {
	basic := []string{"RL-ENV", "RL-WORK", "RL-MODEL", "RL-FULL"}
	return edge.KeyRules(opKeys, func(x *exam) (*suite.Recording, bool) { return x.Recording, x.traits.apart() != "" },
		rule{
			Rule: core("X-ISO", "Each key MUST have its own bucket, however many keys there are: requests "+
				"for one MUST be decided as if there were no others. A new limit or burst MUST apply to "+
				"every key."),
			Declared: []string{"Initial"}, Beyond: basic, Unless: c.takesTime, Sees: accepted,
			Check: func(x *exam) *suite.Violation {
				if x.forgotten() != nil {
					return nil
				}
				return x.eachKey((*exam).decidedAlone)
			},
		},
		rule{
			Rule: core("X-EVICT", "A key that was idle for a while MUST NOT get more than if it had been "+
				"remembered: it may be forgotten once its bucket is full."),
			Beyond: basic, Unless: c.oneBucket, Sees: accepted,
			Check: (*exam).forgotten,
		}, changes...)
}

func needs(_ *suite.Suite, st conformance.Step) conformance.Op { return edge.NeedsKeys(st, opKeys) }

// oneBucket is why keys are tried at one instant only, or not at all, "" if they are tried at all times.
func (c *contract) oneBucket(s *suite.Suite, t *Traits) string {
	return cmp.Or(t.apart(), c.takesTime(s, t))
}

// apart is why what comes with time may come to each key at instants of its own, "" if it does not.
func (t *Traits) apart() string {
	switch {
	case t.Initial > InitialFull:
		return "declared: not full at first, and when a key begins to fill is undefined"
	case t.RefillSize > 0 || t.Resolution > 0:
		return "declared: a unit of counting, which may differ from key to key"
	}
	return ""
}

// eachKey judges what was granted to each key by itself.
func (x *exam) eachKey(judge func(*exam) *suite.Violation) *suite.Violation {
	return edge.EachKey(x.Recording, func(rec *suite.Recording) *suite.Violation {
		own := &exam{Recording: rec, traits: x.traits, of: x.of}
		if own.plain() {
			own.unexplained = own.account().replay()
		}
		return judge(own)
	}, changes...)
}

// forgotten finds a key that came back and was granted more than the envelope.
func (x *exam) forgotten() *suite.Violation {
	if !edge.ComeBack(x.Schedule) {
		return nil
	}
	return x.eachKey((*exam).env)
}

// keysConcurrent lets goroutines ask at one instant for keys that are new.
func (c *contract) keysConcurrent(p *suite.Probe) (worst *suite.Violation, skip string) {
	refused := ""
	worst, skip = edge.MeetNewKeys(p, toRound, func(env Env) (func(round, key int) bool, func()) {
		f, why := c.make(env, Config{perSecond(1), 1})
		refused = cmp.Or(refused, why)
		return func(round, key int) bool {
			var done conformance.Done
			f.do(conformance.Step{Op: verb.Allow, N: 1, K: key}, instantOf(round), 0, &done)
			return done.OK
		}, f.end
	})
	if refused != "" {
		return nil, ""
	}
	return worst, skip
}

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
	if alone := (&exam{Recording: &own, traits: x.traits, of: x.of}); !alone.accountable() {
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

func setLimit(r Rate, at time.Duration) conformance.Step {
	return conformance.Step{Op: verb.SetLimit, Rate: r, At: at}
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
	bursts := func(n int) conformance.Step { return conformance.Step{Op: verb.SetBurst, N: n} }
	all := []change{{setLimit(faster, 0), 0, 1}, {setLimit(slower, 0), 0, 1}, {bursts(burst + 1), 0, 1}}
	if !atOnce {
		soon, late := 3*t/4, 3*t/2
		all = append(all, change{setLimit(faster, 0), soon, 2}, change{setLimit(slower, 0), late, 1},
			change{setLimit(faster, soon), soon, 1}, change{setLimit(slower, late), late, 1},
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
	used, set := edge.Ask(0, 1, 1), func(r Rate, at time.Duration) []conformance.Step {
		return []conformance.Step{setLimit(r, at)}
	}
	return []conformance.Schedule{
		suite.Plan(cfg, slices.Concat(used, set(faster, t), edge.Ask(t, 1, 2, 1))...),
		suite.Plan(cfg, slices.Concat(used, set(slower, 0), edge.Ask(3*t, 1, 2, 1))...),
		suite.Plan(cfg, slices.Concat(used, edge.Ask(3*t, 1, 2), set(slower, 3*t), edge.Ask(3*t, 1, 1),
			edge.Ask(6*t, 1, 1))...),
	}
}
