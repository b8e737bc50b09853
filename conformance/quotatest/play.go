package quotatest

import (
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// made makes a limiter, whose operations all take an instant: they ignore it unless the spec is Explicit. One that can
// only be asked for keys is asked for the first one otherwise.
func (spec Spec) made(env Env, cfg Config) Funcs {
	f := spec.New(env, cfg)
	if spec.Time != conformance.Explicit {
		f.TakeAt, f.TakeKeyAt, f.PeekAt = nil, nil, nil
		if take := f.Take; take != nil {
			f.TakeAt = func(_ time.Time, n int) Answer { return take(n) }
		}
		if take := f.TakeKey; take != nil {
			f.TakeKeyAt = func(_ time.Time, key, n int) Answer { return take(key, n) }
		}
		if peek := f.Peek; peek != nil {
			f.PeekAt = func(time.Time) Answer { return peek() }
		}
	}
	if take := f.TakeKeyAt; take != nil && f.TakeAt == nil {
		f.TakeAt = func(t time.Time, n int) Answer { return take(t, 1, n) }
	}
	return f
}

// do does one operation at an instant and notes the answer.
func (f *Funcs) do(s conformance.Step, at time.Time, d *conformance.Done) {
	switch {
	case s.K != 0:
		d.Answer = f.TakeKeyAt(at, s.K, s.N)
	case s.Op == verb.Allow:
		d.Answer = f.TakeAt(at, s.N)
	case s.Op == verb.Tokens:
		d.Answer = f.PeekAt(at)
	case s.Op == verb.Fault:
		f.Fail(s.N != 0)
	}
	d.OK = d.Answer.OK
}

// asks reports whether a request for one is granted, for a key if it is not 0.
func (f *Funcs) asks(at time.Time, key int) bool {
	var d conformance.Done
	f.do(conformance.Step{Op: verb.Allow, N: 1, K: key}, at, &d)
	return d.OK
}

// stop releases what the limiter holds.
func (f *Funcs) stop() {
	if f.Stop != nil {
		_ = suite.Catch(f.Stop)
	}
}

// end stops a limiter at the end of a run, or leaves it alone for a window if it has no Stop.
func (f *Funcs) end(st *suite.Stage, at, window time.Duration) {
	if f.stop(); f.Stop == nil && st.Time != conformance.Explicit {
		st.Rest(at, window)
	}
}

// Play runs a schedule on a fresh limiter.
func (c *contract) Play(st *suite.Stage) {
	env, cfg := st.Plain(), st.Config()
	var impl Funcs
	if !st.Make(func() { impl = c.made(st, env, Config{cfg.Rate.Events, cfg.Rate.Per, cfg.Burst}) }) {
		c.refused(st)
		return
	}
	passed, before := time.Duration(0), time.Duration(0)
	end := st.Each(nil, func(s conformance.Step) {
		passed += max(0, s.At-before)
		before = s.At
		if st.Time == conformance.Injected && suite.GoesBack(st.Schedule) { // time passes, and the clock is set
			st.To(passed)
			st.Fake().SetWall(cfg.Start().Add(s.At))
		}
		st.Await(c.trip > 0, func() { // a request that takes time is given it
			st.Rec.Do(s, false, func(d *conformance.Done) { impl.do(s, env.Start.Add(s.At), d) })
		})
	})
	st.End(end, 0, func() { impl.end(st, end, cfg.Rate.Per) })
}

// measured is how long the first request of a limiter takes.
func (c *contract) measured(s *suite.Suite) (trip time.Duration) {
	s.Play(func(st *suite.Stage) {
		_ = suite.Catch(func() {
			impl := c.spec.made(st.Plain(), Config{Limit: 1, Window: time.Second, Burst: 1})
			st.Await(true, func() { _ = suite.Catch(func() { impl.asks(time.Time{}, 0) }) })
			trip = st.Now()
			impl.end(st, trip, time.Second)
		})
	})
	return trip
}

// refused leaves a run out whose configuration the constructor refused, as it may document. The
// runtime's panics are no refusals, and those of senseless configurations are judged.
func (c *contract) refused(st *suite.Stage) {
	st.Rec.Locked(func(rec *suite.Recording) {
		cfg := st.Config()
		failed := strings.HasPrefix(rec.Refused, "runtime error: ") && !incountable(cfg.Rate.Events)
		if !mayRefuse(c.spec.Kind, cfg) && !failed {
			rec.LeftOut = suite.RefusedWhy(cfg, rec.Refused)
		}
	})
}

// made makes the limiter of a stage. If the stage asks for a second one, everything is
// asked of that one first.
func (c *contract) made(st *suite.Stage, env Env, cfg Config) Funcs {
	f := c.spec.made(env, cfg)
	if !st.Twice {
		return f
	}
	other := c.spec.made(env, cfg)
	take, stop := f.TakeAt, f.Stop
	f.TakeAt = func(t time.Time, n int) Answer { other.TakeAt(t, n); return take(t, n) }
	if stop != nil {
		f.Stop = func() { other.Stop(); stop() }
	}
	return f
}
