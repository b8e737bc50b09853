package limitertest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

type rule = suite.Rule[*Traits, *exam]

func (c *contract) Rules() []rule {
	all := slices.Concat(
		c.requestRules(),
		instantRules(),
		edge.RemoteRules[*Traits]((*exam).remote),
		c.useRules(),
		rateRules(),
		[]rule{pastQuery, senselessBurst},
		c.probeRules(),
		waitRules(),
		reserveRules(),
		cancelRules(),
		changeRules(),
		infiniteRules(),
	)
	for i := range all {
		id := all[i].ID
		if id == "X-CALLS" || id == "X-LEAK" {
			continue
		}
		all[i].Sees = taken(all[i].Sees)
		if all[i].Unless = c.timed(all[i].Unless); id != "RL-EPOCH" {
			all[i].About = edge.Unkeyed(all[i].About)
		}
	}
	return append(all, c.keyRules()...)
}

// taken selects the runs in which the constructor did not refuse, unless the rule is about others, and, where that is
// declared, that ask for one token at a time.
func taken(sees func(*exam) bool) func(*exam) bool {
	if sees == nil {
		sees = accepted
	}
	several := func(n, _ int) bool { return n != 1 }
	return func(x *exam) bool { return !(x.traits.OneAtATime && asks(x.Schedule, several)) && sees(x) }
}

// The two kinds of rules.
var core, extended = suite.Core, suite.Extended

func ops(all ...conformance.Op) []conformance.Op { return all }

// accepted selects the runs in which the constructor did not refuse.
func accepted(x *exam) bool { return x.Refused == "" }

// asksFor selects the runs in which a request, reservation or wait is for such a number of
// tokens.
func asksFor(which func(n, burst int) bool) func(suite.Job) bool {
	return func(j suite.Job) bool { return asks(j.Schedule, which) }
}

func asks(schedule conformance.Schedule, which func(n, burst int) bool) bool {
	return slices.ContainsFunc(schedule.Steps, func(s conformance.Step) bool {
		return (s.Op == verb.Allow || claims(s)) && which(s.N, schedule.Config.Burst)
	})
}

func isZero(n, _ int) bool        { return n == 0 }
func isNegative(n, _ int) bool    { return n < 0 }
func isTooMany(n, burst int) bool { return n > burst }
func either(a, b func(suite.Job) bool) func(suite.Job) bool {
	return func(j suite.Job) bool { return a(j) || b(j) }
}

func both(a, b func(suite.Job) bool) func(suite.Job) bool {
	return func(j suite.Job) bool { return a(j) && b(j) }
}

// givesUp selects the runs in which a reservation, or a wait, is cancelled.
func givesUp(op conformance.Op) func(suite.Job) bool {
	return func(j suite.Job) bool {
		return slices.ContainsFunc(j.Schedule.Steps, func(s conformance.Step) bool {
			return s.Op == verb.Cancel && claimOf(j.Schedule, s.N).Op == op
		})
	}
}

// some selects the runs with a step of a kind.
func some(kind func(s conformance.Step) bool) func(suite.Job) bool {
	return func(j suite.Job) bool { return slices.ContainsFunc(j.Schedule.Steps, kind) }
}

// hasDeadline selects the runs in which a wait has a deadline.
var hasDeadline = some(func(s conformance.Step) bool { return s.Op == verb.Wait && s.D != 0 })

// useRules are the laws of any use: operations return, leave nothing behind, and are safe
// to call from many goroutines.
func (c *contract) useRules() []rule {
	leak := suite.Leak[*Traits]("No goroutine may remain while idle or after Stop, and no armed timer after Stop.",
		(*exam).leftBehind)
	leak.Sees = accepted
	return []rule{
		suite.Calls[*Traits]((*exam).calls),
		leak,
		suite.InARow[*Traits, *exam](opRequest, c.inARow),
		suite.Effect[*Traits, *exam](c.effects),
		{
			Rule: core("X-CONC", "Concurrent requests at one instant MUST together get what some sequential "+
				"order of them gets."),
			Absent: func(s *suite.Suite, _ *Traits) string {
				nothing := !s.Accepts(opRequest) && !s.Accepts(verb.Wait)
				return suite.If(nothing, "the implementation has no request and no wait")
			},
			Declared: []string{"Initial"},
			Unless:   c.oneAtATime,
			Meets:    true,
			Probe:    c.concurrent,
		},
		suite.Race[*Traits, *exam](c.race, c.oneAtATime),
	}
}

// inARow is a limiter that is asked for tokens in a row.
func (c *contract) inARow(*suite.Probe) func(st *suite.Stage) (ask func() bool, end func()) {
	return func(st *suite.Stage) (ask func() bool, end func()) {
		f, _, refused := c.first(st.Plain(), c.candidates(10, 3))
		if refused != "" {
			return nil, func() {}
		}
		return func() bool { return f.allows(time.Time{}, 0) }, f.end
	}
}

// oneAtATime takes rules about concurrent calls out of force.
func (c *contract) oneAtATime(s *suite.Suite, t *Traits) string {
	return cmp.Or(suite.If(t.OneGoroutine, "declared: OneGoroutine"), c.takesTime(s, t))
}

func (x *exam) calls() *suite.Violation { return x.Misdone(!x.usual(), x.mayPanic, false, x.broken) }

// mayPanic reports whether a panic may be how a step is refused: one for an odd number of tokens, or a limit or burst.
// Whoever refuses these says so in words of its own, but for rates that nobody has to count with. A request for a
// little more than the burst is none of them where that is declared to be granted.
func (x *exam) mayPanic(d *conformance.Done) bool {
	said := !strings.HasPrefix(d.Panic, "runtime error: ")
	switch d.Op {
	case verb.Allow, verb.Reserve, verb.Wait:
		burst := x.Schedule.Config.Burst
		prepaid := x.traits.Oversize == OversizePrepaid && d.Op == verb.Allow && d.N > burst && d.N <= 2*burst
		return x.outOfRange(d.Step) && !prepaid
	case verb.SetLimit:
		return said || d.Rate == Inf || d.Rate.Events <= 0 || d.Rate.Extreme()
	case verb.SetBurst:
		return said || d.N < 1
	}
	return false
}

// usual reports whether the configuration is that of an instance that was made before.
// Which others a constructor refuses is its own affair.
func (x *exam) usual() bool {
	cfg := x.Schedule.Config
	return Config{cfg.Rate, cfg.Burst} == x.of.usual
}

func (x *exam) leftBehind() *suite.Violation {
	switch {
	case len(x.Left) > 0:
		return x.broken(x.End, "", "%s remained: %s", timeline.Count(len(x.Left), "goroutine"), x.Left[0])
	case x.Armed && x.of.stops:
		return x.broken(x.End, "nobody waits, and Stop has returned", "a timer is still armed")
	}
	return nil
}
