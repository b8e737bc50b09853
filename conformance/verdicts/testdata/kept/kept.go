// Package kept has a limiter that works, for the tests of init. Names do not tell which window it promises.
package kept

import (
	"sync"
	"time"
)

// Ring grants so many in any window.
type Ring struct {
	mu     sync.Mutex
	window time.Duration
	past   []time.Time
	limit  int
}

// NewDoomed ends the process, whatever it is asked for.
func NewDoomed(interval time.Duration, _ func(int)) *Doomed {
	go panic("doomed")
	return &Doomed{}
}

// Doomed has no life.
type Doomed struct{}

// Call does nothing.
func (*Doomed) Call(int) {}

// NewRing makes one.
func NewRing(limit int, window time.Duration) *Ring { return &Ring{limit: limit, window: window} }

// Allow reports whether it is granted.
func (r *Ring) Allow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for len(r.past) > 0 && now.Sub(r.past[0]) >= r.window {
		r.past = r.past[1:]
	}
	if len(r.past) >= r.limit {
		return false
	}
	r.past = append(r.past, now)
	return true
}
