package limiters

import (
	"sync/atomic"
	"time"
)

// A lockless is what Allow needs to take a token by one compare-and-swap. While it is open,
// one word is the state of the bucket. An Allow that took a token with the lock opens it; whoever
// takes the lock closes it. Instants are counted from began. The word is one of these:
//
//   - closed: the state is what the lock guards.
//   - positive: the instant at which a full bucket lost a token. That is the whole state.
//   - negative: the last 47 bits of the newest instant, and in 16 bits how many tokens were taken
//     since it was opened, from the bucket that the fields below describe.
//
// The fields change only while it is closed. Each word with which it is opened has a later instant
// than all words before. So a goroutine that finds the word unchanged after it has read the fields
// knows that they belong to it. As it reads the clock after the word, nothing was taken later
// than that.
type lockless struct {
	word  atomic.Int64
	began time.Time // of package time; set before the word was opened first, and never again

	refill atomic.Int64  // the least time in which a token flows in
	cost   atomic.Uint64 // of the interval
	shift  atomic.Uint32 // of the interval
	full   atomic.Int64  // the burst

	anchor atomic.Int64  // at this instant
	left   atomic.Int64  // there were so many tokens,
	phase  atomic.Uint64 // and of one more this part

	newest int64 // the instant in the newest word; guarded by the lock
}

const (
	closed      = 0
	takenBits   = 16
	mostTaken   = 1<<takenBits - 1
	newestRange = 1<<(63-takenBits) - 1 // 39 hours
)

// pack returns the word for a bucket that is not full.
func pack(newest int64, taken uint64) int64 {
	return int64(1<<63 | uint64(newest&newestRange)<<takenBits | taken)
}

// unpack returns what is in such a word. Its instant is not 39 hours after anchor.
func (l *lockless) unpack(word int64) (newest, taken int64) {
	anchor := l.anchor.Load()
	return anchor + (word>>takenBits-anchor)&newestRange, word & mostTaken
}

// next returns the word after an event at now that does not find the bucket of a positive word
// full: the same word if it is denied, closed if only the lock lets it know.
func (l *lockless) next(word, now int64) int64 {
	i, full := interval{l.cost.Load(), uint8(l.shift.Load())}, l.full.Load()
	if word > 0 {
		if full > 1 || i.fit(1, uint64(now-word)+1, 0) {
			return closed
		}
		return word
	}
	taken, phase := word&mostTaken, l.phase.Load()
	left, since := l.left.Load()-taken, uint64(now-l.anchor.Load())
	switch {
	case taken == mostTaken || since > newestRange:
		return closed
	case i.fit(uint64(full)-uint64(left), since, phase):
		return now
	case left > 0 || i.fit(uint64(1-left), since+1, phase): // as in grant
		return pack(now, uint64(taken)+1)
	}
	return word
}

// set sets what a bucket does, whatever is in it. It must be closed.
func (l *lockless) set(i interval, burst int64) {
	l.refill.Store(int64(i.least()))
	l.cost.Store(i.cost)
	l.shift.Store(uint32(i.shift))
	l.full.Store(burst)
}

// open lets Allow do without the lock after it has taken a token at the present instant: one of a
// full bucket, or of one that was not full.
func (l *TokenBucket) open(full bool) {
	s := &l.lockless
	if s.began.IsZero() {
		s.began = l.at.Add(-1)
	}
	newest := int64(l.at.Sub(s.began) + l.last)
	if l.watch || newest <= s.newest {
		return
	}
	if full {
		s.word.Store(newest)
		return
	}
	if l.last > newestRange {
		l.anchor(l.last)
	}
	s.anchor.Store(newest - int64(l.last))
	s.left.Store(l.left)
	s.phase.Store(l.phase)
	s.word.Store(pack(newest, 0))
}

// lock locks mu, and ends that Allow does without.
func (l *TokenBucket) lock() {
	l.mu.Lock()
	s := &l.lockless
	if s.word.Load() == closed {
		return
	}
	word := s.word.Swap(closed)
	l.delayed = false
	if word > 0 {
		s.newest = word
		l.fill(s.began.Add(time.Duration(word)).Sub(l.at))
		l.left--
		return
	}
	var taken int64
	s.newest, taken = s.unpack(word)
	l.left -= taken
	l.last = time.Duration(s.newest - s.anchor.Load())
}
