package throttletest

import (
	"cmp"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// callbacks are the schedules whose callbacks do something, of one kind of edge.
func (c *contract) callbacks(s *suite.Suite, e Edges) []suite.Family {
	cfg := base.With("edges", e.String())
	var out []suite.Family
	if e&Trailing != 0 {
		out = append(out, suite.Family{Name: "zero payload " + e.String(),
			Schedules: suite.ParseAll(cfg.String() + " | call 1 @0 | call 0 @1ns")})
	}
	switch {
	case c.explicit() || e == NoEdges:
		return out
	case s.Accepts(verb.Fault):
		return append(out, c.slowReader(s, e)...) // there are no callbacks
	}
	forbidden := edge.NoReentry(s, c.spec.Traits.Reentrancy)
	ops := s.Supported(verb.Call, verb.Stop)
	if e == Leading {
		ops = append(ops, s.Supported(verb.Reset)...)
	} else {
		ops = append(ops, s.Supported(verb.Flush)...)
	}
	for _, op := range ops {
		if forbidden != "" {
			continue
		}
		cfg := cfg.With("inside", string(op))
		within := numbered(cfg, calls, []time.Duration{1, suite.Wait + 1}, 2)
		if s.Accepts(verb.Flush) && e&Trailing != 0 {
			within = append(within, suite.Ending(numbered(cfg, calls, []time.Duration{1}, 2), verb.Flush,
				[]time.Duration{suite.Wait / 2})...)
		}
		if e == LeadingAndTrailing { // the first callback is that of the leading edge
			within = append(within, edge.InsideTrailing(s, cfg)...)
		}
		out = append(out, suite.Family{Name: "inside " + string(op) + " " + e.String(), Schedules: within})
	}
	if e&Leading != 0 && forbidden == "" && c.spec.Traits.Anchor == AnchorStart {
		zero := suite.Configured("interval", "0", "edges", e.String(), "inside", string(verb.Call))
		out = append(out, suite.Family{Name: "inside zero " + e.String(), Skip: cmp.Or(s.Unsettled(), s.Livelocks()),
			Schedules: numbered(zero, calls, []time.Duration{1}, 2)})
	}
	return append(out, c.slow(s, e, cmp.Or(edge.Slow(s, c.spec.Traits.Reentrancy), forbidden))...)
}

// slowReader are the schedules of a stream whose reader takes its time, if it is declared from where an interval
// counts: where that is when the stream has made up its mind, items may be delivered sooner after each other.
func (c *contract) slowReader(s *suite.Suite, e Edges) []suite.Family {
	if c.spec.Traits.Anchor == 0 {
		return nil
	}
	var out []suite.Family
	for _, f := range c.slow(s, e, edge.Slow(s, c.spec.Traits.Reentrancy)) {
		steps := func(t conformance.Schedule) bool {
			return t.Config.Interval == 0 || !onlyCalls(suite.Job{Schedule: t})
		}
		if f.Schedules = slices.DeleteFunc(f.Schedules, steps); len(f.Schedules) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// slow are the schedules whose callbacks take time, all of them or the first alone, for less or
// for more than the interval; Stop and Flush come while one runs, or soon after.
func (c *contract) slow(s *suite.Suite, e Edges, skip string) []suite.Family {
	const brief, long = suite.Wait * 3 / 10, suite.Wait * 5 / 2
	cfg := base.With("edges", e.String())
	var out []suite.Family
	family := func(name string, schedules []conformance.Schedule) {
		out = append(out, suite.Family{Name: "busy " + name + " " + e.String(), Skip: skip, Schedules: schedules})
	}
	for _, busy := range []time.Duration{brief, long} {
		text := timeline.Duration(busy)
		cfg := cfg.With("busy", text)
		gaps := []time.Duration{1, suite.Wait / 2, suite.Wait + 10, busy + 1}
		family(text, numbered(cfg, calls, gaps, 3))
		for _, op := range s.Supported(verb.Stop, verb.Flush) {
			if op != verb.Flush || e&Trailing != 0 {
				family(text+" "+string(op), suite.Ending(numbered(cfg, calls, gaps, 2), op,
					[]time.Duration{1, suite.Wait/10 + 7, suite.Wait * 6 / 5}))
			}
		}
	}
	text := timeline.Duration(long)
	family("once", numbered(cfg.With("busy", text).With("busyruns", "1"), calls,
		[]time.Duration{1, suite.Wait / 2, suite.Wait + 10, long + 1}, 3))
	if e&Leading != 0 && c.spec.Traits.Anchor == AnchorStart {
		skip = cmp.Or(skip, s.Unsettled(), s.Livelocks())
		text := timeline.Duration(brief)
		family("zero", numbered(suite.Configured("interval", "0", "edges", e.String(), "busy", text), calls,
			[]time.Duration{1, brief / 3, brief + 1}, 4))
	}
	return out
}

// flushedBusy judges a flush while callbacks take time: what is pending comes at once, or when
// the callbacks that run have ended.
func (x *exam) flushedBusy() *suite.Violation {
	if x.traits.Payload != LastPayload {
		return nil
	}
	for _, d := range x.Done {
		if d.Op != verb.Flush || d.Inside {
			continue
		}
		var newest *conformance.Done // of the events that the throttle had when the flush began
		for i := range x.Done {
			if e := &x.Done[i]; brings(*e) && e.Ended.Seq > 0 && e.Ended.Seq < d.Began.Seq {
				newest = e
			}
		}
		by := x.runsUntil(d.Began.At)
		if newest == nil || slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			had := f.Value == newest.N && f.Began.Seq < d.Began.Seq
			return had || f.Began.Seq > d.Began.Seq && f.Began.At <= by
		}) {
			continue
		}
		return x.broken(by, edge.Text("call %d was pending, and no callback ran any more", newest.N),
			"nothing was emitted by %s, after the flush at %s", by, d.Began.At)
	}
	return nil
}

// zeroBusy judges runs with an interval of 0 whose callbacks take time, or bring an event at their
// instant, or whose events come without a pause. An interval that counts from the end of its callback lasts
// as long as that, so that only AnchorStart is judged.
func (x *exam) zeroBusy() *suite.Violation {
	racing := x.Schedule.RacingSteps() > 0
	atOnce := x.Schedule.Config.Inside != "" || racing
	if x.Reentered() != nil || atOnce && x.traits.zeroHolds() || racing && x.edges != Leading {
		return nil
	}
	inline := racing && x.traits.Anchor == 0 && x.inline()
	if x.traits.Anchor != AnchorStart && !inline || x.payload == NoPayload {
		return nil
	}
	for _, d := range x.Done {
		if d.Op == verb.Call && !slices.ContainsFunc(x.Fires, func(f conformance.Fire) bool {
			return f.Value == d.N
		}) {
			return x.broken(d.At, "the interval is 0"+suite.If(!inline, ", and AnchorStart is declared"),
				"call %d was not emitted by %s", d.N, x.End)
		}
	}
	return nil
}

// inline reports whether the first event was emitted before its call returned, so that no callback runs when the next
// one comes.
func (x *exam) inline() bool {
	return len(x.Fires) > 0 && len(x.Done) > 0 && x.Fires[0].Began.Seq < x.Done[0].Ended.Seq
}

// anchored judges from where the intervals of callbacks count that take time. What comes after a Stop or a flush is a
// choice. On the trailing edge an event that is the first since an emission, whose callback is over, is emitted at the
// end of the interval which that one has begun, or which the event has: an interval after the callback is neither.
func (x *exam) anchored() *suite.Violation {
	interval, brief := x.Schedule.Config.Interval, x.Schedule.Config.Busy < x.Schedule.Config.Interval
	start := x.traits.Anchor == AnchorStart
	if x.has(verb.Stop) || x.has(verb.Flush) {
		return nil
	}
	if start && (x.edges == Leading || x.edges == LeadingAndTrailing && brief) {
		if v := x.held(true); v != nil {
			return v
		}
	}
	for i := 1; i < len(x.Fires); i++ {
		f, last := x.Fires[i], x.Fires[i-1]
		at, comes := f.Began.At, x.firstSince(last.Began.At)
		near := func(want time.Duration) bool { return at >= want-1 && at <= want+1 }
		own := near(last.Began.At+interval) || near(comes+interval) || at <= comes || comes <= last.Ended.At
		ran := edge.Text("the callback before it ran from %s to %s, and ", last.Began.At, last.Ended.At)
		switch {
		case last.Ended.Seq == 0 || last.Ended.At >= at: // one that ends at this instant may be over or not
		case !start && x.edges == Leading && at-last.Ended.At < interval-1:
			return x.broken(at, ran+"AnchorEnd is declared", "emitted at %s, want no emission", at)
		case start && brief && x.edges&Trailing != 0 && at == last.Ended.At+interval && !own:
			return x.broken(at, ran+"AnchorStart is declared",
				"emitted at %s, an interval after the end of a callback", at)
		}
	}
	return nil
}

// firstSince is when the first event comes that does not come before an instant.
func (x *exam) firstSince(from time.Duration) time.Duration {
	for _, s := range x.Schedule.Steps {
		if s.Op == verb.Call && s.At >= from {
			return s.At
		}
	}
	return far
}
