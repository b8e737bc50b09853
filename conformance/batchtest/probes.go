package batchtest

import (
	"fmt"
	"sync"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Canary proves that time is taken from where the spec says: an open batch is handed over when it has passed.
func (c *contract) Canary(s *suite.Suite) string {
	if !s.Accepts(verb.Put) {
		return "New returned no Add and no Put: say how to hand an item in"
	}
	var impl Funcs
	v := 0
	pulse := s.Sees(suite.Life{
		Make: func(env conformance.Env, sign func()) {
			impl = c.make(env, Config{c.size, suite.Wait}, func([]int) { sign() })
		},
		Use: func() int {
			v++
			_ = impl.Put(v)
			return 0
		},
		Beyond:  50 * suite.Wait,
		Release: func() { impl.end() },
	})
	switch {
	case pulse.Hang != nil:
		if where := s.WaitsForEver(pulse.Hang); where != "" {
			return suite.NeverReturned + ": " + where
		}
	case pulse.Refused != "":
		return fmt.Sprintf("New refused a size of %d and a delay of %v: %s", c.size, suite.Wait, pulse.Refused)
	case pulse.Own == 0 && pulse.Other > 0:
		return suite.WrongClock("batchtest")
	case pulse.Own == 0:
		return fmt.Sprintf("an item was handed in, and no batch handed over within %v: either none ever is, "+
			"or the batcher reads another clock than Time says, such as the runtime's", 50*suite.Wait)
	}
	return ""
}

// end releases what can be released.
func (f *Funcs) end() {
	if f.Close != nil {
		suite.Start(func() { _ = suite.Catch(f.Close) })
	}
}

// shared is a batcher that several goroutines use at one instant.
type shared struct {
	Funcs
	mu      sync.Mutex
	more    map[int]int // how often it was handed over more than it was taken, by item
	longest int
}

// concurrent lets goroutines hand items in at one instant.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	const each = 5
	size := min(3, c.size)
	return suite.Meet(p, suite.Meeting[*shared]{
		Make: func(env conformance.Env, _ int) *shared {
			b := &shared{more: map[int]int{}}
			b.Funcs = c.make(env, Config{size, suite.Wait}, func(items []int) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.longest = max(b.longest, len(items))
				for _, v := range items {
					b.more[v]++
				}
			})
			return b
		},
		Each:   each,
		Before: func(st *suite.Stage, round int) { st.To(time.Duration(round) * 10 * suite.Wait) },
		Call: func(b *shared, _, g, n int) {
			v := g*each + n
			if b.Put(v) == nil {
				b.mu.Lock()
				b.more[v]--
				b.mu.Unlock()
			}
		},
		Pass: func(st *suite.Stage, _ int) { st.To(st.Now() + 5*suite.Wait) },
		Judge: func(b *shared, _, round int) *suite.Violation {
			b.mu.Lock()
			defer b.mu.Unlock()
			defer func() { clear(b.more); b.longest = 0 }()
			for v := range suite.Meeters * each {
				if n := b.more[v]; n != 0 {
					what := map[bool]string{true: "was lost", false: "was handed over more than once"}[n < 0]
					return suite.Broken(0, "each item is for one batch ("+suite.InRound(round)+")",
						"item %d, which was accepted beside others, %s", v, what)
				}
			}
			if size > 0 && b.longest > size {
				return suite.Broken(0, fmt.Sprintf("the size is %d (%s)", size, suite.InRound(round)),
					"a batch of items that goroutines handed in at one instant had %d, want %d at the most",
					b.longest, size)
			}
			return nil
		},
		Release: func(b *shared) { b.end() },
	})
}

// race uses all operations of one batcher at once.
func (c *contract) race(p *suite.Probe) (skip string) {
	return p.Clash(func(env conformance.Env) []func(int) {
		impl := c.make(env, Config{min(3, c.size), suite.Wait}, func([]int) {})
		put := func(i int) { _ = impl.Put(i) }
		ops := []func(int){put, put}
		if impl.Flush != nil {
			ops = append(ops, func(int) { impl.Flush() })
		}
		if impl.Close != nil {
			var once sync.Once
			ops = append(ops, func(i int) {
				if i == 4 {
					once.Do(impl.Close)
				}
			})
		}
		return ops
	})
}
