package conformance

import (
	"fmt"
	"slices"
	"time"
)

// quotaRules are the rules of RunQuota. Those of the model say which law the first
// decision that differs breaks.
var quotaRules = []rule{
	quoModel("SW-ANY", "In any time as long as the window at most the limit MUST be granted.", SlidingLog),
	quoModel("SW-EXP", "An event exactly as old as the window MUST be outside of it, or inside, as declared.", SlidingLog),
	quoModel("SW-WORK", "A request for which there is room in the window MUST be granted.", SlidingLog),
	quoModel("SW-DENYCOUNT", "Requests that were denied MUST count or not, as declared.", SlidingLog),
	quoModel("SC-APPROX", "A request MUST be granted if the estimate has room for it and denied if not, except within one event of the boundary; and any time as long as a window MUST see no more than twice the limit.", SlidingCounter),
	quoRule("SC-ORDER", "Instants that go back MUST NOT reset what was counted: no more is granted than the limit in each window that they span, and one more at either end.",
		(*exam).scOrder, []Op{OpAllow}, FixedWindow, SlidingLog, SlidingCounter),
	quoModel("SC-N1", "With a limit of 1 an event MUST be granted when two windows are empty, and no other in its window.", SlidingCounter),
	quoModel("SC-FIRST", "Windows MUST begin where it is declared, the first one too.", SlidingCounter),
	quoModel("FW-ALIGNED", "In each window, which begins where it is declared, at most the limit MUST be granted.", FixedWindow),
	quoRule("FW-2N", "Any time as long as a window MUST see no more than twice the limit.", (*exam).fwTwice, nil, FixedWindow),
	quoModel("FW-NOEXTEND", "Requests MUST NOT extend a window: the next one begins when it is due, and has its limit.", FixedWindow),
	quoModel("FW-EDGE", "The instant at which a window ends MUST belong to the next, or not, as declared.", FixedWindow),
	quoModel("FW-HIT", "A request MUST be granted up to and including the one that uses up the limit.", FixedWindow),
	quoModel("GC-EQUIV", "Every decision MUST be that of the token bucket.", GCRA),
	quoModel("GC-BURST", "Of a new limiter exactly the burst MUST be granted at once.", GCRA),
	quoModel("GC-TAT", "After any idle time, and whatever instants come, no more than the burst MUST be granted on top of the rate.", GCRA),
	quoRule("GC-RETRY", "A request that was denied MUST be granted after exactly the RetryAfter of its answer, and not a nanosecond before.",
		(*exam).gcRetry, []Op{OpAllow}, FixedWindow, SlidingLog, GCRA),
	quoRule("GC-RETRYNEG", "The RetryAfter of a request that can never be granted MUST be what is declared.",
		(*exam).gcRetryNever, []Op{opMany}),
	quoRule("GC-REMAIN", "Remaining MUST be how many more events would be granted at once: never less than 0 or more than the limit.",
		(*exam).gcRemain, []Op{OpAllow}, FixedWindow, SlidingLog, GCRA),
	quoRule("GC-RESET", "After ResetAfter, and not before, the limiter MUST be as if new.",
		(*exam).gcReset, []Op{OpAllow}, FixedWindow, SlidingLog, GCRA),
	quoRule("GC-DENYPURE", "A request that is denied MUST leave no trace, unless it is declared to count.", (*exam).gcDenyPure, []Op{OpAllow}),
	quoRule("GC-PEEKPURE", "To ask without taking, or for 0, MUST leave no trace.", (*exam).gcPeekPure, nil),
	quoRule("GC-NEG", "A request for a negative number MUST leave no trace.", (*exam).gcNegative, []Op{opMany}),
	quoRule("RL-NBIG", "A request for more than the limit, or the burst, MUST NOT be granted, however large, and MUST leave no trace.", (*exam).quoBig, []Op{opMany}),
	quoRule("X-CALLS", "Every operation of a legal schedule MUST return and MUST NOT panic.", (*exam).quoCalls, nil),
	quoRule("X-CFG", "A limiter whose limit, burst or window makes no sense, or cannot be counted with, MUST be refused by its constructor, or keep working: it does not panic later and is not unlimited.",
		(*exam).quoConfig, []Op{OpAllow}),
	quoRule("X-LEAK", "When all is quiet, and after Stop, no goroutine and no armed timer MUST remain.",
		func(x *exam) *violation { return x.xLeft() }, nil),
	{Rule: Rule{"X-CONC", "Requests made at one instant by many goroutines MUST together get what some order of them gets, whoever peeks meanwhile.", lawsLink + "x-conc", Core},
		probe: (*contract).quotaConcurrent, skip: needs([]Op{OpAllow})},
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).quotaRace, skip: withoutRaceDetector, live: true},
}

// otherKind is why rules of other kinds are skipped. They do not count as core then.
const otherKind = "about another kind of limiter"

func quoRule(id, text string, check func(*exam) *violation, ops []Op, kinds ...QuotaKind) rule {
	base, level := needs(ops), Core
	if id == "GC-RETRY" || id == "GC-RETRYNEG" || id == "GC-REMAIN" || id == "GC-RESET" {
		level = Extended // for those who answer it
	}
	return rule{
		Rule: Rule{id, text, lawsLink + anchor(id), level},
		skip: func(c *contract) string {
			tr := c.quo.Traits
			if len(kinds) > 0 && !slices.Contains(kinds, c.quo.Kind) {
				return otherKind
			}
			switch why := base(c); {
			case why != "":
				return why
			case id == "X-LEAK" && !c.lab.bubble:
				return "goroutines can only be told apart in a bubble"
			case id == "X-LEAK" || id == "X-CALLS" || id == "X-CFG":
				return ""
			case id == "SC-ORDER" && c.time != Explicit:
				return "only explicit instants can go back"
			case (id == "SC-ORDER" || id == "GC-TAT") && tr.BackTime == BackRewind:
				return "declared: BackRewind"
			case (id == "GC-RETRY" || id == "GC-RETRYNEG") && tr.Answers&AnswersRetry == 0:
				return "RetryAfter is not answered"
			case id == "GC-REMAIN" && tr.Answers&AnswersRemaining == 0:
				return "Remaining is not answered"
			case id == "GC-RESET" && tr.Answers&AnswersReset == 0:
				return "ResetAfter is not answered"
			case (id == "GC-DENYPURE" || id == "GC-RETRY") && tr.Denied == DeniedCounted:
				return "declared: DeniedCounted"
			}
			for _, t := range c.traits {
				if t.declared == 0 && !t.needless() {
					return "trait " + t.name + " is undeclared"
				}
			}
			return ""
		},
		trace: check,
	}
}

// quoModel makes a rule that the first difference from the model may break.
func quoModel(id, text string, kind QuotaKind) rule {
	return quoRule(id, text, func(x *exam) *violation {
		if id == "GC-TAT" && !x.inOrder() {
			return x.gcSpan()
		}
		if id == "SC-APPROX" {
			if found := x.fwTwice(); found != nil {
				return found
			}
		}
		if v := x.quotaView(); x.ordinary() && v.bad >= 0 && v.rule == id {
			s := v.steps[v.bad]
			got, want := "denied", "granted"
			if s.OK {
				got, want = want, got
			}
			return x.reply(s.At, v.because(s), "allow %d at %s was %s, want %s", s.N, duration(s.At), got, want)
		}
		return nil
	}, []Op{OpAllow}, kind)
}

// fwTwice looks for a window's time with more than twice the limit.
func (x *exam) fwTwice() *violation {
	if !x.ordinary() {
		return nil
	}
	cfg := x.Schedule.Config
	for i, a := range x.Done {
		sum := 0
		for _, b := range x.Done[i:] {
			if b.At-a.At >= cfg.Rate.Per {
				break
			}
			if b.OK {
				sum += b.N
			}
			if sum > 2*cfg.Rate.Events {
				return x.reply(b.At, fmt.Sprintf("the limit is %d in %s", cfg.Rate.Events, duration(cfg.Rate.Per)),
					"%d were granted from %s to %s, want %d at the most", sum, duration(a.At), duration(b.At), 2*cfg.Rate.Events)
			}
		}
	}
	return nil
}

// scOrder bounds what instants that go back bring, by the windows they span.
func (x *exam) scOrder() *violation {
	cfg := x.Schedule.Config
	return x.span(func(span time.Duration) int { return cfg.Rate.Events * (int(span/cfg.Rate.Per) + 2) })
}

// gcSpan does for GCRA.
func (x *exam) gcSpan() *violation {
	cfg := x.Schedule.Config
	t := cfg.Rate.Per / time.Duration(cfg.Rate.Events)
	return x.span(func(span time.Duration) int { return cfg.Burst + int(span/t) })
}

func (x *exam) span(most func(span time.Duration) int) *violation {
	if x.Refused != "" || x.Stuck || x.inOrder() || len(x.Done) == 0 {
		return nil
	}
	sum := 0
	lo, hi := x.Done[0].At, x.Done[0].At
	for i, d := range x.Done {
		lo, hi = min(lo, d.At), max(hi, d.At)
		if d.OK && d.N > 0 {
			sum += d.N
		}
		if limit := most(hi - lo + 2*x.c.quo.Traits.Grain); sum > limit { // either end may be off by the grain
			return x.reply(d.At, fmt.Sprintf("all instants lie between %s and %s; asking about an earlier one brings nothing", duration(lo), duration(hi)),
				"%d were granted by step %d, want %d at the most", sum, i+1, limit)
		}
	}
	return nil
}

func (x *exam) quoCalls() *violation {
	if x.c.oddQuota(x.Schedule.Config) && !x.Stuck {
		return nil // X-CFG says what comes of it
	}
	for _, d := range x.Done {
		if odd := d.Op == OpAllow && (d.N < 1 || d.N > x.full()); d.Panic != "" && !odd {
			return x.reply(d.At, "", "%s panicked: %s", d.Step, d.Panic)
		}
		if d.Ended.Seq == 0 && x.Stuck {
			return x.reply(d.At, "", "%s never returned", d.Step)
		}
	}
	if x.Refused != "" && x.job.family != "other windows" {
		return &violation{Headline: fmt.Sprintf("the constructor refused %s: %s", x.Schedule.Config, x.Refused)}
	}
	return nil
}
