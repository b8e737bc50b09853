package concurrencytest

import (
	"context"
	"sync/atomic"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// reentry calls operations from the hook, once for each way in which a request is rejected.
func (c *contract) reentry(p *suite.Probe) (*suite.Violation, string) {
	cfg := c.traits.many(1, 1)
	if cfg.Backlog < 0 && cfg.Timeout < 0 {
		return nil, "nothing is rejected without a backlog and a timeout"
	}
	full, late := cfg, cfg
	full.Backlog, full.Timeout = min(cfg.Backlog, 0), min(cfg.Timeout, 0) // a backlog or a timeout of 0 rejects at once
	late.Timeout = min(cfg.Timeout, suite.Wait)
	type way struct {
		Config
		then func(st *suite.Stage, cancel func())
	}
	ways := []way{{full, nil}}
	if late.Timeout > 0 {
		ways = append(ways, way{late, func(st *suite.Stage, _ func()) { st.To(st.Now() + suite.Wait) }})
	}
	if c.traits.contexts() {
		ways = append(ways, way{cfg, func(_ *suite.Stage, cancel func()) { cancel() }})
	}
	for _, way := range ways {
		if h := c.hooked(p, way.Config, way.then); h != nil {
			if where := h.BlockedInCallback(); where != "" {
				return suite.Broken(0, "its goroutine is blocked, under the hook: "+where,
					"an operation that the hook calls never returned"), ""
			}
			return nil, "no progress, and the stacks do not prove why"
		}
	}
	return nil, ""
}

// hooked brings two requests for one slot, and then calls a function that makes the second
// give up. The hook calls operations.
func (c *contract) hooked(p *suite.Probe, cfg Config, then func(st *suite.Stage, cancel func())) *suite.Hang {
	return p.Play(func(st *suite.Stage) {
		var v *visited
		var within atomic.Bool // a request of the hook may be rejected too, which calls the hook again
		cfg.OnReject = func() {
			if within.CompareAndSwap(false, true) {
				st.Callback(func() {
					step := conformance.Step{Op: verb.Acquire, At: st.Now()}
					st.Rec.Do(step, true, func(*conformance.Done) { v.fromHook() })
				})
				within.Store(false)
			}
		}
		if suite.Catch(func() { v = c.visited(st, cfg) }) != "" {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		v.come(context.Background(), v.stay)
		v.come(ctx, v.stay)
		if then != nil {
			then(st, cancel)
			st.Settle()
		}
		cancel()
		close(v.leave)
		st.Settle()
		v.end(st)
	})
}

// fromHook does what a hook may do.
func (f *Funcs) fromHook() {
	if f.enter(verb.Try) != nil {
		_ = f.request(context.Background(), verb.Try, func() {})
	}
	if f.Resize != nil {
		f.Resize(1)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	switch {
	case f.hasContext():
		_ = f.request(done, verb.Acquire, func() {})
	case f.Do != nil:
		_ = f.Do(done, func() {})
	}
}
