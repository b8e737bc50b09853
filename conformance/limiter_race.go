package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// limiterRace uses all operations of one limiter at once.
func (c *contract) limiterRace() (*violation, string) {
	if !c.accepts(OpAllow) && c.time != PackageTime {
		return nil, "a wait on an injected clock would have to be settled, which orders what must stay unordered"
	}
	if _, _, refused := c.lim.first(Env{newHand(Config{}.start(), false).c, Config{}.start()}, 1000, 5); refused != "" {
		return nil, refused
	}
	return nil, c.clash(func(env Env) []func(i int) {
		impl, _, _ := c.lim.first(env, 1000, 5)
		now := func(i int) time.Time { return env.Start.Add(time.Duration(i)) }
		var ops []func(int)
		twice := func(run func(i int)) { ops = append(ops, run, run) }
		for _, s := range []Step{{Op: OpAllow, N: 1}, {Op: OpAllow, N: 2}, {Op: OpTokens}, {Op: OpSetLimit, Rate: Rate{500, time.Second}}, {Op: OpSetBurst, N: 4}} {
			if len(c.able([]Step{s})) > 0 {
				twice(func(i int) { impl.do(s, now(i), i, &Done{}) })
			}
		}
		if c.accepts(OpReserve) {
			twice(func(i int) {
				r := impl.reserve(now(i), 1)
				if r.ok() {
					r.delay(now(i), c.time == Explicit)
					if c.accepts(opGiveUp) {
						r.cancel(now(i), c.time == Explicit)
					}
				}
			})
		}
		if c.accepts(OpWait) && c.time == PackageTime {
			twice(func(int) { impl.wait(context.Background(), 1, &Done{}) })
		}
		if c.accepts(opContext) {
			// On an injected clock nobody may wait for good: the context is done already,
			// or about to be.
			twice(func(int) {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				impl.wait(ctx, 1, &Done{})
			})
		}
		return ops
	})
}

// limiterConcurrent has goroutines ask, reserve and wait at one instant: what they get
// together must be what some order of the same calls gets.
func (c *contract) limiterConcurrent() (*violation, string) {
	const each = 4
	rate, burst := Rate{10, time.Second}, 5
	var worst *violation
	why := ""
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), Config{}.start()}
		var impls [places]LimiterFuncs
		for i := range impls {
			impl, cfg, refused := c.lim.first(env, 10, 5)
			if refused != "" {
				why = refused
				return
			}
			impls[i], rate, burst = impl, cfg.Rate, cfg.Burst
		}
		broken := func(round int, headline string, args ...any) {
			if worst == nil {
				worst = &violation{Headline: fmt.Sprintf(headline, args...),
					Because: fmt.Sprintf("no order of the calls does that (round %d of %d, rate=%s burst=%d)", round+1, meetings, rate, burst)}
			}
		}
		for round := range meetings {
			at := time.Duration(round) * 2 * time.Second // long enough to fill up
			d.to(at)
			want := burst
			if round == 0 {
				want = c.lim.Traits.initial(burst)
			}
			// In the odd rounds one of them reserves, where that can be done.
			reserves := round%2 == 1 && c.accepts(OpReserve)
			var delays [places][meeters][]time.Duration // 0: served at once
			var panicked atomic.Value
			c.lab.meet(func(g, i int) {
				for n := range each {
					var done Done
					delay := time.Duration(-1)
					if msg := catch(func() {
						if reserves && g == 0 {
							if r := impls[i].reserve(env.Start.Add(at), 1); r.ok() {
								delay = r.delay(env.Start.Add(at), c.time == Explicit)
							}
							return
						}
						if impls[i].do(Step{Op: OpAllow, N: 1}, env.Start.Add(at), g+n, &done); done.OK {
							delay = 0
						}
					}); msg != "" {
						panicked.Store(msg)
					}
					if delay >= 0 {
						delays[i][g] = append(delays[i][g], delay)
					}
				}
			})
			if msg := panicked.Load(); msg != nil {
				broken(round, "a request panicked: %s", msg)
			}
			for i := range impls {
				all := slices.Concat(delays[i][:]...)
				slices.Sort(all)
				due := slices.DeleteFunc(slices.Clone(all), func(d time.Duration) bool { return d == 0 })
				if n := len(all) - len(due); n != want {
					broken(round, "%d goroutines asking %d times each at one instant got %d tokens, want %d", meeters, each, n, want)
				}
				// Those that were not served at once are due one interval after the other.
				slack := time.Duration(len(due)+1) + time.Duration(c.lim.Traits.Quantum)*rate.Interval()
				for n, got := range due {
					if exact := time.Duration(n+1) * rate.Interval(); (got - exact).Abs() > slack {
						broken(round, "of the reservations that were made at one instant by many goroutines, number %d in time is due after %s, want %s", n+1, duration(got), duration(exact))
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
	})
	if l.once() != nil {
		return nil, "concurrent use made no progress"
	}
	if worst == nil && why == "" && c.accepts(opGiveUp) && !c.breaks("CN-UPPER", "CN-LOWER", "CN-IDEM", "CN-LIFO", "RS-DEBT") {
		worst = c.refundsConcurrent()
	}
	if worst == nil && why == "" && c.accepts(OpWait) && (c.time == PackageTime || c.lab.bubble) {
		worst = c.waitersConcurrent()
	}
	return worst, why
}

// refundsConcurrent has two goroutines cancel the same reservation at one instant, which
// may give its token back once: to the debt that it made.
func (c *contract) refundsConcurrent() (worst *violation) {
	rate, burst := Rate{10, time.Second}, 2
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), Config{}.start()}
		var impls [places]LimiterFuncs
		for i := range impls {
			var refused string
			if impls[i], refused = c.lim.make(env, LimiterConfig{rate, burst}); refused != "" {
				return
			}
		}
		for round := range meetings {
			at := time.Duration(round) * 2 * time.Second
			d.to(at)
			now := env.Start.Add(at)
			ask := func(i int) bool {
				var done Done
				impls[i].do(Step{Op: OpAllow, N: 1}, now, 0, &done)
				return done.OK
			}
			var debts [places]Reservation
			for i := range impls {
				_ = catch(func() {
					for n := 0; n <= burst && ask(i); n++ {
					}
					debts[i] = impls[i].reserve(now, 1)
				})
			}
			c.lab.meet(func(_, i int) {
				_ = catch(func() { // X-CALLS judges panics
					if debts[i].ok() {
						debts[i].cancel(now, c.time == Explicit)
					}
				})
			})
			for i := range impls {
				granted := false
				_ = catch(func() { granted = ask(i) })
				if granted && worst == nil {
					worst = &violation{
						Headline: "two goroutines cancelled a reservation at one instant, and a token came of it that was never there",
						Because:  fmt.Sprintf("the bucket was empty when the token was reserved (round %d of %d, rate=%s burst=%d)", round+1, meetings, rate, burst),
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
	return worst
}

// waitersConcurrent has goroutines wait from one instant on, and give up at the
// instant at which the next token comes: whatever meets, the tokens that remain are
// handed out one interval after the other, and everybody who stayed is served.
func (c *contract) waitersConcurrent() (worst *violation) {
	const goroutines, rounds = 6, 20
	rate := Rate{10, time.Second}
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), Config{}.start()}
		for round := range rounds {
			impl, refused := c.lim.make(env, LimiterConfig{rate, 1})
			if refused != "" {
				return
			}
			ctx, cancel := context.WithCancel(context.Background())
			var mu sync.Mutex
			var at []time.Duration
			from := d.now()
			start := make(chan struct{})
			stay := 0
			for g := range goroutines {
				mine := context.Background()
				if g%3 == 0 && c.accepts(opContext) && round%2 == 1 {
					mine = ctx
				} else {
					stay++
				}
				go func() {
					<-start
					var done Done
					if msg := catch(func() { impl.wait(mine, 1, &done) }); msg == "" && done.OK {
						mu.Lock()
						if at = append(at, d.now()-from); mine == ctx {
							stay++
						}
						mu.Unlock()
					}
				}()
			}
			close(start)
			d.settle()
			d.race(from+rate.Interval(), OrderHeld, cancel)
			d.to(from + time.Duration(3*goroutines)*rate.Interval())
			d.settle()
			mu.Lock()
			slices.Sort(at)
			if len(at) != stay && worst == nil {
				worst = &violation{Headline: fmt.Sprintf("of %d goroutines that waited for a token each from one instant on, and did not give up, %d were served", stay, len(at)),
					Because: fmt.Sprintf("in %s the rate %s brings enough for all (round %d of %d)", duration(time.Duration(3*goroutines)*rate.Interval()), rate, round+1, rounds)}
			}
			slack := time.Duration(goroutines+1) + time.Duration(c.lim.Traits.Quantum)*rate.Interval()
			for i, got := range at {
				if least := time.Duration(i+1-c.lim.Traits.initial(1)) * rate.Interval(); got < least-slack && worst == nil {
					worst = &violation{Headline: fmt.Sprintf("of goroutines that waited for a token each from one instant on, number %d in time was served after %s, want %s", i+1, duration(got), duration(least)),
						Because: fmt.Sprintf("the rate is %s and the burst 1 (round %d of %d)", rate, round+1, rounds)}
				}
			}
			mu.Unlock()
			cancel()
			if impl.Stop != nil {
				impl.Stop()
			}
			d.settle()
		}
	}).once()
	return worst
}
