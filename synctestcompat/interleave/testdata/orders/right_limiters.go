package orders

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/escapement-go/escapement/synctestcompat/interleave"
)

// lockedBucket reads the clock under its lock.
type lockedBucket struct {
	sync.Mutex
	tokens float64
	last   time.Time
}

func newLockedBucket() allower { return &lockedBucket{tokens: 1, last: time.Now()} }

func (b *lockedBucket) allow() bool {
	b.Lock()
	defer b.Unlock()
	now := time.Now()
	b.tokens = min(1, b.tokens+now.Sub(b.last).Seconds())
	b.last = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// forwardWindow reads the clock without a lock, and never goes back to a window.
type forwardWindow struct {
	mu     sync.Mutex
	window int64
	used   int
}

func newForwardWindow() allower { return new(forwardWindow) }

func (w *forwardWindow) allow() bool {
	window := time.Now().Unix()
	w.mu.Lock()
	defer w.mu.Unlock()
	if window > w.window {
		w.window, w.used = window, 0
	}
	if w.used == 1 {
		return false
	}
	w.used++
	return true
}

// cellRate has one word, the theoretical arrival time, which only grows.
type cellRate struct {
	arrival  int64 // nanoseconds, atomic
	interval time.Duration
	burst    int
}

func newCellRate(burst int) func() allower {
	return func() allower { return &cellRate{interval: time.Second, burst: burst} }
}

func (c *cellRate) allow() bool {
	now := time.Now().UnixNano()
	for {
		old := atomic.LoadInt64(&c.arrival)
		next := max(old, now) + int64(c.interval)
		if next-now > int64(c.burst)*int64(c.interval) {
			return false
		}
		if atomic.CompareAndSwapInt64(&c.arrival, old, next) {
			return true
		}
	}
}

// packedWindow has its window and its count in one word.
type packedWindow struct{ state atomic.Uint64 }

func newPackedWindow() allower { return new(packedWindow) }

func (w *packedWindow) allow() bool {
	for {
		state := w.state.Load()
		window, used := state>>8, state&0xff
		if now := uint64(time.Now().Unix()); now > window {
			window, used = now, 0
		}
		if used == 1 {
			return false
		}
		if w.state.CompareAndSwap(state, window<<8|used+1) {
			return true
		}
	}
}

// refundingLimiter waits for a timer's channel. Stop returns true for a timer that
// is due and has not been received from, so what was not used is refunded.
type refundingLimiter struct {
	mu   sync.Mutex
	next time.Time
}

func newRefundingLimiter() waiter { return new(refundingLimiter) }

func (l *refundingLimiter) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Before(l.next) {
		return false
	}
	l.next = now.Add(time.Second)
	return true
}

func (l *refundingLimiter) wait(ctx context.Context) error {
	l.mu.Lock()
	now := time.Now()
	at := l.next
	if at.Before(now) {
		at = now
	}
	l.next = at.Add(time.Second)
	l.mu.Unlock()

	timer := time.NewTimer(at.Sub(now))
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		if timer.Stop() {
			l.mu.Lock()
			l.next = l.next.Add(-time.Second)
			l.mu.Unlock()
		}
		return context.Cause(ctx)
	}
}

// politeTokens prefers the end of the context.
type politeTokens struct{ tokens chan struct{} }

func newPoliteTokens() taker {
	l := &politeTokens{tokens: make(chan struct{}, 1)}
	l.tokens <- struct{}{}
	return l
}

func (l *politeTokens) left() int { return len(l.tokens) }

func (l *politeTokens) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-l.tokens:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onceLimiter is set up by its first caller.
type onceLimiter struct {
	once sync.Once
	left atomic.Int64
}

func newOnceLimiter() allower { return new(onceLimiter) }

func (l *onceLimiter) allow() bool {
	l.once.Do(func() { l.left.Store(2) })
	return l.left.Add(-1) >= 0
}

// checkedKeys looks again under the write lock.
type checkedKeys struct {
	mu      sync.RWMutex
	buckets map[string]*atomic.Int64
}

func newCheckedKeys() keyed { return &checkedKeys{buckets: make(map[string]*atomic.Int64)} }

func (k *checkedKeys) bucket(key string) *atomic.Int64 {
	k.mu.RLock()
	b, ok := k.buckets[key]
	k.mu.RUnlock()
	if ok {
		return b
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if b, ok := k.buckets[key]; ok {
		return b
	}
	b = new(atomic.Int64)
	b.Store(1)
	k.buckets[key] = b
	return b
}

func (k *checkedKeys) allowKey(key string) bool { return k.bucket(key).Add(-1) >= 0 }

// mappedKeys has a sync.Map of buckets.
type mappedKeys struct{ buckets sync.Map }

func newMappedKeys() keyed { return new(mappedKeys) }

func (k *mappedKeys) allowKey(key string) bool {
	b, ok := k.buckets.Load(key)
	if !ok {
		fresh := new(atomic.Int64)
		fresh.Store(1)
		b, _ = k.buckets.LoadOrStore(key, fresh)
	}
	return b.(*atomic.Int64).Add(-1) >= 0
}

// copiedStats replaces a whole table for each change; who reads sees one table.
type copiedStats struct {
	limits atomic.Pointer[map[string]int]
}

func newCopiedStats() stats {
	s := new(copiedStats)
	s.limits.Store(new(map[string]int))
	return s
}

func (s *copiedStats) set(key string, limit int) {
	for {
		old := s.limits.Load()
		fresh := map[string]int{key: limit}
		for k, v := range *old {
			if k != key {
				fresh[k] = v
			}
		}
		if s.limits.CompareAndSwap(old, &fresh) {
			return
		}
	}
}

func (s *copiedStats) total() (sum int) {
	for _, limit := range *s.limits.Load() {
		sum += limit
	}
	return sum
}

// tickedTokens is refilled by a ticker's goroutine, which drops what does not fit.
type tickedTokens struct {
	tokens chan struct{}
	quit   chan struct{}
	done   sync.WaitGroup
}

func (l *tickedTokens) refill(ticks *time.Ticker) {
	defer l.done.Done()
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			select {
			case l.tokens <- struct{}{}:
			default:
			}
		case <-l.quit:
			return
		}
	}
}

func (l *tickedTokens) allow() bool {
	select {
	case <-l.tokens:
		return true
	default:
		return false
	}
}

// refilledAtTick asserts that callers at the instant of a tick are granted the token
// that was there and those of the ticks so far, and no more.
func refilledAtTick(t *interleave.T) {
	l := &tickedTokens{tokens: make(chan struct{}, 1), quit: make(chan struct{})}
	l.tokens <- struct{}{}
	begin := time.Now()
	l.done.Add(1)
	go l.refill(time.NewTicker(time.Second))
	time.Sleep(time.Second)
	granted := 0
	for range 3 {
		if l.allow() {
			granted++
		}
	}
	passed := time.Since(begin)
	close(l.quit)
	l.done.Wait()
	if granted < 1 || granted > 1+int(passed/time.Second) {
		t.Errorf("%d events were granted within %v", granted, passed)
	}
}

// spacedQueue lets workers go a second apart, in the order of their places.
type spacedQueue struct {
	mu   sync.Mutex
	next time.Time
}

func (q *spacedQueue) take() {
	q.mu.Lock()
	at := q.next
	if now := time.Now(); at.Before(now) {
		at = now
	}
	q.next = at.Add(time.Second)
	q.mu.Unlock()
	time.Sleep(time.Until(at))
}

// aSecondApart asserts that no two workers are let go less than a second apart.
func aSecondApart(t *interleave.T) {
	var q spacedQueue
	var wg sync.WaitGroup
	begin := time.Now()
	for range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			q.take()
		}()
	}
	wg.Wait()
	if got := time.Since(begin); got < 2*time.Second {
		t.Errorf("three workers were let go within %v", got)
	}
}
