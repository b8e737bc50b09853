package limiters

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// What [Concurrency.Acquire] and [Concurrency.Do] return besides the errors of the
// context.
var (
	// ErrBacklogFull means that all slots are taken and the backlog is full.
	ErrBacklogFull = errors.New("limiters: no slot is free and the backlog is full")
	// ErrTimeout means that no slot came free within the timeout. It is not
	// context.DeadlineExceeded, which would be the caller's own deadline.
	ErrTimeout = errors.New("limiters: no slot came free within the timeout")
	// ErrOverLimit means that a request asked for more slots than the limit.
	ErrOverLimit = errors.New("limiters: more slots than the limit")
)

// A Concurrency limits how many requests run at the same time, where a rate limiter limits
// how many begin per second. A request takes a slot, or several if it weighs more, and
// releases them when it is done:
//
//	err := c.Do(ctx, func() error { return serve(w, r) })
//
// It is a weighted semaphore with a queue. A request gets free slots immediately. If too
// few are free it waits in the backlog, which is served first come, first served: no
// request overtakes, even if it weighs less or has just come, so heavy requests are not
// starved. A waiter leaves the backlog when it gets its slots, when the timeout ends,
// and when its context is done; then the waiters behind it are tried again. Running
// requests take no place in the backlog: up to limit + backlog requests are admitted.
//
// Without options the backlog is unbounded and only the context ends a wait, as in
// golang.org/x/sync/semaphore. Backlog(0) rejects what cannot run immediately.
//
// The zero Concurrency has no slots, and refuses everything with [ErrOverLimit].
// Limits are from 1; one above 1<<61 counts as 1<<61.
//
// If a slot comes free just as the timeout ends, the request gets the slot or
// [ErrTimeout], never both and never neither. If Acquire returns the context's error,
// it has taken no slot.
//
// It has no goroutines, and timers only for as long as a request waits with a timeout:
// one for all of them on package time, one for each on another clock. All methods are
// safe for concurrent use, and take effect one after the other. Without waiters,
// Acquire and Release are one atomic operation each.
type Concurrency struct {
	clock   clockwork.Clock // nil: package time
	backlog int             // math.MaxInt: no bound
	timeout time.Duration   // noTimeout: none

	// state is twice the number of free slots, negative if the limit was lowered
	// below what is in use, plus the bit queued. While that bit is set state and
	// limit change only with mu held.
	state atomic.Int64
	limit atomic.Int64 // changed with mu held

	mu      sync.Mutex
	waiters backlog
	spare   *waiter // one of those that waited alone, for the next

	// With a timeout on package time. As all wait for equally long, it runs out in the
	// order in which they came, so one timer does for all.
	timer *time.Timer // nil: nobody waits
	began time.Time   // when it was made, from which deadlines are counted
}

const (
	queued    = 1 // somebody waits
	maxSlots  = 1 << 61
	noTimeout = time.Duration(-1)
)

// A ConcurrencyOption is an option of [NewConcurrency]: [WithClock], [Backlog] or
// [Timeout].
type ConcurrencyOption interface{ applyConcurrency(*concurrencyConfig) }

type concurrencyConfig struct {
	config
	backlog int
	timeout time.Duration
}

func (o Option) applyConcurrency(cfg *concurrencyConfig) {
	if o != nil {
		o(&cfg.config)
	}
}

type backlogOption int

func (n backlogOption) applyConcurrency(cfg *concurrencyConfig) { cfg.backlog = int(n) }

// Backlog lets at most n requests wait. With 0 none does: a request that cannot run at
// once is rejected. It panics if n is negative.
func Backlog(n int) ConcurrencyOption {
	if n < 0 {
		panic(fmt.Sprintf("limiters: Backlog: n %d must be >= 0: for no bound, leave it out", n))
	}
	return backlogOption(n)
}

type timeoutOption time.Duration

func (d timeoutOption) applyConcurrency(cfg *concurrencyConfig) { cfg.timeout = time.Duration(d) }

// Timeout lets a request wait for d at most. With 0 none waits, but a request that
// finds a free slot gets it. It panics if d is negative.
func Timeout(d time.Duration) ConcurrencyOption {
	if d < 0 {
		panic(fmt.Sprintf("limiters: Timeout: d %v must be >= 0: for no timeout, leave it out", d))
	}
	return timeoutOption(d)
}

// NewConcurrency returns a Concurrency of limit slots. It panics if limit is less
// than 1.
func NewConcurrency(limit int, opts ...ConcurrencyOption) *Concurrency {
	slots := slots("NewConcurrency", limit)
	cfg := concurrencyConfig{backlog: math.MaxInt, timeout: noTimeout}
	for _, opt := range opts {
		if opt != nil {
			opt.applyConcurrency(&cfg)
		}
	}
	c := &Concurrency{clock: cfg.clock, backlog: cfg.backlog, timeout: cfg.timeout}
	c.limit.Store(slots)
	c.state.Store(slots << 1)
	return c
}

func slots(function string, limit int) int64 {
	if limit < 1 {
		panic(fmt.Sprintf("limiters: %s: limit %d must be >= 1: to let nothing run, do not ask", function, limit))
	}
	return min(int64(limit), maxSlots)
}

// Do takes a slot, calls f and releases the slot, even if f panics or calls
// runtime.Goexit. It blocks as Acquire does. It returns what f returned, or, if it got
// no slot and did not call f, the error of Acquire. It panics if f is nil.
func (c *Concurrency) Do(ctx context.Context, f func() error) error {
	if f == nil {
		panic("limiters: Concurrency.Do: f must not be nil: pass the function to run, or use Acquire")
	}
	if err := c.Acquire(ctx, 1); err != nil {
		return err
	}
	defer c.Release(1)
	return f()
}

// Acquire takes n slots, and waits for them if it must and may. If it returns nil, n
// slots must be released later. If it returns an error it took nothing:
// [ErrBacklogFull], [ErrTimeout], [ErrOverLimit] if n is more than the limit, perhaps
// after a Resize, or ctx.Err() if ctx is done, which is checked first. If n is 0 it
// does not wait. It panics if n is negative or ctx is nil.
func (c *Concurrency) Acquire(ctx context.Context, n int) error {
	mustCount("Acquire", n)
	if ctx == nil {
		noContext("Concurrency.Acquire")
	}
	done := ctx.Done()
	select {
	case <-done:
		return ctx.Err()
	default:
	}
	if _, ok := c.take(int64(n)); ok {
		return nil
	}
	alone := done == nil && (c.timeout == noTimeout || c.clock == nil) // it waits for nothing else
	w, err := c.join(int64(n), alone)
	switch {
	case w == nil:
		return err
	case alone:
		return c.sleep(w)
	}
	return c.wait(ctx, done, w)
}

// TryAcquire takes n slots if they are free and no request waits, and reports whether
// it did. It never blocks. If n is 0 the answer is true. It panics if n is negative.
func (c *Concurrency) TryAcquire(n int) bool {
	mustCount("TryAcquire", n)
	s, ok := c.take(int64(n))
	if ok || n == 0 || s&queued == 0 {
		return ok || n == 0
	}
	// The bit is also set during a Resize, and for a moment after the last who waited was answered.
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok = c.take(int64(n))
	return ok
}

// Release releases n slots and lets waiters have them. Any goroutine may call it. It
// does not block. If fewer than n are in use, or n is negative, it panics and changes
// nothing.
func (c *Concurrency) Release(n int) {
	mustCount("Release", n)
	s := c.state.Load()
	for s&queued == 0 && int64(n) <= c.limit.Load()-s>>1 {
		if c.state.CompareAndSwap(s, s+int64(n)<<1) {
			return
		}
		pause()
		s = c.state.Load()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(int64(n))
	c.wake()
}

// Resize changes the limit. Running requests go on: below the number in use, no slot is
// given until enough have been released. If the limit is raised, waiters get the new
// slots now. Waiters for more slots than the new limit get [ErrOverLimit]. It panics if
// limit is less than 1.
func (c *Concurrency) Resize(limit int) {
	slots := slots("Concurrency.Resize", limit)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state.Or(queued) // from here on everybody takes the lock
	c.state.Add((slots - c.limit.Load()) << 1)
	c.limit.Store(slots)
	for w := c.waiters.first; w != nil; {
		next := w.next
		if w.n > slots {
			c.answer(w, ErrOverLimit)
		}
		w = next
	}
	c.wake()
}

// Limit returns the number of slots.
func (c *Concurrency) Limit() int { return int(c.limit.Load()) }

// InUse returns how many slots are taken. After a Resize it can be more than the
// limit.
func (c *Concurrency) InUse() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(c.limit.Load() - c.state.Load()>>1)
}

// Waiting returns how many requests wait.
func (c *Concurrency) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiters.len
}

func mustCount(method string, n int) {
	if n < 0 {
		panic(fmt.Sprintf("limiters: Concurrency.%s: n %d must be >= 0: count the slots", method, n))
	}
}

// take takes n slots if they are free and nobody waits, and returns the state by which it decided.
func (c *Concurrency) take(n int64) (s int64, ok bool) {
	for {
		s = c.state.Load()
		if s&queued != 0 || s>>1 < n {
			return s, false
		}
		if c.state.CompareAndSwap(s, s-n<<1) {
			return s, true
		}
		pause()
	}
}

// pause does nothing for a moment. Who finds that another processor was faster leaves
// the state to it for a while: two that fight for it are slower than one after the other.
func pause() {
	for range 300 {
	}
}

// join takes n slots after all, or finds out why they cannot be had, or makes the
// caller wait. Between the look at what is free and the bit that makes those
// who release look into the backlog nothing can come free unseen.
func (c *Concurrency) join(n int64, alone bool) (*waiter, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		s := c.state.Load()
		switch {
		case n == 0:
			return nil, nil
		case n > c.limit.Load():
			return nil, ErrOverLimit
		case s&queued == 0 && s>>1 >= n:
			if c.state.CompareAndSwap(s, s-n<<1) {
				return nil, nil
			}
		case c.waiters.len >= c.backlog:
			return nil, ErrBacklogFull
		case c.timeout == 0:
			return nil, ErrTimeout
		case c.state.CompareAndSwap(s, s|queued):
			w := c.waiter(n, alone)
			if c.timeout != noTimeout && c.clock == nil {
				w.deadline = c.deadline()
			}
			c.waiters.push(w)
			return w, nil
		}
	}
}

// deadline returns when the timeout of a request runs out that begins to wait now, and
// arms the timer if it is the first. mu is held.
func (c *Concurrency) deadline() time.Duration {
	if c.timer != nil {
		// A timeout that does not end in 292 years is as good as that.
		return time.Since(c.began) + min(c.timeout, remote)
	}
	c.began = time.Now()
	c.timer = time.AfterFunc(c.timeout, c.expire)
	return min(c.timeout, remote)
}

// expire is the function of the timer. If it was made for requests that wait no more, it
// is too early for the others.
func (c *Concurrency) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		return
	}
	now := time.Since(c.began)
	for w := c.waiters.first; w != nil && w.deadline <= now; w = c.waiters.first {
		c.answer(w, ErrTimeout)
	}
	c.wake() // they may have stood in the way of those behind them
	if w := c.waiters.first; w != nil {
		c.timer.Reset(w.deadline - now)
	}
}

// wait waits for the answer to w, or gives up.
func (c *Concurrency) wait(ctx context.Context, done <-chan struct{}, w *waiter) error {
	var expired <-chan time.Time
	if c.timeout != noTimeout && c.clock != nil {
		timer := c.clock.NewTimer(c.timeout)
		defer timer.Stop()
		expired = timer.Chan()
	}
	select {
	case <-w.ready:
	case <-expired:
		if c.leave(w) {
			return ErrTimeout
		}
	case <-done:
		if c.leave(w) {
			return ctx.Err()
		}
	}
	select {
	case <-done:
		// It was answered, but the caller has gone: what it got goes to the next.
		if w.err == nil {
			c.Release(int(w.n))
		}
		return ctx.Err()
	default:
		return w.err
	}
}

// leave takes w out of the backlog, unless it has been answered.
func (c *Concurrency) leave(w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.waits {
		return false
	}
	c.remove(w)
	c.wake() // it may have stood in the way of those behind it
	return true
}

// put gives n slots back. mu is held.
func (c *Concurrency) put(n int64) {
	for {
		s := c.state.Load()
		if used := c.limit.Load() - s>>1; n > used {
			panic(fmt.Sprintf("limiters: Concurrency.Release: n %d is more than the %d in use: release once what was acquired, or use Do", n, used))
		}
		if c.state.CompareAndSwap(s, s+n<<1) {
			return
		}
	}
}

// wake gives what is free to those who wait, in their order. mu is held.
func (c *Concurrency) wake() {
	for w := c.waiters.first; w != nil; w = c.waiters.first {
		if c.state.Load()>>1 < w.n {
			return
		}
		c.state.Add(-w.n << 1)
		c.answer(w, nil)
	}
	c.state.And(^queued)
}

// answer ends the wait of w. mu is held.
func (c *Concurrency) answer(w *waiter, err error) {
	c.remove(w)
	if w.err = err; w.awake != nil {
		w.awake.Signal()
	} else {
		close(w.ready)
	}
}

// remove takes w out of the backlog, and stops the timer if nobody waits any more. mu is
// held.
func (c *Concurrency) remove(w *waiter) {
	c.waiters.remove(w)
	if c.timer != nil && c.waiters.len == 0 {
		c.timer.Stop()
		c.timer = nil
	}
}
