package concurrencytest

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// lost looks for requests that wait for ever although slots were released.
func (c *contract) lost(p *suite.Probe) (*suite.Violation, string) {
	lost := c.missed(p)
	if lost == nil {
		lost, _ = c.churn(p)
	}
	return lost, ""
}

// missed releases the only slot while a request calls a method of its context, which most
// implementations do after they have found no slot free and before they wait. That release
// must not be lost.
func (c *contract) missed(p *suite.Probe) (lost *suite.Violation) {
	const calls = 4 // calls of Done and Err, counted together
	if !c.traits.contexts() {
		return nil
	}
	defer suite.OneProcessor()() // so that the release runs until it blocks
	p.Play(func(st *suite.Stage) {
		for call := int64(1); call <= calls && lost == nil; call++ {
			lost = c.releasedAt(st, call)
		}
	})
	return lost
}

// releasedAt releases the only slot during the given call of a request to its context.
func (c *contract) releasedAt(st *suite.Stage, call int64) (lost *suite.Violation) {
	v := c.visited(st, c.traits.many(1, 2))
	forever, stop := context.WithCancel(context.Background())
	v.come(forever, v.stay)
	var asked atomic.Int64
	v.come(&slowContext{forever, func() {
		if asked.Add(1) == call {
			close(v.leave)
			letRun()
		}
	}}, func() {})
	if asked.Load() < call {
		close(v.leave)
		st.Settle()
	} else if v.gone.Load() < 2 {
		lost = suite.Broken(0, fmt.Sprintf("the slot was released while the request asked its context (limit=1, "+
			"call %d of Done and Err)", call),
			"a waiter is stuck, though the only slot is free")
	}
	stop()
	if v.Release != nil {
		suite.Start(func() { _ = suite.Catch(func() { v.Release(1) }) })
	}
	st.Settle()
	v.end(st)
	return lost
}

// The probe in which goroutines come and go.
const (
	churnRounds = 160
	churnLimit  = 2
)

// churn lets goroutines come and go, of which some give up while they wait. After each
// round it looks whether a request still waits when all others are gone, and whether too
// many ran at once.
func (c *contract) churn(p *suite.Probe) (lost, over *suite.Violation) {
	if lost, over = c.churnInOrder(p); lost != nil || over != nil {
		return lost, over
	}
	var unanswered, tooMany *suite.Violation // what is abandoned may still write them
	hang := p.Play(func(st *suite.Stage) {
		impl := c.spec.New(st.Plain(), c.traits.many(churnLimit, 10))
		for round := 0; round < churnRounds && unanswered == nil && tooMany == nil; round++ {
			unanswered, tooMany = impl.comeAndGo(st, churnLimit, round, round%5/4*(round%4+1))
		}
		impl.end(st)
	})
	if hang != nil {
		return nil, nil
	}
	return unanswered, tooMany
}

// churnInOrder lets few goroutines come and go in every order: two, of which one gives up, and three; and two of which
// one or both try.
func (c *contract) churnInOrder(p *suite.Probe) (lost, over *suite.Violation) {
	few := []struct{ round, tries int }{{0, 0}, {1, 0}, {0, 1}, {0, 2}}
	if !p.Accepts(verb.Try) || c.triesOnly {
		few = few[:2]
	}
	for _, f := range few {
		seen := p.Orders(func(st *suite.Stage) *suite.Violation {
			impl := c.spec.New(st.Plain(), c.traits.many(1, 10))
			lost, over = impl.comeAndGo(st, 1, f.round, f.tries)
			impl.end(st)
			return cmp.Or(lost, over)
		})
		if seen != nil && lost == nil && over == nil { // a deadlock
			lost = seen
		}
		if seen != nil {
			return lost, over
		}
	}
	return nil, nil
}

// comeAndGo is one round of a churn, with a limit. The first goroutines try, where that is possible.
func (f *Funcs) comeAndGo(st *suite.Stage, limit, round, tries int) (lost, over *suite.Violation) {
	goroutines := limit + 1 + round%4
	forever, stop := context.WithCancel(context.Background())
	var running, most, ended atomic.Int64
	for g := range goroutines {
		run := func() {
			suite.Meets(f)
			if n := running.Add(1); n > most.Load() {
				most.Store(n)
			}
			for range (g + round/8) % 4 {
				suite.Pause(runtime.Gosched)
			}
			suite.Meets(f)
			running.Add(-1)
		}
		suite.Start(func() {
			defer ended.Add(1)
			if g < tries && f.enter(verb.Try) != nil {
				_ = suite.Catch(func() { _ = f.request(forever, verb.Try, run) })
				return
			}
			for i := range 1 + round/4%2 {
				ctx, cancel := context.WithCancel(forever)
				if g%2 == 1 && (i+round)%3 == 0 {
					suite.Start(cancel)
				}
				_ = suite.Catch(func() { _ = f.request(ctx, verb.Acquire, run) })
				cancel()
			}
		})
	}
	st.Settle()
	if n := int(ended.Load()); n < goroutines {
		lost = suite.Broken(0, fmt.Sprintf("each acquired and released, and some gave up while they waited "+
			"(round %d of %d, limit=%d)", round+1, churnRounds, limit),
			"%d of %d goroutines wait for ever, though all slots are free", goroutines-n, goroutines)
	}
	if n := most.Load(); n > int64(limit) {
		over = suite.Broken(0, "", "%d requests ran at once, with a limit of %d", n, limit)
	}
	stop()
	st.Settle()
	for range goroutines { // requests that wait without a context
		if int(ended.Load()) == goroutines || f.Release == nil {
			break
		}
		suite.Start(func() { _ = suite.Catch(func() { f.Release(1) }) })
		st.Settle()
	}
	return lost, over
}
