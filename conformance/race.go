package conformance

import (
	"fmt"
	"sync"
	"time"
)

// clash calls the operations from many goroutines at once, round after round, with
// the timers of each round firing among them. Operations must tolerate being
// called in any order. It returns why it could not be run.
//
// On an injected clock the goroutines run free while the clock advances: settling
// would order what must stay unordered for the race detector to see it. In a
// bubble they wake at the instant at which the timers fire.
func (c *contract) clash(make func(env Env) []func(i int)) string {
	const rounds = 50
	if c.time == PackageTime && !c.lab.bubble {
		return "package time can only be held in a bubble"
	}
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		ops := make(Env{d.clock(), Config{}.start()})
		if h, ok := d.(*hand); ok {
			for range rounds {
				gather(ops, func() { h.c.Advance(wait / 2) }, func() {})
			}
			h.c.Advance(10 * wait)
			return
		}
		for range rounds {
			gather(ops, func() { d.to(d.now() + wait) }, func() { time.Sleep(wait) })
		}
		d.to(d.now() + 10*wait)
		d.settle()
	})
	l.bubble = l.bubble && c.time == PackageTime
	if l.once() != nil {
		return "concurrent use made no progress for " + watchdog.String()
	}
	return ""
}

// gather runs each operation a few times on a goroutine of its own, after start,
// while meanwhile runs on the caller's.
func gather(ops []func(i int), meanwhile, start func()) {
	var wg sync.WaitGroup
	for _, op := range ops {
		wg.Add(1)
		go func() {
			defer wg.Done()
			start()
			for i := range 5 {
				_ = catch(func() { op(i) }) // X-CALLS judges panics
			}
		}()
	}
	meanwhile()
	wg.Wait()
}

// debouncerRace uses all operations of one debouncer at once.
func (c *contract) debouncerRace() (*violation, string) {
	why := c.clash(func(env Env) []func(int) {
		impl := c.deb.build(env, DebounceConfig{Wait: wait, Edges: c.deb.edges()}, func(int, []int) {})
		ops := []func(int){impl.Call, func(i int) { impl.Call(-i) }}
		for _, op := range []Op{OpCancel, OpFlush, OpPending} {
			if c.accepts(op) {
				ops = append(ops, func(int) { impl.do(Step{Op: op}, &Done{}) })
			}
		}
		if impl.CallKey != nil {
			ops = append(ops, func(i int) { impl.CallKey(i, i) }, func(i int) { impl.CallKey(i+1, i) })
		}
		return ops
	})
	if why != "" || !c.accepts(OpStop) {
		return nil, why
	}
	why = c.clash(func(env Env) []func(int) {
		impl := c.deb.build(env, DebounceConfig{Wait: wait, Edges: c.deb.edges()}, func(int, []int) {})
		stop := func(int) { impl.Stop() }
		return []func(int){impl.Call, stop, stop}
	})
	return nil, why
}

// limiterRace uses all operations of one limiter at once.
func (c *contract) limiterRace() (*violation, string) {
	if !c.accepts(OpAllow) && c.time != PackageTime {
		return nil, "a wait on an injected clock would have to be settled, which orders what must stay unordered"
	}
	return nil, c.clash(func(env Env) []func(int) {
		impl := c.lim.New(env, LimiterConfig{Rate: Rate{1000, time.Second}, Burst: 5}).only(c.time)
		var ops []func(int)
		for _, s := range []Step{{Op: OpAllow, N: 1}, {Op: OpAllow, N: 2}, {Op: OpTokens}} {
			if c.accepts(s.Op) && (s.N < 2 || c.accepts(opMany)) {
				run := func(i int) { impl.do(s, env.Start.Add(time.Duration(i)), i, &Done{}) }
				ops = append(ops, run, run)
			}
		}
		if c.accepts(OpWait) && c.time == PackageTime {
			ops = append(ops, func(int) { impl.Wait(1) }, func(int) { impl.Wait(1) })
		}
		return ops
	})
}

// limiterConcurrent has many goroutines ask at one instant: what they get together
// must be what some order of the same calls gets.
func (c *contract) limiterConcurrent() (*violation, string) {
	const goroutines, each, rounds, burst = 8, 4, 40, 5
	rate := Rate{10, time.Second}
	var worst *violation
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), Config{}.start()}
		impl := c.lim.New(env, LimiterConfig{Rate: rate, Burst: burst}).only(c.time)
		for round := range rounds {
			at := time.Duration(round) * time.Minute // long enough to fill up
			d.to(at)
			want := burst
			if round == 0 {
				want = c.lim.Traits.initial(burst)
			}
			var mu sync.Mutex
			var wg sync.WaitGroup
			n, panicked := 0, ""
			start := make(chan struct{})
			for g := range goroutines {
				wg.Add(1)
				go func() {
					defer wg.Done()
					<-start
					for i := range each {
						var done Done
						msg := catch(func() { impl.do(Step{Op: OpAllow, N: 1}, env.Start.Add(at), g+i, &done) })
						mu.Lock()
						if done.OK {
							n++
						}
						if msg != "" {
							panicked = msg
						}
						mu.Unlock()
					}
				}()
			}
			close(start)
			wg.Wait()
			if panicked != "" && worst == nil {
				worst = &violation{Headline: "a request panicked: " + panicked}
			}
			if n != want && worst == nil {
				worst = &violation{
					Headline: fmt.Sprintf("%d goroutines asking %d times each at one instant got %d tokens, want %d", goroutines, each, n, want),
					Because:  fmt.Sprintf("the bucket held %d tokens (round %d of %d, rate=%s burst=%d), and no order of the calls grants another number", want, round+1, rounds, rate, burst),
				}
			}
		}
		if impl.Stop != nil {
			impl.Stop()
		}
		d.settle()
	})
	if l.once() != nil {
		return nil, "concurrent use made no progress for " + watchdog.String()
	}
	return worst, ""
}
