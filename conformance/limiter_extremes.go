package conformance

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync/atomic"
	"time"
)

// extremeRules are the rules about rates and bursts at the ends of their ranges,
// about clocks that go back, and about use from many goroutines.
var extremeRules = []rule{
	limRule("RL-LIM0", "At a rate of 0 a limiter MUST grant what it has at first, or nothing as declared, and never anything more.",
		[]Op{OpAllow}, []string{"Initial", "ZeroRate"}, (*exam).rlZeroRate),
	limRule("RL-TINY", "A rate however small MUST NOT grant more than the envelope: no delay overflows into none.",
		nil, nil, func(x *exam) *violation {
			return x.extreme(func(r Rate) bool { return r.Per > time.Duration(r.Events) })
		}),
	limRule("RL-HUGE", "A rate however large MUST NOT grant more than the envelope: no interval is rounded to nothing.",
		nil, nil, func(x *exam) *violation {
			return x.extreme(func(r Rate) bool { return r.Per < time.Duration(r.Events) })
		}),
	limRule("RL-PASTQ", "A query about an instant before the newest one MUST NOT show more tokens than there are.",
		[]Op{OpTokens}, []string{"BackTime"}, (*exam).rlPastQuery),
	limRule("X-CFG", "A limiter whose burst or rate makes no sense MUST be refused by its constructor, or keep working: it does not panic later and is not unlimited.",
		nil, nil, (*exam).rlConfig),
	{Rule: Rule{"RL-DRIFT", "Over any number of requests the tokens granted MUST stay within a burst of what the rate brought.", lawsLink + "rl-drift", Core},
		probe: (*contract).limiterDrift, skip: needs([]Op{OpAllow}, "Initial")},
	{Rule: Rule{"RL-IDLE", "However long nobody asks, the bucket MUST be full then, and not more than full: no time is too long to count.", lawsLink + "rl-cap", Core},
		probe: (*contract).limiterIdle, skip: needs([]Op{OpAllow}, "Initial")},
	{Rule: Rule{"X-BACK", "A clock that is set back MUST NOT bring tokens, and MUST NOT keep them back for longer than it was set back, where it is declared to stand still.", lawsLink + "x-back", Core},
		probe: (*contract).limiterBack, skip: limBackSkip},
	{Rule: Rule{"X-CLOCK1", "Nothing but the injected clock MUST decide: moving package time changes nothing.", lawsLink + "x-clock1", Core},
		probe: (*contract).limiterOneClock, skip: func(c *contract) string {
			if c.time != Injected || !c.lab.bubble {
				return "only of an injected clock, in a bubble, can package time be moved apart"
			}
			return needs(nil, "Initial")(c)
		}},
	{Rule: Rule{"SL-CONC", "A limit or burst that is set while others ask MUST NOT let them have more than the larger burst.", lawsLink + "sl-conc", Core},
		probe: (*contract).limiterSetConcurrent, skip: func(c *contract) string {
			if !c.accepts(OpSetBurst) && !c.accepts(OpSetLimit) {
				return "the implementation has no setlimit or setburst"
			}
			return needs([]Op{OpAllow}, "Initial")(c)
		}},
}

func limBackSkip(c *contract) string {
	switch {
	case c.time != Injected:
		return "only an injected clock can be set back"
	case c.lim.Traits.BackTime == BackRewind:
		return "declared: BackRewind"
	}
	return needs([]Op{OpAllow}, "Initial")(c)
}

// extremeFamilies lists what RunLimiter explores at the ends of the ranges.
func extremeFamilies(c *contract) []family {
	var tiny, huge, zero, odd []Schedule
	ask := OpAllow
	if !c.accepts(OpAllow) {
		ask = OpWait
	}
	with := func(rate, burst string) Config { return Config{}.With("rate", rate).With("burst", burst) }
	hold := c.able([]Step{{Op: ask, N: 1}, {Op: OpReserve, N: 1}})
	for _, rate := range []string{"1/2562047h47m16.854775807s", "1/1281023h53m38.427387904s", "1/876000h", "3/2562047h47m16.854775807s"} {
		for _, burst := range []string{"1", "2"} {
			if ask == OpAllow {
				tiny = append(tiny, sequences(with(rate, burst), hold, []time.Duration{0, time.Hour}, 3)...)
			}
		}
	}
	for _, rate := range []string{"1500000000/1s", "2000000000/1s", "2000000000/1ms", "2000000000/1ns"} {
		for _, burst := range []string{"1", "3"} {
			huge = append(huge, sequences(with(rate, burst), hold, []time.Duration{0, 1, 2}, 3)...)
		}
	}
	if ask == OpAllow {
		for _, burst := range []string{"1", "3"} {
			zero = append(zero, sequences(with("0/1s", burst), c.able([]Step{{Op: OpAllow, N: 1}, {Op: OpWait, N: 1, D: time.Second}}), []time.Duration{0, 1000 * time.Hour}, 4)...)
		}
		for _, burst := range []string{"0", "-1", "-2147483648", "2147483647"} {
			for _, rate := range []string{"10/1s", "2000000000/1ns", "1/2562047h47m16.854775807s"} {
				odd = append(odd, sequences(with(rate, burst), c.able([]Step{{Op: OpAllow, N: 1}, {Op: OpReserve, N: 1}, {Op: OpTokens}}), []time.Duration{0, time.Hour}, 3)...)
			}
		}
	}
	out := []family{{name: "tiny rates", schedules: tiny}, {name: "huge rates", schedules: huge}, {name: "no rate", schedules: zero}, {name: "odd bursts", schedules: odd}}
	return slices.DeleteFunc(out, func(f family) bool { return len(f.schedules) == 0 })
}

// extreme is the envelope at rates of one kind.
func (x *exam) extreme(kind func(r Rate) bool) *violation {
	if rate := x.Schedule.Config.Rate; !rate.extreme() || !kind(rate) || x.Refused != "" || x.Stuck || x.Schedule.Config.Burst < 1 || !x.sorted() {
		return nil
	}
	return x.heldEnvelope()
}

func (x *exam) rlZeroRate() *violation {
	cfg := x.Schedule.Config
	if cfg.Rate.Events != 0 || cfg.Burst < 1 || x.Refused != "" || x.Stuck {
		return nil
	}
	left := x.c.lim.Traits.initial(cfg.Burst)
	if x.c.lim.Traits.ZeroRate != ZeroRateBurst {
		left = 0
	}
	there := left
	for _, d := range x.Done {
		switch {
		case d.Op == OpAllow && d.OK && d.N > left, d.Op == OpWait && d.OK && d.Ended.Seq != 0 && d.N > left:
			return x.tell(d.At, fmt.Sprintf("there were %d tokens at first, and none comes", there), "%s %d at %s was granted", d.Op, d.N, duration(d.At))
		case d.Op == OpAllow && !d.OK && d.N <= left && x.c.lim.Traits.ZeroRate == ZeroRateBurst:
			return x.tell(d.At, fmt.Sprintf("%d tokens of the first ones were left", left), "allow %d at %s was denied, want granted", d.N, duration(d.At))
		case d.Op == OpWait && d.D > 0 && x.End > d.At+d.D && (d.Ended.Seq == 0 || d.Ended.At > d.At+d.D):
			return x.tell(d.At+d.D, "its deadline was at "+duration(d.At+d.D), "wait %d at %s %s at %s", d.N, duration(d.At), d.outcome(), duration(d.Ended.At))
		}
		if d.OK && (d.Op == OpAllow || d.Op == OpWait) {
			left -= d.N
		}
	}
	return nil
}

func (x *exam) rlPastQuery() *violation {
	if x.Refused != "" || x.Stuck || x.sorted() {
		return nil
	}
	for i, d := range x.Done {
		if d.Op != OpTokens {
			continue
		}
		for _, later := range x.Done[i+1:] {
			if later.Op != OpTokens {
				break
			}
			if later.At > d.At && d.Tokens > later.Tokens+1e-9*float64(x.Schedule.Config.Burst) {
				return x.tell(d.At, "time brings tokens and takes none", "Tokens at %s are %s, more than the %s of %s", duration(d.At), trimFloat(d.Tokens), trimFloat(later.Tokens), duration(later.At))
			}
		}
	}
	return nil
}

// rlConfig judges bursts that make no sense.
func (x *exam) rlConfig() *violation {
	cfg := x.Schedule.Config
	if cfg.Burst > 0 && cfg.Burst < 1<<30 || x.Refused != "" {
		return nil
	}
	granted := 0
	for _, d := range x.Done {
		if d.Panic != "" {
			return x.tell(d.At, "the constructor had accepted it", "%s %d at %s panicked: %s", d.Op, d.N, duration(d.At), d.Panic)
		}
		if d.Op == OpTokens && (math.IsNaN(d.Tokens) || d.Tokens > float64(max(1, cfg.Burst))*(1+1e-9)) {
			return x.tell(d.At, fmt.Sprintf("the burst is %d", cfg.Burst), "Tokens() = %s at %s", trimFloat(d.Tokens), duration(d.At))
		}
		if cfg.Burst > 0 || d.Op != OpAllow || !d.OK {
			continue
		}
		// Some take such a burst for one of 1.
		granted += d.N
		brought := new(big.Int).Mul(big.NewInt(int64(cfg.Rate.Events)), big.NewInt(int64(d.At)))
		brought.Div(brought, big.NewInt(int64(cfg.Rate.Per)))
		if brought.Add(brought, big.NewInt(1)).Cmp(big.NewInt(int64(granted))) < 0 {
			return x.tell(d.At, fmt.Sprintf("the burst is %d", cfg.Burst), "%d tokens were granted by %s", granted, duration(d.At))
		}
	}
	return nil
}

// limiterDrift asks very often, at instants that fall everywhere between two tokens.
func (c *contract) limiterDrift() (*violation, string) {
	rounds := 30_000
	if c.time == Explicit {
		rounds = 200_000
	}
	const burst = 4
	var worst *violation
	why := ""
	rate := Rate{3, time.Second}
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		start := d.clock().Now()
		impl, refused := c.lim.make(Env{d.clock(), start}, LimiterConfig{rate, burst})
		if why = refused; why != "" {
			return
		}
		if impl.Stop != nil {
			defer func() { impl.Stop(); d.settle() }()
		}
		at, granted := time.Duration(0), 0
		least := c.lim.Traits.initial(burst) - 1 - c.lim.Traits.Quantum
		for i := range rounds {
			at += 61*time.Millisecond + time.Duration(i%97)*time.Microsecond
			if c.time != Explicit {
				d.to(at)
			}
			var done Done
			impl.do(Step{Op: OpAllow, N: 1}, start.Add(at), i, &done)
			if done.OK {
				granted++
			}
		}
		exact := new(big.Int).Mul(big.NewInt(int64(rate.Events)), big.NewInt(int64(at)))
		brought := int(exact.Div(exact, big.NewInt(int64(rate.Per))).Int64())
		if granted < brought+min(0, least) || granted > brought+burst+1+c.lim.Traits.Quantum {
			worst = &violation{
				Headline: fmt.Sprintf("%d tokens were granted in %s, want between %d and %d", granted, duration(at), brought+min(0, least), brought+burst+1),
				Because:  fmt.Sprintf("the rate %s brought %d, and the bucket of %d was never full: one token was asked for %d times", rate, brought, burst, rounds),
			}
		}
	}).once()
	return worst, why
}

// limiterIdle leaves a limiter alone for so long that the nanoseconds times the rate are
// more than an int64 holds, or the milliseconds more than an int32. Whether what is left of
// such a product is too small is chance, so each is tried a few times.
func (c *contract) limiterIdle() (*violation, string) {
	const day = 24 * time.Hour
	var worst *violation
	why := ""
	for _, idle := range []struct {
		events int
		time   time.Duration
	}{{1_000_000, day}, {1000, 300 * day}, {100, 4000 * day}} {
		c.lab.apart(func(d driver, _ job, rec *recorder) {
			rec.now = d.now
			mates := func() int {
				if !c.lab.bubble {
					return 0
				}
				return len(bubbleMates())
			}
			before := mates()
			env := Env{d.clock(), d.clock().Now()}
			impl, cfg, refused := c.lim.first(env, idle.events, 3)
			if why = refused; why != "" {
				return
			}
			defer func() {
				if impl.Stop != nil {
					impl.Stop()
				}
				d.settle()
			}()
			at := time.Duration(0)
			ask := func() (granted int) {
				for i := range cfg.Burst + 1 {
					var done Done
					_ = catch(func() { impl.do(Step{Op: OpAllow, N: 1}, env.Start.Add(at), i, &done) }) // X-CALLS judges panics
					if done.OK {
						granted++
					}
				}
				return granted
			}
			ask()
			d.settle()
			if c.time != Explicit && (d.armed() || !c.lab.bubble || mates() > before) {
				why = "something of the limiter runs on, and would tick for years"
				return
			}
			for i := range 6 {
				at += idle.time + time.Duration(i)*idle.time/7
				d.to(at)
				if n := ask(); (n < cfg.Burst || n > cfg.Burst+c.lim.Traits.Quantum) && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("%d tokens were granted at once after %s, want %d", n, duration(idle.time+time.Duration(i)*idle.time/7), cfg.Burst),
						Because:  fmt.Sprintf("nobody had asked meanwhile, and the rate %s fills the bucket of %d sooner", cfg.Rate, cfg.Burst),
					}
				}
			}
		}).once()
		if why != "" {
			break
		}
	}
	return worst, why
}

// limiterBack sets the wall clock back, and on again.
func (c *contract) limiterBack() (*violation, string) {
	const burst, back = 3, time.Hour
	rate := Rate{1, time.Second}
	var worst *violation
	why := ""
	for _, first := range []int{1, burst} {
		c.lab.apart(func(d driver, _ job, rec *recorder) {
			rec.now = d.now
			h := d.(*hand)
			impl, refused := c.lim.make(Env{h.c, h.c.Now()}, LimiterConfig{rate, burst})
			if why = refused; why != "" {
				return
			}
			if impl.Stop != nil {
				defer func() { impl.Stop(); d.settle() }()
			}
			granted := 0
			ask := func(n int) {
				for i := range n {
					var done Done
					impl.do(Step{Op: OpAllow, N: 1}, h.c.Now(), i, &done)
					if done.OK {
						granted++
					}
				}
				d.settle()
			}
			ask(first)
			true0 := h.c.Now()
			for range 3 {
				h.c.SetWall(true0.Add(-back))
				ask(2)
				h.c.SetWall(true0)
				ask(2)
			}
			if granted > burst+1 && worst == nil {
				worst = &violation{Headline: fmt.Sprintf("%d tokens were granted while the clock was set back by %s and on again, want %d at the most", granted, duration(back), burst),
					Because: "no time passed, and the bucket holds " + fmt.Sprint(burst)}
			}
			h.c.SetWall(true0.Add(-back))
			granted = 0
			h.c.Advance(back + time.Duration(burst+1)*time.Second)
			ask(1)
			if granted == 0 && worst == nil && c.lim.Traits.BackTime == BackClamp {
				worst = &violation{Headline: fmt.Sprintf("nothing was granted %s after the clock was set back by %s", duration(back+time.Duration(burst+1)*time.Second), duration(back)),
					Because: "by then the clock had passed every instant that it had shown before, by more than the bucket takes to fill"}
			}
		}).once()
	}
	return worst, why
}

// apartFrom is a hand whose bubble's package time runs on while its own stands.
type apartFrom struct{ *hand }

func (a apartFrom) to(at time.Duration) {
	a.hand.to(at)
	time.Sleep(time.Hour)
	a.settle()
}

// limiterOneClock plays a few schedules while package time runs away.
func (c *contract) limiterOneClock() (*violation, string) {
	var worst *violation
	for _, text := range []string{"allow 1 @0 | allow 1 @0 | allow 1 @50ms | allow 1 @100ms | allow 1 @150ms | allow 1 @300ms",
		"allow 1 @0 | allow 1 @0 | reserve 1 @0 | reserve 1 @50ms | allow 1 @250ms | allow 1 @300ms",
		"wait 1 @0 | wait 1 @0 | wait 1 @0 | idle 50ms | idle 50ms | wait 1 @150ms | idle 50ms | idle 50ms",
		"allow 1 @0 | allow 1 @0 | setlimit 10/1s @50ms | allow 1 @50ms | allow 1 @100ms | setburst 2 @150ms | allow 1 @150ms | allow 1 @200ms"} {
		s, err := ParseSchedule("rate=10/1s burst=2 | " + text)
		if err != nil {
			panic(err)
		}
		if s.Steps = slices.DeleteFunc(s.Steps, func(s Step) bool { return s.Op != OpIdle && len(c.able([]Step{s})) == 0 }); len(s.Steps) < 3 {
			continue
		}
		var tr *Trace
		c.lab.apart(func(d driver, _ job, _ *recorder) {
			rec := &recorder{}
			c.lim.play(apartFrom{d.(*hand)}, job{schedule: s}, rec)
			tr = rec.finish()
		}).once()
		if tr == nil || tr.Refused != "" {
			continue
		}
		x := &exam{Trace: tr, c: c, job: job{schedule: s, family: "apart"}}
		if d := accounted(tr, c.lim.Traits, ""); d != nil && worst == nil {
			worst = x.tell(d.at, "package time ran on by an hour at each step while the injected clock did not; "+d.because, "%s", d.headline)
			worst.Trace = tr
		}
	}
	return worst, ""
}

// limiterSetConcurrent sets limit and burst at an instant at which somebody asks.
func (c *contract) limiterSetConcurrent() (*violation, string) {
	const each, burst = 7, 5
	rate := Rate{10, time.Second}
	most := int64(burst)
	if c.lim.Traits.Raise != RaiseBringsNothing {
		most += 2
	}
	var worst *violation
	why := ""
	h := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), d.clock().Now()}
		var impls [places]LimiterFuncs
		for i := range impls {
			if impls[i], why = c.lim.make(env, LimiterConfig{rate, burst}); why != "" {
				return
			}
		}
		for round := range meetings {
			at := time.Duration(round) * 2 * time.Second
			d.to(at)
			now := env.Start.Add(at)
			var granted [places]atomic.Int64
			ask := func(g, i int) {
				for n := range each {
					var done Done
					if impls[i].do(Step{Op: OpAllow, N: 1}, now, g+n, &done); done.OK {
						granted[i].Add(1)
					}
				}
			}
			set := func(i int) {
				for n := range 4 {
					if c.accepts(OpSetLimit) {
						impls[i].do(Step{Op: OpSetLimit, Rate: Rate{10 - n%2, time.Second}}, now, 0, &Done{})
					}
					if c.accepts(OpSetBurst) {
						impls[i].do(Step{Op: OpSetBurst, N: burst - n%2}, now, 0, &Done{})
					}
				}
				if c.accepts(OpSetBurst) {
					impls[i].do(Step{Op: OpSetBurst, N: burst}, now, 0, &Done{})
				}
			}
			c.lab.meet(func(g, i int) {
				_ = catch(func() { // X-CALLS judges panics
					if g == 1 {
						set(i)
					}
					ask(g, i)
				})
			})
			for i := range granted {
				if n := granted[i].Load(); n > most && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("%d goroutines asking at one instant, while limit and burst were set, got %d tokens, want %d at the most", meeters, n, most),
						Because:  fmt.Sprintf("the burst was never above %d (round %d of %d)", burst, round+1, meetings),
					}
				}
			}
		}
		for i := range impls {
			if impls[i].Stop != nil {
				impls[i].Stop()
			}
		}
		d.settle()
	}).once()
	if h != nil {
		return nil, "concurrent use made no progress"
	}
	return worst, why
}
