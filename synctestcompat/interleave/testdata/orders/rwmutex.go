package orders

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

type keyed interface{ allowKey(key string) bool }

// oneEachKey asserts that callers with one key share its one token, and that
// another key has its own.
func oneEachKey(fresh func() keyed) func(*interleave.T) {
	return func(t *interleave.T) {
		l := fresh()
		var granted atomic.Int64
		var wg sync.WaitGroup
		for range 2 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if l.allowKey("a") {
					granted.Add(1)
				}
			}()
		}
		if !l.allowKey("b") {
			t.Error("the first event of a key was denied")
		}
		wg.Wait()
		if got := granted.Load(); got != 1 {
			t.Errorf("%d events of one key were granted, want 1", got)
		}
	}
}

// doubledKeys looks a key up under the read lock and adds it under the write
// lock, without a second look: two callers add two buckets.
type doubledKeys struct {
	mu      sync.RWMutex
	buckets map[string]*atomic.Int64
}

func newDoubledKeys() keyed { return &doubledKeys{buckets: make(map[string]*atomic.Int64)} }

func (k *doubledKeys) allowKey(key string) bool {
	k.mu.RLock()
	b, ok := k.buckets[key]
	k.mu.RUnlock()
	if !ok {
		b = new(atomic.Int64)
		b.Store(1)
		k.mu.Lock()
		k.buckets[key] = b
		k.mu.Unlock()
	}
	return b.Add(-1) >= 0
}

// renewedWindow counts under the read lock and begins a new window under the write
// lock. Who waits for that lock begins a window which has just begun.
type renewedWindow struct {
	mu   sync.RWMutex
	end  time.Time
	used atomic.Int64
}

func newRenewedWindow() allower { return new(renewedWindow) }

func (w *renewedWindow) allow() bool {
	w.mu.RLock()
	if time.Now().Before(w.end) {
		defer w.mu.RUnlock()
		return w.used.Add(1) <= 1
	}
	w.mu.RUnlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.end = time.Now().Add(time.Second)
	w.used.Store(1)
	return true
}

type stats interface {
	set(key string, limit int)
	total() int
}

// setAndTotal asserts that a sum of all limits is one that existed.
func setAndTotal(fresh func() stats) func(*interleave.T) {
	return func(t *interleave.T) {
		s := fresh()
		s.set("a", 1)
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.set("a", 2)
		}()
		if got := s.total(); got != 1 && got != 2 {
			t.Errorf("total() = %d, want 1 or 2", got)
		}
		wg.Wait()
	}
}

// nestedReaders takes the read lock twice: a writer that comes in between waits
// for the first, and the second waits for the writer.
type nestedReaders struct {
	mu     sync.RWMutex
	limits map[string]int
}

func newNestedReaders() stats { return &nestedReaders{limits: make(map[string]int)} }

func (s *nestedReaders) set(key string, limit int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits[key] = limit
}

func (s *nestedReaders) limit(key string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.limits[key]
}

func (s *nestedReaders) total() (sum int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for key := range s.limits {
		sum += s.limit(key)
	}
	return sum
}
