package quotatest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// session is what is done with a limiter: a request for one, as many as are granted in a row, also to keys that may
// share something with key 1, and a pause until an instant that is so many quarters of an interval after the first.
type session struct {
	*Funcs
	take    func() bool
	granted func() int
	beside  func() int
	to      func(quarters int)
}

// within plays a session with a limiter that is made so many quarters of an interval after the first instant.
func (c *contract) within(p *suite.Probe, limit, made int, do func(s session)) {
	cfg := configured(c.spec.Kind, limit)
	p.PlayToEnd(func(st *suite.Stage) {
		to := func(n int) { st.To(quarters(cfg, n)) }
		to(made)
		env := st.Plain()
		env.Start = env.Start.Add(st.Now())
		f := c.spec.made(env, c.plain(limit))
		take := func(key int) bool {
			var d conformance.Done
			f.do(conformance.Step{Op: verb.Allow, N: 1, K: key}, cfg.Start().Add(st.Now()), c.spec.Time, &d)
			return d.OK
		}
		granted := func(key int) (n int) {
			for n <= 2*limit && take(key) {
				n++
			}
			return n
		}
		do(session{&f, func() bool { return take(0) }, func() int { return granted(0) },
			func() (n int) {
				for key := 1; key <= 128; key *= 2 {
					n += granted(1 + key)
				}
				return n
			}, to})
		f.stop()
	})
}

// quarters is a little more than so many quarters of an interval, so that what ends then has ended.
func quarters(cfg conformance.Config, n int) time.Duration {
	return time.Duration(n) * (cfg.Rate.Interval()/4 + 2)
}

// counts are how many requests are granted in a row after what do does in a quarter of an interval, in it and in each
// that follows, until all that was granted before has expired.
func (c *contract) counts(p *suite.Probe, limit, made, first int, do func(s session)) (all []int) {
	c.within(p, limit, made, func(s session) {
		do(s)
		for n := first; n <= first+4*limit+8; n++ {
			s.to(n)
			all = append(all, s.granted())
		}
	})
	return all
}

// differ finds the first count, from a quarter on, that is not as wanted.
func (c *contract) differ(because string, limit, first int, got, want []int) *suite.Violation {
	for i := range min(len(got), len(want)) { // those of a run that stalled are fewer
		if got[i] != want[i] {
			at := timeline.Duration(quarters(configured(c.spec.Kind, limit), first+i))
			return suite.Broken(0, because, "%d single requests were granted at %s, want %d", got[i], at, want[i])
		}
	}
	return nil
}

// backed gives back what was granted, the whole of it and a part, in the first window and in the second, and when its
// window has passed: what the next one grants stays the same then.
func (c *contract) backed(p *suite.Probe) *suite.Violation {
	limit := accepted(p.Suite, c.spec.Kind, 3)
	taking := func(at, n, back int) []int {
		return c.counts(p, limit, 0, at, func(s session) {
			s.take()
			s.to(at)
			for range n {
				s.take()
			}
			if back > 0 {
				s.GiveBack(back)
			}
		})
	}
	for _, at := range []int{1, 4*limit + 1} {
		for _, of := range []struct{ taken, back int }{{1, 1}, {2, 2}, {2, 1}} {
			if of.taken >= limit {
				continue
			}
			want, got := taking(at, of.taken-of.back, 0), taking(at, of.taken, of.back)
			because := fmt.Sprintf("requests at %s took %d, of which %d came back",
				timeline.Duration(quarters(configured(c.spec.Kind, limit), at)), of.taken, of.back)
			if v := c.differ(because, limit, at, got, want); v != nil {
				return v
			}
		}
	}
	late := 16 * limit // their windows have passed
	used := func(refunded bool) []int {
		return c.counts(p, limit, 0, late, func(s session) {
			for range limit {
				s.take()
			}
			if s.to(late); refunded {
				s.GiveBack(limit)
			}
		})
	}
	return c.differ("a request of earlier windows was refunded", limit, late, used(true), used(false))
}

// beside uses up other keys before a refund or a reset, of which nothing is for those.
func (c *contract) beside(p *suite.Probe, what string, do func(s session)) *suite.Violation {
	limit, granted := accepted(p.Suite, c.spec.Kind, 3), 0
	if !p.Accepts(takesKeys) {
		return nil
	}
	c.within(p, limit, 0, func(s session) {
		s.beside()
		s.take()
		do(s)
		granted = s.beside()
	})
	if granted > 0 {
		return suite.Broken(0, "they were used up before, and "+what+" is about key 1",
			"requests for other keys were granted after it: %d, want 0", granted)
	}
	return nil
}

// reset resets a limiter of which something is used, and one of which everything is, in the first window and in the
// second. It is as one that is made then, or that was not used before: perhaps its windows begin with the constructor.
func (c *contract) reset(p *suite.Probe) *suite.Violation {
	limit := accepted(p.Suite, c.spec.Kind, 3)
	for _, at := range []int{1, 4*limit + 1} {
		made, unused := c.counts(p, limit, at, at, func(session) {}), c.counts(p, limit, 0, at, func(session) {})
		because := "it was reset at " + timeline.Duration(quarters(configured(c.spec.Kind, limit), at)) +
			", and that is what a new limiter grants"
		for _, all := range []bool{false, true} {
			got := c.counts(p, limit, 0, at, func(s session) {
				s.take()
				if s.to(at); all {
					s.granted()
				}
				s.Reset()
			})
			if v := c.differ(because, limit, at, got, made); v != nil && !slices.Equal(got, unused) {
				return v
			}
		}
	}
	return nil
}
