package limiters

import (
	"fmt"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// A FixedWindow grants at most limit events in each window of time, and starts a new
// count in the next. Windows are of equal length, without gaps, on the grid of
// [time.Time.Truncate]: with a window of time.Minute they are the minutes of the clock,
// for all users alike.
//
// That is all it promises. Events at the end of one window and at the start of the
// next can be close together: any period as long as a window, wherever it starts, has
// at most 2*limit of them, and those 2*limit may come together. A [SlidingCounter]
// comes closer to limit for two more words of memory, a [SlidingLog] keeps it.
//
// A window is half open: the instant at which it ends belongs to the next. A denied
// event costs nothing, and no event extends a window. An instant before the current
// window counts as in it: if the clock goes back by d, the current window ends d later,
// and no more is granted meanwhile than was left in it.
//
// The zero FixedWindow denies everything. Make one with [NewFixedWindow]. It follows
// the wall clock and has no goroutine and no timer. All methods are safe for
// concurrent use, and take effect one after the other.
type FixedWindow struct {
	windows
	mu    sync.Mutex
	start time.Time // of the current window
	used  int       // in it
}

// windows are the settings that limiters by windows share.
type windows struct {
	clock  clockwork.Clock // nil: package time
	limit  int
	window time.Duration
}

func newWindows(name string, limit int, window time.Duration, opts []Option) windows {
	if limit < 0 {
		panic(fmt.Sprintf("limiters: New%s: limit %d must be >= 0: use 0 to deny everything", name, limit))
	}
	if window <= 0 {
		panic(fmt.Sprintf("limiters: New%s: window %v must be > 0: use a TokenBucket of rate Inf to grant everything", name, window))
	}
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	return windows{cfg.clock, limit, window}
}

func (w *windows) now() time.Time {
	if w.clock != nil {
		return w.clock.Now()
	}
	return time.Now()
}

// Limit returns the most events that are granted per window.
func (w *windows) Limit() int { return w.limit }

// Window returns the length of a window.
func (w *windows) Window() time.Duration { return w.window }

// NewFixedWindow returns a FixedWindow of limit events per window. It panics if
// limit is negative or window is not positive.
func NewFixedWindow(limit int, window time.Duration, opts ...Option) *FixedWindow {
	return &FixedWindow{windows: newWindows("FixedWindow", limit, window, opts)}
}

// Allow reports whether an event may happen now, and counts it if so.
func (w *FixedWindow) Allow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(w.now(), 1)
}

// AllowN reports whether n events may happen at t, all of them or none, and counts
// them if so. It reads no clock. If n is 0 the answer is true, if n is negative it
// is false, and neither changes anything.
func (w *FixedWindow) AllowN(t time.Time, n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(t, n)
}

// Remaining returns how many events would be granted now.
func (w *FixedWindow) Remaining() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remaining(w.now())
}

// RemainingAt returns how many events would be granted at t.
func (w *FixedWindow) RemainingAt(t time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.remaining(t)
}

// Fresh reports whether nothing of the current window is used: from now on it
// decides as a new one would. It is what a [Keyed] asks.
func (w *FixedWindow) Fresh() bool { return w.Remaining() == w.limit }

func (w *FixedWindow) take(t time.Time, n int) bool {
	if n <= 0 {
		return n == 0
	}
	left := w.remaining(t)
	if n > left {
		return false
	}
	if left == w.limit { // the first of its window
		w.start, w.used = t.Truncate(w.window), 0
	}
	w.used += n
	return true
}

// remaining returns what is left of the window that t counts as in.
func (w *FixedWindow) remaining(t time.Time) int {
	if w.used > 0 && t.Sub(w.start) < w.window {
		return w.limit - w.used
	}
	return w.limit
}
