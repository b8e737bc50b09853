package orders

import (
	"sync"
	"time"
)

// staleBucket is a token bucket of one token per second that reads the clock
// before it takes the lock: a late caller sets last back, and what has passed
// since is paid out twice.
type staleBucket struct {
	mu     sync.Mutex
	tokens float64
	burst  float64
	last   time.Time
}

func newStaleBucket() allower { return &staleBucket{tokens: 1, burst: 1, last: time.Now()} }

func (b *staleBucket) allow() bool {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.last); passed > 0 {
		b.tokens = min(b.burst, b.tokens+passed.Seconds())
	}
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// staleWindow counts events in aligned windows. A caller that computed its window
// before the lock was free begins that older window anew, and the next caller
// the newer one once more.
type staleWindow struct {
	mu     sync.Mutex
	window int64
	used   int
	limit  int
}

func newStaleWindow() allower { return &staleWindow{limit: 1} }

func (w *staleWindow) allow() bool {
	window := time.Now().Unix()
	w.mu.Lock()
	defer w.mu.Unlock()
	if window != w.window {
		w.window, w.used = window, 0
	}
	if w.used >= w.limit {
		return false
	}
	w.used++
	return true
}
