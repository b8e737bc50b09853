package limitertest

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"time"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/internal/suite"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// granted is what was granted in a trace with reservations and waits, which count at the
// instant at which they are due. Those for which the limit changed before that instant are
// left out, since they may keep their old instant.
type granted struct {
	grants []grant // in the order of their instants
	late   []grant // tokens that were given back after their instant
	raised []grant // tokens that a higher burst brought
}

// grant is n tokens that were granted at an instant.
type grant struct {
	at time.Duration
	n  int
	// oversize says that n was more than the burst of that time.
	oversize bool
}

func (x *exam) newGranted() granted {
	var g granted
	claimed, burst := 0, x.Schedule.Config.Burst
	for i := range x.Done {
		d := &x.Done[i]
		at := d.At
		switch d.Op {
		case verb.SetBurst:
			if d.N > burst && x.traits.OnBurstRaised != RaiseBringsNothing {
				g.raised = append(g.raised, grant{at: d.At, n: d.N - burst})
			}
			burst = d.N
		case verb.Reserve:
			claimed++
			at = x.due(d, claimed)
			i := slices.IndexFunc(x.Done, func(o conformance.Done) bool {
				return o.Op == verb.Cancel && o.N == claimed &&
					(o.At <= at+late(x.Schedule, x.traits) || x.traits.LateCancel != LateIgnored)
			})
			if i >= 0 && x.Done[i].At > at {
				g.late = append(g.late, grant{at: x.Done[i].At, n: d.N})
			}
			if i >= 0 || at > suite.Century || x.moves(d, at) {
				continue // what is due in centuries may stand for never
			}
		case verb.Wait:
			claimed++
			at = d.Ended.At
			if d.Ended.Seq == 0 || x.changed(d.At, at, verb.SetLimit, verb.SetBurst) {
				continue
			}
		}
		if d.OK && d.N > 0 && d.Answer.Err == nil { // what fails open is not counted
			g.grants = append(g.grants, grant{at: at, n: d.N, oversize: d.N > burst})
		}
	}
	slices.SortStableFunc(g.grants, func(a, b grant) int { return cmp.Compare(a.at, b.at) })
	return g
}

// told is when reservations may act, by their numbers, as they told after the last one was given up.
type told map[int]time.Duration

// askAnew asks the reservations that are not due when they are, after one was given up.
func (r *run) askAnew(now time.Duration, at time.Time) {
	if r.c.trip > 0 || r.c.spec.Traits.Latency > 0 {
		return
	}
	all := told{}
	for i, h := range r.claimants {
		if h.r.Delay != nil && !h.gone {
			if h.due > now {
				h.due = suite.Sum(now, max(0, h.r.delay(at, r.Time == Explicit)))
			}
			all[i+1] = h.due
		}
	}
	r.Rec.Locked(func(rec *suite.Recording) { rec.Detail = all })
}

// due is when a reservation may act, as it told after the last one was given up.
func (x *exam) due(d *conformance.Done, number int) time.Duration {
	all, _ := x.Detail.(told)
	if at, ok := all[number]; ok {
		return at
	}
	return suite.Sum(d.At, max(0, d.Delay))
}

// moves reports whether the instant at which a reservation is due may be another than was answered. Where all that is
// given up comes back, or those who wait are served anew, that moves the instants of reservations, both of those that
// wait then and, as they may have waited for the same tokens, of those that were due before. Only who asks anew knows
// them, which nobody does when a wait is given up, or the limit changes.
func (x *exam) moves(d *conformance.Done, at time.Duration) bool {
	_, asked := x.Detail.(told)
	known := asked && !suite.Has(verb.Wait, verb.SetLimit, verb.SetBurst)(suite.Job{Schedule: x.Schedule})
	anew := x.traits.OnChange == OnChangeServes ||
		x.traits.Refund != RefundConservative && x.traits.Refund != RefundNone && !known
	return x.changed(d.At, at, verb.SetLimit, verb.SetBurst) ||
		anew && (x.left(d.At, at) || d.Delay > 0 && x.left(at, forever)) || x.outdated(d, at)
}

// left reports whether between two instants a reservation or a wait was given up, or a wait failed that had
// begun before.
func (x *exam) left(from, to time.Duration) bool {
	return x.changed(from, to, verb.Cancel) || slices.ContainsFunc(x.Done, func(d conformance.Done) bool {
		return d.Op == verb.Wait && d.Err != nil && d.Ended.At > d.At && d.Ended.At >= from && d.Ended.At <= to
	})
}

// outdated reports whether, while a reservation waited, one was given up of which the tokens that come back are of no
// use to those who wait: it was for more than the burst is by then, or it was due already. What it leaves to who asks
// next is due together with them.
func (x *exam) outdated(d *conformance.Done, at time.Duration) bool {
	if !x.changed(d.At, at, verb.Cancel) {
		return false
	}
	type claim struct {
		n   int
		due time.Duration
	}
	var claims []claim
	burst := x.Schedule.Config.Burst
	for i := range x.Done {
		switch o := &x.Done[i]; o.Op {
		case verb.Reserve:
			claims = append(claims, claim{o.N, suite.Sum(o.At, max(0, o.Delay))})
		case verb.Wait:
			claims = append(claims, claim{o.N, math.MaxInt64})
		case verb.SetBurst:
			burst = o.N
		case verb.Cancel:
			if o.At < d.At || o.At > at || o.N > len(claims) {
				continue
			}
			if c := claims[o.N-1]; c.n > burst || c.due <= o.At && x.traits.LateCancel != LateIgnored {
				return true
			}
		}
	}
	return false
}

// envelope looks for a window in which more was granted than rate*L + burst.
func (x *exam) envelope() *suite.Violation {
	g := x.newGranted()
	alone, prepaid := !x.beyondRequests(), x.prepaid()
	paid := suite.If(prepaid, ", and an oversize grant is paid for before the next")
	for i, first := range g.grants {
		sum, over := 0, 0
		for _, last := range g.grants[i:] {
			sum = plus(sum, last.n)
			if alone {
				over = 0 // what was granted before is paid for
			}
			if x.traits.Overdraft || last.oversize {
				over = max(over, last.n)
			}
			rate, burst := x.highest(first.at, last.at)
			if rate == Inf {
				break
			}
			if sum <= burst {
				continue
			}
			a := x.account()
			top := x.top(g, burst, over, first.at, last.at, x.traits.Overdraft || prepaid)
			flow := a.times(a.flowOf(rate), int64(last.at-first.at))
			most := a.sum(flow, a.tokens(top))
			if a.tokens(sum).Cmp(a.sum(most, a.tolerance)) <= 0 {
				continue
			}
			if alone {
				top = burst
			}
			return x.broken(last.at, brings(last.at-first.at, rate, number(a.float(flow)), top)+paid,
				"%d tokens were granted %s, want %s at the most", sum, period(first.at, last.at), number(a.float(most)))
		}
	}
	return nil
}

func period(from, to time.Duration) string {
	if from == to {
		return "at " + timeline.Duration(to)
	}
	return fmt.Sprintf("from %s to %s", timeline.Duration(from), timeline.Duration(to))
}

// brings says what may be granted in a window: what the rate brings, and the burst.
func brings(window time.Duration, rate Rate, tokens string, burst int) string {
	if window == 0 {
		return fmt.Sprintf("at one instant no more may be granted than the burst of %d", burst)
	}
	return fmt.Sprintf("in %s the rate %s brings %s, on top of a burst of %d",
		timeline.Duration(window), rate, timeline.Count(tokens, "token"), burst)
}

// top returns what may be granted in a window besides what the rate brings: the burst, and
// tokens that were given back late. A limiter that grants requests for more than the burst, or for
// more than there is, may grant the largest of them as well: instead of the burst if the request waits
// until it is paid for, on top of the burst if the next request pays.
func (x *exam) top(g granted, burst, largest int, from, to time.Duration, onTop bool) int {
	top := burst
	switch {
	case largest == 0:
	case onTop:
		top = plus(top, largest)
	case x.traits.Oversize != OversizeRejected:
		top = max(top, plus(largest, between(g.raised, from, to)))
		if x.traits.Oversize == OversizePrepaid {
			top = plus(top, largest)
		}
	}
	return plus(top, between(g.late, from, to))
}

// between adds up the grants from one instant to another.
func between(all []grant, from, to time.Duration) (sum int) {
	for _, g := range all {
		if g.at >= from && g.at <= to {
			sum = plus(sum, g.n)
		}
	}
	return sum
}

// highest returns the highest rate and burst that were in force between two instants.
func (x *exam) highest(from, to time.Duration) (Rate, int) {
	rate, burst := x.Schedule.Config.Rate, x.Schedule.Config.Burst
	for i := range x.Done {
		d := &x.Done[i]
		before := d.At < from
		switch {
		case d.At > to:
		case d.Op == verb.SetBurst && (before || d.N > burst):
			burst = d.N
		case d.Op == verb.SetLimit && (before || above(d.Rate, rate)):
			rate = d.Rate
		}
	}
	return rate, burst
}

// above reports whether r is a higher rate than o.
func above(r, o Rate) bool {
	per := func(r Rate) *big.Rat { return big.NewRat(int64(r.Events), int64(max(1, r.Per))) }
	return o != Inf && (r == Inf || per(r).Cmp(per(o)) > 0)
}
