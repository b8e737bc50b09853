package limitertest

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/timeline"
	"github.com/escapement-go/escapement/internal/verb"
)

// allow judges a request that is answered at once.
func (a *account) allow(d *conformance.Done) {
	if d.Answer.Err != nil {
		a.unsure(d)
		return
	}
	if d.N < 1 {
		a.outOfRange(d)
		a.nothing(d)
		return
	}
	if a.oversize(d, !d.OK) {
		return
	}
	if a.rate == Inf {
		if !d.OK {
			a.differ("RL-INF", d.At, "the rate is infinite",
				"allow %d at %s was denied, want granted", d.N, timeline.Duration(d.At))
		}
		return
	}
	// While others wait of whom nobody knows whether they have taken their tokens already, what it is answered does
	// not show the level without them, nor with them.
	need, amid := a.need(d.N), a.traits.Fair != FairFIFO && a.awaited()
	switch {
	case d.OK:
		least := a.minus(need, a.tolerance)
		if a.hi.Cmp(least) < 0 {
			a.differ("RL-MODEL", d.At, a.level(),
				"allow %d at %s was granted, want denied", d.N, timeline.Duration(d.At))
		}
		if !amid {
			a.lo, a.hi = larger(a.lo, least), larger(a.hi, least)
			a.measure()
		}
		a.add(-d.N, -d.N)
		for _, c := range a.claims {
			c.grantedSince += d.N
		}
	case a.traits.Overdraft && a.unpayable(d.N):
	default:
		if a.pays(d.N) {
			a.differ("RL-WORK", d.At, a.level(),
				"allow %d at %s was denied, want granted", d.N, timeline.Duration(d.At))
			a.found.slight = !a.spares(d.N)
		}
		if !amid {
			a.hi = smaller(a.hi, a.sum(need, a.tolerance))
		}
	}
}

// pays reports whether the bucket holds what n tokens need, however a limiter rounds.
func (a *account) pays(n int) bool {
	need := a.need(n)
	return !a.noFloor && (a.lo.Cmp(a.sum(need, a.tolerance)) >= 0 || a.brimful && a.lo.Cmp(need) >= 0)
}

// spares reports whether it holds more than that, however a limiter rounds.
func (a *account) spares(n int) bool { return a.lo.Cmp(a.sum(a.need(n), a.tolerance)) > 0 }

// lacks reports whether it holds less, however a limiter rounds.
func (a *account) lacks(n int) bool { return a.hi.Cmp(a.minus(a.need(n), a.tolerance)) < 0 }

// nothing judges what a request for 0 tokens is answered. Where more than requests was done, rounding may leave a
// little that is owed.
func (a *account) nothing(d *conformance.Done) {
	switch denied := a.traits.Zero == ZeroDenied; {
	case d.N < 0 || !a.alone:
	case denied && d.OK:
		a.differ("RL-N0", d.At, "ZeroDenied is declared", "allow 0 at %s was granted, want denied",
			timeline.Duration(d.At))
	case !denied && !d.OK && a.lo.Sign() >= 0:
		a.differ("RL-N0", d.At, "nothing is asked for and nothing is owed", "allow 0 at %s was denied, want granted",
			timeline.Duration(d.At))
	}
}

// awaited reports whether anybody waits for tokens.
func (a *account) awaited() bool {
	return slices.ContainsFunc(a.claims, func(c *claim) bool {
		return c.d.Op == verb.Wait && !c.ended && !c.free
	})
}

// oversize judges a request for more than the burst, and reports whether nothing is left
// to judge about it.
func (a *account) oversize(d *conformance.Done, refused bool) (handled bool) {
	switch {
	case a.rate == Inf || d.N <= a.burst || a.traits.Overdraft:
		return false
	case a.traits.Oversize == OversizeRejected:
		if !refused {
			a.differ("RL-NBIG", d.At, fmt.Sprintf("the bucket never holds more than %d", a.burst),
				"%s %d at %s was granted, want denied", d.Op, d.N, timeline.Duration(d.At))
		}
		if d.Op == verb.Wait && a.waives("RL-NBIG") {
			a.noFloor, a.hi = true, a.tokens(a.bound)
		}
	case a.traits.Oversize == OversizeWaits && d.Op == verb.Allow:
		// What is kept for a wait that is for more than the burst may go to who comes.
		if d.OK && !a.awaited() {
			a.differ("RL-NBIG", d.At, fmt.Sprintf("the burst is %d, and OversizeWaits is declared", a.burst),
				"allow %d at %s was granted, want denied", d.N, timeline.Duration(d.At))
		}
	case a.traits.Oversize == OversizeWaits:
		return false
	default:
		a.open = true
	}
	return true
}

// outOfRange follows a request for, a reservation of, or a wait for, less than one token: it must change
// nothing. That it takes nothing where it is refused is the law of what is not OK.
func (a *account) outOfRange(d *conformance.Done) {
	refused := d.Op == verb.Reserve && !d.OK
	if d.N < 0 && a.waives("RL-NEG") || d.N == 0 && a.waives("RL-N0") {
		a.noFloor, a.hi = a.noFloor || !refused, a.tokens(a.bound)
	}
	if refused && a.waives("RS-OK") {
		a.noFloor = true
	}
}

// shown judges what Tokens returns, which may be whole tokens or fractions, a debt as a
// negative number or as 0. The tokens of a wait may be taken when it begins or when they
// are there.
func (a *account) shown(d *conformance.Done) {
	if !a.judgesTokens || a.rate == Inf {
		return
	}
	most := a.hi
	for _, c := range a.claims {
		if c.d.Op == verb.Wait && !c.ended && !c.free {
			most = a.sum(most, a.tokens(c.d.N))
		}
	}
	most = a.sum(positive(most), a.tolerance)
	least := a.minus(a.lo, a.sum(a.tolerance, a.one))
	got := new(big.Rat).SetFloat64(d.Tokens)
	if got != nil {
		got.Mul(got, new(big.Rat).SetInt(a.one))
		if got.Cmp(new(big.Rat).SetInt(most)) <= 0 && (a.noFloor || got.Cmp(new(big.Rat).SetInt(least)) > 0) {
			return
		}
	}
	a.differ("RL-TOKENS", d.At, a.level(), "Tokens() = %s at %s, want %s", number(d.Tokens), timeline.Duration(d.At),
		a.words(a.lo, a.hi, "at most "))
}
