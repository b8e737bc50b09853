package limitertest

import (
	"context"

	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// lingers is why runs are left out in which a context does not end the wait.
const lingers = "a wait went on after its context had been cancelled"

// try is a request of a limiter that has waits only: one that is given up at once unless it has returned.
func (f *Funcs) try(st *suite.Stage, n int) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	ended, panicked := false, ""
	suite.Start(func() {
		panicked = suite.Catch(func() { err = f.WaitN(ctx, n) })
		ended = true
	})
	if st.Settle(); !ended {
		cancel()
		st.Settle()
	}
	switch {
	case !ended:
		st.Rec.Locked(func(rec *suite.Recording) { rec.LeftOut = lingers })
		return false
	case panicked != "":
		panic(panicked)
	}
	return err == nil
}

// triesAreRequests looks whether, where there is no request, a wait that is given up at once takes what is there, and
// nothing if nothing is. It reports whether one for two tokens does. How exact they are the rules judge.
func (c *contract) triesAreRequests(s *suite.Suite, of *Funcs) (several bool) {
	c.tries = false
	if of.Allow != nil || of.several() || of.WaitN == nil || !s.Bubble || s.Time == Explicit {
		return false
	}
	s.Play(func(st *suite.Stage) {
		f, cfg, refused := c.first(st.Plain(), 10, 3)
		if refused != "" {
			return
		}
		_ = suite.Catch(func() {
			granted := 0
			for granted <= cfg.Burst && f.try(st, 1) {
				granted++
			}
			denied := !f.try(st, 1)
			denied = !f.try(st, 1) && denied
			st.To(cfg.Rate.Interval() * 3 / 2)
			c.tries = granted > 0 && denied && f.try(st, 1) && !f.try(st, 1)
			st.To(cfg.Rate.Interval() * 7 / 2)
			several = !c.spec.Traits.OneAtATime && granted > 1 && f.try(st, 2) && !f.try(st, 1)
		})
		_ = suite.Catch(f.end)
		st.Settle()
		c.tries = c.tries && !st.Rec.LeftOut()
	})
	return c.tries && several
}
