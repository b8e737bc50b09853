package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// debouncerRules are the rules of RunDebouncer. Each is one law; the formulas are
// over the whole trace, and where a step met a deadline they accept every order.
var debouncerRules = []rule{
	debRule("DB-QUIET", Core, "A trailing fire MUST come no earlier than the wait after the newest event.",
		nil, nil, (*exam).dbQuiet),
	debRule("DB-EXACT", Core, "On a fake clock a trailing fire MUST come at exactly the newest event plus the wait; behind a callback that still runs, at that callback's end.",
		nil, nil, (*exam).dbExact),
	debRule("DB-ONE", Core, "A burst MUST fire at most once.",
		nil, nil, (*exam).dbOne),
	debRule("DB-LAST", Core, "The callback MUST get the payload of the event that the implementation declares: the newest, or the first of the burst.",
		nil, []string{"Payload"}, (*exam).dbLast),
	debRule("DB-LIVE", Core, "When events stop and nothing discards them, the burst MUST fire, also if its events came while the callback was running.",
		nil, nil, (*exam).dbLive),
	debRule("DB-IDLE", Core, "The callback MUST NOT run without an event that has not fired yet.",
		nil, nil, (*exam).dbIdle),
	debRule("DB-SUBSEQ", Core, "The payloads fired MUST be a subsequence of the payloads called: none invented, repeated or out of order.",
		nil, []string{"Payload"}, (*exam).dbSubseq),
	debRule("DB-GAPRATE", Core, "Two successive trailing fires MUST be at least the wait apart.",
		nil, nil, (*exam).dbGapRate),
	debRule("DB-TIE", Core, "An event at the very instant of the deadline MUST either let the old burst fire there and start a new one, or join it; as declared, and never both.",
		nil, []string{"Tie"}, (*exam).dbTie),
	debRule("DB-NOSTALE", Extended, "Once a call has returned, a callback for an older event MUST NOT start within the wait.",
		nil, []string{"StaleFire"}, (*exam).dbNoStale),
	debRule("DB-CANCEL", Core, "Cancel MUST discard the pending event: nothing fires for it.",
		[]Op{OpCancel}, nil, (*exam).dbCancel),
	debRule("DB-CANCELBAR", Extended, "After the return of Cancel no callback MUST start that its promise excludes: for what it reported cancelled (commit), or at all (finish).",
		[]Op{OpCancel}, []string{"CancelBarrier"}, (*exam).dbCancelBar),
	debRule("DB-REUSE", Core, "After Cancel a new event MUST start a new burst, unless Cancel is declared final; then nothing MUST fire any more.",
		[]Op{OpCancel}, []string{"AfterCancel"}, (*exam).dbReuse),
	debRule("DB-FLUSH", Core, "Flush MUST fire a pending event at once and exactly once.",
		[]Op{OpFlush}, nil, (*exam).dbFlush),
	debRule("DB-FLUSH0", Core, "Flush without a pending event MUST NOT fire.",
		[]Op{OpFlush}, nil, (*exam).dbFlush0),
	debRule("DB-PEND", Core, "Pending MUST be true exactly while an event has neither fired nor been discarded, and false in the callback that fires it.",
		[]Op{OpPending}, nil, (*exam).dbPend),
	debRule("DB-STOP", Core, "After Stop nothing MUST fire; Stop MUST be idempotent, and a call after it MUST be harmless.",
		[]Op{OpStop}, []string{"StopPending"}, (*exam).dbStop),
	debRule("DB-ZERO", Core, "With a wait of 0 every event MUST fire at its own instant, as declared, unless the constructor refuses it.",
		nil, []string{"ZeroWait"}, (*exam).dbZero),
	debRule("DB-NEG", Core, "A negative wait MUST be refused by the constructor, or mean 0.",
		nil, []string{"ZeroWait"}, (*exam).dbNeg),
	debRule("DB-OVERLAP", Extended, "Callbacks that are declared serial MUST NOT overlap.",
		nil, []string{"Overlap"}, (*exam).dbOverlap),
	debRule("DB-LEAD", Extended, "On the leading edge the first event of all MUST fire at its own instant, with its own payload.",
		nil, nil, edgeCheck("DB-LEAD")),
	debRule("DB-LEAD1", Extended, "No event but the first of a burst MUST fire on the leading edge; a burst lasts until the wait has passed since its newest event.",
		nil, nil, edgeCheck("DB-LEAD1")),
	debRule("DB-REARM", Extended, "Once the wait has passed without an event, the next one MUST fire on the leading edge again, whatever came before.",
		nil, nil, edgeCheck("DB-REARM")),
	debRule("DB-LEADONLY", Extended, "With the leading edge alone nothing MUST fire on the trailing edge.",
		nil, nil, edgeCheck("DB-LEADONLY")),
	debRule("DB-BOTH1", Extended, "With both edges a burst of one event MUST fire once, or twice, as declared.",
		nil, []string{"BothSingle"}, edgeCheck("DB-BOTH1")),
	debRule("DB-BOTHN", Extended, "With both edges a burst of several events MUST fire on the trailing edge too, once, with the payload that is declared.",
		nil, []string{"BothSingle", "Payload"}, edgeCheck("DB-BOTHN")),
	debRule("DB-MAX", Extended, "With a bound on the wait, what is pending MUST fire when the bound has passed since the first event that has not fired, without another event; or with the next one, as declared.",
		nil, nil, edgeCheck("DB-MAX")),
	debRule("DB-MAXNE", Extended, "The bound MUST cut no wait short: nothing fires before the wait since the newest event, or the bound since the first that has not fired, has passed.",
		nil, nil, edgeCheck("DB-MAXNE")),
	debRule("DB-MAXTAIL", Extended, "With a bound on the wait, events MUST still fire when the wait has passed since the newest, those after a fire of the bound too.",
		nil, nil, edgeCheck("DB-MAXTAIL")),
	debRule("DB-MAXPAY", Extended, "A fire of the bound MUST carry the payload that is declared, of the events up to that instant.",
		nil, []string{"Payload"}, edgeCheck("DB-MAXPAY")),
	debRule("DB-NONE", Extended, "With no edge at all nothing MUST fire, by a bound neither, unless the constructor refuses it.",
		nil, nil, edgeCheck("DB-NONE")),
	debRule("DB-ALL", Extended, "A callback that is declared to get all events MUST get each that has not fired and was not discarded, once and in order.",
		nil, nil, (*exam).dbAll),
	debRule("DB-CLOSE", Extended, "When the input ends, what is pending MUST fire at once, fire at its time or be dropped, as declared, and nothing more.",
		[]Op{OpClose}, nil, (*exam).dbClose),
	debRule("DB-KEY", Extended, "Each key MUST have a wait of its own.",
		nil, nil, (*exam).dbApart),
	debRule("X-ISO", Core, "Instances MUST NOT share state.",
		nil, []string{"Payload"}, (*exam).dbApart),
	debRule("X-BACK", Extended, "When the clock is set back, what is pending MUST fire once, and be held up for one wait at most.",
		nil, nil, (*exam).dbBack),
	{Rule: Rule{"X-CONC", "Of events that many goroutines bring at one instant each edge MUST fire once, also if they flush them.", lawsLink + "x-conc", Core},
		probe: (*contract).debouncerConcurrent},
	{Rule: Rule{"X-CLOCK1", "No other clock than the one injected MUST have any influence.", lawsLink + "x-clock1", Core},
		probe: (*contract).otherClock, skip: func(c *contract) string { return debOptOut("X-CLOCK1", c) }},
	{Rule: Rule{"X-PANIC", "After the panic of a callback the debouncer MUST work on, and the panic go where it is declared to go.", lawsLink + "x-panic", Extended},
		probe: (*contract).panics, skip: func(c *contract) string { return debOptOut("X-PANIC", c) }},
	debRule("X-CALLS", Core, "Every operation of a legal schedule MUST return and MUST NOT panic.",
		nil, nil, (*exam).xCalls),
	debRule("X-REENT", Core, "An operation called from the callback MUST NOT deadlock.",
		nil, nil, (*exam).xReent),
	debRule("X-LEAK", Core, "When all is quiet, and after Stop, no goroutine and no armed timer MUST remain.",
		nil, nil, (*exam).xLeak),
	{Rule: Rule{"X-RACE", "Concurrent use of all operations MUST be free of data races.", lawsLink + "x-race", Core},
		probe: (*contract).debouncerRace, skip: withoutRaceDetector, live: true},
}

// debRule makes a rule that judges traces; skipping follows from the operations
// and traits it needs, and from declarations that opt out.
func debRule(id string, level Level, text string, ops []Op, traits []string, check func(*exam) *violation) rule {
	base := needs(ops, traits...)
	return rule{
		Rule:  Rule{id, text, lawsLink + anchor(id), level},
		trace: check,
		skip: func(c *contract) string {
			for _, why := range []string{edgeOptOut(id, c.deb.Traits), base(c)} {
				if why != "" {
					return why
				}
			}
			return debOptOut(id, c)
		},
	}
}

// noTrailing is why the rules of the trailing edge are skipped. They do not count as
// core then.
const noTrailing = "no trailing edge is declared"

// edgeOptOut says why the edges that are declared take the rule out of force.
func edgeOptOut(id string, tr DebounceTraits) string {
	if needs, ok := edgeRules[id]; ok {
		return needs(tr)
	}
	if len(tr.Edges) > 0 && !slices.Contains(tr.Edges, Trailing) && !strings.HasPrefix(id, "X-") && !onAnyEdge[id] {
		return noTrailing
	}
	return ""
}

// debOptOut says why a declared trait takes the rule out of force.
func debOptOut(id string, c *contract) string {
	tr := c.deb.Traits
	switch {
	case id == "DB-NOSTALE" && tr.StaleFire == StaleAllowed:
		return "declared: StaleAllowed"
	case id == "DB-CANCELBAR" && tr.CancelBarrier == NoBarrier:
		return "declared: NoBarrier"
	case id == "DB-CANCELBAR" && tr.CancelBarrier == CommitBarrier && !c.accepts(opReports):
		return "declared: CommitBarrier, but Cancel reports nothing; set CancelReports"
	case id == "DB-OVERLAP" && tr.Overlap == Parallel:
		return "declared: Parallel"
	case (id == "DB-SUBSEQ" || id == "DB-LAST") && tr.Payload == NoPayload:
		return "declared: NoPayload"
	case id == "X-REENT" && tr.Reentrancy == ReentrancyForbidden:
		return "declared: ReentrancyForbidden"
	case id == "DB-ALL" && tr.Payload != AllPayloads:
		return "no Payload: AllPayloads is declared"
	case id == "DB-CLOSE" && tr.CloseFlush == 0:
		return "no CloseFlush is declared"
	case id == "DB-KEY" && !c.accepts(opKeys):
		return "the implementation has no " + string(opKeys)
	case (id == "DB-KEY" || id == "X-ISO" && c.accepts(opKeys)) && tr.Payload == NoPayload:
		return "declared: NoPayload, so nobody can tell for which key a callback runs"
	case id == "X-BACK" && tr.ClockBack != BackBounded:
		return "no ClockBack: BackBounded is declared"
	case (id == "X-BACK" || id == "X-CLOCK1") && c.time == PackageTime:
		return "no clock is injected"
	case id == "X-CLOCK1" && !c.lab.bubble:
		return "package time can only be held in a bubble"
	case id == "X-PANIC" && tr.PanicPolicy == 0:
		return "no PanicPolicy is declared"
	case id == "X-LEAK" && !c.lab.bubble:
		return "goroutines can only be told apart in a bubble"
	}
	return ""
}

// say makes a violation, of a debouncer with its lanes.
func (x *exam) say(at time.Duration, because, headline string, args ...any) *violation {
	v := &violation{Headline: fmt.Sprintf(headline, args...), Because: because, At: at}
	if x.c.deb != nil {
		v.Lanes = x.debLanes()
		if x.deb().received {
			v.Because += "; of what comes during a callback the wait counts from its end, as SerialReceiver is declared"
		}
	}
	return v
}

// plain reports whether the trace is one that timing laws can judge.
func (x *exam) plain() bool { return x.Refused == "" && !x.Stuck && x.deb().wait > 0 }

// fires calls f for each fire that no flush caused, until it finds something.
func (x *exam) fires(f func(i int, fire *Fire) *violation) *violation {
	for i := range x.Fires {
		if x.deb().flush[i] != nil || x.byStop(&x.Fires[i]) {
			continue
		}
		if v := f(i, &x.Fires[i]); v != nil {
			return v
		}
	}
	return nil
}

// byStop reports whether a Stop that flushes may have caused the fire.
func (x *exam) byStop(f *Fire) bool {
	if t := x.c.deb.Traits.StopPending; t == StopDrops {
		return false
	}
	return slices.ContainsFunc(x.deb().ops, func(d *Done) bool {
		return d.Op == OpStop && d.Began.Seq < f.Began.Seq &&
			(d.Began.At == f.Began.At || d.Ended.Seq == 0 || f.Began.Seq < d.Ended.Seq || x.deb().inRow(x.Trace, d.Began.At, f))
	})
}

// waited reports whether fire i may have been decided earlier and have waited for a
// callback to end.
func (x *exam) waited(i int) bool {
	return x.c.deb.Traits.Overlap != Parallel && x.deb().queued(x.Trace, i, x.Fires[i].Began.At-1)
}

func restarts(c *Done, wait time.Duration) string {
	return fmt.Sprintf("call %d at %s restarts the %s wait", c.N, duration(c.Began.At), duration(wait))
}

func (x *exam) dbQuiet() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	return x.fires(func(i int, f *Fire) *violation {
		at := f.Began.At
		c := v.newest(f.Began.Seq, at)
		own := v.byN[f.Value]
		if x.waited(i) {
			c = nil // a newer call may have come while it waited
			if own != nil && own.Began.At < at {
				c = own
			}
		}
		if x.c.deb.Traits.Payload.ofNewest() && own != nil && own.Began.Seq < f.Began.Seq &&
			(c == nil || own.Began.At > c.Began.At) {
			c = own // it fired for an event of this very instant
		}
		if c == nil || at-c.Began.At >= v.wait || at-c.Began.At < 0 {
			return nil
		}
		return x.say(at, restarts(c, v.wait), "fired at %s, want %s", duration(at), duration(c.Began.At+v.wait))
	})
}

func (x *exam) dbExact() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	for _, b := range v.bursts {
		if b.open || b.killed != nil {
			continue
		}
		to := x.end()
		if b.next != nil {
			to = b.next.first.Began.Seq
		}
		f := v.served(x.Trace, b.last, to)
		if f == nil || f.Began.At <= b.due {
			continue
		}
		if busy := v.running(x.Trace, b.due); busy != nil && x.c.deb.Traits.Overlap != Parallel && x.endsAt(f.Began.At, f) {
			continue
		}
		return x.say(b.due, fmt.Sprintf("call %d at %s was the newest, and the wait is %s", b.last.N, duration(b.last.Began.At), duration(v.wait)),
			"fired at %s, want %s", duration(f.Began.At), duration(b.due))
	}
	return nil
}

// end is a point after everything recorded.
func (x *exam) end() int { return math.MaxInt }

// endsAt reports whether a callback other than f ended at the instant at.
func (x *exam) endsAt(at time.Duration, f *Fire) bool {
	for i := range x.Fires {
		if g := &x.Fires[i]; g != f && g.Began.Seq < f.Began.Seq && g.Ended.Seq != 0 && g.Ended.At == at {
			return true
		}
	}
	return false
}

func (x *exam) dbOne() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	for _, b := range v.bursts {
		to := x.end()
		if b.next != nil {
			to = b.next.first.Began.Seq
		}
		if b.killed != nil {
			to = min(to, b.killed.Began.Seq)
		}
		n := 0
		found := x.fires(func(i int, f *Fire) *violation {
			if f.Began.Seq < b.first.Began.Seq || f.Began.Seq > to || f.Began.At > b.due || f.Began.At == b.first.Began.At {
				return nil
			}
			if own := v.byN[f.Value]; x.waited(i) && (!v.newestPayload || own != nil && own.Began.Seq < b.first.Began.Seq) {
				return nil // it may be the burst before, which was due behind a callback
			}
			if n++; n < 2 {
				return nil
			}
			return x.say(f.Began.At, fmt.Sprintf("the events from call %d to call %d are less than %s apart: one burst", b.first.N, b.last.N, duration(v.wait)),
				"fired %d times by %s for one burst, want once at %s", n, duration(f.Began.At), duration(b.due))
		})
		if found != nil {
			return found
		}
	}
	return nil
}

func (x *exam) dbLast() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	fired := map[int]bool{}
	for i, f := range x.Fires {
		own := v.byN[f.Value]
		if own == nil || fired[f.Value] || own.Began.Seq > f.Began.Seq || x.waited(i) {
			continue // DB-SUBSEQ's, or decided before it started
		}
		fired[f.Value] = true
		before := v.newest(f.Began.Seq, f.Began.At)
		latest := v.newest(f.Began.Seq, f.Began.At+1)
		if latest == nil || own == before || own == latest {
			if x.c.deb.Traits.Payload.ofNewest() {
				if v.flush[i] != nil && own != latest && latest != nil && !v.flush[i].Racing && !latest.Racing {
					return x.say(f.Began.At, fmt.Sprintf("call %d at %s is the newest event", latest.N, duration(latest.Began.At)),
						"fired with payload %d, want %d", f.Value, latest.N)
				}
				continue
			}
		}
		want := before
		if v.flush[i] != nil || x.byStop(&x.Fires[i]) || want == nil {
			want = latest
		}
		if x.c.deb.Traits.Payload == FirstPayload {
			b := v.burstOf(want)
			if b == nil || b.open || own == b.first || v.running(x.Trace, b.due) != nil || v.joins(b, own) {
				continue
			}
			want = b.first
		} else if slices.ContainsFunc(v.ops, func(d *Done) bool { return d.Racing && d.Began.At == f.Began.At }) && own == before {
			continue
		}
		if want == nil || want == own {
			continue
		}
		return x.say(f.Began.At, fmt.Sprintf("call %d at %s is the event that counts", want.N, duration(want.Began.At)),
			"fired with payload %d, want %d", f.Value, want.N)
	}
	return nil
}

// joins reports whether b may be part of the burst that c began: what began b met the
// deadline of the one before it.
func (v *debounceView) joins(b *burst, c *Done) bool {
	for _, p := range slices.Backward(v.bursts) {
		if p.next == b && p.open {
			if p.first == c {
				return true
			}
			b = p
		}
	}
	return false
}

// burstOf returns the burst that a call belongs to.
func (v *debounceView) burstOf(c *Done) *burst {
	if c == nil {
		return nil
	}
	for _, b := range v.bursts {
		if b.first.Began.Seq <= c.Began.Seq && c.Began.Seq <= b.last.Began.Seq {
			return b
		}
	}
	return nil
}

func (x *exam) dbLive() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	for _, b := range v.bursts {
		if x.fulfilled(b) {
			continue
		}
		return x.say(b.due, fmt.Sprintf("nothing came after call %d at %s", b.last.N, duration(b.last.Began.At)),
			"nothing fired for call %d by %s, want a fire at %s", b.last.N, duration(x.End), duration(b.due))
	}
	return nil
}

// fulfilled reports whether a burst fired, or need not have.
func (x *exam) fulfilled(b *burst) bool {
	v := x.deb()
	if b.open || b.killed != nil || b.due > x.End {
		return true
	}
	if c := v.lastKill(b.first.Began.Seq, OpCancel); c != nil && !x.c.deb.Traits.AfterCancel.usable() {
		return true // DB-REUSE's, or undeclared
	}
	to := x.end()
	if b.next != nil {
		to = b.next.first.Began.Seq
	}
	return v.served(x.Trace, b.last, to) != nil
}

func (x *exam) dbIdle() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	return x.fires(func(i int, f *Fire) *violation {
		why := "no event had come"
		kill := v.lastKill(f.Began.Seq, OpCancel, OpFlush, OpStop)
		c := v.newest(f.Began.Seq, 1<<62)
		switch {
		case c == nil && kill != nil && kill.Op == OpStop:
			return nil // DB-STOP's
		case c == nil:
		case kill != nil && kill.Began.Seq > c.Began.Seq && kill.Op != OpFlush:
			return nil // DB-CANCEL's or DB-STOP's
		default:
			g := v.served(x.Trace, c, f.Began.Seq)
			if g == nil || !v.newestPayload && x.waited(i) && i < len(v.bursts) {
				return nil // or g was for an older event, and this one has waited
			}
			why = fmt.Sprintf("the last event, call %d, had fired at %s", c.N, duration(g.Began.At))
		}
		for _, b := range v.bursts {
			if b.due == f.Began.At && b.killed == nil && i > 0 && x.Fires[i-1].Began.Seq > b.first.Began.Seq && x.Fires[i-1].Began.At < b.due {
				return nil // DB-ONE's: the burst fired early and again at its time
			}
		}
		return x.say(f.Began.At, why, "fired at %s, want no fire", duration(f.Began.At))
	})
}

func (x *exam) dbSubseq() *violation {
	if x.Refused != "" {
		return nil
	}
	last := 0
	for _, f := range x.Fires {
		own := x.deb().byN[f.Value]
		switch {
		case own == nil || own.Began.Seq > f.Began.Seq:
			return x.say(f.Began.At, "no call had that payload", "fired with payload %d, which nobody called with", f.Value)
		case own.Began.Seq <= last:
			return x.say(f.Began.At, "each event may be fired once, and not after a newer one", "fired with payload %d again or out of order", f.Value)
		}
		last = own.Began.Seq
	}
	return nil
}

func (x *exam) dbGapRate() *violation {
	if !x.plain() {
		return nil
	}
	prev := time.Duration(-1 << 62)
	return x.fires(func(i int, f *Fire) *violation {
		if prev > -1<<62 && !x.waited(i) && f.Began.At-prev < x.deb().wait {
			return x.say(f.Began.At, fmt.Sprintf("the fire before it came at %s and the wait is %s", duration(prev), duration(x.deb().wait)),
				"fired at %s, want %s at the earliest", duration(f.Began.At), duration(prev+x.deb().wait))
		}
		prev = f.Began.At
		return nil
	})
}

// ties calls f for each racing step of the given kind that met the deadline of a
// burst.
func (x *exam) ties(op Op, f func(d *Done, b *burst) *violation) *violation {
	v := x.deb()
	for _, d := range v.ops {
		if d.Op != op || !d.Racing || d.Inside {
			continue
		}
		for _, b := range v.bursts {
			if b.open && b.due == d.Began.At && b.last.Began.Seq < d.Began.Seq {
				if v := f(d, b); v != nil {
					return v
				}
			}
		}
	}
	return nil
}

func (x *exam) dbTie() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	return x.ties(OpCall, func(d *Done, b *burst) *violation {
		n := 0
		for _, f := range x.Fires {
			if f.Began.At == b.due && f.Began.Seq > b.last.Began.Seq {
				n++
			}
		}
		busy := v.running(x.Trace, b.due) != nil
		because := fmt.Sprintf("call %d met the deadline of call %d", d.N, b.last.N)
		flushed := slices.ContainsFunc(v.ops, func(o *Done) bool { return o.Op != OpCall && o.Began.At == b.due })
		switch {
		case n > 1 && !flushed:
			return x.say(b.due, because, "fired %d times at %s, want once at the most", n, duration(b.due))
		case n == 0 && x.c.deb.Traits.Tie == FireFirst && !busy && !flushed:
			return x.say(b.due, because+", and the tie is declared FireFirst", "did not fire at %s", duration(b.due))
		case n > 0 && x.c.deb.Traits.Tie == ResetFirst && x.Order.certain() && !flushed:
			return x.say(b.due, because+" and returned before the implementation was told that its timer had expired; the tie is declared ResetFirst",
				"fired at %s, want %s", duration(b.due), duration(d.Began.At+v.wait))
		}
		return nil
	})
}

func (x *exam) dbNoStale() *violation {
	if !x.plain() {
		return nil
	}
	v := x.deb()
	return x.ties(OpCall, func(d *Done, b *burst) *violation {
		i := slices.IndexFunc(x.Fires, func(f Fire) bool { return f.Began.At == b.due && f.Began.Seq > d.Ended.Seq })
		if d.Ended.Seq == 0 || i < 0 || v.flush[i] != nil || x.byStop(&x.Fires[i]) {
			return nil
		}
		found := x.say(b.due, fmt.Sprintf("call %d had returned at %s, before the callback started", d.N, duration(d.Ended.At)),
			"fired at %s for an event that call %d had superseded, want %s", duration(b.due), d.N, duration(d.Began.At+v.wait))
		found.Chance = x.Order == OrderSampled
		return found
	})
}

// withoutEnd finds timers that expire, and are armed again, without any time passing.
func (x *exam) withoutEnd() *violation {
	if !x.turned {
		return nil
	}
	return &violation{Headline: fmt.Sprintf("more than %d timers were armed for no time at one instant", endless),
		Because: "on a clock that stands until it is moved that goes on for ever"}
}

func (x *exam) xCalls() *violation {
	if v := x.withoutEnd(); v != nil {
		return v
	}
	for _, d := range x.Done {
		if d.Panic != "" {
			return x.say(d.At, "", "%s at %s panicked: %s", d.Op, duration(d.At), d.Panic)
		}
		if d.Ended.Seq == 0 && !d.Inside && (x.Stuck || x.Schedule.Config.Inside == "") {
			return x.say(d.At, "everything that could wake it was asleep for good", "%s at %s never returned", d.Op, duration(d.At))
		}
	}
	if x.Refused != "" && x.Schedule.Config.Wait > 0 {
		return x.say(0, "", "the constructor refused %s: %s", x.Schedule.Config, x.Refused)
	}
	return nil
}

func (x *exam) xReent() *violation {
	for _, d := range x.Done {
		if d.Inside && d.Ended.Seq == 0 {
			return x.say(d.Began.At, "its caller, the callback, is what it waits for", "%s called from the callback at %s never returned", d.Op, duration(d.Began.At))
		}
	}
	return nil
}

func (x *exam) xLeak() *violation {
	if !x.job.look || x.Refused != "" {
		return nil
	}
	since := "when all was quiet"
	if x.c.accepts(OpStop) {
		since = "after Stop"
	}
	if len(x.Left) > 0 {
		return x.say(x.End, "", "%d goroutines remained %s: %s", len(x.Left), since, x.Left[0])
	}
	if x.Armed {
		return x.say(x.End, "", "a timer was still armed %s", since)
	}
	return nil
}
