package limitertest

import (
	"math/big"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

// setLimit changes the rate.
func (a *account) setLimit(r Rate) {
	a.changes++
	a.limits++
	old, flow := a.rate, a.flow
	was := new(big.Int).Set(a.lo)
	a.setRate(r)
	switch {
	case old == Inf || r == Inf:
		a.lo = was
		if old == Inf {
			a.hi = a.tokens(a.bound) // an infinite rate may have filled the bucket
		}
		if a.waives("RL-INFOUT") {
			a.noFloor = true
		}
	case a.waives("SL-NORETRO"):
		a.lo, a.hi = a.hindsight(a.lo, flow, true), a.hindsight(a.hi, flow, false)
	case a.waives("SL-KEEP"):
		a.noFloor, a.hi = true, a.tokens(a.bound)
	case a.traits.OnChange != OnChangeServes:
		// A debt stays the same in tokens, or in time, as for those who wait.
		for _, end := range []**big.Int{&a.lo, &a.hi} {
			if (*end).Sign() >= 0 || flow.Sign() == 0 {
				continue
			}
			inTime := new(big.Int).Mul(*end, a.flow)
			inTime.Div(inTime, flow)
			if (end == &a.lo) == (inTime.Cmp(*end) < 0) {
				*end = inTime
			}
		}
	}
	a.clamp()
	a.moved(a.traits.OnChange)
}

// hindsight returns the level as if the new limit had held from the beginning.
func (a *account) hindsight(level, flow *big.Int, lower bool) *big.Int {
	gain := new(big.Int).Sub(a.flow, flow)
	gain.Mul(gain, big.NewInt(int64(a.at-a.tr.Done[0].At)))
	if (gain.Sign() < 0) != lower {
		return level
	}
	return gain.Add(gain, level)
}

// setBurst changes the burst.
func (a *account) setBurst(burst int) {
	a.changes++
	more := burst - a.burst
	a.burst = burst
	if a.bound = burst; a.waives("SB-CAP") && more < 0 {
		a.bound = burst - more
	}
	lo, hi := 0, 0
	switch {
	case a.traits.OnBurstRaised == RaiseBringsTokens:
		lo, hi = more, more
	case a.traits.OnBurstRaised == 0 && more > 0, a.waives("SB-NOGIFT") && more > 0:
		hi = a.bound
	case a.traits.OnBurstRaised == 0:
		lo = more
	}
	if a.waives("SB-LIVE") && more < 0 {
		a.noFloor = true
	}
	owes := a.hi.Sign() < 0
	if a.add(lo, hi); a.hi.Sign() < 0 && !owes { // no more may be removed than is there
		a.hi = new(big.Int)
	}
	for _, c := range a.claims {
		c.outgrown = c.outgrown || c.d.Op == verb.Wait && !c.ended && !c.free && a.refuses(c.d.N)
	}
	a.moved(a.traits.OnChange)
}

// refuses reports whether a wait for n tokens may fail because the bucket never holds as many.
func (a *account) refuses(n int) bool { return n > a.burst && !a.traits.servesMore() }

// servesMore reports whether a request for more than the burst is served in the end. When, if the burst was
// lowered meanwhile, is open.
func (t *Traits) servesMore() bool {
	return t.Overdraft || t.Oversize == OversizePrepaid || t.Oversize == OversizeWaits
}

// outgrownFirst reports whether a burst was set that is less than what a wait is for, before the
// wait returned.
func (a *account) outgrownFirst(d *conformance.Done) bool {
	return slices.ContainsFunc(a.tr.Done, func(o conformance.Done) bool {
		return o.Op == verb.SetBurst && o.N < d.N && o.Began.Seq > d.Began.Seq && o.Began.Seq < d.Ended.Seq
	})
}
