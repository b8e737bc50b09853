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

// Late is a Ring that tells when to come back, and is mistaken: not when its newest event is gone.
type Late struct{ Ring }

// NewLate grants so many per window, sliding.
func NewLate(limit int, window time.Duration) *Late { return &Late{Ring{limit: limit, window: window}} }

// Allow reports whether it is granted, and if not, when to come back.
func (r *Late) Allow() (bool, time.Duration) {
	if r.Ring.Allow() {
		return true, 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.past) == 0 {
		return false, 0
	}
	return false, r.window - time.Since(r.past[len(r.past)-1])
}

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
