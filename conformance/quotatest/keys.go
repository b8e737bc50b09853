package quotatest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
)

// keyed explores a limiter that counts for each key, at all times or at one instant only.
func (e *explored) keyed(atOnce bool) {
	w, small, two := e.unit, e.config(1), e.config(2)
	if atOnce {
		w = 0
	} else {
		e.add(suite.Leaks, edge.Keyed(suite.Sequences(small, e.one, []time.Duration{1, w}, 2)))
	}
	for _, cfg := range []conformance.Config{small, two} {
		e.add(suite.Keys, edge.KeyedRequests(cfg, w, full(e.kind, cfg), e.Accepts(takesMany)))
	}
	if atOnce {
		return
	}
	if e.Time != conformance.PackageTime {
		e.add(suite.Keys, edge.KeysElsewhere(two, w, full(e.kind, two)))
	}
	bursts := []conformance.Config{small, e.config(3)}
	if e.kind == GCRA { // for which a time to live that counts in intervals is too short
		bursts = append(bursts, e.config(30))
	}
	for _, cfg := range bursts {
		n := full(e.kind, cfg)
		for _, long := range []time.Duration{time.Hour, 24 * time.Hour} {
			rate, back := fmt.Sprintf("%d/%s", n, timeline.Duration(long)), long
			if e.kind == GCRA { // an event in so long
				rate, back = "1/"+timeline.Duration(long), long*time.Duration(n)
			}
			slow := cfg.Without("rate").With("rate", rate)
			e.add(suite.Keys, edge.SweptRequests(slow, back, n, e.Accepts(takesMany)))
		}
	}
}

// keyRules are the laws of a limiter that counts for each key.
func (c *contract) keyRules() []rule {
	basic := []string{"SW-ANY", "SW-EXP", "SW-WORK", "SW-DENYCOUNT", "SC-APPROX", "SC-N1", "SC-FIRST", "FW-ALIGNED",
		"FW-2N", "FW-NOEXTEND", "FW-EDGE", "FW-HIT", "GC-EQUIV", "GC-BURST", "GC-TAT"}
	return edge.KeyRules(takesKeys, func(x *exam) (*suite.Recording, bool) { return x.Recording, !x.traits.exact() },
		rule{
			Rule: suite.Core("X-ISO", "Each key MUST be counted by itself, however many keys there are: requests for "+
				"one MUST be decided as if there were no others."),
			Beyond: basic,
			Unless: func(s *suite.Suite, tr *Traits) string { return cmp.Or(c.takesTime(tr), c.undeclared(s, tr)) },
			Check: func(x *exam) *suite.Violation {
				return x.eachKey(func(granted bool) bool { return !granted || !edge.ComeBack(x.Schedule) })
			},
		},
		rule{
			Rule: suite.Core("X-EVICT", "A key that was idle for a while MUST NOT get more than if it had been "+
				"remembered: it may be forgotten once it decides as a new one."),
			Beyond: basic, Unless: c.oneForAll,
			Check: func(x *exam) *suite.Violation {
				return x.eachKey(func(granted bool) bool { return granted })
			},
		})
}

// needs is the operation that a step needs.
func needs(_ *suite.Suite, st conformance.Step) conformance.Op { return edge.NeedsKeys(st, takesKeys) }

// oneForAll is why keys are tried at one instant only, or not at all, "" if they are tried at all times.
func (c *contract) oneForAll(s *suite.Suite, tr *Traits) string {
	return cmp.Or(c.takesTime(tr),
		suite.If(!tr.exact(), "declared: a unit of counting, which may differ from key to key"),
		c.undeclared(s, tr))
}

// takesTime takes rules out of force that need many requests at one instant.
func (c *contract) takesTime(tr *Traits) string {
	return suite.If(c.trip > 0 || tr.Latency > 0, "a request takes time")
}

// eachKey finds the first decision on a key that differs from the model's, if it is one that counts.
func (x *exam) eachKey(counts func(granted bool) bool) *suite.Violation {
	return edge.EachKey(x.Recording, func(rec *suite.Recording) *suite.Violation {
		own := x.other(rec)
		found := own.differs()
		if found == nil || !counts(own.best.steps[own.best.bad].OK) || own.anew() {
			return nil
		}
		return found
	})
}

// anew reports whether windows may begin elsewhere after a pause: who forgets a key makes it again when it comes back.
func (x *exam) anew() bool {
	steps, windows := x.Schedule.Steps, x.kind == FixedWindow || x.kind == SlidingCounter
	return windows && x.traits.Align == AlignCreation && slices.ContainsFunc(steps, func(s conformance.Step) bool {
		later := func(next conformance.Step) bool { return next.At > s.At && next.At < s.At+x.Schedule.Config.Rate.Per }
		return s.At < steps[len(steps)-1].At && !slices.ContainsFunc(steps, later)
	})
}

// keysConcurrent lets goroutines ask at one instant for keys that are new.
func (c *contract) keysConcurrent(p *suite.Probe) (*suite.Violation, string) {
	return edge.MeetNewKeys(p, func(st *suite.Stage, round int) { st.To(time.Duration(round) * pause) },
		func(env Env) (func(round, key int) bool, func()) {
			f := c.spec.made(env, c.plain(1))
			return func(round, key int) bool {
				return f.asks(conformance.Config{}.Start().Add(time.Duration(round)*pause), key)
			}, f.stop
		})
}
