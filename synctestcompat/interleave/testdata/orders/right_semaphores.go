package orders

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// fairQueue is a semaphore whose waiters stand in a queue. Who gives up hands on
// what it has been granted meanwhile.
type fairQueue struct {
	mu    sync.Mutex
	free  int
	queue list.List
}

func newFairQueue() semaphore { return &fairQueue{free: 1} }

func (s *fairQueue) tryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 || s.queue.Len() > 0 {
		return false
	}
	s.free--
	return true
}

func (s *fairQueue) acquire(ctx context.Context) error {
	s.mu.Lock()
	if s.free > 0 && s.queue.Len() == 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	granted := make(chan struct{})
	place := s.queue.PushBack(granted)
	s.mu.Unlock()
	select {
	case <-granted:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-granted:
		s.handOn()
	default:
		s.queue.Remove(place)
	}
	return ctx.Err()
}

func (s *fairQueue) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handOn()
}

func (s *fairQueue) handOn() {
	first := s.queue.Front()
	if first == nil {
		s.free++
		return
	}
	close(s.queue.Remove(first).(chan struct{}))
}

// slots is a semaphore that is a channel.
type slots chan struct{}

func newSlots() semaphore { return make(slots, 1) }

func (s slots) tryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s slots) acquire(ctx context.Context) error {
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slots) release() { <-s }

// carefulCond looks again when it is woken.
type carefulCond struct {
	mu   sync.Mutex
	some sync.Cond
	free int
}

func newCarefulCond() semaphore {
	s := &carefulCond{free: 1}
	s.some.L = &s.mu
	return s
}

func (s *carefulCond) tryAcquire() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return false
	}
	s.free--
	return true
}

func (s *carefulCond) acquire(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.free == 0 {
		s.some.Wait()
	}
	s.free--
	return nil
}

func (s *carefulCond) release() {
	s.mu.Lock()
	s.free++
	s.mu.Unlock()
	s.some.Signal()
}

// lockedGate takes its lock for each broadcast.
type lockedGate struct {
	mu     sync.RWMutex
	change *sync.Cond
	opened bool
}

func newLockedGate() gate {
	g := new(lockedGate)
	g.change = sync.NewCond(g.mu.RLocker())
	return g
}

func (g *lockedGate) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.change.Broadcast()
	})()
	g.mu.RLock()
	defer g.mu.RUnlock()
	for !g.opened {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		g.change.Wait()
	}
	return nil
}

func (g *lockedGate) open() {
	g.mu.Lock()
	g.opened = true
	g.mu.Unlock()
	g.change.Broadcast()
}

// A share of a weighted semaphore is of more than one slot.
type weighted struct {
	mu   sync.Mutex
	some *sync.Cond
	free int
}

func (s *weighted) acquire(n int) {
	s.mu.Lock()
	for s.free < n {
		s.some.Wait()
	}
	s.free -= n
	s.mu.Unlock()
}

func (s *weighted) release(n int) {
	s.mu.Lock()
	s.free += n
	s.some.Broadcast()
	s.mu.Unlock()
}

// unevenShares asserts that waiters of unlike weights all get their turn.
func unevenShares(t *interleave.T) {
	s := &weighted{free: 2}
	s.some = sync.NewCond(&s.mu)
	var inUse atomic.Int64
	var wg sync.WaitGroup
	for _, n := range []int{2, 1, 1} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.acquire(n)
			if got := inUse.Add(int64(n)); got > 2 {
				t.Errorf("%d slots of 2 are in use", got)
			}
			inUse.Add(int64(-n))
			s.release(n)
		}()
	}
	wg.Wait()
	if s.free != 2 {
		t.Errorf("%d slots are free, want 2", s.free)
	}
}

// swappedLease is given back by whoever changes its state first.
type swappedLease struct {
	free *atomic.Int64
	over uint32
}

func newSwappedLease(free *atomic.Int64, ttl time.Duration) lease {
	l := &swappedLease{free: free}
	time.AfterFunc(ttl, l.release)
	return l
}

func (l *swappedLease) release() {
	if atomic.SwapUint32(&l.over, 1) == 0 {
		l.free.Add(1)
	}
}

// runOnceReleased decides with one word whether a job has begun or was abandoned.
func runOnceReleased(ctx context.Context, free *atomic.Int64, f func()) {
	var decided atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if decided.CompareAndSwap(false, true) {
			defer free.Add(1)
			f()
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
		if decided.CompareAndSwap(false, true) {
			free.Add(1)
		}
	}
}

var errTimeout = errors.New("no slot in time")

// A seat is a place in the backlog of a bulkhead, and is decided under its lock.
type seat struct {
	decided chan error
	timer   *time.Timer
}

// bulkhead lets one run and others wait for a second.
type bulkhead struct {
	mu      sync.Mutex
	running int
	seats   []*seat
}

func (b *bulkhead) enter() error {
	b.mu.Lock()
	if b.running == 0 {
		b.running++
		b.mu.Unlock()
		return nil
	}
	s := &seat{decided: make(chan error, 1)}
	s.timer = time.AfterFunc(time.Second, func() { b.expire(s) })
	b.seats = append(b.seats, s)
	b.mu.Unlock()
	return <-s.decided
}

func (b *bulkhead) expire(s *seat) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.seats {
		if b.seats[i] == s {
			b.seats = append(b.seats[:i:i], b.seats[i+1:]...)
			s.decided <- errTimeout
			return
		}
	}
}

func (b *bulkhead) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.seats) == 0 {
		b.running--
		return
	}
	s := b.seats[0]
	b.seats = b.seats[1:]
	s.timer.Stop()
	s.decided <- nil
}

// leaveAtTimeout asserts that a slot that is freed as its waiter's time is up has
// one new owner.
func leaveAtTimeout(t *interleave.T) {
	var b bulkhead
	if err := b.enter(); err != nil {
		t.Fatal(err)
	}
	entered := make(chan error)
	go func() { entered <- b.enter() }()
	time.Sleep(time.Second)
	b.leave()
	if err := <-entered; err == nil {
		b.leave()
	} else if !errors.Is(err, errTimeout) {
		t.Error(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running != 0 || len(b.seats) != 0 {
		t.Errorf("%d run and %d wait, want none", b.running, len(b.seats))
	}
}
