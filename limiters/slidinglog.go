package limiters

import (
	"sync"
	"time"
)

// A SlidingLog grants at most limit events in any period of length window. It records
// the instant of each: this is the strictest limit for its parameters, at the price of
// 32 to 64 bytes for each event within a window, 128 at first; events of one instant
// count as one.
//
// It grants whenever that allows, so up to limit events at once, and then none until
// the oldest is window ago. A period is half open: an event exactly window ago is
// outside. A denied event costs nothing and is not recorded. An instant before the
// newest one counts as the newest: if the clock goes back by d, nothing is granted that
// would not have been granted at once, until it is where it was.
//
// The zero SlidingLog denies everything. Make one with [NewSlidingLog]. It has no
// goroutine and no timer, and does not free the memory of its longest log. All methods
// are safe for concurrent use, and take effect one after the other. AllowN takes
// constant time on average, over any number of calls.
type SlidingLog struct {
	windows
	mu   sync.Mutex
	log  []logEntry // a ring: len is its capacity
	head int        // the oldest
	n    int        // entries in use
	used int        // events in them

	asked  bool
	newest time.Time // of all requests: also one that is denied drops entries
}

type logEntry struct {
	at time.Time
	n  int
}

// NewSlidingLog returns a SlidingLog of limit events per window. It panics if limit
// is negative or window is not positive.
func NewSlidingLog(limit int, window time.Duration, opts ...Option) *SlidingLog {
	return &SlidingLog{windows: newWindows("SlidingLog", limit, window, opts)}
}

// Allow reports whether an event may happen now, and remembers it if so.
func (w *SlidingLog) Allow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(w.now(), 1)
}

// AllowN reports whether n events may happen at t, all of them or none, and
// remembers them if so. It reads no clock. If n is 0 the answer is true, if n is
// negative it is false, and neither changes anything.
func (w *SlidingLog) AllowN(t time.Time, n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(t, n)
}

// Remaining returns how many events would be granted now.
func (w *SlidingLog) Remaining() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remaining(w.now())
}

// RemainingAt returns how many events would be granted at t.
func (w *SlidingLog) RemainingAt(t time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remaining(t)
}

// Fresh reports whether no event is within the window: from now on it decides as a
// new one would. It is what a [Keyed] asks.
func (w *SlidingLog) Fresh() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	return w.clamp(now).Equal(now) && w.remaining(now) == w.limit
}

func (w *SlidingLog) take(t time.Time, n int) bool {
	if n <= 0 {
		return n == 0
	}
	t = w.clamp(t)
	w.asked, w.newest = true, t
	for w.n > 0 && t.Sub(w.entry(0).at) >= w.window {
		w.used -= w.entry(0).n
		w.head = (w.head + 1) % len(w.log)
		w.n--
	}
	if n > w.limit-w.used {
		return false
	}
	w.used += n
	if w.n > 0 && w.entry(w.n-1).at.Equal(t) {
		w.entry(w.n - 1).n += n
		return true
	}
	if w.n == len(w.log) {
		w.grow()
	}
	w.n++
	*w.entry(w.n - 1) = logEntry{t, n}
	return true
}

// remaining returns what is left at t.
func (w *SlidingLog) remaining(t time.Time) int {
	_, left := w.expired(t)
	return left
}

// expired returns how many entries are outside of the window at t, and what is left.
func (w *SlidingLog) expired(t time.Time) (n, left int) {
	left, t = w.limit-w.used, w.clamp(t)
	for n < w.n && t.Sub(w.entry(n).at) >= w.window {
		left += w.entry(n).n
		n++
	}
	return n, left
}

// clamp returns t, or the newest instant that was asked about if that is later.
func (w *SlidingLog) clamp(t time.Time) time.Time {
	if w.asked && t.Before(w.newest) {
		return w.newest
	}
	return t
}

// entry returns the i-th oldest entry.
func (w *SlidingLog) entry(i int) *logEntry {
	if i += w.head; i >= len(w.log) {
		i -= len(w.log)
	}
	return &w.log[i]
}

// grow makes room for one more entry: the ring never needs more than limit.
func (w *SlidingLog) grow() {
	size := max(4, 2*len(w.log))
	if size > w.limit {
		size = w.limit
	}
	log := make([]logEntry, size)
	n := copy(log, w.log[w.head:])
	copy(log[n:], w.log[:w.head])
	w.log, w.head = log, 0
}
