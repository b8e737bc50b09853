package limitertest

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// wait follows the beginning of a wait; early says that its context was cancelled before.
func (a *account) wait(d *conformance.Done, number int, early bool) {
	c := a.newClaim(d, number)
	atOnce := d.Ended.Seq != 0 && d.Ended.At <= d.At+a.traits.Latency
	failed := atOnce && d.Err != nil
	switch {
	case early || d.D < 0:
		if !failed {
			a.differ("W-PRE", d.At, "its context was done before it began",
				"%s %s, want an error at once", named(d.Step, number), outcome(d))
		}
		if a.waives("W-PRE") {
			a.add(-d.N, -d.N)
		}
		return
	case d.N < 1:
		a.outOfRange(d)
		return
	case a.oversize(d, d.Err != nil || d.Ended.Seq == 0): // it may block until its context is done
		return
	case a.rate == Inf:
		gone := a.traits.Latency > 0 && (d.D > 0 || cancelledFirst(a.tr, d, number)) // while it was asked
		if !atOnce || failed && !gone {
			a.differ("RL-INF", d.At, "the rate is infinite",
				"%s %s, want nil at once", named(d.Step, number), outcome(d))
		}
		c.free = true
		a.claims = append(a.claims, c)
		return
	}
	after := func(level *big.Int) time.Duration { return a.due(a.minus(level, a.need(d.N))) }
	c.from, c.to = after(a.hi), after(a.lo)
	if failed && !cancelledFirst(a.tr, d, number) && !a.outgrownFirst(d) {
		a.failed(c)
		return
	}
	if d.D > 0 && a.traits.DeadlineCheck == DeadlineFailFast && c.from-a.grace > d.At+d.D {
		a.differ("W-DEAD", d.At, a.level()+", and DeadlineFailFast is declared",
			"%s with %s left did not fail at once, want an error: its tokens come at %s",
			named(d.Step, number), timeline.Duration(d.D), timeline.Duration(c.from))
	}
	a.claims = append(a.claims, c)
	if a.traits.Fair == FairFIFO {
		a.add(-d.N, -d.N)
	} else {
		a.add(-d.N, 0)
	}
}

// failed judges a wait that returned an error as soon as it began.
func (a *account) failed(c *claim) {
	d := c.d
	switch {
	case a.unpayable(d.N):
		return
	case d.D == 0 && a.flow.Sign() > 0:
		a.differ("W-EXACT", d.At, a.level(), "%s returned an error at once, want nil at %s",
			named(d.Step, c.number), timeline.Duration(c.to))
	case d.D > 0 && c.to < d.At+d.D-a.grace && !a.noFloor:
		a.differ("W-DEAD", d.At, a.level(), "%s with %s left failed at once, want nil at %s",
			named(d.Step, c.number), timeline.Duration(d.D), timeline.Duration(c.to))
	}
	tie := (c.from - d.At - d.D).Abs() <= a.grace
	if a.waives("W-DEADEQ") && tie || a.waives("W-DEAD") && !tie {
		a.add(-d.N, 0)
	}
}

// deadline is that of a wait's context, never if it has none.
func (c *claim) deadline() time.Duration {
	if c.d.D > 0 {
		return suite.Sum(c.d.At, c.d.D)
	}
	return math.MaxInt64
}

// uncancelled notes what a wait did whose context had been cancelled.
func (a *account) uncancelled(c *claim, did string, args ...any) {
	at := timeline.Duration(c.cancelled)
	a.differ("W-CANCEL", c.cancelled, "its context was cancelled at "+at, did+", want an error at "+at, args...)
}

// overdue notes what a wait did whose deadline had passed.
func (a *account) overdue(c *claim, did string, args ...any) {
	a.differ("W-DEAD", c.deadline(), "its deadline was at "+timeline.Duration(c.deadline()),
		did+", want an error by then", args...)
}

func (a *account) returned(c *claim) {
	switch {
	case c.ended || c.free:
	case c.d.Err == nil:
		a.leavers(c.d.Ended.At)
		a.served(c)
	default:
		a.left(c)
	}
}

func (a *account) served(c *claim) {
	d, at, fifo := c.d, c.d.Ended.At, a.traits.Fair == FairFIFO
	what, when := named(d.Step, c.number), timeline.Duration(at)
	if a.found != nil {
		return // another that gave up at this instant
	}
	switch {
	case c.cancelled >= 0 && at > c.cancelled+a.traits.Latency:
		a.uncancelled(c, "%s returned nil at %s", what, when)
	case at-a.traits.Latency > c.deadline():
		a.overdue(c, "%s returned nil at %s", what, when)
	case fifo && at < c.from-a.grace:
		a.differ("W-NOTEARLY", at, c.there(c.from), "%s returned at %s, want %s", what, when, timeline.Duration(c.from))
	case fifo && at-a.grace > c.to && c.outgrown:
		a.noFloor = true // who keeps tokens for the first in its queue may keep no more than the new burst
	case fifo && at-a.grace > c.to && !a.noFloor:
		a.differ("W-EXACT", c.to, c.there(c.to), "%s returned at %s, want %s", what, when, timeline.Duration(c.to))
	case !fifo && a.hi.Cmp(a.minus(a.need(d.N), a.tolerance)) < 0:
		a.differ("W-NOTEARLY", at, a.level(), "%s returned at %s, before its tokens were available", what, when)
	}
	if off := max(c.from-at, at-c.to); fifo && a.found != nil && off > 0 {
		brings := a.times(a.flow, int64(off))
		a.found.slight = brings.Lsh(brings, 2).Cmp(a.one) < 0
	}
	c.ended = true
	if !fifo {
		a.add(0, -d.N)
	}
	switch {
	case a.waives(eatsNothing):
		a.add(d.N, d.N)
	case a.waives(eatsTwice):
		a.add(-d.N, -d.N)
	case a.waives(eatsAnything):
		a.add(-d.N, d.N)
	}
}

func (c *claim) there(at time.Duration) string {
	are := "are"
	if c.d.N == 1 {
		are = "is"
	}
	return fmt.Sprintf("after earlier requests %s %s available to it at %s",
		timeline.Count(c.d.N, "token"), are, timeline.Duration(at))
}

// left judges a wait that returned an error some time after it began.
func (a *account) left(c *claim) {
	d, at, deadline := c.d, c.d.Ended.At, c.deadline()
	what, when := named(d.Step, c.number), timeline.Duration(at)
	switch {
	case c.outgrown && (c.cancelled < 0 || at <= c.cancelled) && at <= deadline:
		a.giveBack(c, 0, d.N) // it may have taken something, or nothing yet
		a.moved(a.traits.onLeaving())
		return
	case c.cancelled >= 0 && at <= c.cancelled+a.traits.Latency:
	case c.cancelled >= 0 && c.cancelled < deadline:
		a.uncancelled(c, "%s returned at %s", what, when)
	case at-a.traits.Latency > deadline:
		a.overdue(c, "%s returned at %s", what, when)
	case at < deadline && (d.D == 0 || a.traits.Fair == FairFIFO && c.to < deadline-a.grace):
		a.differ("W-EXACT", at, c.there(c.to),
			"%s returned an error at %s, want nil at %s", what, when, timeline.Duration(c.to))
	}
	law := "W-CANCEL"
	if at >= c.from-a.grace {
		law = "W-DEADEQ"
	}
	a.giveUp(c, law, false)
}

// leavers follows the waits that give up at this instant, before any return is judged: a
// wait that is served in their place may be seen to return before they do.
func (a *account) leavers(at time.Duration) {
	for _, c := range a.claims {
		d := c.d
		gone := d.Op == verb.Wait && !c.ended && !c.free && d.Err != nil && d.Ended.Seq != 0 &&
			d.Ended.At == at
		outgrown := c.outgrown && !cancelledFirst(a.tr, d, c.number) // or it leaves when it is cancelled
		if gone && (outgrown || c.cancelled >= 0 || d.D > 0 && at == d.At+d.D) {
			a.returned(c)
		}
	}
}

// anybody judges that nobody returned until an instant, where waits need not be served in order: as soon as there is
// enough for any of those who wait, one of them is served.
func (a *account) anybody(until time.Duration) {
	if a.traits.Fair == FairFIFO || a.noFloor {
		return
	}
	level, most := a.lo, 0
	var waiting []*claim
	for _, c := range a.claims {
		switch {
		case c.d.Op != verb.Wait || c.ended:
		case c.free || c.outgrown || c.moved || c.cancelled >= 0:
			return
		default:
			level = a.sum(level, a.tokens(c.d.N)) // it has taken nothing yet
			waiting, most = append(waiting, c), max(most, c.d.N)
		}
	}
	if len(waiting) == 0 {
		return
	}
	to := a.due(a.minus(level, a.need(most)))
	if c := waiting[0]; until-a.grace-a.traits.nap(a.rate) > to {
		because := c.there(to)
		if len(waiting) > 1 {
			because = fmt.Sprintf("then there is enough for any of the %d that wait", len(waiting))
		}
		a.differ("W-EXACT", to, because, "%s had not returned by %s, want nil at %s", named(c.d.Step, c.number),
			timeline.Duration(until), timeline.Duration(to))
	}
}

// finish judges the waits that never returned.
func (a *account) finish() {
	a.anybody(a.tr.End)
	for _, c := range a.claims {
		if c.d.Op != verb.Wait || c.ended || c.free || c.d.Ended.Seq != 0 {
			continue
		}
		what := named(c.d.Step, c.number) + " never returned"
		switch {
		case c.cancelled >= 0:
			a.uncancelled(c, what)
		case a.tr.End-a.traits.Latency > c.deadline():
			a.overdue(c, what)
		case a.traits.Fair == FairFIFO && !a.noFloor && !c.outgrown && c.to < math.MaxInt64 && a.tr.End-a.grace > c.to:
			a.differ("W-EXACT", c.to, c.there(c.to), "%s, want nil at %s", what, timeline.Duration(c.to))
		}
	}
}
