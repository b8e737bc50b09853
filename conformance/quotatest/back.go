package quotatest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// session is what is done with a limiter: a request for one, as many as are granted in a row, and a pause until an
// instant that is so many quarters of an interval after the first.
type session struct {
	*Funcs
	take    func() bool
	granted func() int
	to      func(quarters int)
}

// within plays a session with a limiter.
func (c *contract) within(p *suite.Probe, limit int, do func(s session)) {
	cfg := configured(c.spec.Kind, limit)
	p.PlayToEnd(func(st *suite.Stage) {
		f := c.spec.made(st.Plain(), c.plain(limit))
		take := func() bool {
			var d conformance.Done
			f.do(conformance.Step{Op: conformance.OpAllow, N: 1}, cfg.Start().Add(st.Now()), c.spec.Time, &d)
			return d.OK
		}
		granted := func() (n int) {
			for n <= 2*limit && take() {
				n++
			}
			return n
		}
		do(session{&f, take, granted, func(n int) { st.To(time.Duration(n) * (cfg.Rate.Interval() / 4)) }})
		f.stop()
	})
}

// told are the answers to single requests after so many are taken, and some of them given back.
func (c *contract) told(p *suite.Probe, limit, taken, back int) string {
	var answers []string
	c.within(p, limit, func(s session) {
		s.take()
		s.to(1)
		for range taken {
			s.take()
		}
		if back > 0 {
			s.GiveBack(back)
		}
		quarter := configured(c.spec.Kind, limit).Rate.Interval() / 4
		for _, n := range []int{1, 3, 9, 21} {
			s.to(n)
			answers = append(answers, fmt.Sprintf("%d at %s", s.granted(), timeline.Duration(time.Duration(n)*quarter)))
		}
	})
	return strings.Join(answers, ", ")
}

// backed gives back what was granted, the whole of it and a part.
func (c *contract) backed(p *suite.Probe) *suite.Violation {
	limit := accepted(p.Suite, c.spec.Kind, 3)
	for _, of := range []struct{ taken, back int }{{1, 1}, {2, 2}, {2, 1}} {
		if of.taken >= limit {
			continue
		}
		want, got := c.told(p, limit, of.taken-of.back, 0), c.told(p, limit, of.taken, of.back)
		if got != want {
			return suite.Broken(0, fmt.Sprintf("%d were requested and %d of them refunded", of.taken, of.back),
				"single requests were granted %s, want %s", got, want)
		}
	}
	return nil
}

// late gives everything back when its window has passed: what the next one grants stays the same.
func (c *contract) late(p *suite.Probe) *suite.Violation {
	return c.whole(p, "a request of earlier windows was refunded", func(s session, limit int) {
		for range limit {
			s.take()
		}
		s.to(16 * limit)
		s.GiveBack(limit)
	})
}

// reset resets a limiter of which something is used, and one of which everything is.
func (c *contract) reset(p *suite.Probe) *suite.Violation {
	const because = "it was reset, and a new one grants that many at once"
	some := func(s session, _ int) { s.take(); s.to(1); s.Reset() }
	all := func(s session, _ int) { s.take(); s.to(1); s.granted(); s.Reset() }
	return cmp.Or(c.whole(p, because, some), c.whole(p, because, all))
}

// whole finds that a limiter does not grant all at once, and no more, after what do does.
func (c *contract) whole(p *suite.Probe, because string, do func(s session, limit int)) *suite.Violation {
	limit, granted := accepted(p.Suite, c.spec.Kind, 3), 0
	c.within(p, limit, func(s session) {
		do(s, limit)
		granted = s.granted()
	})
	if granted != limit {
		return suite.Broken(0, because, "%d single requests were granted, want %d", granted, limit)
	}
	return nil
}
