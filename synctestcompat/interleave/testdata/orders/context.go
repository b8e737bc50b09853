package orders

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

type semaphore interface {
	acquire(ctx context.Context) error
	tryAcquire() bool
	release()
}

// cancelAndRelease asserts that a slot which is released as its waiter gives up
// goes to the waiter or is free again.
func cancelAndRelease(fresh func() semaphore) func(*interleave.T) {
	return func(t *interleave.T) {
		s := fresh()
		if !s.tryAcquire() {
			t.Fatal("a fresh semaphore has no slot")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			if s.acquire(ctx) == nil {
				s.release()
			}
		}()
		cancel()
		s.release()
		wg.Wait()
		if !s.tryAcquire() {
			t.Error("the slot was lost")
		}
		if s.tryAcquire() {
			t.Error("one slot became two")
		}
	}
}

// leakingQueue is a semaphore whose waiters stand in a queue. A waiter that gives
// up does not look whether it has been granted the slot meanwhile.
type leakingQueue struct {
	mu    sync.Mutex
	free  int
	queue []chan struct{}
}

func newLeakingQueue() semaphore { return &leakingQueue{free: 1} }

func (s *leakingQueue) tryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

func (s *leakingQueue) acquire(ctx context.Context) error {
	if s.tryAcquire() {
		return nil
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	s.queue = append(s.queue, granted)
	s.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
		s.mu.Lock()
		if i := slices.Index(s.queue, granted); i >= 0 {
			s.queue = slices.Delete(s.queue, i, i+1)
		}
		s.mu.Unlock()
		return ctx.Err()
	}
}

func (s *leakingQueue) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.free++
		return
	}
	close(s.queue[0])
	s.queue = s.queue[1:]
}

type waiter interface {
	allow() bool
	wait(ctx context.Context) error
}

// deadlineAtGrant asserts that a wait whose deadline is the instant of its grant
// either succeeds and takes the token, or fails and leaves it.
func deadlineAtGrant(fresh func() waiter) func(*interleave.T) {
	return func(t *interleave.T) {
		l := fresh()
		if !l.allow() {
			t.Fatal("a fresh limiter grants nothing")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		err := l.wait(ctx)
		again := l.allow()
		if err != nil && !again {
			t.Errorf("wait failed with %v and kept the token", err)
		}
		if passed := time.Since(begin); err == nil && again && passed < 2*time.Second {
			t.Errorf("two events were granted within %v after the first", passed)
		}
	}
}

// keepingLimiter spaces events by a second. A wait that gives up refunds its
// token if its timer could be stopped; one that had just expired is not refunded,
// although the caller is told that it failed.
type keepingLimiter struct {
	mu   sync.Mutex
	next time.Time
}

func newKeepingLimiter() waiter { return new(keepingLimiter) }

func (l *keepingLimiter) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Before(l.next) {
		return false
	}
	l.next = now.Add(time.Second)
	return true
}

func (l *keepingLimiter) wait(ctx context.Context) error {
	l.mu.Lock()
	now := time.Now()
	at := l.next
	if at.Before(now) {
		at = now
	}
	l.next = at.Add(time.Second)
	l.mu.Unlock()

	due := make(chan struct{})
	timer := time.AfterFunc(at.Sub(now), func() { close(due) })
	select {
	case <-due:
		return nil
	case <-ctx.Done():
		if timer.Stop() {
			l.mu.Lock()
			l.next = l.next.Add(-time.Second)
			l.mu.Unlock()
		}
		return ctx.Err()
	}
}

type gate interface {
	wait(ctx context.Context) error
	open()
}

// cancelledGate asserts that who waits at a gate that stays shut is let go when
// its context ends.
func cancelledGate(fresh func() gate) func(*interleave.T) {
	return func(t *interleave.T) {
		g := fresh()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.wait(ctx) }()
		cancel()
		if err := <-done; err == nil {
			t.Error("passed a gate that is shut")
		}
	}
}

// deafGate wakes its waiters at the end of their contexts without its lock: one
// that has looked at the context and does not yet wait sleeps on.
type deafGate struct {
	mu     sync.Mutex
	change *sync.Cond
	opened bool
}

func newDeafGate() gate {
	g := new(deafGate)
	g.change = sync.NewCond(&g.mu)
	return g
}

func (g *deafGate) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, g.change.Broadcast)
	defer stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for !g.opened {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.change.Wait()
	}
	return nil
}

func (g *deafGate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = true
	g.change.Broadcast()
}
