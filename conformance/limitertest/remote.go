package limitertest

import (
	"slices"
	"strings"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Limiters that ask others: their requests take time, and some are answered by an error.

// remote is what the laws of such limiters need to know of a run.
func (x *exam) remote() edge.Remote {
	return edge.Remote{Recording: x.Recording, Latency: x.traits.Latency, FailOpen: x.traits.Errors == FailOpen,
		Broken: x.broken}
}

// failed reports whether an answer was an error.
func failed(tr *conformance.Trace) bool { return edge.Failed(tr) }

// timed is the Unless of a rule that cannot judge before it is declared that requests take
// time.
func (c *contract) timed(unless func(*suite.Suite, *Traits) string) func(*suite.Suite, *Traits) string {
	return func(s *suite.Suite, t *Traits) string {
		switch {
		case c.trip > 0 && t.Latency == 0:
			return "trait Latency is undeclared"
		case unless != nil:
			return unless(s, t)
		}
		return ""
	}
}

// takesTime takes rules out of force that need many requests at one instant.
func (c *contract) takesTime(*suite.Suite, *Traits) string {
	return suite.If(c.trip > 0, "a request takes time")
}

// lasts reports whether something in a schedule takes time, or has to settle.
func (c *contract) lasts(s conformance.Schedule) bool {
	return c.trip > 0 || c.tries && suite.Has(verb.Allow)(suite.Job{Schedule: s})
}

// late is by how much what a schedule gets may be off because requests take time: each may be
// decided at any instant of its own, and who waits asks again, and waits for the answer.
func late(s conformance.Schedule, t *Traits) time.Duration {
	if slices.ContainsFunc(s.Steps, claims) {
		return 3 * t.Latency
	}
	return t.Latency
}

// meanwhile is how many tokens come at a rate while n requests are on their way, rounded up.
func (t *Traits) meanwhile(r Rate, n int) int {
	if t.Latency == 0 {
		return 0
	}
	on := *t
	on.RefillSize, on.Resolution = 0, time.Duration(n)*t.Latency
	return on.lump(r)
}

// unsure follows a request whose answer was an error: it may have taken its tokens, if they
// were there.
func (a *account) unsure(d *conformance.Done) {
	switch {
	case d.N < 1 || a.rate == Inf:
	case d.N > a.burst && !a.traits.Overdraft:
		a.open = a.traits.Oversize == OversizePrepaid
	default:
		left := a.minus(a.need(d.N), a.tokens(d.N))
		left.Sub(left, a.tolerance)
		left = larger(left, a.minus(a.lo, a.tokens(d.N)))
		if a.lo.Cmp(left) > 0 {
			a.lo = left
		}
	}
}

func (o observer) latency() int {
	most, p := o.c.trip, o.plan()
	texts := []string{strings.Repeat("allow 1 @0 | ", p.full+1) + "allow 1 @{0.7} | allow 1 @{3.3}"}
	if o.s.Accepts(verb.Fault) {
		texts = append(texts, "fault 1 @0 | allow 1 @0 | allow 1 @{1} | fault 0 @{2} | allow 1 @{2}")
	}
	for _, text := range texts {
		most = max(most, edge.Longest(p.see(text)))
	}
	return int(most)
}

// errors observes what requests get whose answers are errors.
func (o observer) errors() int {
	tr := o.plan().see("fault 1 @0 | allow 1 @0")
	switch n := len(tr.Done); {
	case n != 2 || tr.Done[1].Answer.Err == nil:
		return 0
	case tr.Done[1].OK:
		return int(FailOpen)
	}
	return int(FailClosed)
}

// tried tries something of a limiter in a run of its own, and returns how long that takes. On an injected clock what
// takes time is given it.
func (c *contract) tried(s *suite.Suite, takes bool, try func(f *Funcs)) (took time.Duration) {
	observer{s, c}.trial(c.candidates(10, 3), func(st *suite.Stage, f *Funcs, cfg Config) {
		st.Await(takes, func() { _ = suite.Catch(func() { try(f) }) })
		if took = st.Now(); f.Stop == nil && takes {
			st.Settle()
			st.Rest(took, time.Duration(cfg.Burst+1)*cfg.Rate.Interval())
		}
	})
	return took
}

// await does an operation. On an injected clock one that takes time is given it.
func (c *contract) await(st *suite.Stage, do func()) { st.Await(c.trip > 0, do) }
