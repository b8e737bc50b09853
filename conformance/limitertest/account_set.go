package limitertest

import (
	"math"
	"math/big"
	"slices"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/verb"
)

func (a *account) setLimit(r Rate) {
	a.changes++
	a.limits++
	old, flow := a.rate, a.flow
	a.setRate(r)
	switch {
	case old == Inf || r == Inf:
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
	gain := a.minus(a.flow, flow)
	gain.Mul(gain, big.NewInt(int64(a.at-a.tr.Done[0].At)))
	if (gain.Sign() < 0) != lower {
		return level
	}
	return gain.Add(gain, level)
}

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

// room is the least room that the bucket had since a claim was made, below its burst: as a range,
// as the level is one; nil if none was measured. Without the claim the bucket would have held no
// more than that on top of what it held, since what does not fit is lost. So a cancel brings no
// more: otherwise it would be granted together with what was there when it would have been lost.
type room struct{ least, most *big.Int }

func (a *account) newClaim(d *conformance.Done, number int) *claim {
	return &claim{d: d, number: number, from: d.At, to: d.At, limits: a.limits, cancelled: -1,
		changes: a.changes, burst: a.burst}
}

func (a *account) measure() {
	for _, c := range a.claims {
		if c.ended || c.free || !a.changing {
			continue
		}
		full := a.tokens(a.burst)
		if left := a.minus(full, a.hi); c.room.least == nil || left.Cmp(c.room.least) < 0 {
			c.room.least = left
		}
		if left := full.Sub(full, a.lo); !a.noFloor && (c.room.most == nil || left.Cmp(c.room.most) < 0) {
			c.room.most = left
		}
	}
}

// giveBack ends a claim, and gives back from lo to hi of its tokens. While neither the limit nor
// the burst changes there is room for all of them until they are there.
func (a *account) giveBack(c *claim, lo, hi int) {
	c.ended = true
	if hi > 0 { // of the newest those after it are given up already
		for _, o := range a.after(c) {
			o.loose = true
		}
	}
	least, most := a.tokens(lo), a.tokens(hi)
	if c.changes != a.changes {
		if r := c.room.most; r != nil && !a.exceeds(c) {
			most = smaller(most, positive(r))
		}
		room := a.foreseen(c)
		if r := c.room.least; r != nil {
			room = smaller(room, r)
		}
		if room.Cmp(least) < 0 {
			least = smaller(least, positive(room))
			c.unreturned = c.d.N
		}
	}
	a.share(c, positive(least), positive(most))
	for _, o := range a.claims {
		o.given.Add(&o.given, positive(most))
	}
	a.bring(least, most)
}

// foreseen returns what room there is when those act that have begun to wait for their tokens since
// a change, which was after c was made: they keep their instants, and nobody need look at when
// exactly they are. What others gave back meanwhile may have filled it.
func (a *account) foreseen(c *claim) *big.Int {
	room := a.tokens(math.MaxInt)
	for _, o := range a.claims {
		if o.changes > c.changes && !o.free && !o.inOrder {
			left := a.tokens(o.burst - o.d.N)
			room = smaller(room, left.Sub(left, &o.given))
		}
	}
	return room
}

// share takes what a claim gives back off the room that others have: what two of them lost
// together comes back once. An older one had that room while both were there; all the room of a
// later one was measured then.
func (a *account) share(c *claim, least, most *big.Int) {
	if c.room.least == nil || c.room.most == nil {
		return
	}
	c.room = room{a.minus(c.room.least, most), a.minus(c.room.most, least)}
	for _, o := range a.claims {
		switch {
		case o.ended || o.free || o.room.least == nil || o.room.most == nil:
		case o.number < c.number:
			o.room = room{smaller(o.room.least, c.room.least), smaller(o.room.most, c.room.most)}
		default:
			o.room = room{a.minus(o.room.least, most), a.minus(o.room.most, least)}
		}
	}
}

// exceeds reports whether what a claim gives back may be too much, as the law that forbids it is
// waived.
func (a *account) exceeds(c *claim) bool {
	return a.waives("CN-UPPER") || c.d.Op == verb.Wait && (a.waives("W-CANCEL") || a.waives("W-DEADEQ"))
}
