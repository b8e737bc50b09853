package limiters

import (
	"math/bits"
	"sync"
	"time"
)

// A SlidingCounter keeps close to limit events in any period of length window, with two
// counters instead of a log. It counts the events of the current and the previous
// window, on the same grid as a [FixedWindow], and assumes those of the previous one
// were spread evenly: at a share s of the current window, counted from 0, an event is
// granted if
//
//	before * (1 - s) + current + 1 <= limit
//
// This estimate is computed exactly, in integers, and never exceeds limit. The events may,
// if they were not spread evenly: at most limit are in each window of the grid, and fewer
// than 2*limit in any period of length window; if they come evenly, limit or one more. And
// where a [FixedWindow] would grant limit at once, a SlidingCounter under load admits events
// gradually, as the previous window fades.
//
// A window is half open: the instant at which it ends belongs to the next. A denied
// event costs nothing. An instant before the newest granted event counts as that one: a
// late event resets no counter, and if the clock goes back by d, nothing is granted
// that would not have been granted at once, until it is where it was.
//
// The zero SlidingCounter denies everything. Make one with [NewSlidingCounter]. It
// follows the wall clock and has no goroutine and no timer. All methods are safe
// for concurrent use, and take effect one after the other.
type SlidingCounter struct {
	windows
	mu      sync.Mutex
	start   time.Time     // of the current window
	offset  time.Duration // of the newest event in it
	before  int
	current int
}

// NewSlidingCounter returns a SlidingCounter of limit events per window. It panics
// if limit is negative or window is not positive.
func NewSlidingCounter(limit int, window time.Duration, opts ...Option) *SlidingCounter {
	return &SlidingCounter{windows: newWindows("SlidingCounter", limit, window, opts)}
}

// Allow reports whether an event may happen now, and counts it if so.
func (w *SlidingCounter) Allow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(w.now(), 1)
}

// AllowN reports whether n events may happen at t, all of them or none, and counts
// them if so. It reads no clock. If n is 0 the answer is true, if n is negative it
// is false, and neither changes anything.
func (w *SlidingCounter) AllowN(t time.Time, n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(t, n)
}

// Remaining returns how many events would be granted now.
func (w *SlidingCounter) Remaining() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at(w.now()).remaining(w)
}

// RemainingAt returns how many events would be granted at t.
func (w *SlidingCounter) RemainingAt(t time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at(t).remaining(w)
}

// Fresh reports whether both counters are 0: from now on it decides as a new one
// would. It is what a [Keyed] asks.
func (w *SlidingCounter) Fresh() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.at(w.now())
	return v.before == 0 && v.current == 0
}

func (w *SlidingCounter) take(t time.Time, n int) bool {
	v := w.at(t)
	_, ok := w.takeIn(&v, n)
	return ok
}

// takeIn decides on n events where the counters are v, and returns what is left then.
func (w *SlidingCounter) takeIn(v *counterView, n int) (left int, ok bool) {
	left = v.remaining(w)
	if n <= 0 || n > left {
		return left, n == 0
	}
	v.current += n
	w.start, w.offset, w.before, w.current = v.start, v.offset, v.before, v.current
	return left - n, true
}

// counterView is what the counters are at an instant.
type counterView struct {
	start           time.Time
	since           time.Duration // from start: less than offset if the clock went back
	offset          time.Duration
	before, current int
}

// at moves on to t, without changing anything.
func (w *SlidingCounter) at(t time.Time) counterView {
	if w.before == 0 && w.current == 0 {
		start := t.Truncate(w.window)
		since := t.Sub(start)
		return counterView{start: start, since: since, offset: since}
	}
	since := t.Sub(w.start)
	if since < w.window {
		return counterView{w.start, since, max(since, w.offset), w.before, w.current}
	}
	start := t.Truncate(w.window)
	offset := t.Sub(start)
	v := counterView{start: start, since: offset, offset: offset}
	if since-w.window < w.window {
		v.before = w.current
	}
	return v
}

// remaining returns how many events fit: limit - current - before*(1-s), the last
// rounded up.
func (v counterView) remaining(w *SlidingCounter) int {
	if v.before == 0 {
		return w.limit - v.current
	}
	hi, lo := bits.Mul64(uint64(v.before), uint64(w.window-v.offset))
	weight, rest := bits.Div64(hi, lo, uint64(w.window))
	if rest > 0 {
		weight++
	}
	return max(0, w.limit-v.current-int(weight))
}

// faded returns how long after the beginning of a window no more than room events of the
// before events in the one before it are counted.
func (w *SlidingCounter) faded(before, room int) time.Duration {
	if before <= room {
		return 0
	}
	hi, lo := bits.Mul64(uint64(room), uint64(w.window))
	left, _ := bits.Div64(hi, lo, uint64(before))
	return w.window - time.Duration(left)
}
