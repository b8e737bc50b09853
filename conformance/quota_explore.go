package conformance

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// quotaFamilies lists what RunQuota explores, in constants.
func quotaFamilies(c *contract) []family {
	if !c.accepts(OpAllow) {
		return nil
	}
	w := time.Second
	cfg := func(limit int) Config {
		if c.quo.Kind == GCRA {
			return Config{}.With("rate", "10/1s").With("burst", fmt.Sprint(limit))
		}
		return Config{}.With("rate", fmt.Sprintf("%d/1s", limit))
	}
	if c.quo.Kind == GCRA {
		w = wait
	}
	one := []Step{{Op: OpAllow, N: 1}}
	gaps := []time.Duration{0, 1, w / 2, w - 1, w, w + 1, 5 * w / 2}
	fewer := []time.Duration{0, w / 2, w, 2 * w}
	var many []Step
	for n := 1; n <= 4 && (n == 1 || c.accepts(opMany)); n++ {
		many = append(many, Step{Op: OpAllow, N: n})
	}
	out := []family{
		{name: leaks, look: true, schedules: sequences(cfg(2), one, []time.Duration{1, w}, 2)},
		{name: "limit 1", schedules: sequences(cfg(1), one, gaps, 4)},
		{name: "limit 2", schedules: sequences(cfg(2), one, gaps, 4)},
		{name: "longer", schedules: sequences(cfg(2), one, fewer, 5)},
		{name: "limit 4", schedules: sequences(cfg(4), many, []time.Duration{0, w / 4, w, 3 * w / 2}, 3)},
		{name: "many", schedules: steady(cfg, w)},
		{name: "after long", schedules: sequences(cfg(2), one, []time.Duration{0, w, time.Hour}, 5)},
	}
	others := family{name: "other windows"}
	rates := []string{"2/1.5s", "2/100ms", "2/1m30s"}
	if c.quo.Kind == GCRA {
		rates = []string{"2/1.5s", "2/1.001s"} // events 750ms and 500.5ms apart
	}
	for _, rate := range rates {
		each := Config{}.With("rate", rate)
		w := each.Rate.Per
		if c.quo.Kind == GCRA {
			each, w = each.With("burst", "2"), w/2
		}
		others.schedules = append(others.schedules, sequences(each, one, []time.Duration{0, w / 2, w - 1, w, w + 1, 5 * w / 2}, 4)...)
	}
	out = append(out, others)
	if c.quo.Kind != GCRA {
		out = append(out, family{name: "off the grid", schedules: shifted(sequences(cfg(2), one,
			[]time.Duration{0, 3 * w / 10, 7*w/10 - 1, 7 * w / 10, 7*w/10 + 1, w}, 4), 3*w/10)})
		if c.time != PackageTime {
			out = append(out, family{name: "off the epoch", schedules: sequences(cfg(4).With("epoch", "2000-01-01T00:00:00.3Z"), many,
				[]time.Duration{0, 7 * w / 10, w, 6 * w / 5}, 3)})
		}
	}
	if c.accepts(opMany) {
		odd := []int{0, -1, -3, 5, math.MaxInt32, math.MaxInt, math.MinInt}
		if c.quo.Kind == SlidingLog {
			odd = []int{0, -1, -3, 5} // a log with a mistake would remember each of MaxInt events
		}
		for _, n := range odd {
			out = append(out, family{name: "odd numbers", schedules: sequences(cfg(4),
				[]Step{{Op: OpAllow, N: 4}, {Op: OpAllow, N: n}, {Op: OpAllow, N: 1}}, []time.Duration{0, w / 2}, 3)})
		}
		if c.quo.Kind == SlidingCounter || c.quo.Kind == FixedWindow {
			large := Config{}.With("rate", "1000000000/1h")
			half, all := Step{Op: OpAllow, N: 5e8}, Step{Op: OpAllow, N: 1e9}
			out = append(out, family{name: "large", schedules: sequences(large, []Step{half, all}, []time.Duration{0, time.Hour, 80 * time.Minute}, 3)})
		}
	}
	if c.accepts(OpTokens) {
		out = append(out, family{name: "looks", schedules: sequences(cfg(2), []Step{{Op: OpAllow, N: 1}, {Op: OpTokens}}, []time.Duration{0, w / 2, w}, 4)})
	}
	if c.time == Explicit {
		back := sequences(cfg(2), one, []time.Duration{0, w, -w}, 6)
		for n := 6; n <= 24; n += 6 {
			s := Schedule{Config: cfg(2)}
			for i := range n {
				s.Steps = append(s.Steps, Step{Op: OpAllow, N: 1, At: time.Duration(1-i/2%2) * w})
			}
			back = append(back, s)
		}
		out = append(out, family{name: "back in time", schedules: back})
	}
	if c.time != PackageTime {
		for _, epoch := range epochs {
			out = append(out, family{name: "epoch " + epoch, schedules: sequences(cfg(2).With("epoch", epoch), one, gaps, 3)})
		}
	}
	// Last, as who reckons with such a window may never come to an end.
	return append(out, family{name: "odd limits", schedules: oddQuotas(c)})
}

// shifted makes all of the schedules begin later.
func shifted(all []Schedule, by time.Duration) []Schedule {
	for _, s := range all {
		for i := range s.Steps {
			s.Steps[i].At += by
		}
	}
	return all
}

// steady asks again and again, a little more and a little less often than the limit.
func steady(cfg func(limit int) Config, w time.Duration) []Schedule {
	var out []Schedule
	for _, limit := range []int{1, 3, 10} {
		for _, gap := range []time.Duration{w / 20, w / 10, w * 3 / 10, w * 4 / 10, w * 7 / 10, w - 1, w * 13 / 10} {
			s := Schedule{Config: cfg(limit)}
			for i := range 60 {
				s.Steps = append(s.Steps, Step{Op: OpAllow, N: 1, At: time.Duration(i) * gap})
			}
			out = append(out, s)
		}
	}
	return out
}

// quotaCanary proves that the implementation takes its time from where the spec says:
// it uses up what there is and sees which clock brings more.
func quotaCanary(c *contract) string {
	if !c.accepts(OpAllow) {
		return fmt.Sprintf("New returned nothing that %v can use: set Take, or TakeAt for Explicit", c.time)
	}
	if c.time != Injected || !c.lab.bubble {
		return ""
	}
	var own, other bool
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		impl := c.quo.New(Env{d.clock(), Config{}.start()}, QuotaConfig{1, time.Second, 1})
		ask := func() (ok bool) {
			_ = catch(func() { ok = impl.Take(1).OK }) // X-CALLS judges panics
			return ok
		}
		for range 10 {
			ask()
		}
		d.to(time.Hour)
		own = ask()
		for range 10 {
			ask()
		}
		time.Sleep(time.Hour)
		other = ask()
		if impl.Stop != nil {
			impl.Stop()
		}
		d.settle()
	}).once()
	if !own && other {
		return "the spec says Injected, but moving Env.Clock brought nothing and moving package time did: " +
			"hand Env.Clock to the implementation, or set Time: conformance.PackageTime"
	}
	return ""
}

// quotaConcurrent has goroutines ask at one instant, of which one peeks on some limiters.
func (c *contract) quotaConcurrent() (*violation, string) {
	const each, limit = 4, 5
	var worst *violation
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		env := Env{d.clock(), Config{}.start()}
		var impls [places]QuotaFuncs
		for i := range impls {
			impls[i] = c.quo.New(env, QuotaConfig{limit, time.Second, limit})
		}
		for round := range meetings {
			at := time.Duration(round) * 5 * time.Second // long enough to be as if new
			d.to(at)
			var granted [places]atomic.Int64
			var panicked atomic.Value
			c.lab.meet(func(g, i int) {
				for n := range each {
					var done Done
					step := Step{Op: OpAllow, N: 1}
					if i%4 == 0 && n == each/2 && c.accepts(OpTokens) {
						step.Op = OpTokens
					}
					if msg := catch(func() { impls[i].do(step, env.Start.Add(at), c.time == Explicit, &done) }); msg != "" {
						panicked.Store(msg)
					}
					if done.OK && step.Op == OpAllow {
						granted[i].Add(1)
					}
				}
			})
			if msg := panicked.Load(); msg != nil && worst == nil {
				worst = &violation{Headline: "a request panicked: " + msg.(string)}
			}
			for i := range impls {
				if n := granted[i].Load(); n != limit && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("%d goroutines asking %d times each at one instant were granted %d, want %d", meeters, each, n, limit),
						Because:  fmt.Sprintf("the limiter was as if new (round %d of %d), and no order of the calls grants another number", round+1, meetings),
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
	return worst, ""
}

// quotaRace uses all operations of one limiter at once.
func (c *contract) quotaRace() (*violation, string) {
	return nil, c.clash(func(env Env) []func(int) {
		impl := c.quo.New(env, QuotaConfig{5, time.Second, 5}) // 200ms apart: some take whole intervals only
		var ops []func(int)
		for _, s := range []Step{{Op: OpAllow, N: 1}, {Op: OpAllow, N: 2}, {Op: OpTokens}} {
			if c.accepts(s.Op) && (s.N < 2 || c.accepts(opMany)) {
				run := func(i int) { impl.do(s, env.Start.Add(time.Duration(i)), c.time == Explicit, &Done{}) }
				ops = append(ops, run, run)
			}
		}
		return ops
	})
}
