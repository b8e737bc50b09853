package concurrencytest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/inside"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// Table lists the choices. Most are not offered as an explanation of a failure, as the rules
// are about just that: which requests run and which wait. What schedules are observed with are
// the traits tr.
func (c *contract) Table(s *suite.Suite, tr *Traits) []suite.Choice {
	spec, learnt := c.spec.Traits, c.learnt
	observe := func(look func() int) func() int {
		return func() int {
			defer func(kept Traits) { c.traits = kept }(c.traits)
			c.traits = *tr
			return look()
		}
	}
	nothingWaits := "a request that cannot run is rejected at once"
	if c.triesOnly {
		nothingWaits = "no operation waits; if a request can wait, set Acquire, Take, Lock or Do"
	}
	asleep := edge.Flag(&tr.HoldsLockWhileWaiting, suite.Choice{
		Name: "HoldsLockWhileWaiting", Values: flags, Apart: true,
	}, func() bool { return c.asleep(s) }, "a waiter holds a lock that all other callers need")
	single := edge.Flag(&tr.OneAtATime, suite.Choice{Name: "OneAtATime", Values: flags, Nominal: true},
		func() bool { return c.observeSingle(s) }, "each request takes one slot, whatever it asks for")
	asleep.Observe, single.Observe = observe(asleep.Observe), observe(single.Observe)
	if tr.Oversize != 0 {
		single.Observe = nil // its author says that requests ask for several slots: only a failure makes one doubt it
	}
	return []suite.Choice{
		// the first, since schedules in which two wait show nothing otherwise
		edge.Learnt(asleep, tr.HoldsLockWhileWaiting, spec.HoldsLockWhileWaiting, learnt.HoldsLockWhileWaiting),
		edge.Learnt(edge.Choice(&tr.Backlog, suite.Choice{
			Name: "Backlog", Values: backlogs, Needless: suite.Always, Apart: true, Sure: true,
			Order:   []int{int(BacklogBounded), int(BacklogNone)}, // most published ones have no bound
			Means:   []string{"as many requests wait as New is told", "any number of requests waits", nothingWaits},
			Observe: observe(func() int { return int(c.observeBacklog(s)) }),
		}), tr.Backlog, spec.Backlog, learnt.Backlog),
		edge.Learnt(edge.Choice(&tr.Timeout, suite.Choice{
			Name: "Timeout", Values: timeouts, Needless: tr.nothingWaits, Apart: true,
			Means: []string{"a request waits as long as New is told", "only its context ends a wait"},
			Observe: observe(func() int {
				const ends = "limit=1 backlog=5 timeout=100ms | acquire 1 @0 | acquire 2 @0 | idle 1s"
				seen := try(s, ends)
				return first(seen, seen.rejected(2))
			}),
		}), tr.Timeout, spec.Timeout, learnt.Timeout),
		edge.Learnt(edge.Choice(&tr.Context, suite.Choice{
			Name: "Context", Values: contexts, Apart: true,
			Order: []int{int(ContextHonoured), int(ContextEndsWait), int(ContextIgnored)},
			Means: []string{"a context ends the wait, and a request whose context is done does not run",
				"a context does not end the wait",
				"a context ends the wait, but a request that need not wait may run though its context is done"},
			Needless: func() bool { return !s.Accepts(opContext) },
			Observe:  observe(func() int { return int(c.observeContext(s)) }),
		}), tr.Context, spec.Context, learnt.Context),
		edge.Choice(&tr.ContextError, suite.Choice{
			Name: "ContextError", Order: suite.Ranked(2), Apart: true,
			Observe: observe(func() int { return int(c.observeContextError(s)) }),
		},
			"ErrorOfContext", "a request ended by its context returns the context's error",
			"ErrorOfOwn", "a request ended by its context returns another error"),
		edge.Learnt(edge.Choice(&tr.SeatHeld, suite.Choice{
			Name: "SeatHeld", Values: seats, Order: suite.Ranked(2), Apart: true, Sure: true,
			Means: []string{"a running request has left the backlog",
				"a request that waited keeps its place while it runs"},
			Needless: func() bool { return tr.Backlog == BacklogUnbounded || tr.nothingWaits() },
			Observe:  observe(func() int { return int(c.observeSeatHeld(s)) }),
		}), tr.SeatHeld, spec.SeatHeld, learnt.SeatHeld),
		edge.Learnt(edge.Choice(&tr.Fair, suite.Choice{
			Name: "Fair", Values: orders, Order: suite.Ranked(2), Needless: tr.nothingWaits, Apart: true,
			Means:   []string{"first come, first served", "in any order"},
			Observe: observe(func() int { return int(c.observeFair(s)) }),
		}), tr.Fair, spec.Fair, learnt.Fair),
		edge.Learnt(single, tr.OneAtATime, spec.OneAtATime, learnt.OneAtATime),
		edge.Choice(&tr.Oversize, suite.Choice{
			Name: "Oversize", Values: oversizes, Order: suite.Ranked(3), Apart: true, Sure: true,
			Means: []string{"a request for more than the limit is rejected at once",
				"a request for more than the limit waits until its context or the timeout ends",
				"a request for more than the limit is treated as a request for exactly limit slots"},
			Needless: func() bool { return tr.OneAtATime },
			Observe:  observe(func() int { return observeOversize(s) }),
		}),
		// behind Oversize, without which no request asks for several slots
		edge.Flag(&tr.TryOvertakes, suite.Choice{Name: "TryOvertakes", Values: flags},
			func() bool { return observeTryOvertakes(s, tr) },
			"TryAcquire takes free slots though others wait for more"),
		edge.Choice(&tr.OverRelease, suite.Choice{
			Name: "OverRelease", Order: suite.Ranked(3), Apart: true, Sure: true,
			Needless: func() bool { return !s.Accepts(verb.Release) },
			Observe:  observe(func() int { return int(c.observeOverRelease(s)) }),
		},
			"OverReleasePanics", "Release panics if no slot is held",
			"OverReleaseIgnored", "Release does nothing if no slot is held",
			"OverReleaseUndefined", "callers must not call Release if no slot is held, and nothing is judged after it"),
		edge.Learnt(edge.Choice(&tr.Hook, suite.Choice{
			Name: "Hook", Values: hooks, Order: []int{int(HookOnce), int(HookFits)},
			Means: []string{"New installs OnReject, which is called for each rejection", "New installs no OnReject",
				"requests for more than the limit are rejected without a call"},
			Needless: suite.Always, Blind: []string{"HookNone"}, Sure: true,
			Observe: observe(func() int { return int(observeHook(s, c.traits)) }),
		}), tr.Hook, spec.Hook, learnt.Hook),
	}
}

// asleep reports whether one who waits for a slot holds a lock for which the next one waits.
// It is found out once.
func (c *contract) asleep(s *suite.Suite) bool {
	if c.sleeps == nil {
		three := suite.MustParse("limit=1 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 @0 | acquire 3 @0")
		h := s.Run([]suite.Job{{Schedule: three}}, func(suite.Job, *suite.Recording) {})
		yes := h != nil && h.WaitsForLock() != "" && c.waitsForEver(s, h) == ""
		c.sleeps = &yes
	}
	return *c.sleeps
}

// observeBacklog observes what becomes of requests that cannot run.
func (c *contract) observeBacklog(s *suite.Suite) Backlog {
	if c.traits.HoldsLockWhileWaiting { // only one can wait
		seen := try(s, "limit=1 backlog=0 timeout=1h | acquire 1 @0 | acquire 2 @0")
		if seen == nil || seen.rejected(2) {
			return 0
		}
		return BacklogUnbounded
	}
	const two = "limit=1 backlog=3 timeout=1h | acquire 1 @0 | acquire 2 @0"
	switch seen := try(s, two); {
	case !seen.admitted(1):
		return 0
	case seen.rejected(2):
		return BacklogNone
	}
	text := two
	for id := 3; id <= 12; id++ { // far more than three
		text += fmt.Sprintf(" | acquire %d @0", id)
	}
	switch seen := try(s, text); {
	case seen == nil:
		return 0
	case seen.rejected(12):
		return BacklogBounded
	}
	return BacklogUnbounded
}

// observeContext observes whether a context ends a wait, and whether a request runs whose context
// was done before it came. Where a select finds both a slot and that, it chooses by chance.
func (c *contract) observeContext(s *suite.Suite) Context {
	before := suite.MustParse("limit=1 backlog=5 timeout=1h | cancel 1 @0 | acquire 1 @0")
	ran, refused := false, false
	for _, rec := range s.Try(before, inside.OrderSettled, often) {
		seen := seenIn(rec)
		if seen == nil {
			return 0
		}
		ran, refused = ran || seen.admitted(1), refused || !seen.admitted(1)
	}
	ends := refused // if nothing waits it ends nothing else
	if c.traits.Backlog != BacklogNone {
		seen := try(s, "limit=1 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 @0 | cancel 2 @0")
		if ends = seen.rejected(2); seen == nil {
			return 0
		}
	}
	switch {
	case ends && !ran:
		return ContextHonoured
	case ends:
		return ContextEndsWait
	case !refused:
		return ContextIgnored
	}
	return 0
}

// observeContextError observes whether requests that their contexts have ended return the contexts'
// errors.
func (c *contract) observeContextError(s *suite.Suite) ContextError {
	told := 0
	texts := []string{
		"limit=1 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 @0 | cancel 2 @0",
		"limit=1 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 100ms @0 | idle 1s",
	}
	for _, text := range texts {
		seen := try(s, text)
		if !s.Accepts(opContext) || !seen.rejected(2) || seen.requests[1].ended == nil {
			return 0
		}
		if q := seen.requests[1]; errors.Is(q.err, q.ended) {
			told++
		} else if q.lies() {
			return 0
		}
	}
	switch told {
	case len(texts):
		return ErrorOfContext
	case 0:
		return ErrorOfOwn
	}
	return 0
}

// observeSeatHeld observes whether a place is free when the request that had it runs.
func (c *contract) observeSeatHeld(s *suite.Suite) SeatHeld {
	seen := try(s, "limit=1 backlog=1 timeout=1h | acquire 1 @0 | acquire 2 @0 | release 1 @0 | acquire 3 @0")
	return SeatHeld(first(seen, !seen.rejected(3)))
}

// observeFair observes in which order those who wait get slots, and whether one who comes later
// overtakes: it is first come, first served only if no run is served otherwise.
func (c *contract) observeFair(s *suite.Suite) Fairness {
	texts := []string{
		"limit=1 | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | release 1 @0 | release 2 @0 | idle 1ns",
		"limit=2 | acquire 1 @0 | acquire 2 @0 | acquire 3 @0 | acquire 4 @0 | acquire 5 @0 | " +
			"release 1 @0 | release 2 @0~ | idle 1ns",
		"limit=1 | acquire 1 @0 | acquire 2 @0 | release 1 @0 | acquire 3 @0~ | idle 1ns",
	}
	if !c.observeSingle(s) { // the lightest or the heaviest first
		texts = append(texts,
			"limit=2 | acquire 1 @0 | acquire 2 2 @0 | acquire 3 @0 | idle 1ns",
			"limit=2 | acquire 1 2 @0 | acquire 2 2 @0 | acquire 3 @0 | release 1 @0 | idle 1ns",
			"limit=2 | acquire 1 2 @0 | acquire 2 @0 | acquire 3 2 @0 | release 1 @0 | idle 1ns")
	}
	var runs []*suite.Recording
	for _, text := range texts {
		schedule := suite.MustParse(text)
		schedule.Config = c.traits.bounded(schedule.Config.Limit, 5, "1h")
		runs = append(runs, s.Try(schedule, inside.OrderSampled, often)...)
	}
	if slices.ContainsFunc(runs, func(rec *suite.Recording) bool { return seenIn(rec) == nil }) {
		return 0
	}
	for _, order := range []Fairness{FairFIFO, FairNone} {
		tr := c.traits
		tr.Fair = order
		breaks := func(rec *suite.Recording) bool {
			return !c.Exam(&tr, rec, suite.Job{Schedule: rec.Schedule, Order: rec.Order}).legal()
		}
		if !slices.ContainsFunc(runs, breaks) {
			return order
		}
	}
	return 0
}

// observeSingle observes whether a request takes one slot whatever it asks for, be it more than there are.
func (c *contract) observeSingle(s *suite.Suite) bool {
	single := func(text string) bool {
		seen := try(s, "limit=2 backlog=5 timeout=1h | "+text+" | acquire 2 @0 | acquire 3 @0")
		return seen.admitted(1) && seen.admitted(2) && !seen.admitted(3)
	}
	return c.traits.OneAtATime || single("acquire 1 2 @0") && single("acquire 1 9 @0")
}

// observeTryOvertakes observes whether a try takes what is free while one waits for more, where others
// are served in order.
func observeTryOvertakes(s *suite.Suite, tr *Traits) bool {
	if tr.Fair != FairFIFO || !tr.weighs() || !s.Accepts(verb.Try) {
		return false
	}
	seen := try(s, "limit=2 backlog=5 timeout=1h | acquire 1 @0 | acquire 2 2 @0 | try 3 @0")
	return seen.admitted(1) && !seen.admitted(2) && seen.admitted(3)
}

// observeOversize observes what becomes of a request for more than the limit.
func observeOversize(s *suite.Suite) int {
	seen := try(s, "limit=1 backlog=5 timeout=1h | acquire 1 2 @0")
	switch {
	case seen == nil || seen.requests[0].panicked != "":
		return 0
	case seen.admitted(1):
		const big = "limit=2 backlog=5 timeout=1h | acquire 1 3 @0 | "
		all, freed := try(s, big+"acquire 2 @0"), try(s, big+"release 1 @0 | acquire 2 2 @0")
		return suite.Number(all != nil && !all.admitted(2) && freed.admitted(2)) * int(OversizeClamped)
	case seen.rejected(1):
		return int(OversizeFails)
	}
	return int(OversizeBlocks)
}

// observeOverRelease observes what a release does when nothing is held: what it does at first, if the schedules
// by which that is judged show nothing else. Whatever else it does, its caller must not do it.
func (c *contract) observeOverRelease(s *suite.Suite) OverRelease {
	seen := firstOverRelease(s)
	if seen == 0 || seen == OverReleaseUndefined {
		return seen
	}
	c.traits.OverRelease = seen // until Table sets it back
	tr := c.traits
	f := &families{s: s, tr: &tr}
	f.overReleases(3)
	for _, family := range f.out {
		for _, schedule := range family.Schedules {
			for _, rec := range s.Try(schedule, inside.OrderSettled, 1) {
				x := c.Exam(&tr, rec, suite.Job{Schedule: schedule, Order: rec.Order, Family: overRelease})
				again := func(o conformance.Schedule) *suite.Recording {
					return slices.Concat(s.Try(o, inside.OrderSettled, 1), []*suite.Recording{rec})[0]
				}
				if seenIn(rec) == nil || x.misreleased() != nil {
					return OverReleaseUndefined
				}
				if v := x.afterOverRelease(again); v != nil {
					s.Tells(schedule, v.Headline)
					return OverReleaseUndefined
				}
			}
		}
	}
	return seen
}

// firstOverRelease observes what the first release of what nobody holds does.
func firstOverRelease(s *suite.Suite) OverRelease {
	seen := try(s, "limit=1 backlog=5 timeout=1h | acquire 1 @0 | release 1 @0 | release 9 @0")
	if !seen.admitted(1) {
		return 0
	}
	switch over := seen.groups[2].steps[0]; {
	case over.panicked != "":
		return OverReleasePanics
	case over.ended:
		return OverReleaseIgnored
	}
	return OverReleaseUndefined
}

// observeHook observes whether the hook is called for what is rejected. Where nothing is rejected
// there is none.
func observeHook(s *suite.Suite, tr Traits) Hook {
	if !tr.OneAtATime && tr.Oversize == OversizeFails {
		heavy := try(s, "limit=1 backlog=5 timeout=1h | acquire 1 2 @0")
		switch {
		case !heavy.rejected(1):
		case len(heavy.hooks) > 0:
			return HookOnce
		case observeFitting(s) == HookOnce:
			return HookFits
		}
	}
	return observeFitting(s)
}

// observeFitting observes whether the hook is called for requests that are rejected though they could
// have run.
func observeFitting(s *suite.Suite) (hook Hook) {
	for _, text := range []string{
		"limit=1 backlog=0 timeout=1h | acquire 1 @0 | acquire 2 @0",
		"limit=1 backlog=1 timeout=1h | acquire 1 @0 | acquire 2 @0 | acquire 3 @0",
		"limit=1 backlog=1 timeout=0 | acquire 1 @0 | acquire 2 @0",
		"limit=1 backlog=1 timeout=100ms | acquire 1 @0 | acquire 2 @0 | idle 1s",
	} {
		switch seen := try(s, text); {
		case seen == nil:
		case len(seen.hooks) > 0:
			return HookOnce
		default:
			hook = HookNone
		}
	}
	return hook
}

// try plays a schedule as if every bound were declared, and returns what became of its
// requests; nil if the run hangs or is left out, or the configuration is refused.
func try(s *suite.Suite, text string) *trace {
	if recs := s.TryText(text, inside.OrderSettled); len(recs) > 0 {
		return seenIn(recs[0])
	}
	return nil
}

// seenIn is what became of the requests of a run, nil if it did not come to its end.
func seenIn(rec *suite.Recording) *trace {
	seen, ok := rec.Detail.(*trace)
	unfinished := func(g *group) bool { return g.settled.Seq == 0 }
	if !ok || rec.Refused != "" || rec.LeftOut != "" || rec.Stuck || slices.ContainsFunc(seen.groups, unfinished) {
		return nil
	}
	return seen
}

// first returns 1 if yes, 2 if not, and 0 if the schedule was not played.
func first(seen *trace, yes bool) int {
	switch {
	case seen == nil:
		return 0
	case yes:
		return 1
	}
	return 2
}
