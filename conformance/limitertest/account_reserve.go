package limitertest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// forever is an instant so late that a delay which ends after it means never.
const forever = math.MaxInt64 - 1<<20

func (a *account) reserve(d *conformance.Done, number int) {
	c := a.newClaim(d, number)
	if a.rate == Inf {
		if !d.OK || d.Delay > 0 {
			a.differ("RL-INF", d.At, "the rate is infinite",
				"%s: OK %t, delay %s, want at once", named(d.Step, number), d.OK, timeline.Duration(d.Delay))
		}
		c.free = true
		a.claims = append(a.claims, c)
		return
	}
	if d.N < 1 {
		a.outOfRange(d)
		return
	}
	burst := fmt.Sprintf("the burst is %d", a.burst)
	if d.N > a.burst && !a.traits.Overdraft {
		switch {
		case a.traits.Oversize == OversizeRejected && d.OK:
			a.differ("RS-OK", d.At, burst, "%s is OK, want not", named(d.Step, number))
		case a.traits.Oversize == OversizeRejected:
			if a.waives("RS-OK") {
				a.add(-d.N, 0)
			}
			return
		case a.traits.Oversize != OversizeWaits:
			a.open = true
			return
		}
	}
	if !d.OK {
		if a.flow.Sign() > 0 && !a.unpayable(d.N) {
			a.differ("RS-OK", d.At, burst, "%s is not OK", named(d.Step, number))
		}
		if a.waives("RS-OK") {
			a.add(-d.N, 0)
		}
		return
	}
	a.add(-d.N, -d.N)
	if a.act(a.lo, d.N) > forever {
		a.open = true // limiters differ in what becomes of a reservation that is never due
		return
	}
	c.from, c.to = a.act(a.hi, d.N), a.act(a.lo, d.N)
	a.claims = append(a.claims, c)
	if a.waives("RS-DEBT") {
		a.add(0, d.N)
	}
	a.delayed(c)
}

// delayed judges the delay of a reservation, which shows where in the range the level is.
func (a *account) delayed(c *claim) {
	d, act := c.d, suite.Sum(c.d.At, max(0, c.d.Delay))
	differ := func(want time.Duration) {
		a.differ("RS-DELAY", d.At, a.debt(), "%s has a delay of %s, want %s",
			named(d.Step, c.number), timeline.Duration(d.Delay), timeline.Duration(want-d.At))
	}
	switch {
	case act < c.from-a.grace:
		differ(c.from)
	case act-a.grace > c.to && !a.noFloor:
		differ(c.to)
	}
	if d.Delay <= 0 || a.waives("RS-DEBT") {
		return
	}
	owed := a.times(a.flow, -int64(d.Delay))
	owed.Add(owed, a.need(d.N)).Sub(owed, a.tokens(d.N))
	low, high := a.minus(owed, a.tolerance), a.sum(owed, a.tolerance)
	if a.noFloor = false; a.lo.Cmp(low) < 0 {
		a.lo = low
	}
	if a.hi.Cmp(high) > 0 {
		a.hi = high
	}
}

// cancel follows a cancel. It judges nothing: what was given back shows in later
// decisions.
func (a *account) cancel(c *claim) {
	switch {
	case c.d.Op == verb.Wait:
		if c.cancelled < 0 && !c.ended {
			c.cancelled = a.at
		}
	case c.free:
		if a.waives("RL-INFOUT") {
			a.add(0, c.d.N)
		}
	case c.ended:
		if a.waives("CN-IDEM") {
			a.add(-c.d.N, a.bound)
		}
	case a.at-a.grace > c.to:
		if a.traits.LateCancel != LateIgnored || a.waives("CN-LATE") {
			a.add(0, c.d.N)
		}
		if a.waives("CN-LATE") {
			a.add(-c.d.N, 0)
		}
		c.ended = c.ended || a.traits.LateCancel != LateIgnored
	case a.at >= c.from-a.grace:
		a.giveUp(c, a.lawOf(c), true)
	default:
		a.giveUp(c, a.lawOf(c), false)
	}
}

// lawOf is the law that says what comes back of a reservation.
func (a *account) lawOf(c *claim) string {
	if a.newest(c) {
		return "CN-LIFO"
	}
	return "CN-ANY"
}

// newest reports whether all claims after c were given up, in reverse order.
func (a *account) newest(c *claim) bool {
	return c.grantedSince == 0 &&
		!slices.ContainsFunc(a.after(c), func(o *claim) bool { return !o.free && !o.inOrder })
}

func (a *account) after(c *claim) []*claim { return a.claims[slices.Index(a.claims, c)+1:] }

// giveUp gives back what c took, as declared. At its very instant a cancel may be in time or too late.
func (a *account) giveUp(c *claim, law string, tie bool) {
	n, later, live := c.d.N, c.grantedSince, 0
	for _, o := range a.after(c) {
		if !o.free {
			if later += o.d.N; !o.ended && o.from >= c.to {
				live += o.d.N // who may be due before c does not wait for its tokens
			}
		}
	}
	if tie {
		live = min(live, a.waitedBehind(c))
	}
	lo, hi, newest := 0, n, a.newest(c)
	switch {
	case a.traits.Refund == RefundNone:
		hi = 0
	case a.traits.Refund == RefundFull || a.traits.Refund == RefundConservative && newest:
		lo = n
	case a.traits.Refund == RefundConservative && c.limits == a.limits:
		if lo, hi = max(0, n-later), max(0, n-live); c.loose {
			hi = n
		}
	}
	if tie {
		if lo = 0; a.traits.LateCancel != LateIgnored {
			hi = n
		}
	}
	c.unreturned = n - lo
	switch {
	case a.waives(law) && c.d.Op == verb.Wait:
		lo, hi = -n, n+a.bound
	case a.waives(law):
		lo, hi = 0, n
	case a.waives("CN-UPPER") && c.d.Op == verb.Reserve:
		hi = n + a.bound
	case a.waives("CN-LOWER") && c.d.Op == verb.Reserve:
		lo = -n
	}
	c.inOrder = newest
	if a.traits.Fair != FairFIFO && c.d.Op == verb.Wait {
		hi = 0 // the upper end never had it as taken
	}
	a.giveBack(c, lo, hi)
	a.moved(a.traits.onLeaving())
}

// waitedBehind is what the claims after one that is due lack until the last of them is due, in whole tokens: they may
// have needed none of its tokens, as those were there.
func (a *account) waitedBehind(c *claim) int {
	last := c.to
	for _, o := range a.after(c) {
		if !o.free && !o.ended && o.from < forever {
			last = max(last, o.from)
		}
	}
	lack := a.times(a.flow, int64(last-c.to))
	lack.Add(lack, a.tolerance)
	return int(lack.Div(lack, a.one).Int64())
}

// onLeaving says what becomes of those who wait when another gives up.
func (t *Traits) onLeaving() OnChange { return cmp.Or(t.leaving, t.OnChange) }

// moved gives those who wait new instants, if their waits are served anew. Tokens that a
// later claim lost when it was given up may be lost at that claim's instant, or at once.
func (a *account) moved(how OnChange) {
	for _, c := range a.claims {
		c.moved = c.moved || how != OnChangeServes
	}
	if how == OnChangeKeeps && !a.waives("W-WAKE") {
		return
	}
	behind, lost := 0, 0
	for _, c := range slices.Backward(a.claims) {
		if c.ended {
			lost += c.unreturned
		}
		if c.free || c.ended || c.d.Op == verb.Reserve && c.to < a.at {
			continue
		}
		more := a.tokens(behind)
		behind += c.d.N
		from := a.act(a.sum(a.hi, a.sum(more, a.tokens(lost))), c.d.N)
		to := a.act(a.sum(a.lo, more), c.d.N)
		if a.rate == Inf {
			from, to = a.at, a.at
		}
		if c.d.Op == verb.Reserve || how == 0 || a.waives("W-WAKE") {
			from, to = min(from, c.from), max(to, c.to)
		}
		c.from, c.to = from, to
	}
}
