package debouncertest

import (
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/edge"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/verb"
)

// rule is one law of a debouncer. Rules look at whole traces, and where a step met a
// deadline they accept every order of the two.
type rule = suite.Rule[*Traits, *exam]

// exam is one run under judgement.
type exam struct {
	*suite.Recording
	traits   *Traits
	free     bool               // it was seen that a callback may call the implementation
	others   []conformance.Fire // those of other keys
	compares bool               // found is set
	found    []edge.Finding     // see differences
}

// Exam puts a trace in the terms of a debouncer.
func (c *contract) Exam(tr *Traits, rec *suite.Recording, _ suite.Job) *exam {
	return &exam{
		Recording: rec, traits: tr, free: c.spec.Traits.Reentrancy == ReentrancyAllowed,
	}
}

// configured reports whether an edge or a bound is configured: then the rules about the
// trailing edge alone do not judge.
func (x *exam) configured() bool {
	cfg := x.Schedule.Config
	return cfg.Has("edges") || cfg.Has("maxwait") || cfg.Has("k")
}

// told makes a violation with the lanes of a debouncer.
func (x *exam) told(at time.Duration, because, headline string, args ...any) *suite.Violation {
	return edge.Broken(x.Recording, at, because, headline, args...)
}

// Rules are the laws of a debouncer.
func (c *contract) Rules() []rule {
	all := slices.Concat(
		trailingLaws(),
		operationRules(),
		[]rule{stopRule()},
		waitRules(),
		[]rule{overlapRule()},
		edgeRules(),
		boundRules(),
		[]rule{noEdgeRule(), allRule(), closeRule()},
		keyRules(),
		[]rule{backRule()},
		c.commonRules(),
	)
	for i, r := range all {
		if !slices.Contains(whateverEdges, r.ID) {
			all[i].Declared = append([]string{"Edges"}, r.Declared...)
		}
		if r.Check == nil && r.Probe == nil { // a difference from the model
			all[i].Check = breaks(r.ID)
		}
	}
	return all
}

// whateverEdges are the rules that need not know on which edges a debouncer fires.
var whateverEdges = []string{"X-CLOCK1", "X-CALLS", "X-REENT", "X-LEAK", "X-RACE"}

// The two kinds of rules.
var core, extended = suite.Core, suite.Extended

// laws are the rules about a single debouncer on a clock that goes forward. Once one of
// them is broken, the rules about keys, instances and the like would only show the same
// mistake again.
var laws = []string{"DB-QUIET", "DB-EXACT", "DB-ONE", "DB-LAST", "DB-LIVE", "DB-IDLE", "DB-SUBSEQ",
	"DB-LEAD", "DB-LEAD1", "DB-REARM", "DB-LEADONLY", "DB-BOTH1", "DB-BOTHN", "X-CALLS"}

// noTrailing says that there is no trailing edge to judge.
func noTrailing(_ *suite.Suite, tr *Traits) string {
	return suite.If(len(tr.Edges) > 0 && !slices.Contains(tr.Edges, Trailing), "no trailing edge is declared")
}

// without says that none of these edges is declared.
func without(edges ...Edges) func(*suite.Suite, *Traits) string {
	return func(_ *suite.Suite, tr *Traits) string {
		declared := slices.ContainsFunc(edges, func(e Edges) bool { return slices.Contains(tr.Edges, e) })
		return suite.If(!declared, edge.NoSuchEdge)
	}
}

// A run in which the input ends, the clock is set back or events have keys is judged only
// by the rules made for that, and none in which callbacks take time until it is declared
// whether they overlap. Of the others, those in which an edge or a bound is
// configured are judged by the rules of edges and bounds, and the rest by those of the
// trailing edge.

// particular reports whether the run is judged only by rules made for it.
func (x *exam) particular() bool {
	cfg := x.Schedule.Config
	overlaps := cfg.Busy > 0 && x.traits.Overlap == 0 && slices.Contains(x.traits.Edges, Trailing)
	together := cfg.Busy > 0 && cfg.Inside != "" // callbacks that run at the same time call it
	return overlaps || together || x.mayWait() || slices.ContainsFunc(x.Schedule.Steps, func(s conformance.Step) bool {
		return s.Op == verb.Close || s.Op == verb.Wall || edge.Key(s) != 0
	})
}

// mayWait reports whether calls may have to wait for a callback that runs, so that nobody can tell when
// they count.
func (x *exam) mayWait() bool {
	return x.Schedule.Config.Busy > 0 && x.traits.Reentrancy == ReentrancyForbidden && !x.free
}

// ofTrailing selects the runs that the rules of the trailing edge judge.
func (x *exam) ofTrailing() bool {
	return !x.configured() && x.traits.built() == Trailing && !x.particular()
}

// ofEdges selects the runs that the rules of edges and bounds judge.
func (x *exam) ofEdges() bool { return x.configured() && !x.particular() }

// ofAnyEdge selects the runs that either judge.
func (x *exam) ofAnyEdge() bool { return x.ofTrailing() || x.ofEdges() }

// commonRules are those of every contract, as far as they concern a debouncer.
func (c *contract) commonRules() []rule {
	return []rule{
		{
			Rule: core("X-CONC", "When many goroutines call at one instant, each edge MUST fire once, even "+
				"if they flush too."),
			Meets: true,
			Probe: c.concurrent,
		},
		suite.OneClock[*Traits, *exam](edge.CallsAround("wait", opKeys), suite.FireMarks),
		{
			Rule: extended("X-ROW", "Calls of one goroutine at one instant MUST take effect in their order; "+
				"a cancel, flush, query or close right behind them MUST NOT overtake them."),
			Unless: func(s *suite.Suite, _ *Traits) string { return suite.If(!s.Bubble, suite.Unordered) },
			Probe:  c.inARow,
		},
		{
			Rule: extended("X-RENAME", "Every event MUST count, even one whose payload equals the last."),
			Probe: func(p *suite.Probe) (*suite.Violation, string) {
				return edge.Payloads(p, "wait", c.kinds())
			},
		},
		{
			Rule: extended("X-PANIC", "After a callback panics the debouncer MUST work on, and the panic "+
				"propagate or be recovered, as declared."),
			Declared: []string{"PanicPolicy"},
			Probe:    c.panics,
		},
		suite.Calls[*Traits]((*exam).calls),
		suite.Reentry("An operation called from the callback MUST NOT deadlock.",
			func(s *suite.Suite, tr *Traits) string { return edge.NoReentry(s, tr.Reentrancy) }, (*exam).Deadlock),
		suite.Leak[*Traits]("No goroutine or armed timer may remain while idle or after Stop.", (*exam).LeftBehind),
		suite.Race[*Traits, *exam](c.race, nil),
	}
}

func (x *exam) calls() *suite.Violation {
	cfg := x.Schedule.Config
	late := func(d *conformance.Done) bool { return edge.ClosedFirst(x.Recording, d) }
	return x.Misdone(mayBeRefused(cfg), late, cfg.Inside == "", x.told)
}

// mayBeRefused reports whether a constructor may refuse a configuration: a wait that is none, or
// shorter than timers are good for, or longer than the bound; and what is too long to count with.
func mayBeRefused(cfg conformance.Config) bool {
	return cfg.Wait < time.Millisecond || shortBound(cfg) || max(cfg.Wait, cfg.MaxWait) > suite.Century
}
