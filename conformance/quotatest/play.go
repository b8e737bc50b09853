package quotatest

import (
	"regexp"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// made makes a limiter. One that can only be asked for keys is asked for the first one otherwise.
func (spec Spec) made(env Env, cfg Config) Funcs {
	f := spec.New(env, cfg)
	if key := f.TakeKey; key != nil && f.Take == nil {
		f.Take = func(n int) Answer { return key(1, n) }
	}
	if key := f.TakeKeyAt; key != nil && f.TakeAt == nil {
		f.TakeAt = func(t time.Time, n int) Answer { return key(t, 1, n) }
	}
	return f
}

// do does one operation and notes the answer. The instant at is for limiters that are told
// the time.
func (f *Funcs) do(s conformance.Step, at time.Time, source TimeSource, d *conformance.Done) {
	explicit := source == conformance.Explicit
	switch {
	case s.K != 0 && explicit:
		d.Answer = f.TakeKeyAt(at, s.K, s.N)
	case s.K != 0:
		d.Answer = f.TakeKey(s.K, s.N)
	case s.Op == verb.Allow && explicit:
		d.Answer = f.TakeAt(at, s.N)
	case s.Op == verb.Allow:
		d.Answer = f.Take(s.N)
	case s.Op == verb.Tokens && explicit:
		d.Answer = f.PeekAt(at)
	case s.Op == verb.Tokens:
		d.Answer = f.Peek()
	case s.Op == verb.Fault:
		f.Fail(s.N != 0)
	}
	d.OK = d.Answer.OK
}

// stop releases what the limiter holds.
func (f *Funcs) stop() {
	if f.Stop != nil {
		_ = suite.Catch(f.Stop)
	}
}

// Signs are the marks of a quota's timeline.
func (c *contract) Signs() []suite.Sign {
	return []suite.Sign{
		{Like: regexp.MustCompile(`^y$`), Means: "y is granted"},
		{Like: regexp.MustCompile(`^n$`), Means: "n is denied"},
		{Like: regexp.MustCompile(`^\?$`), Means: "? is either"},
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
	reached, before := time.Duration(0), time.Duration(0)
	end := st.Each(nil, func(s conformance.Step) {
		reached += max(0, s.At-before)
		before = s.At
		setTo(st, s.At, reached)
		c.await(st, func() {
			st.Rec.Do(s, false, func(d *conformance.Done) { impl.do(s, env.Start.Add(s.At), st.Time, d) })
		})
	})
	st.End(end, 0, func() {
		switch {
		case impl.Stop != nil:
			impl.stop()
		case st.Time != conformance.Explicit:
			st.Rest(end, cfg.Rate.Per)
		}
	})
}

// setTo brings an injected clock to the instant of a step, in a schedule whose instants go back:
// time passes until so much has passed since the start, and the clock is set.
func setTo(st *suite.Stage, at, passed time.Duration) {
	if fake := st.Fake(); st.Time == conformance.Injected && suite.GoesBack(st.Schedule) {
		st.To(passed)
		fake.SetWall(st.Schedule.Config.Start().Add(at))
	}
}

// await does a request. On an injected clock one that takes time is given it.
func (c *contract) await(st *suite.Stage, do func()) { st.Await(c.trip > 0, do) }

// measured is how long the first request of a limiter takes.
func (c *contract) measured(s *suite.Suite) (trip time.Duration) {
	s.Play(func(st *suite.Stage) {
		_ = suite.Catch(func() {
			impl := c.spec.made(st.Plain(), Config{Limit: 1, Window: time.Second, Burst: 1})
			do := func() { _ = suite.Catch(func() { impl.Take(1) }) }
			st.Await(true, do)
			trip = st.Now()
			impl.stop()
			if impl.Stop == nil {
				st.Rest(trip, time.Second)
			}
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
	take, at, stop := f.Take, f.TakeAt, f.Stop
	if take != nil {
		f.Take = func(n int) Answer { other.Take(n); return take(n) }
	}
	if at != nil {
		f.TakeAt = func(t time.Time, n int) Answer { other.TakeAt(t, n); return at(t, n) }
	}
	if stop != nil {
		f.Stop = func() { other.Stop(); stop() }
	}
	return f
}
