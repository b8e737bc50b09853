package debounce

import (
	"math"
	"time"
)

// edges are the ends of a burst at which it fires.
type edges uint8

const (
	trailing edges = iota
	leading
	both  // one call: on the leading edge only
	twice // one call: on both edges
)

// burst knows which calls have fired and when the others must. It has no timer
// and no lock; its instants are counted from wherever its owner likes.
type burst struct {
	wait    time.Duration
	maxWait time.Duration // 0: no bound
	edges   edges

	unfired bool          // there is a value to fire, at what rest says
	open    bool          // a call at less than newest + wait joins a burst
	newest  time.Duration // the newest call, or unread
	first   time.Duration // the first call that has not fired on the trailing edge
}

// unread is the instant of a first call that nobody has read the clock for.
const unread time.Duration = math.MinInt64

// call notes a call at now, and reports whether it fires at once.
func (b *burst) call(now time.Duration) (fires bool) {
	if b.unfired {
		b.newest = now
		return false
	}
	begins := !b.open || now-min(b.newest, now) >= b.wait
	b.open, b.newest, b.first = true, now, now
	fires = begins && b.edges != trailing
	b.unfired = !fires && b.edges != leading || fires && b.edges == twice
	return fires
}

// rest returns how long it is from now until what is unfired must fire; it is due
// if nothing is left. A clock that went back starts both waits anew: nobody knows
// when it will be here again.
func (b *burst) rest(now time.Duration) time.Duration {
	b.newest, b.first = min(b.newest, now), min(b.first, now)
	left := b.wait - (now - b.newest)
	if b.maxWait > 0 {
		left = min(left, b.maxWait-(now-b.first))
	}
	return left
}

// quiet returns how long it is from now until a call would find nothing of the
// burst: 0 or less if that is so already. Nothing must be unfired.
func (b *burst) quiet(now time.Duration) time.Duration {
	if b.edges == trailing || !b.open {
		return 0
	}
	b.newest = min(b.newest, now)
	return b.wait - (now - b.newest)
}

// end closes the burst: the next call begins one.
func (b *burst) end() { b.unfired, b.open = false, false }
