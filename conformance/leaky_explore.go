package conformance

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/internal/goroutine"
)

// leakyFamilies lists what RunLeakyBucket explores, in constants.
func leakyFamilies(c *contract) []family {
	if c.exact != "" || !c.accepts(OpPut) {
		return nil
	}
	base := Config{}.With("interval", "100ms")
	size := func(n int) Config { return base.With("backlog", fmt.Sprint(n)) }
	put := []Step{{Op: OpPut}}
	grid := []time.Duration{0, 1, wait / 2, wait - 1, wait, wait + 1, 5 * wait / 2}
	out := []family{
		{name: leaks, look: true, schedules: withItems(sequences(size(2), put, []time.Duration{1, wait}, 3))},
		{name: "queue", schedules: withItems(sequences(size(2), put, grid, 4))},
		{name: "longer queue", schedules: withItems(sequences(size(2), put, []time.Duration{0, wait / 2, wait, 5 * wait / 2}, 5))},
		{name: "queue of one", schedules: withItems(sequences(size(1), put, grid, 4))},
		{name: "bursts", schedules: withItems(sequences(size(3), put, []time.Duration{0, wait}, 7))},
		{name: "long", schedules: longQueues()},
	}
	if c.accepts(OpCancel) {
		steps := []Step{{Op: OpPut}, {Op: OpCancel, N: 1}, {Op: OpCancel, N: 2}, {Op: OpCancel, N: 3}}
		out = append(out,
			family{name: "cancels", schedules: withItems(sequences(size(2), steps, []time.Duration{0, wait / 2}, 4))},
			family{name: "cancels and what comes later", schedules: append(
				after(size(3), "put 1 @0 | put 2 @0 | put 3 @0 | put 4 @0", "put 0 @0 | cancel 2 @0 | cancel 3 @0 | cancel 4 @0", []time.Duration{0, wait / 2, wait}, 2),
				after(size(2), "put 1 @0 | put 2 @0 | cancel 2 @0", "put 0 @0", []time.Duration{0, wait / 2, wait}, 3)...)},
			family{name: "later cancels", schedules: withItems(sequences(size(1), []Step{{Op: OpPut}, {Op: OpCancel, N: 2}}, []time.Duration{0, wait / 2, wait}, 5))})
	}
	if c.accepts(OpClose) {
		out = append(out, family{name: "closes", schedules: withItems(sequences(size(2), []Step{{Op: OpPut}, {Op: OpClose}}, []time.Duration{0, wait / 2, wait}, 4))})
		if c.accepts(OpCancel) {
			out = append(out, family{name: "closes and cancels", schedules: after(size(2), "put 1 @0 | put 2 @0 | put 3 @0",
				"close @0 | cancel 2 @0 | cancel 3 @0", []time.Duration{0, wait / 2}, 3)})
		}
	}
	if c.accepts(OpStop) {
		out = append(out, family{name: leaks, look: true, schedules: after(size(2), "put 1 @0 | put 2 @0 | put 3 @0", "stop @0", []time.Duration{0, wait / 2, wait}, 1)})
	}
	if slack := c.lky.Traits.Slack; slack > 0 {
		out = append(out, family{name: "slack", schedules: slacks(slack)})
	} else {
		out = append(out, family{name: "racing", skip: unsettled(c), schedules: c.leakyRaces()})
	}
	for _, op := range []Op{OpPut, OpCancel, OpClose} {
		if c.accepts(op) {
			out = append(out, family{name: "inside", schedules: withItems(sequences(size(2).With("inside", string(op)), put, []time.Duration{0, wait}, 3))})
		}
	}
	if c.time != PackageTime {
		for _, epoch := range epochs {
			out = append(out, family{name: "epoch " + epoch, schedules: withItems(sequences(size(2).With("epoch", epoch), put, grid, 3))})
		}
	}
	return out
}

// withItems gives the items their numbers, and leaves out schedules that begin with
// another step than a put.
func withItems(all []Schedule) []Schedule {
	all = slices.DeleteFunc(all, func(s Schedule) bool { return s.Steps[0].Op != OpPut })
	for _, s := range all {
		n := 0
		for i := range s.Steps {
			if s.Steps[i].Op == OpPut {
				n++
				s.Steps[i].N = n
			}
		}
	}
	return all
}

// after lists the schedules that begin with head, all of it at 0, and go on with up to
// depth steps of the alphabet, each a gap after the one before it.
func after(cfg Config, head, alphabet string, gaps []time.Duration, depth int) []Schedule {
	begin, steps := parseAll([]string{head})[0].Steps, parseAll([]string{alphabet})[0].Steps
	var out []Schedule
	for _, gap := range gaps {
		for _, s := range sequences(cfg, steps, gaps, depth) {
			for i := range s.Steps {
				s.Steps[i].At += gap
			}
			out = append(out, Schedule{cfg, append(slices.Clone(begin), s.Steps...)})
		}
	}
	return withItems(out)
}

// leakyRaces are schedules in which something is done at the instant at which an item
// that waits is due.
func (c *contract) leakyRaces() []Schedule {
	const conf = "interval=100ms backlog=2 | put 1 @0 | put 2 @0"
	texts := []string{
		conf + " | put 3 @100ms~",
		conf + " | put 3 @0 | put 4 @100ms~",
		conf + " | put 3 @100ms~ | put 4 @100ms~",
		conf + " | put 3 @100ms~ | put 4 @200ms~",
		conf + " | put 3 @50ms | put 4 @200ms~ | put 5 @250ms",
	}
	if c.accepts(OpCancel) {
		texts = append(texts,
			conf+" | cancel 2 @100ms~",
			conf+" | cancel 2 @100ms~ | put 3 @150ms | put 4 @150ms",
			conf+" | put 3 @0 | cancel 2 @100ms~ | put 4 @150ms",
			conf+" | put 3 @0 | cancel 3 @100ms~")
	}
	return parseAll(texts)
}

// longQueues fill a queue at once, and go on faster and slower than it empties, at
// intervals that are not round.
func longQueues() []Schedule {
	var out []Schedule
	for _, interval := range []time.Duration{wait, 333333333, 7} {
		for _, gap := range []time.Duration{0, interval * 3 / 10, interval * 7 / 10, interval, interval * 13 / 10, 3*interval + 1} {
			s := Schedule{Config: Config{}.With("interval", duration(interval)).With("backlog", "20")}
			for i := range 40 {
				s.Steps = append(s.Steps, Step{Op: OpPut, N: i + 1, At: time.Duration(i) * gap})
			}
			out = append(out, s)
		}
	}
	return out
}

// slacks let idle time pass, around and far beyond what the slack makes up for, and then
// put more than may leave together, twice.
func slacks(slack int) []Schedule {
	var out []Schedule
	full := time.Duration(slack) * wait
	for _, idle := range []time.Duration{full - wait/2, full, full + wait*3/10, full + wait*7/10, full + wait, 2 * full, 20 * full} {
		s := Schedule{Config: Config{}.With("interval", duration(wait)).With("backlog", fmt.Sprint(slack+4))}
		s.Steps = append(s.Steps, Step{Op: OpPut, N: 1})
		for _, at := range []time.Duration{idle, 2*idle + 2*wait} { // all have left 2 intervals after the first
			for range slack + 3 {
				s.Steps = append(s.Steps, Step{Op: OpPut, N: len(s.Steps) + 1, At: at})
			}
		}
		out = append(out, s)
	}
	return out
}

// leakyCanary proves that the implementation takes its time from where the spec says,
// and looks whether runs can be settled exactly.
func leakyCanary(c *contract) string {
	if !c.accepts(OpPut) {
		return "New returned no Put: say how to offer an item"
	}
	const beyond = 50 * wait
	var left, later int
	var below bool // the first item left below its Put
	var refused, origin string
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var mu sync.Mutex
		n, putter, own, by := 0, goroutine.ID(), false, ""
		count := func() int { mu.Lock(); defer mu.Unlock(); return n }
		var impl LeakyBucketFuncs
		refused = catch(func() {
			impl = c.lky.New(Env{d.clock(), Config{}.start()}, LeakyBucketConfig{wait, 3}, func(v int) {
				mu.Lock()
				defer mu.Unlock()
				n++
				switch v {
				case 1:
					own = goroutine.ID() == putter
				case 2:
					by = createdBy()
				}
			})
		})
		if refused != "" {
			return
		}
		for v := range 3 { // X-CALLS judges panics
			_ = catch(func() { impl.Put(v + 1) })
			d.settle()
		}
		d.to(beyond)
		d.settle()
		left = count()
		mu.Lock()
		below, origin = own, by
		mu.Unlock()
		if c.lab.bubble && c.time == Injected { // move the other clock
			time.Sleep(beyond)
			d.settle()
			later = count() - left
		}
		impl.end()
		d.settle()
	})
	if h := l.once(); h != nil {
		if where := c.waitsForEver(h); where != "" {
			return neverReturned + ": " + where
		}
		c.exact = "the first run hung"
		return ""
	}
	switch {
	case refused != "":
		return fmt.Sprintf("New refused an interval of %v and a backlog of 3: %s", wait, refused)
	case left <= 1 && later > 0:
		return "the spec says Injected, but what waited did not leave when Env.Clock moved and did when package time moved: " +
			"hand Env.Clock to the implementation, or set Time: conformance.PackageTime"
	case c.time == Injected && !c.lab.bubble && left < 3:
		c.exact = "goroutines of the implementation can only be driven exactly in a bubble"
	case c.time == Injected && !c.lab.bubble && c.lky.Traits.Head == HeadAtOnce && !below:
		c.exact = "what leaves at once does so on another goroutine, which can only be driven exactly in a bubble"
	case c.time == Injected && !c.lab.bubble && !strings.Contains(origin, "fakeclock.") && !strings.Contains(origin, "conformance."):
		c.exact = "items leave on a goroutine of the implementation, which can only be driven exactly in a bubble"
	}
	return ""
}

// leakyConcurrent has goroutines put items at one instant.
func (c *contract) leakyConcurrent() (*violation, string) {
	const each, backlog = 5, 4
	var worst *violation
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var left, accepted [places][meeters * each]atomic.Int64
		var impls [places]LeakyBucketFuncs
		for i := range impls {
			impls[i] = c.lky.New(Env{d.clock(), Config{}.start()}, LeakyBucketConfig{wait, backlog}, func(v int) {
				if v >= 0 && v < meeters*each { // other rules judge what was never put
					left[i][v].Add(1)
				}
			})
		}
		for round := range meetings {
			began := time.Duration(round) * 20 * wait
			d.to(began)
			c.lab.meet(func(g, i int) {
				for n := range each {
					v := g*each + n
					_ = catch(func() { // X-CALLS judges panics
						if impls[i].Put(v) {
							accepted[i][v].Add(1)
						}
					})
				}
			})
			d.to(began + 15*wait)
			d.settle()
			for i := range impls {
				n := int64(0)
				for v := range accepted[i] {
					got, want := left[i][v].Swap(0), accepted[i][v].Swap(0)
					n += want
					if got != want && worst == nil {
						worst = &violation{Headline: fmt.Sprintf("an item that was put beside others left %d times, want %d: once if it was accepted", got, want)}
					}
				}
				if most := int64(backlog + 1 + c.lky.Traits.Slack); n > most && !c.lky.Traits.Unbounded && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("%d goroutines with %d items each at one instant had %d accepted, want %d at the most", meeters, each, n, most),
						Because:  fmt.Sprintf("nothing waited (round %d of %d), and no order of the calls has more accepted with a backlog of %d", round+1, meetings, backlog),
					}
				}
			}
		}
		for i := range impls {
			impls[i].end()
		}
		d.settle()
	})
	if l.once() != nil {
		return nil, "concurrent use made no progress"
	}
	if worst == nil && c.accepts(OpCancel) {
		return c.cancelsConcurrent()
	}
	return worst, ""
}

// cancelsConcurrent has two goroutines cancel the same item at one instant.
func (c *contract) cancelsConcurrent() (worst *violation, why string) {
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var left, cancelled [places]atomic.Int64
		var impls [places]LeakyBucketFuncs
		for i := range impls {
			impls[i] = c.lky.New(Env{d.clock(), Config{}.start()}, LeakyBucketConfig{wait, 3}, func(v int) {
				if v%4 == 3 {
					left[i].Add(1)
				}
			})
		}
		for round := range meetings {
			d.to(time.Duration(round) * 10 * wait)
			var waits [places]bool
			for i := range impls {
				_ = catch(func() {
					waits[i] = impls[i].Put(4*round+1) && impls[i].Put(4*round+2) && impls[i].Put(4*round+3)
				})
			}
			d.settle()
			c.lab.meet(func(_, i int) {
				_ = catch(func() { // X-CALLS judges panics
					if waits[i] && impls[i].Cancel(4*round+3) {
						cancelled[i].Add(1)
					}
				})
			})
			d.to(d.now() + 5*wait)
			d.settle()
			for i := range impls {
				left, cancelled := left[i].Swap(0), cancelled[i].Swap(0)
				if waits[i] && left+cancelled != 1 && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("two goroutines cancelled an item at one instant: %d were told that it was there, and it left %d times, want 1 and 0", cancelled, left),
						Because:  fmt.Sprintf("it waited behind two others (round %d of %d)", round+1, meetings),
					}
				}
			}
		}
		for i := range impls {
			impls[i].end()
		}
		d.settle()
	})
	if l.once() != nil {
		return nil, "concurrent use made no progress"
	}
	return worst, ""
}

// leakyRace uses all operations of one bucket at once.
func (c *contract) leakyRace() (*violation, string) {
	why := c.clash(func(env Env) []func(int) {
		impl := c.lky.New(env, LeakyBucketConfig{wait, 3}, func(int) {})
		put := func(i int) { impl.Put(i) }
		ops := []func(int){put, put}
		if impl.Cancel != nil {
			ops = append(ops, func(i int) { impl.Cancel(i) })
		}
		return ops
	})
	if why != "" || !c.accepts(OpStop) {
		return nil, why
	}
	return nil, c.clash(func(env Env) []func(int) {
		impl := c.lky.New(env, LeakyBucketConfig{wait, 3}, func(int) {})
		stop := func(int) { impl.Stop() }
		return []func(int){func(i int) { impl.Put(i) }, stop, stop}
	})
}

// leakyPanic lets the function panic where that is known to unwind into the suite:
// below a Put.
func (c *contract) leakyPanic() (*violation, string) {
	var worst *violation
	var below atomic.Bool
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var mu sync.Mutex
		var left []time.Duration
		putting := uint64(0)
		impl := c.lky.New(Env{d.clock(), Config{}.start()}, LeakyBucketConfig{wait, 3}, func(v int) {
			mu.Lock()
			left = append(left, d.now())
			own := putting != 0 && goroutine.ID() == putting
			mu.Unlock()
			if v == 1 && own {
				below.Store(true)
				panic("the function of the item")
			}
		})
		for v := 1; v <= 3; v++ {
			mu.Lock()
			putting = goroutine.ID()
			mu.Unlock()
			_ = catch(func() { impl.Put(v) })
			mu.Lock()
			putting = 0
			mu.Unlock()
			d.settle()
		}
		d.to(10 * wait)
		d.settle()
		mu.Lock()
		want := []time.Duration{0, wait, 2 * wait}
		right := false
		for saved := range min(2, c.lky.Traits.Slack) + 1 { // a new bucket may have its slack already
			early := time.Duration(saved)
			right = right || slices.Equal(left, []time.Duration{0, max(0, 1-early) * wait, (2 - early) * wait})
		}
		if below.Load() && !right {
			worst = &violation{
				Headline: fmt.Sprintf("the function panicked with the first of three items, and they left at %v, want %v", left, want),
				Because:  "an item that has left has left, and the others must not pay for it",
			}
		}
		mu.Unlock()
		impl.end()
		d.settle()
	})
	switch {
	case l.once() != nil && below.Load():
		return &violation{Headline: "after the function panicked in a Put, the next operation never returned",
			Because: "what Put holds must be released when the function unwinds it"}, ""
	case !below.Load():
		return nil, "items leave on a goroutine of the implementation, where a panic would end the test"
	}
	return worst, ""
}
