package limiters

import (
	"math"
	"time"
)

// A ledger is what a TokenBucket keeps so that Cancel gives back what is due.
//
// Tokens are numbered in the order in which they flow in, from some origin. A
// reservation that has to wait has a position there, that of its last token; so
// the distance between two of them is what was reserved in between, whatever the
// limit was and is.
//
// If a reservation had not been made there would be its n tokens more, but never
// more than the burst. So what there can be given back is no more than the room
// that there was for it at any time since, and that there will be when those that
// wait act: they keep their instants. While the limit and the burst
// stay as they are there always is, as long as it waits: there are less than n
// tokens more than the debt. After a change, the room is noted, at a mark.
type ledger struct {
	origin  amount // number of the first token to flow in after at
	delayed bool   // the newest event has to wait,
	tail    amount // until this token

	epoch uint64 // how often the bucket was full: nothing from before is given back
	mark  *mark  // since the newest change of limit or burst
	watch bool   // reservations from before the mark may be waiting

	latest time.Time // when the last of the reservations that wait may act,
	booked uint64    // made in this epoch
}

// A mark begins with a change of limit or burst and ends with the next. A
// reservation has the mark that it was made in, so that there are no more of
// them than matter to somebody.
type mark struct {
	room  amount // the least there was, or will be, if nothing were given back
	given amount // back since
	next  *mark
}

// boundless is the room of a mark at which none was noted.
var boundless = amount{math.MaxInt64, 0}

// void is called when the bucket is full: without the reservations made so far
// it would not be fuller.
func (b *ledger) void() {
	b.epoch++
	b.origin = amount{}
	b.watch = false
}

// flowed moves the origin by the n tokens that have flowed in before it.
func (l *TokenBucket) flowed(n uint64) {
	l.origin.whole += int64(n)
	if n > half || l.origin.whole > half {
		l.void() // Rather than to overflow.
	}
}

// note notes the room that there is.
func (l *TokenBucket) note(there amount) {
	if there.whole < 0 && l.burst > math.MaxInt64+there.whole {
		return // More room than can be counted.
	}
	if room := (amount{l.burst, 0}).minus(there).plus(l.mark.given); room.less(l.mark.room) {
		l.mark.room = room
	}
}

// foresee notes the room that there will be when r acts, which waits: its tokens are there then.
func (l *TokenBucket) foresee(r *Reservation) {
	if l.watch && !r.never {
		r.room = l.mark.room
		l.note(amount{r.n, 0})
		r.noted = l.mark.room
	}
}

// unsee drops that note, unless something else left less room.
func (r *Reservation) unsee() {
	if r.mark.room == r.noted {
		r.mark.room = r.room
	}
}

// changed is called after a change of limit or burst, at the instant at.
func (l *TokenBucket) changed(waiting bool) {
	if l.watch = waiting; waiting {
		l.mark.next = &mark{room: boundless}
		l.mark = l.mark.next
		l.note(amount{l.left, l.frac}) // If the limit is 0 now, the next may take without a look.
	}
}

// cancel gives back at t what r has taken.
func (l *TokenBucket) cancel(r *Reservation, t time.Time, clock bool) {
	n := r.n
	r.n = 0
	since := t.Sub(l.at)
	e := max(since, l.last)
	switch {
	case n == 0, r.epoch != l.epoch, !l.there(e).less(amount{l.burst, 0}):
		return
	case !r.never && (r.act.Before(t) || r.act.Before(l.at.Add(l.last))):
		return
	}
	flowed, frac := l.flow(e)
	now := l.origin.plus(amount{int64(flowed), frac})
	refund := amount{n, 0}
	if l.delayed && !r.never && l.interval != never { // Those who never act lose nothing.
		pos := r.pos
		if !r.delayed && pos.less(now) {
			pos = now // It is now that it may act.
		}
		if after := l.tail.minus(pos); after.whole >= 0 {
			refund = refund.minus(after)
		}
	}
	for m := r.mark.next; m != nil; m = m.next {
		if room := m.room.minus(m.given); m.room != boundless && room.less(refund) {
			refund = room
		}
	}
	if refund.whole < 0 || refund == (amount{}) {
		return
	}
	for m := r.mark.next; m != nil; m = m.next {
		m.given = m.given.plus(refund)
	}
	if r.delayed && l.delayed && l.tail == r.pos { // It is the newest.
		r.unsee()
		l.tail = l.tail.minus(amount{n, 0})
	}
	if l.refund(e, refund) {
		l.moved(t, since, clock)
	}
}

// refund puts tokens into the bucket at e, which is not full then. If moved, at is
// that instant now.
func (l *TokenBucket) refund(e time.Duration, a amount) (moved bool) {
	there := l.there(e).plus(a)
	if (amount{l.burst, 0}).less(there) {
		l.fill(e)
		return true
	}
	if a.frac == 0 && e <= half {
		l.left, l.last = l.left+a.whole, e
		return false
	}
	l.anchor(e)
	// The fraction does not flow in, so what does has other numbers now.
	l.origin = l.origin.plus(amount{0, l.frac}).minus(amount{0, there.frac})
	l.left = there.whole
	l.carry(there.frac)
	return true
}
