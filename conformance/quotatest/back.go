package quotatest

import (
	"fmt"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// told plays a limiter and returns the answers to single requests: after what do does, a quarter of an interval after a
// request, and later, each time until it denies.
func (c *contract) told(p *suite.Probe, limit int, do func(f *Funcs, take func(n int) bool)) (answers string) {
	cfg := configured(c.spec.Kind, limit)
	p.PlayToEnd(func(st *suite.Stage) {
		f := c.spec.made(st.Plain(), c.plain(limit))
		take := func(n int) bool {
			var d conformance.Done
			f.do(conformance.Step{Op: conformance.OpAllow, N: n}, cfg.Start().Add(st.Now()), c.spec.Time, &d)
			return d.OK
		}
		take(1)
		quarter := cfg.Rate.Interval() / 4
		st.To(quarter)
		do(&f, take)
		for _, at := range []time.Duration{quarter, 3 * quarter, 9 * quarter, 21 * quarter} {
			st.To(at)
			n := 0
			for n <= 2*limit && take(1) {
				n++
			}
			answers += fmt.Sprintf("%d at %s, ", n, timeline.Duration(at))
		}
		f.stop()
	})
	return strings.TrimSuffix(answers, ", ")
}

// backed gives back what was granted, the whole of it and a part.
func (c *contract) backed(p *suite.Probe) *suite.Violation {
	limit := accepted(p.Suite, c.spec.Kind, 3)
	for _, of := range []struct{ taken, back int }{{1, 1}, {2, 2}, {2, 1}} {
		take := func(n int) func(f *Funcs, take func(n int) bool) {
			return func(_ *Funcs, take func(n int) bool) {
				for range n {
					take(1)
				}
			}
		}
		if of.taken >= limit {
			continue
		}
		want := c.told(p, limit, take(of.taken-of.back))
		got := c.told(p, limit, func(f *Funcs, ask func(n int) bool) {
			take(of.taken)(f, ask)
			f.GiveBack(of.back)
		})
		if got != want {
			return suite.Broken(0, fmt.Sprintf("%d were asked for and %d of them given back", of.taken, of.back),
				"single requests were granted %s, want %s", got, want)
		}
	}
	return nil
}

// late gives everything back when its window has passed: what the next one grants stays the same.
func (c *contract) late(p *suite.Probe) *suite.Violation {
	limit := accepted(p.Suite, c.spec.Kind, 3)
	cfg := configured(c.spec.Kind, limit)
	granted := 0
	p.PlayToEnd(func(st *suite.Stage) {
		f := c.spec.made(st.Plain(), c.plain(limit))
		take := func() bool {
			var d conformance.Done
			f.do(conformance.Step{Op: conformance.OpAllow, N: 1}, cfg.Start().Add(st.Now()), c.spec.Time, &d)
			return d.OK
		}
		for range limit {
			take()
		}
		st.To(time.Duration(4*limit) * cfg.Rate.Interval())
		f.GiveBack(limit)
		for granted <= 2*limit && take() {
			granted++
		}
		f.stop()
	})
	if granted != limit {
		return suite.Broken(0, "what was granted windows ago was given back",
			"%d single requests were granted, want %d", granted, limit)
	}
	return nil
}

// reset resets a limiter of which something is used.
func (c *contract) reset(p *suite.Probe) *suite.Violation {
	var granted [2]int
	limit := accepted(p.Suite, c.spec.Kind, 3)
	for i := range granted {
		c.told(p, limit, func(f *Funcs, take func(n int) bool) {
			for n := 0; i == 1 && n <= 2*limit && take(1); n++ {
			}
			f.Reset()
			for granted[i] <= 2*limit && take(1) {
				granted[i]++
			}
		})
		if granted[i] != limit {
			return suite.Broken(0, "it was reset, and a new one grants as many at once",
				"%d single requests were granted, want %d", granted[i], limit)
		}
	}
	return nil
}
