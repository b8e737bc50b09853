package limitertest

import (
	"cmp"
	"context"

	"github.com/escapement-go/escapement/conformance/internal/suite"
)

// candidates are configurations of about so many events per second and that burst. Some limiters have no burst, and
// some have one that is the number of events per second; so there is one with a burst of 1 and then one with as many
// events per second as the burst; or there are those that the spec lists.
func (c *contract) candidates(events, burst int) []Config {
	if len(c.spec.Only) > 0 {
		return c.spec.Only
	}
	return []Config{{perSecond(events), burst}, {perSecond(events), 1}, {perSecond(burst), burst}}
}

// first makes a limiter of the first of the configurations that the constructor accepts. If it refuses all, the reason
// is that for the first.
func (c *contract) first(env Env, all []Config) (f Funcs, cfg Config, refused string) {
	for _, cfg = range all {
		f, why := c.make(env, cfg)
		if why == "" {
			return f, cfg, ""
		}
		refused = cmp.Or(refused, why)
	}
	return f, cfg, refused
}

// trial does something with a limiter in a run of its own, and releases it. It returns why the constructor refused,
// and the hang if the run makes no progress.
func (c *contract) trial(play func(func(*suite.Stage)) *suite.Hang, of []Config,
	use func(st *suite.Stage, f *Funcs, cfg Config)) (refused string, hang *suite.Hang) {
	hang = play(func(st *suite.Stage) {
		f, cfg, why := c.first(st.Plain(), of)
		if refused = why; why != "" {
			return
		}
		defer func() { _ = suite.Catch(f.end); st.Settle() }()
		use(st, &f, cfg)
	})
	return refused, hang
}

// toEnd plays a run that must come to its end.
func toEnd(p *suite.Probe) func(func(*suite.Stage)) *suite.Hang {
	return func(run func(*suite.Stage)) *suite.Hang { p.PlayToEnd(run); return nil }
}

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
	observer{s, c}.trial(c.candidates(10, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
		defer func() { c.tries = c.tries && !st.Rec.LeftOut() }()
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
	return c.tries && several
}
