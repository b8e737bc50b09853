package orders

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// barging asserts that one slot has one holder, also if a caller comes as it is
// handed from one to the next.
func barging(fresh func() semaphore) func(*interleave.T) {
	return func(t *interleave.T) {
		s := fresh()
		var holders atomic.Int64
		use := func() {
			if n := holders.Add(1); n != 1 {
				t.Errorf("%d hold one slot", n)
			}
			holders.Add(-1)
			s.release()
		}
		if !s.tryAcquire() {
			t.Fatal("a fresh semaphore has no slot")
		}
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			if s.acquire(context.Background()) == nil {
				use()
			}
		}()
		s.release()
		if s.tryAcquire() {
			use()
		}
		wg.Wait()
	}
}

// trustingCond takes the slot when it is woken, without looking whether it is
// still there.
type trustingCond struct {
	mu   sync.Mutex
	some *sync.Cond
	free int
}

func newTrustingCond() semaphore {
	s := &trustingCond{free: 1}
	s.some = sync.NewCond(&s.mu)
	return s
}

func (s *trustingCond) tryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free <= 0 {
		return false
	}
	s.free--
	return true
}

func (s *trustingCond) acquire(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free <= 0 {
		s.some.Wait()
	}
	s.free--
	return nil
}

func (s *trustingCond) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.some.Signal()
}

// openedGate asserts that who waits at a gate passes when it is opened.
func openedGate(fresh func() gate) func(*interleave.T) {
	return func(t *interleave.T) {
		g := fresh()
		done := make(chan error)
		go func() { done <- g.wait(context.Background()) }()
		g.open()
		if err := <-done; err != nil {
			t.Errorf("wait() = %v", err)
		}
	}
}

// unlockedGate is opened without its lock: the broadcast is lost on a waiter that
// has found it shut and does not yet wait.
type unlockedGate struct {
	mu     sync.Mutex
	change *sync.Cond
	opened atomic.Bool
}

func newUnlockedGate() gate {
	g := new(unlockedGate)
	g.change = sync.NewCond(&g.mu)
	return g
}

func (g *unlockedGate) wait(context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.opened.Load() {
		g.change.Wait()
	}
	return nil
}

func (g *unlockedGate) open() {
	g.opened.Store(true)
	g.change.Broadcast()
}
