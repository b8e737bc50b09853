package concurrencytest

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Canary proves that the timeout is measured on the clock that the spec says.
func (c *contract) Canary(s *suite.Suite) string {
	if !s.Accepts(verb.Acquire) {
		return "New returned nothing to use: set Acquire or Lock, and Release, or Do; if requests never " +
			"wait, TryAcquire and Release"
	}
	if s.Time != conformance.Injected || c.traits.Timeout != TimeoutBounded {
		return ""
	}
	own, other := false, false
	s.Play(func(st *suite.Stage) {
		own = c.late(st, func() { st.To(st.Now() + 2*time.Hour) })
		other = c.late(st, func() { time.Sleep(2 * time.Hour) })
	})
	if other && !own {
		return "the spec says Injected, but a wait ended when package time moved and not when Env.Clock did: " +
			"hand Env.Clock to the implementation, or set Time: concurrencytest.PackageTime"
	}
	return ""
}

// late reports whether a wait of an hour at most ends when move moves a clock.
func (c *contract) late(st *suite.Stage, move func()) bool {
	v := c.visited(st, Config{Limit: 1, Backlog: 5, Timeout: time.Hour, OnReject: func() {}})
	ctx, cancel := context.WithCancel(context.Background())
	v.come(ctx, v.stay)
	before := v.gone.Load()
	v.come(ctx, func() {})
	move()
	st.Settle()
	late := v.gone.Load() > before
	close(v.leave)
	cancel()
	st.Settle()
	v.end(st)
	return late
}

// visited is a limiter to which requests come one after the other.
type visited struct {
	Funcs
	st    *suite.Stage
	leave chan struct{} // closed when those that stay are to leave
	gone  atomic.Int64  // requests that have ended
}

// visited makes a limiter that is visited.
func (c *contract) visited(st *suite.Stage, cfg Config) *visited {
	return &visited{Funcs: c.spec.New(st.Plain(), cfg), st: st, leave: make(chan struct{})}
}

// come lets a request come, with what it does when it runs, and everything settle.
func (v *visited) come(ctx context.Context, run func()) {
	suite.Start(func() {
		defer v.gone.Add(1)
		_ = suite.Catch(func() { _ = v.request(ctx, verb.Acquire, run) })
	})
	v.st.Settle()
}

// stay runs until all are to leave.
func (v *visited) stay() { <-v.leave }

// end releases what the limiter holds, and lets everything settle.
func (f *Funcs) end(st *suite.Stage) {
	if f.Stop != nil {
		_ = suite.Catch(f.Stop)
	}
	st.Settle()
}

// busyLimiter is a limiter to which more requests come at one instant than can run or wait.
type busyLimiter struct {
	Funcs
	running, rejected, answered atomic.Int64
}

// rush is how many requests come to a limiter at one instant: each of two goroutines, or two rows of them.
type rush struct{ each, slots, places int }

// In each of them two requests meet for the last slot, and for the last place in the backlog. The small one is for
// every order.
var (
	large = rush{each: 6, slots: 3, places: 4}
	small = rush{each: 2, slots: 1, places: 1}
)

func (r rush) brought() int { return suite.Meeters * r.each }

// waiting is how many of them must wait.
func (r rush) waiting(t *Traits) int {
	switch t.Backlog {
	case BacklogBounded:
		return r.places
	case BacklogNone:
		return 0
	}
	return r.brought() - r.slots
}

// concurrent lets goroutines bring requests at one instant.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	every := p.Orders(func(st *suite.Stage) *suite.Violation { return small.rounds(c, st, 1, 1) })
	if every != nil {
		return every, ""
	}
	var seen *suite.Violation // what is abandoned may still write it
	hang := p.Play(func(st *suite.Stage) { seen = large.rounds(c, st, suite.Places/2, suite.Meetings) })
	if hang != nil {
		return nil, suite.NoProgress
	}
	if seen == nil {
		_, seen = c.churn(p)
	}
	return seen, ""
}

// rounds brings requests to so many limiters, round after round, until something is wrong.
func (r rush) rounds(c *contract, st *suite.Stage, n, rounds int) (seen *suite.Violation) {
	limiters := make([]busyLimiter, n)
	for i := range limiters {
		limiters[i].Funcs = c.spec.New(st.Plain(), c.traits.many(r.slots, r.places))
	}
	for round := 0; round < rounds && seen == nil; round++ {
		seen = r.bringAll(st, limiters, round, r.waiting(&c.traits))
	}
	for i := range limiters {
		limiters[i].end(st)
	}
	return seen
}

// bringAll brings requests to each limiter, looks at how many run and wait, and lets all of
// them go.
func (r rush) bringAll(st *suite.Stage, limiters []busyLimiter, round, wantWaiting int) (worst *suite.Violation) {
	for i := range limiters {
		l := &limiters[i]
		l.running.Store(0)
		l.rejected.Store(0)
		l.answered.Store(0)
	}
	leave := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	st.MeetBlocking(len(limiters), r.each, func(i, _ int) { limiters[i].bring(ctx, leave) })
	st.Settle()
	brought, slots := r.brought(), r.slots
	for i := range limiters {
		running, rejected := int(limiters[i].running.Load()), int(limiters[i].rejected.Load())
		if waiting := brought - running - rejected; (running != slots || waiting != wantWaiting) && worst == nil {
			because := fmt.Sprintf("no sequential order of these calls gives this result (%s, limit=%d backlog=%d)",
				suite.InRound(round), slots, r.places)
			worst = suite.Broken(0, because,
				"of %d requests at one instant %d run, %d wait and %d are rejected, want %d, %d and %d",
				brought, running, waiting, rejected, slots, wantWaiting, brought-slots-wantWaiting)
		}
	}
	close(leave) // those that wait then run and leave at once
	st.Settle()
	for i := range limiters {
		if n := int(limiters[i].answered.Load()); n < brought && worst == nil {
			worst = suite.Broken(0, "",
				"%d of %d requests are never answered, though all slots are free", brought-n, brought)
		}
	}
	cancel()
	st.Settle()
	return worst
}

// bring makes a request that keeps its slot until it is told to leave.
func (l *busyLimiter) bring(ctx context.Context, leave chan struct{}) {
	ran := false
	_ = suite.Catch(func() {
		_ = l.request(ctx, verb.Acquire, func() {
			ran = true
			l.running.Add(1)
			<-leave
		})
	})
	l.answered.Add(1)
	if !ran {
		l.rejected.Add(1)
	}
}

// race uses all operations of one limiter at once.
func (c *contract) race(p *suite.Probe) (skip string) {
	return p.Clash(func(env conformance.Env) []func(int) {
		impl := c.spec.New(env, c.traits.many(2, 4))
		var ops []func(int)
		for _, op := range p.Supported(verb.Acquire, verb.Try, verb.Do) {
			ops = append(ops, func(int) { _ = impl.request(context.Background(), op, runtime.Gosched) })
		}
		if c.traits.contexts() {
			ops = append(ops, func(int) {
				ctx, cancel := context.WithCancel(context.Background())
				go cancel()
				_ = impl.request(ctx, verb.Acquire, func() {})
			})
		}
		if p.Accepts(verb.Resize) {
			ops = append(ops, func(i int) { impl.Resize(1 + i%3) })
		}
		return append(ops, ops...) // each operation also races with itself
	})
}

// timed are schedules of requests that wait, and may time out.
func (c *contract) timed(*suite.Suite) []conformance.Schedule {
	f := &families{tr: &c.traits}
	return f.planned(1, 2, "100ms", plan{gaps: halves, depth: 4, later: true})
}

// effects take the only slot, raise the limit, and try to take another one. A release has no such promise: where slots
// are those of functions that run, a spec can only tell one to end.
func (c *contract) effects(p *suite.Probe) []suite.Script {
	if !p.Accepts(verb.Try) || !p.Accepts(verb.Resize) {
		return nil
	}
	return []suite.Script{{Text: "a larger limit and a try", Play: func(st *suite.Stage, pause func()) []string {
		f := c.spec.New(st.Plain(), c.traits.many(1, 1))
		try := func() string {
			return suite.YesNo(f.enter(verb.Try)(context.Background(), 1, func(func()) {}) == nil)
		}
		first := try()
		st.Settle()
		f.Resize(2)
		pause()
		second := try()
		f.end(st)
		return []string{first, second}
	}}}
}
