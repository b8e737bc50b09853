// Package races has types that fail in few orders of what happens at one instant, each beside one that does not.
package races

import (
	"context"
	"sync"
	"time"
)

// Bucket is a GCRA. One that is loose gives its lock up between its check and what it does on that.
type Bucket struct {
	interval time.Duration
	burst    int
	loose    bool

	mu   sync.Mutex
	full time.Time // when it is
}

// AllowAt takes n tokens.
func (b *Bucket) AllowAt(now time.Time, n int) bool {
	if n <= 0 {
		return n == 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	full := b.full
	if full.Before(now) {
		full = now
	}
	if full = full.Add(time.Duration(n) * b.interval); n > b.burst || full.Sub(now) > time.Duration(b.burst)*b.interval {
		return false
	}
	if b.loose {
		b.mu.Unlock()
		b.mu.Lock()
	}
	b.full = full
	return true
}

// Semaphore has slots. One that is loose gives its lock up between its look at them and its wait.
type Semaphore struct {
	loose bool

	mu      sync.Mutex
	free    int
	waiters []chan struct{}
}

// Acquire takes a slot, and waits for one.
func (s *Semaphore) Acquire(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	if s.loose {
		s.mu.Unlock()
		s.mu.Lock()
	}
	w := make(chan struct{})
	s.waiters = append(s.waiters, w)
	s.mu.Unlock()
	select {
	case <-w:
		return nil
	case <-ctx.Done():
		return s.leave(ctx, w)
	}
}

// leave ends a wait, unless a slot has come.
func (s *Semaphore) leave(ctx context.Context, w chan struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.waiters {
		if other == w {
			s.waiters = append(s.waiters[:i:i], s.waiters[i+1:]...)
			return ctx.Err()
		}
	}
	return nil
}

// Release gives a slot to who has waited longest.
func (s *Semaphore) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiters) == 0 {
		s.free++
		return
	}
	close(s.waiters[0])
	s.waiters = s.waiters[1:]
}

// Debouncer calls f with the newest value when none came for a while. One that is loose gives its lock up between
// its look at the generation and what it does on that.
type Debouncer struct {
	wait  time.Duration
	f     func(int)
	loose bool

	mu         sync.Mutex
	generation int
	pending    bool
	value      int
}

// Call brings a value.
func (d *Debouncer) Call(v int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.generation++
	d.value, d.pending = v, true
	own := d.generation
	time.AfterFunc(d.wait, func() { d.expire(own) })
}

func (d *Debouncer) expire(generation int) {
	d.mu.Lock()
	if generation != d.generation {
		d.mu.Unlock()
		return
	}
	if d.loose {
		d.mu.Unlock()
		d.mu.Lock()
	}
	v, due := d.value, d.pending
	d.pending = false
	d.mu.Unlock()
	if due {
		d.f(v)
	}
}
