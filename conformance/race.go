package conformance

import (
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
		return "concurrent use made no progress"
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

// debouncerRace uses all operations of one debouncer of each kind at once.
func (c *contract) debouncerRace() (*violation, string) {
	why := ""
	for _, edges := range c.deb.kinds() {
		if why == "" && edges != NoEdges {
			why = c.debouncerClash(edges)
		}
	}
	return nil, why
}

func (c *contract) debouncerClash(edges Edges) string {
	why := c.clash(func(env Env) []func(int) {
		impl := c.deb.build(env, DebounceConfig{Wait: wait, Edges: edges}, func(int, []int) {})
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
		return why
	}
	return c.clash(func(env Env) []func(int) {
		impl := c.deb.build(env, DebounceConfig{Wait: wait, Edges: edges}, func(int, []int) {})
		stop := func(int) { impl.Stop() }
		return []func(int){impl.Call, stop, stop}
	})
}
