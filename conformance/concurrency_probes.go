package conformance

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// manyConfig is what probes with many goroutines make a limiter with.
func (c *contract) manyConfig(limit, backlog int) ConcurrencyConfig {
	return c.con.Traits.without(ConcurrencyConfig{Limit: limit, Backlog: backlog, Timeout: time.Hour, OnReject: func() {}})
}

// request asks for one slot, calls run and gives the slot back.
func (f *ConcurrencyFuncs) request(ctx context.Context, run func()) error {
	err := f.enter()(ctx, 1, run)
	if err == nil && f.Release != nil && !f.handles(Step{Op: OpAcquire}) {
		f.Release(1)
	}
	return err
}

// concurrencyConcurrent has goroutines bring requests at one instant.
func (c *contract) concurrencyConcurrent() (*violation, string) {
	const instances, each, limit, backlog = places / 2, 6, 3, 4 // two meet for the third slot, and for the last seat
	const requests = meeters * each
	if c.con.Traits.Backlog == 0 {
		return nil, "trait Backlog is undeclared"
	}
	wantWaiting := requests - limit
	switch c.con.Traits.Backlog {
	case BacklogBounded:
		wantWaiting = backlog
	case BacklogNone:
		wantWaiting = 0
	}
	var worst *violation
	l := c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var impls [instances]ConcurrencyFuncs
		for i := range impls {
			impls[i] = c.con.New(Env{d.clock(), Config{}.start()}, c.manyConfig(limit, backlog))
		}
		for round := 0; round < meetings && worst == nil; round++ {
			var running, rejected, answered [instances]atomic.Int64
			leave := make(chan struct{})
			ctx, cancel := context.WithCancel(context.Background())
			c.lab.crowd(instances, each, func(i, _ int) {
				ran := false
				_ = catch(func() {
					_ = impls[i].request(ctx, func() {
						ran = true
						running[i].Add(1)
						<-leave
					})
				})
				answered[i].Add(1)
				if !ran {
					rejected[i].Add(1)
				}
			})
			d.settle()
			for i := range impls {
				running, rejected := int(running[i].Load()), int(rejected[i].Load())
				if waiting := requests - running - rejected; (running != limit || waiting != wantWaiting) && worst == nil {
					worst = &violation{
						Headline: fmt.Sprintf("of %d requests at one instant %d run, %d wait and %d are rejected, want %d, %d and %d",
							requests, running, waiting, rejected, limit, wantWaiting, requests-limit-wantWaiting),
						Because: fmt.Sprintf("no order of the calls leads to that (round %d of %d, limit=%d backlog=%d)", round+1, meetings, limit, backlog),
					}
				}
			}
			close(leave) // those who wait follow at once
			d.settle()
			for i := range impls {
				if n := int(answered[i].Load()); n < requests && worst == nil {
					worst = &violation{Headline: fmt.Sprintf("%d of %d requests are never answered, though all slots are free", requests-n, requests)}
				}
			}
			cancel()
			d.settle()
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
	if worst == nil {
		_, worst = c.churn()
	}
	return worst, ""
}

// concurrencyLost is the probe of CT-NOLOST.
func (c *contract) concurrencyLost() (*violation, string) {
	lost := c.missed()
	if lost == nil {
		lost, _ = c.churn()
	}
	return lost, ""
}

// missed releases the only slot while a request asks its context: between the look that
// finds no slot and the wait for one most do. That release must not be lost.
func (c *contract) missed() (lost *violation) {
	const calls = 4 // of Done and Err, the one after the other
	if conContext(c) != "" {
		return nil
	}
	defer oneProcessor(true)() // the release goes first, as far as it gets
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		for call := int64(1); call <= calls && lost == nil; call++ {
			impl := c.con.New(Env{d.clock(), Config{}.start()}, c.manyConfig(1, 2))
			forever, stop := context.WithCancel(context.Background())
			leave := make(chan struct{})
			handlers := impl.handles(Step{Op: OpAcquire})
			free := func() {
				if handlers {
					close(leave)
				} else {
					impl.Release(1)
				}
			}
			var ended atomic.Int64
			come := func(ctx context.Context) {
				go func() {
					_ = catch(func() {
						_ = impl.enter()(ctx, 1, func() {
							if handlers {
								<-leave
							}
						})
					})
					ended.Add(1)
				}()
				d.settle()
			}
			come(forever)
			var asked atomic.Int64
			come(&slowContext{forever, func() {
				if asked.Add(1) == call {
					go func() { _ = catch(free) }()
					for range 20 {
						runtime.Gosched()
					}
				}
			}})
			if asked.Load() < call {
				_ = catch(free)
				d.settle()
			} else if ended.Load() < 2 {
				lost = &violation{
					Headline: "a request waits for ever, though the only slot is free",
					Because:  fmt.Sprintf("the slot was released while the request asked its context (limit=1, call %d of Done and Err)", call),
				}
			}
			stop()
			if impl.Release != nil {
				go func() { _ = catch(func() { impl.Release(1) }) }()
			}
			d.settle()
			if impl.Stop != nil {
				_ = catch(impl.Stop)
			}
			d.settle()
		}
	}).once()
	return lost
}

// slowContext is a context that does something before it answers.
type slowContext struct {
	context.Context
	before func()
}

func (c *slowContext) Done() <-chan struct{} {
	c.before()
	return c.Context.Done()
}

func (c *slowContext) Err() error {
	c.before()
	return c.Context.Err()
}

// churn has goroutines that come and go, some of which give up while they wait, and
// looks each time whether somebody waits when all others are gone, and whether too
// many ran.
func (c *contract) churn() (lost, over *violation) {
	const rounds, limit = 80, 2
	c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		impl := c.con.New(Env{d.clock(), Config{}.start()}, c.manyConfig(limit, 10))
		for round := 0; round < rounds && lost == nil && over == nil; round++ {
			goroutines := limit + 1 + round%4
			forever, stop := context.WithCancel(context.Background())
			var running, most, ended atomic.Int64
			for g := range goroutines {
				go func() {
					defer ended.Add(1)
					for i := range 1 + round/4%2 {
						ctx, cancel := context.WithCancel(forever)
						if g%2 == 1 && (i+round)%3 == 0 {
							go cancel()
						}
						_ = catch(func() {
							_ = impl.request(ctx, func() {
								if n := running.Add(1); n > most.Load() {
									most.Store(n)
								}
								for range (g + round/8) % 4 {
									runtime.Gosched()
								}
								running.Add(-1)
							})
						})
						cancel()
					}
				}()
			}
			d.settle()
			if n := int(ended.Load()); n < goroutines {
				lost = &violation{
					Headline: fmt.Sprintf("%d of %d goroutines wait for ever, though nobody runs", goroutines-n, goroutines),
					Because:  fmt.Sprintf("each asked and released what it got, some gave up while they waited (round %d of %d, limit=%d)", round+1, rounds, limit),
				}
			}
			if n := most.Load(); n > limit {
				over = &violation{Headline: fmt.Sprintf("%d requests ran at once, with a limit of %d", n, limit)}
			}
			stop()
			d.settle()
			for range goroutines { // who waits without a context
				if int(ended.Load()) == goroutines || impl.Release == nil {
					break
				}
				go func() { _ = catch(func() { impl.Release(1) }) }()
				d.settle()
			}
		}
		if impl.Stop != nil {
			impl.Stop()
		}
		d.settle()
	}).once()
	return lost, over
}

// concurrencyReentry calls operations from the hook, once for each way in which a
// request is rejected.
func (c *contract) concurrencyReentry() (*violation, string) {
	cfg := c.manyConfig(1, 1)
	if cfg.Backlog < 0 && cfg.Timeout < 0 {
		return nil, "nothing is rejected without a backlog and a timeout"
	}
	full, late := cfg, cfg
	full.Backlog, full.Timeout = min(cfg.Backlog, 0), min(cfg.Timeout, 0) // whichever there is rejects at once
	late.Timeout = min(cfg.Timeout, wait)
	ways := []func() *hang{func() *hang { return c.hooked(full, nil) }}
	if late.Timeout > 0 {
		ways = append(ways, func() *hang { return c.hooked(late, func(d driver, _ func()) { d.to(d.now() + wait) }) })
	}
	if conContext(c) == "" {
		ways = append(ways, func() *hang { return c.hooked(cfg, func(_ driver, cancel func()) { cancel() }) })
	}
	for _, way := range ways {
		h := way()
		if h == nil {
			continue
		}
		if where := blockedUnder(h.stacks, "conformance.calledFromHook("); where != "" {
			return &violation{
				Headline: "an operation that the hook calls never returned",
				Because:  "its goroutine is blocked, under the hook: " + where,
			}, ""
		}
		return nil, "no progress, and the stacks do not prove why"
	}
	return nil, ""
}

// hooked brings two requests for one slot and then does what makes the second give up.
// The hook calls operations.
func (c *contract) hooked(cfg ConcurrencyConfig, then func(d driver, cancel func())) *hang {
	return c.lab.apart(func(d driver, _ job, rec *recorder) {
		rec.now = d.now
		var impl ConcurrencyFuncs
		var within atomic.Bool // what the hook asks for may be rejected too
		cfg.OnReject = func() {
			if within.CompareAndSwap(false, true) {
				calledFromHook(&impl)
				within.Store(false)
			}
		}
		if catch(func() { impl = c.con.New(Env{d.clock(), Config{}.start()}, cfg) }) != "" {
			return
		}
		leave := make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		for _, ctx := range []context.Context{context.Background(), ctx} {
			go func() { _ = catch(func() { _ = impl.request(ctx, func() { <-leave }) }) }()
			d.settle()
		}
		if then != nil {
			then(d, cancel)
			d.settle()
		}
		cancel()
		close(leave)
		d.settle()
		if impl.Stop != nil {
			impl.Stop()
		}
		d.settle()
	}).once()
}

// calledFromHook does what a hook may do. Its name is looked for in stacks.
//
//go:noinline
func calledFromHook(impl *ConcurrencyFuncs) {
	if impl.TryAcquire != nil && impl.TryAcquire(1) {
		impl.Release(1)
	}
	if impl.Resize != nil {
		impl.Resize(1)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	switch {
	case impl.Acquire != nil:
		if impl.Acquire(done, 1) == nil {
			impl.Release(1)
		}
	case impl.Do != nil:
		_ = impl.Do(done, func() {})
	}
}

// blockedUnder describes a goroutine of a dump that waits for a lock or a channel
// below a function.
func blockedUnder(dump, function string) string {
	for _, g := range strings.Split(dump, "\n\n") {
		header, stack, _ := strings.Cut(g, "\n")
		if !strings.Contains(stack, function) {
			continue
		}
		for _, state := range []string{"sync.", "semacquire", "chan ", "select"} {
			if strings.Contains(header, "["+state) {
				return describe(header, stack)
			}
		}
	}
	return ""
}

// concurrencyRace uses all operations of one limiter at once.
func (c *contract) concurrencyRace() (*violation, string) {
	return nil, c.clash(func(env Env) []func(int) {
		impl := c.con.New(env, c.manyConfig(2, 4))
		run := func(int) { _ = impl.request(context.Background(), func() { runtime.Gosched() }) }
		ops := []func(int){run}
		if conContext(c) == "" {
			ops = append(ops, func(int) {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				_ = impl.request(ctx, func() {})
			})
		}
		if c.accepts(OpTry) {
			ops = append(ops, func(int) {
				if impl.TryAcquire(1) {
					impl.Release(1)
				}
			})
		}
		if c.accepts(OpDo) {
			ops = append(ops, func(int) { _ = impl.Do(context.Background(), func() {}) })
		}
		if c.accepts(OpResize) {
			ops = append(ops, func(i int) { impl.Resize(1 + i%3) })
		}
		return append(ops, ops...) // each against itself too
	})
}
