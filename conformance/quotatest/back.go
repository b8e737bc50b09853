package quotatest

import (
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// session is the use of a limiter, at instants that are quarters of an interval.
type session struct {
	*Funcs
	st    *suite.Stage
	cfg   conformance.Config
	limit int
}

// within plays a session with a limiter that is made so many quarters of an interval after the first instant.
func (c *contract) within(p *suite.Probe, limit, made int, do func(s session)) {
	p.PlayToEnd(func(st *suite.Stage) {
		s := session{st: st, cfg: configured(c.spec.Kind, limit), limit: limit}
		s.to(made)
		env := st.Plain()
		env.Start = env.Start.Add(st.Now())
		f := c.spec.made(env, c.plain(limit))
		s.Funcs = &f
		do(s)
		f.stop()
	})
}

// to waits until so many quarters have passed.
func (s session) to(n int) { s.st.To(quarters(s.cfg, n)) }

// quarters is a little more than so many quarters of an interval, so that what ends then has ended.
func quarters(cfg conformance.Config, n int) time.Duration {
	return time.Duration(n) * (cfg.Rate.Interval()/4 + 2)
}

// take asks so many times, for a key if it is not 0, as long as it is granted.
func (s session) take(key, most int) (granted int) {
	for granted < most && s.asks(s.cfg.Start().Add(s.st.Now()), key) {
		granted++
	}
	return granted
}

// others takes all of keys that may share something with key 1.
func (s session) others() (granted int) {
	for key := 1; key <= 128; key *= 2 {
		granted += s.take(1+key, 2*s.limit+1)
	}
	return granted
}

// counts are how many requests are granted in a row after what do does until a quarter of an interval, in it and in
// each that follows, until all that was granted before has expired.
func (c *contract) counts(p *suite.Probe, limit, made, first int, do func(s session)) (all []int) {
	c.within(p, limit, made, func(s session) {
		do(s)
		for n := first; n <= first+4*limit+8; n++ {
			s.to(n)
			all = append(all, s.take(0, 2*limit+1))
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
	next, late := 4*limit+1, 16*limit
	for _, k := range []struct{ at, taken, then, back, left int }{
		{1, 1, 1, 1, 0}, {1, 2, 1, 2, 0}, {1, 2, 1, 1, 1},
		{next, 1, next, 1, 0}, {next, 2, next, 2, 0}, {next, 2, next, 1, 1},
		{0, limit - 1, late, limit, limit - 1},
	} {
		if k.taken >= limit {
			continue
		}
		counts := func(taken, back int) []int {
			return c.counts(p, limit, 0, k.then, func(s session) {
				s.take(0, 1)
				s.to(k.at)
				s.take(0, taken)
				if s.to(k.then); back > 0 {
					s.GiveBack(back)
				}
			})
		}
		at := func(n int) string { return timeline.Duration(quarters(configured(c.spec.Kind, limit), n)) }
		because := fmt.Sprintf("requests at %s took %d, and at %s %d came back", at(k.at), k.taken, at(k.then), k.back)
		if v := c.differ(because, limit, k.then, counts(k.taken, k.back), counts(k.left, 0)); v != nil {
			return v
		}
	}
	return nil
}

// beside uses up other keys before a refund or a reset, of which nothing is for those.
func (c *contract) beside(p *suite.Probe, what string, do func(s session)) *suite.Violation {
	granted := 0
	if !p.Accepts(takesKeys) {
		return nil
	}
	c.within(p, accepted(p.Suite, c.spec.Kind, 3), 0, func(s session) {
		s.others()
		s.take(0, 1)
		do(s)
		granted = s.others()
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
		for _, more := range []int{0, 2*limit + 1} {
			got := c.counts(p, limit, 0, at, func(s session) {
				s.take(0, 1)
				s.to(at)
				s.take(0, more)
				s.Reset()
			})
			because := "it was reset at " + timeline.Duration(quarters(configured(c.spec.Kind, limit), at)) +
				", and that is what a new limiter grants"
			if v := c.differ(because, limit, at, got, made); v != nil && !slices.Equal(got, unused) {
				return v
			}
		}
	}
	return nil
}
