package quotatest

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Canary proves that time is taken from where the spec says: who has been denied is granted
// again when it has passed. Only in a bubble can the suite move another clock than the
// injected one.
func (c *contract) Canary(s *suite.Suite) string {
	if !s.Accepts(verb.Allow) {
		return fmt.Sprintf("New returned nothing that %v can use: set Take or TakeKey, "+
			"or TakeAt or TakeKeyAt for Explicit", s.Time)
	}
	if s.Time == conformance.Explicit || !s.Bubble || s.Time == conformance.Injected && c.trip > 0 {
		return ""
	}
	seen := c.sees(s, 1, time.Hour)
	switch {
	case seen.Refused != "":
		return "New refused a limit of 1 in 1s: " + seen.Refused
	case seen.Own == 0 && seen.Other > 0:
		return suite.WrongClock("quotatest")
	case seen.blind() && c.sees(s, 5, time.Hour+618*time.Millisecond).blind(): // a mistake may show with 1 only
		return fmt.Sprintf("of 10 requests at one instant %d were granted with a limit of 1 in 1s, and none "+
			"an hour later: either the limiter never grants again, or it reads another clock than Time says, "+
			"such as the runtime's", seen.first)
	}
	return ""
}

// sight is what the canary sees of a limiter.
type sight struct {
	suite.Pulse
	first    int // granted of ten at first
	panicked bool
}

// blind reports whether the limiter, if there is one, grants nothing any more.
func (s sight) blind() bool {
	return s.Refused != "" || s.Hang == nil && s.first > 0 && s.first < 10 && s.Own == 0 && s.Other == 0 && !s.panicked
}

// sees asks a limiter of so many in 1s for all that it grants, at first and when so much time has passed.
func (c *contract) sees(s *suite.Suite, limit int, beyond time.Duration) (seen sight) {
	var impl Funcs
	asked := false
	seen.Pulse = s.Sees(suite.Life{
		Make: func(env conformance.Env, _ func()) {
			impl = c.spec.made(env, Config{Limit: limit, Window: time.Second, Burst: limit})
		},
		Use: func() (granted int) { // takes all that can be granted
			for range 10 {
				message := suite.Catch(func() {
					if impl.asks(time.Time{}, 0) {
						granted++
					}
				})
				seen.panicked = seen.panicked || message != "" // X-CALLS judges panics
			}
			if !asked {
				seen.first, asked = granted, true
			}
			return granted
		},
		Beyond:  beyond,
		Release: func() { impl.stop() },
	})
	return seen
}

// concurrent lets goroutines ask at one instant, of which one also peeks at some limiters.
func (c *contract) concurrent(p *suite.Probe) (*suite.Violation, string) {
	v, skip := c.requestsConcurrent(p)
	if v == nil && skip == "" && p.Accepts(takesKeys) && c.oneForAll(p.Suite, &c.spec.Traits) == "" {
		return c.keysConcurrent(p)
	}
	return v, skip
}

// pause is how long a limiter of the probes is left alone, after which it is as if new.
const pause = 5 * time.Second

// requestsConcurrent lets goroutines ask for events at one instant.
func (c *contract) requestsConcurrent(p *suite.Probe) (*suite.Violation, string) {
	start, limit := conformance.Config{}.Start(), accepted(p.Suite, c.spec.Kind, 5)
	return edge.Crowd{
		Make: func(env conformance.Env, place int) (func(round, g, n int) bool, func()) {
			l, peeks := c.spec.made(env, c.plain(limit)), place%4 == 0 && p.Accepts(verb.Tokens)
			return func(round, _, n int) bool {
				at := start.Add(time.Duration(round) * pause)
				if peeks && n == 2 {
					l.PeekAt(at)
					return false
				}
				return l.asks(at, 0)
			}, l.stop
		},
		Each: 4, Few: 2,
		Pass: func(st *suite.Stage, round int) { st.To(time.Duration(round+1) * pause) },
		Wanted: func(times, round int) (int, string) {
			return min(limit, suite.Meeters*times), "the limiter was like a new one (" + suite.InRound(round) +
				"), and every sequential order of these calls grants as many; if it is documented as approximate or " +
				"for one goroutine, declare OneGoroutine"
		},
		Asked: func(times int) string { return fmt.Sprintf("%d times each at one instant", times) },
	}.Meet(p)
}

// inARow is a limiter that is asked in a row.
func (c *contract) inARow(p *suite.Probe) func(st *suite.Stage) (ask func() bool, end func()) {
	cfg := c.plain(accepted(p.Suite, c.spec.Kind, 3))
	return func(st *suite.Stage) (ask func() bool, end func()) {
		l := c.spec.made(st.Plain(), cfg)
		return func() bool { return l.asks(time.Time{}, 0) }, l.stop
	}
}

// plain is a configuration that is nothing special, with a limit or burst.
func (c *contract) plain(limit int) Config {
	cfg := configured(c.spec.Kind, limit)
	return Config{cfg.Rate.Events, cfg.Rate.Per, cfg.Burst}
}

// race uses all operations of one limiter at once.
func (c *contract) race(p *suite.Probe) (skip string) {
	if c.trip > 0 {
		return "a request takes time"
	}
	limit := accepted(p.Suite, c.spec.Kind, 5)
	return p.Clash(func(env conformance.Env) []func(int) {
		impl := c.spec.made(env, c.plain(limit))
		var ops []func(int)
		for _, s := range []conformance.Step{asking(1), asking(2), looking, {Op: verb.Allow, N: 1, K: 1}} {
			if !p.Accepts(needs(p.Suite, s)) || s.N > 1 && !p.Accepts(takesMany) {
				continue
			}
			run := func(i int) {
				s := s
				s.K *= 1 + i // of a new key each time
				impl.do(s, env.Start.Add(time.Duration(i)), &conformance.Done{})
			}
			ops = append(ops, run, run)
		}
		return ops
	})
}

// timed are schedules of requests around the ends of windows, and for keys if there are any.
func (c *contract) timed(s *suite.Suite) []conformance.Schedule {
	cfg := configured(c.spec.Kind, 1)
	w := cfg.Rate.Interval()
	gaps := []time.Duration{0, w / 2, w, w + 2}
	out := suite.Sequences(cfg, []conformance.Step{asking(1)}, gaps, 4)
	if s.Accepts(takesKeys) {
		out = append(out, edge.TwoKeys(cfg, w, 1))
	}
	return out
}
