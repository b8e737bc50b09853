package limitertest

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// probeRules are the laws that are judged by runs of their own.
func (c *contract) probeRules() []rule {
	probed := func(id, text string, op conformance.Op, unless func(*suite.Suite, *Traits) string,
		probe func(*suite.Probe) (*suite.Violation, string)) rule {
		return rule{Rule: core(id, text), Ops: ops(op), Declared: []string{"Initial"}, Unless: unless, Probe: probe}
	}
	return []rule{
		probed("RL-DRIFT", "Over any number of requests the tokens granted MUST stay within a burst of "+
			"what the rate brought.", opRequest, nil, c.drift),
		probed("RL-IDLE", "After idle time, however long, the bucket MUST be full and not more than "+
			"full: no time is too long to count.", opRequest, nil, c.idle),
		probed("X-BACK", "A clock that is set back MUST NOT bring tokens; where it is declared to stand still, it "+
			"MUST NOT withhold them for longer than it was set back.", opRequest, c.cannotSetBack, c.back),
		{
			Rule: core("X-CLOCK1", "Only the injected clock may decide: moving package time MUST NOT change "+
				"anything."),
			Declared: []string{"Initial"},
			Unless: func(s *suite.Suite, t *Traits) string {
				return cmp.Or(suite.If(s.Time != Injected || !s.Bubble,
					"only of an injected clock, in a bubble, can package time be moved apart"), c.takesTime(s, t))
			},
			Cause: true,
			Probe: c.oneClock,
		},
		probed("CN-WITHIN", "A reservation with a maximal delay MUST be made if its tokens come in "+
			"time, with the delay that Reserve would give, and MUST take nothing otherwise.",
			opWithin, c.takesTime, c.within),
		suite.Reads[*Traits, *exam](c.read, suite.Answers(verb.Allow)),
		{
			Rule: core("SL-CONC", "Setting a limit or burst during requests MUST NOT grant them more than "+
				"the larger burst."),
			Ops: ops(opRequest), Declared: []string{"Initial"},
			Absent: func(s *suite.Suite, _ *Traits) string {
				sets := s.Accepts(verb.SetBurst) || s.Accepts(verb.SetLimit)
				return suite.If(!sets, "the implementation has no setlimit or setburst")
			},
			Unless: c.oneAtATime,
			Meets:  true,
			Probe:  c.setConcurrently,
		},
	}
}

// cannotSetBack takes the rule about a clock that is set back out of force.
func (c *contract) cannotSetBack(s *suite.Suite, t *Traits) string {
	return cmp.Or(suite.If(s.Time != Injected, "only an injected clock can be set back"),
		suite.If(t.BackTime == BackRewind, "declared: BackRewind"), c.takesTime(s, t))
}

func (c *contract) race(p *suite.Probe) (skip string) {
	if !p.Accepts(opRequest) && p.Time != PackageTime {
		return "a wait on an injected clock would have to be settled, which orders what must stay unordered"
	}
	spare, _, refused := c.first(suite.Aside(), c.candidates(1000, 5))
	if refused != "" {
		return refused
	}
	spare.end()
	return p.Clash(func(env Env) []func(i int) {
		impl, _, _ := c.first(env, c.candidates(1000, 5))
		return c.clashing(p, &impl, func(i int) time.Time { return env.Start.Add(time.Duration(i)) })
	})
}

// clashing returns the operations for race, each twice.
func (c *contract) clashing(p *suite.Probe, impl *Funcs, now func(i int) time.Time) []func(i int) {
	var all []func(int)
	twice := func(run func(i int)) { all = append(all, run, run) }
	for _, s := range supported(p.Suite, steps("allow 1", "allow 2", "tokens", "setlimit 500/1s", "setburst 4")) {
		twice(func(i int) { impl.do(s, now(i), i, &conformance.Done{}) })
	}
	if p.Accepts(opKeys) {
		twice(func(i int) {
			impl.do(conformance.Step{Op: verb.Allow, N: 1, K: 1 + i}, now(i), i, &conformance.Done{})
		})
	}
	if p.Accepts(verb.Reserve) {
		twice(func(i int) {
			r := impl.reserve(now(i), 1)
			if r.ok() {
				r.delay(now(i), p.Time == Explicit)
				if p.Accepts(opGiveUp) {
					r.cancel(now(i), p.Time == Explicit)
				}
			}
		})
	}
	if p.Accepts(verb.Wait) && p.Time == PackageTime {
		twice(func(int) { impl.wait(context.Background(), 1, &conformance.Done{}) })
	}
	if p.Accepts(opContext) {
		// On an injected clock a wait must not block for good: its context is done
		// already, or soon.
		twice(func(int) {
			ctx, cancel := context.WithCancel(context.Background())
			go cancel()
			impl.wait(ctx, 1, &conformance.Done{})
		})
	}
	return all
}

// drift asks very often, at instants that fall everywhere between two tokens.
func (c *contract) drift(p *suite.Probe) (worst *suite.Violation, skip string) {
	const burst = 4
	rate, rounds := perSecond(3), 30_000
	if p.Time == Explicit {
		rounds = 200_000
	}
	skip, _ = c.trial(p.Suite.Play, []Config{{rate, burst}}, func(st *suite.Stage, impl *Funcs, _ Config) {
		start := st.Config().Start()
		at, granted := time.Duration(0), 0
		lump := c.spec.Traits.lump(rate) + c.spec.Traits.meanwhile(rate, 1)
		least := c.spec.Traits.initial(burst) - 1 - lump
		for i := range rounds {
			at += 61*time.Millisecond + time.Duration(i%97)*time.Microsecond
			if p.Time != Explicit {
				if st.To(at); st.Spent() { // what was seen before counts
					at = st.Now()
					break
				}
			}
			c.await(st, func() {
				if impl.allows(start.Add(at), i) {
					granted++
				}
			})
			at = max(at, st.Now()-c.spec.Traits.Latency) // when it was decided, at the earliest
		}
		exact := new(big.Int).Mul(big.NewInt(int64(rate.Events)), big.NewInt(int64(at)))
		brought := int(exact.Div(exact, big.NewInt(int64(rate.Per))).Int64())
		if c.spec.Traits.Resolution > 0 && burst < 2+lump {
			least = -rounds // what comes while the bucket is full is lost
		}
		if scale := c.spec.Traits.scale(); scale > 0 {
			lump += 1 + brought/int(scale)
			least -= 1 + brought/int(scale)
		}
		if granted < brought+min(0, least) || granted > brought+burst+1+lump+c.spec.Traits.credit() {
			worst = suite.Broken(0,
				fmt.Sprintf("the rate %s brought %d, and the bucket of %d was never full: "+
					"one token was asked for %d times",
					rate, brought, burst, rounds),
				"%d tokens were granted in %s, want between %d and %d",
				granted, timeline.Duration(at), brought+min(0, least), brought+burst+1)
		}
	})
	return worst, skip
}

// longIdle are rates and times of which the product overflows an int64 of nanoseconds, or
// an int32 of milliseconds. Whether what remains is too small depends on the numbers, so
// several of each are tried.
var longIdle = []struct {
	events int
	time   time.Duration
}{
	{1_000_000, 24 * time.Hour},
	{1000, 300 * 24 * time.Hour},
	{100, 4000 * 24 * time.Hour},
}

func (c *contract) idle(p *suite.Probe) (worst *suite.Violation, skip string) {
	for _, idle := range longIdle {
		ticks := ""
		refused, _ := c.trial(toEnd(p), c.candidates(idle.events, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
			var v *suite.Violation
			v, ticks = c.idleFor(st, f, cfg, idle.time)
			worst = cmp.Or(worst, v)
		})
		if skip = cmp.Or(refused, ticks); skip != "" {
			break
		}
	}
	return worst, skip
}

func (c *contract) idleFor(
	st *suite.Stage, impl *Funcs, cfg Config, d time.Duration,
) (worst *suite.Violation, ticks string) {
	others := st.Others()
	start := st.Config().Start()
	at, full := time.Duration(0), cfg.Burst+c.spec.Traits.credit() // what a full bucket grants
	// ask returns how many requests are granted before one is denied. Each operation that takes
	// one token is the first to be called in every other round.
	ask := func(round int) (granted int) {
		for i := range full + 1 {
			ok := false
			c.await(st, func() { // X-CALLS judges panics
				_ = suite.Catch(func() { ok = impl.allows(start.Add(at), round+i) })
			})
			if !ok {
				break
			}
			granted++
		}
		return granted
	}
	ask(0)
	st.Settle()
	if st.Time != Explicit && (st.Armed() || !st.Bubble || st.Others() > others) {
		return worst, "the limiter keeps a timer running, which would tick for years"
	}
	for i := range 6 {
		idle := d + time.Duration(i)*d/7
		at += idle
		st.To(at)
		most := full + c.spec.Traits.lump(cfg.Rate) + c.spec.Traits.meanwhile(cfg.Rate, full+1)
		if n := ask(i); (n < full || n > most) && worst == nil {
			worst = suite.Broken(0,
				fmt.Sprintf("nobody asked meanwhile, and the rate %s fills the bucket of %d sooner", cfg.Rate,
					cfg.Burst),
				"%d tokens were granted at once after %s, want %d", n, timeline.Duration(idle), full)
		}
	}
	return worst, ""
}

// back sets the wall clock back, and forward again: by an hour, and by 30 years, as a clock is that has
// forgotten the time. The product of that and of a rate overflows. Meanwhile it asks, or does what takes nothing: a
// question, a limit or burst that stays what it is, or a wait that fails.
func (c *contract) back(p *suite.Probe) (worst *suite.Violation, skip string) {
	for _, try := range []struct {
		back   time.Duration
		events int
		few    bool
	}{{time.Hour, 1, true}, {time.Hour, 1, false}, {30 * suite.Year, 10, true}} {
		skip, _ = c.trial(p.Play, c.candidates(try.events, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
			b := setBack{Stage: st, c: c, f: f, burst: cfg.Burst}
			first := cfg.Burst
			if try.few {
				first = 1
			}
			v := b.brings(try.back, first, 2, func() { b.ask(2) },
				fmt.Sprintf("no time passed, and the bucket holds %d", b.burst))
			if try.back == time.Hour { // a ticker would tick for years
				v = cmp.Or(v, b.withholds(try.back))
			}
			worst = cmp.Or(worst, v)
		})
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	second := Config{perSecond(1), 3}
	for _, s := range supported(p.Suite, steps("tokens", "setlimit 1/1s", "setburst 3", "wait 1", "wait 2")) {
		_, _ = c.trial(p.Play, []Config{second}, func(st *suite.Stage, f *Funcs, _ Config) {
			b := setBack{Stage: st, c: c, f: f, burst: second.Burst}
			worst = cmp.Or(worst, b.brings(time.Hour, b.burst, b.burst, func() {
				switch {
				case s.Op != verb.Wait:
					f.do(s, st.Fake().Now(), 0, &conformance.Done{})
				case st.Accepts(opContext):
					f.wait(gone, s.N, &conformance.Done{})
				}
				st.Settle()
			}, fmt.Sprintf("no time passed, the bucket holds %d, and all that happened while the clock was "+
				"back was %q", b.burst, s.Op)))
		})
	}
	return worst, skip
}

// setBack is a limiter of one token a second or more whose wall clock is set back.
type setBack struct {
	*suite.Stage
	c              *contract
	f              *Funcs
	burst, granted int
}

func (b *setBack) ask(n int) {
	for i := range n {
		b.granted += suite.Number(b.f.allows(b.Fake().Now(), i))
	}
	b.Settle()
}

// brings asks first, sets the clock back, does something, sets it forward and asks again, a few times.
func (b *setBack) brings(back time.Duration, first, again int, meanwhile func(), because string) *suite.Violation {
	b.ask(first)
	start := b.Fake().Now()
	for range 3 {
		b.Fake().SetWall(start.Add(-back))
		meanwhile()
		b.Fake().SetWall(start)
		b.ask(again)
	}
	if b.granted <= b.burst+1+b.c.spec.Traits.credit() {
		return nil
	}
	return suite.Broken(0, because,
		"%d tokens were granted while the clock was set back by %s and on again, want %d at the most",
		b.granted, timeline.Duration(back), b.burst)
}

// withholds asks when the clock was set back and has passed its newest instant again.
func (b *setBack) withholds(back time.Duration) *suite.Violation {
	b.Fake().SetWall(b.Fake().Now().Add(-back))
	b.granted = 0
	later := back + time.Duration(b.burst+1)*time.Second
	b.Fake().Advance(later)
	if b.ask(1); b.granted > 0 || b.c.spec.Traits.BackTime != BackClamp {
		return nil
	}
	return suite.Broken(0, "by then the clock was past its newest instant by more than the bucket takes to fill",
		"nothing was granted %s after the clock was set back by %s", timeline.Duration(later), timeline.Duration(back))
}

// runaway is a driver during whose steps package time runs on.
type runaway struct{ *suite.FakeTime }

func (r runaway) To(at time.Duration) {
	r.FakeTime.To(at)
	time.Sleep(time.Hour)
	r.Settle()
}

// onOneClock are schedules of a burst of 2 at 10/1s. In the third there is time enough for each wait, in the fourth
// there is not for the last one.
var onOneClock = []string{
	"allow 1 @0 | allow 1 @0 | allow 1 @50ms | allow 1 @100ms | allow 1 @150ms | allow 1 @300ms",
	"allow 1 @0 | allow 1 @0 | reserve 1 @0 | reserve 1 @50ms | allow 1 @250ms | allow 1 @300ms",
	"wait 1 @0 | wait 1 @0 | wait 1 150ms @0 | idle 50ms | idle 50ms | wait 1 80ms @150ms | idle 50ms | idle 50ms",
	"wait 1 @0 | wait 1 @0 | wait 1 50ms @0 | idle 20ms | idle 30ms | idle 50ms",
	"wait 1 @0 | wait 1 @0 | wait 1 @0 | idle 50ms | idle 50ms | wait 1 @150ms | idle 50ms | idle 50ms",
	"allow 1 @0 | allow 1 @0 | setlimit 10/1s @50ms | allow 1 @50ms | allow 1 @100ms | " +
		"setburst 2 @150ms | allow 1 @150ms | allow 1 @200ms",
	"allow 1 1 @0 | allow 1 1 @0 | allow 1 2 @0 | allow 1 2 @0 | allow 1 3 @50ms | allow 1 1 @50ms | " +
		"allow 1 2 @50ms | allow 1 4 @50ms | allow 1 4 @50ms | allow 1 4 @50ms | allow 1 1 @150ms",
}

// oneClock plays a few schedules while package time runs on, from the instant at which the injected clock starts:
// what differs from the account then, and not while package time stands still, is due to it.
func (c *contract) oneClock(p *suite.Probe) (*suite.Violation, string) {
	for _, text := range onOneClock {
		s := suite.MustParse("rate=10/1s burst=2 | " + text)
		s.Steps = slices.DeleteFunc(s.Steps, func(st conformance.Step) bool {
			return st.Op != verb.Idle && len(supported(p.Suite, []conformance.Step{st})) == 0
		})
		if len(s.Steps) < 3 {
			continue
		}
		x, d := c.onClocks(p, s, true)
		if d == nil {
			continue
		}
		if _, still := c.onClocks(p, s, false); still != nil && still.headline == d.headline {
			continue
		}
		moved := "package time moved by an hour at each step and the injected clock did not; "
		v := x.broken(d.at, moved+d.because, "%s", d.headline)
		v.Run = x.Recording
		return v, ""
	}
	return nil, ""
}

// onClocks plays a schedule, while package time runs on or stands still, and returns the first difference from
// the account, nil if there is none.
func (c *contract) onClocks(p *suite.Probe, s conformance.Schedule, runsOn bool) (*exam, *difference) {
	rec := &suite.Recording{}
	p.Play(func(st *suite.Stage) {
		time.Sleep(time.Until(st.Clock().Now()))
		st.Job.Schedule = s
		if runsOn {
			st.Driver = runaway{st.Driver.(*suite.FakeTime)}
		}
		st.Rec.Locked(func(r *suite.Recording) { rec, r.Schedule = r, s })
		c.Play(st)
	})
	x := &exam{Recording: rec, traits: &c.spec.Traits, of: c}
	if rec.Refused != "" {
		return x, nil
	}
	if !edge.ForKeys(s) {
		return x, accounted(&rec.Trace, x.traits)
	}
	for key := 1; key <= edge.LastKey(s); key++ {
		if d := accounted(&edge.OfKey(rec, key).Trace, x.traits); d != nil {
			d.headline = fmt.Sprintf("key %d: %s", key, d.headline)
			return x, d
		}
	}
	return x, nil
}

// effects use up a bucket, do what lets another request in, and make one.
func (c *contract) effects(p *suite.Probe) (out []suite.Script) {
	if !p.Accepts(opRequest) {
		return nil
	}
	add := func(text string, do func(f *Funcs, cfg Config, pause func())) {
		out = append(out, suite.Script{Text: text, Play: func(st *suite.Stage, pause func()) (answers []string) {
			f, cfg, refused := c.first(st.Plain(), c.candidates(10, 1))
			if refused != "" {
				return nil
			}
			for range cfg.Burst {
				f.allows(time.Time{}, 0)
			}
			st.Settle()
			do(&f, cfg, pause)
			pause()
			if answers = []string{suite.YesNo(f.allows(time.Time{}, 0))}; p.Accepts(opGiveUp) {
				answers = append(answers, timeline.Duration(f.reserve(time.Time{}, 1).delay(time.Time{}, false)))
			}
			f.end()
			return answers
		}})
	}
	if p.Accepts(opGiveUp) {
		add("a reservation, its cancel and a request", func(f *Funcs, _ Config, pause func()) {
			r := f.reserve(time.Time{}, 1)
			pause()
			r.cancel(time.Time{}, false)
		})
	}
	if p.Accepts(verb.SetBurst) {
		add("a larger burst and a request", func(f *Funcs, cfg Config, _ func()) {
			f.do(conformance.Step{Op: verb.SetBurst, N: cfg.Burst + 2}, time.Time{}, 0, new(conformance.Done))
		})
	}
	return out
}
