package leakybuckettest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Canary proves that time is taken from where the spec says: what waits leaves when it has
// passed.
func (c *contract) Canary(s *suite.Suite) string {
	if !s.Accepts(verb.Put) {
		return "New returned no Put and no Take: say how to offer an item, or to wait for a turn"
	}
	var impl Funcs
	v, puts, accepted := 0, 3, 0
	if c.spec.Traits.HoldsLockWhileWaiting {
		puts = 2 // only one may wait
	}
	var below atomic.Bool // an item left on the goroutine of its Put
	pulse := s.Sees(suite.Life{
		Make: func(env conformance.Env, sign func()) {
			impl = c.make(env, Config{suite.Wait, 3}, func(int) {
				if suite.Caught() {
					below.Store(true)
				}
				sign()
			}, nil)
		},
		Use: func() int { // one may leave at once; the others wait
			for range puts {
				v++
				if impl.Put(v) {
					accepted++
				}
			}
			return 0
		},
		Beyond:  50 * suite.Wait,
		Release: func() { impl.end() },
		Asleep:  c.spec.Traits.HoldsLockWhileWaiting,
	})
	switch {
	case pulse.Hang != nil:
		if where := s.WaitsForEver(pulse.Hang); where != "" {
			return suite.NeverReturned + ": " + where
		}
	case pulse.Refused != "":
		return fmt.Sprintf("New refused an interval of %v and a backlog of 3: %s", suite.Wait, pulse.Refused)
	case pulse.Own <= 1 && pulse.Other > 1:
		return suite.WrongClock("leakybuckettest")
	case s.Bubble && accepted >= puts && pulse.Own == 0:
		return fmt.Sprintf("%d items were accepted, and none left within %v: either none ever leaves, or the "+
			"bucket reads another clock than Time says, such as the runtime's", accepted, 50*suite.Wait)
	case s.Time == conformance.Injected && !s.Bubble && (pulse.Strange || pulse.Own == 0):
		s.Inexact = suite.OwnGoroutines
	case s.Time == conformance.Injected && !s.Bubble && c.spec.Traits.FirstItem == FirstAtOnce && !below.Load():
		s.Inexact = "items that leave at once do so on another goroutine, which only a bubble can drive exactly"
	}
	return ""
}

// sharedBucket is a bucket that several goroutines use at one instant.
type sharedBucket struct {
	Funcs
	left, accepted []atomic.Int64 // by item
}

// concurrent lets goroutines put items at one instant, and then cancel the same item.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	const each, backlog, items = 5, 4, suite.Meeters * 5
	most := int64(backlog + 1 + c.spec.Traits.Slack)
	worst, skip := suite.Meet(p, suite.Meeting[*sharedBucket]{
		Make: func(env conformance.Env, _ int) *sharedBucket {
			b := &sharedBucket{left: make([]atomic.Int64, items), accepted: make([]atomic.Int64, items)}
			b.Funcs = c.make(env, Config{suite.Wait, backlog}, func(v int) {
				if v >= 0 && v < items { // other rules judge what was never put
					b.left[v].Add(1)
				}
			}, func(v int) { b.accepted[v].Add(-1) })
			return b
		},
		Each:   each,
		Before: func(st *suite.Stage, round int) { st.To(time.Duration(round) * 20 * suite.Wait) },
		Call: func(b *sharedBucket, _, g, n int) {
			if v := g*each + n; b.Put(v) {
				b.accepted[v].Add(1)
			}
		},
		Pass: func(st *suite.Stage, round int) { st.To(time.Duration(round)*20*suite.Wait + 15*suite.Wait) },
		Judge: func(b *sharedBucket, _, round int) (worst *suite.Violation) {
			n := int64(0)
			for v := range b.left {
				got, want := b.left[v].Swap(0), b.accepted[v].Swap(0)
				n += want
				if got != want && worst == nil {
					worst = suite.Broken(0, "",
						"item %d, which was put beside others, left %d times, want %d: once if it was accepted",
						v, got, want)
				}
			}
			if n > most && !c.spec.Traits.Unbounded && worst == nil {
				because := fmt.Sprintf("no item waited (%s), and every sequential order of these calls has "+
					"as many accepted with a backlog of %d", suite.InRound(round), backlog)
				worst = suite.Broken(0, because,
					"%d goroutines with %d items each at one instant had %d accepted, want %d at the most",
					suite.Meeters, each, n, most)
			}
			return worst
		},
		Release: func(b *sharedBucket) { b.end() },
	})
	if worst == nil && skip == "" && p.Accepts(verb.Cancel) {
		return c.cancels(p)
	}
	return worst, skip
}

// cancelledBucket is a bucket of which two goroutines cancel the last of three items.
type cancelledBucket struct {
	Funcs
	waits           bool
	left, cancelled atomic.Int64
}

// cancels lets two goroutines cancel the same item at one instant.
func (c *contract) cancels(p *suite.Probe) (*suite.Violation, string) {
	return suite.Meet(p, suite.Meeting[*cancelledBucket]{
		Make: func(env conformance.Env, _ int) *cancelledBucket {
			b := &cancelledBucket{}
			b.Funcs = c.make(env, Config{suite.Wait, 3}, func(v int) {
				if v%4 == 3 {
					b.left.Add(1)
				}
			}, nil)
			return b
		},
		Each:   1,
		Before: func(st *suite.Stage, round int) { st.To(time.Duration(round) * 10 * suite.Wait) },
		Prepare: func(b *cancelledBucket, round int) {
			b.waits = false
			b.waits = b.Put(4*round+1) && b.Put(4*round+2) && b.Put(4*round+3)
		},
		Call: func(b *cancelledBucket, round, _, _ int) {
			if b.waits && b.Cancel(4*round+3) {
				b.cancelled.Add(1)
			}
		},
		Pass: func(st *suite.Stage, _ int) { st.To(st.Now() + 5*suite.Wait) },
		Judge: func(b *cancelledBucket, _, round int) *suite.Violation {
			left, cancelled := b.left.Swap(0), b.cancelled.Swap(0)
			if !b.waits || left+cancelled == 1 {
				return nil
			}
			return suite.Broken(0, "it waited behind two others ("+suite.InRound(round)+")",
				"two goroutines cancelled an item at one instant: Cancel reported true %d times, and it left "+
					"%d times, want 1 and 0", cancelled, left)
		},
		Release: func(b *cancelledBucket) { b.end() },
	})
}

// race uses all operations of one bucket at once.
func (c *contract) race(p *suite.Probe) (skip string) {
	skip = p.Clash(func(env conformance.Env) []func(int) {
		impl := c.make(env, Config{suite.Wait, 3}, func(int) {}, nil)
		put := func(i int) { impl.Put(i) }
		ops := []func(int){put, put}
		if impl.Cancel != nil {
			ops = append(ops, func(i int) { impl.Cancel(i) })
		}
		return ops
	})
	if skip != "" || !p.Accepts(verb.Stop) {
		return skip
	}
	return p.Clash(func(env conformance.Env) []func(int) {
		impl := c.make(env, Config{suite.Wait, 3}, func(int) {}, nil)
		stop := func(int) { impl.Stop() }
		return []func(int){func(i int) { impl.Put(i) }, stop, stop}
	})
}

// panics lets the callback panic where the suite can recover it: within a Put.
func (c *contract) panics(p *suite.Probe) (worst *suite.Violation, skip string) {
	var below atomic.Bool
	p.Does("put 1, 2 and 3 at 0, interval=100ms, and the function panics with the first, which unwinds its Put")
	hang := p.Play(func(st *suite.Stage) {
		impl := c.make(st.Plain(), Config{suite.Wait, 3}, func(v int) {
			st.Rec.Fire(v)
			if v == 1 && suite.Caught() {
				below.Store(true)
				panic("the function of the item")
			}
		}, nil)
		for v := 1; v <= 3; v++ {
			_ = suite.Catch(func() { impl.Put(v) })
			st.Settle()
		}
		st.To(10 * suite.Wait)
		st.Settle()
		var left []time.Duration
		st.Rec.Locked(func(rec *suite.Recording) {
			for _, f := range rec.Fires {
				left = append(left, f.Began.At)
			}
		})
		if below.Load() && !c.inTime(left) {
			worst = suite.Broken(0, "the first item has left, and the others must not be affected",
				"the function panicked with the first of three items, and they left at %v, want %v",
				left, []time.Duration{0, suite.Wait, 2 * suite.Wait})
		}
		impl.end()
		st.Settle()
	})
	switch {
	case hang != nil && below.Load():
		return suite.Broken(0, "Put must release its locks when the function panics",
			"after the function panicked in a Put, the next operation never returned"), ""
	case !below.Load():
		return nil, ownGoroutine
	}
	return worst, ""
}

// inTime reports whether three items that were put together left when they must. A new
// bucket may or may not have its slack already.
func (c *contract) inTime(left []time.Duration) bool {
	for saved := range min(2, c.spec.Traits.Slack) + 1 {
		early := time.Duration(saved)
		if slices.Equal(left, []time.Duration{0, max(0, 1-early) * suite.Wait, (2 - early) * suite.Wait}) {
			return true
		}
	}
	return false
}
