package limitertest

import (
	"cmp"
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
	return []rule{
		{
			Rule: core("X-ISO", "Each key MUST have its own bucket, however many keys there are: requests "+
				"for one MUST be decided as if there were no others. A new limit or burst MUST apply to "+
				"every key."),
			Ops: ops(opKeys), Declared: []string{"Initial"}, Beyond: basic,
			Unless: c.takesTime,
			About:  func(j suite.Job) bool { return edge.ForKeys(j.Schedule) && !j.Schedule.Config.Has("epoch") },
			Sees:   accepted,
			Check: func(x *exam) *suite.Violation {
				if x.traits.apart() != "" || x.forgotten() != nil {
					return nil
				}
				return x.eachKey((*exam).decidedAlone)
			},
			Owing: func(x *exam, again suite.Rerun) bool { return edge.Alone(x.Recording, again, changes...) != nil },
			Again: func(x *exam, again suite.Rerun) *suite.Violation {
				if x.traits.apart() == "" {
					return nil
				}
				return edge.Alone(x.Recording, again, changes...)
			},
		},
		{
			Rule: core("X-EVICT", "A key that was idle for a while MUST NOT get more than if it had been "+
				"remembered: it may be forgotten once its bucket is full."),
			Ops: ops(opKeys), Beyond: basic,
			Unless: c.oneBucket,
			About:  func(j suite.Job) bool { return edge.ForKeys(j.Schedule) && edge.ComeBack(j.Schedule) },
			Sees:   accepted,
			Check:  (*exam).forgotten,
		},
	}
}

// Needs is the operation that a step needs.
func (c *contract) Needs(_ *suite.Suite, st conformance.Step) conformance.Op {
	return edge.NeedsKeys(st, opKeys)
}

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
		return judge(&exam{Recording: rec, traits: x.traits, stops: x.stops, first: x.first})
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
