package limiters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/escapement-go/escapement/internal/stackmark"
	"github.com/jonboulle/clockwork"
)

// The errors of a [LeakyBucket]; compare with errors.Is.
var (
	ErrQueueFull = errors.New("limiters: the queue of the leaky bucket is full")
	ErrClosed    = errors.New("limiters: the leaky bucket is closed")
)

// A LeakyBucket is a bounded queue whose items leave one at a time, interval apart.
// Where a [TokenBucket] lets a burst pass, a LeakyBucket smooths it; both keep the same
// long-run rate. An item that finds no room is refused with an error.
//
// An item leaves at once if none waits and the last one left interval ago or more,
// otherwise exactly interval after the one before it. Idle time builds no credit: after
// it one item leaves at once, and the next interval later. Instants are counted in
// whole nanoseconds from one item to the next, so nothing drifts; if a timer of package
// time is late, the next item is as late, and never closer than interval.
//
// An item leaves by a call of f, under no lock, so f may call any method. f runs on the
// goroutine of the item's Put, if it leaves at once, or on that of a timer, one run at
// a time: an item that falls due while f runs leaves when it returns. If f panics the
// item has left, and the others leave as if it had returned. A [LeakyBucket.Wait]
// queues without an item.
//
// The zero LeakyBucket has no function and no interval: its Put panics and its Wait
// returns at once. Make one with [NewLeakyBucket].
//
// It has no goroutine, and an armed timer only while something waits. A clock that goes
// back delays waiting items by interval at most. All methods are safe for concurrent
// use.
type LeakyBucket[T any] struct {
	interval time.Duration
	size     int
	f        func(T)
	clock    clockwork.Clock // nil: package time

	mu     sync.Mutex
	queue  []leakyItem[T] // in order, tickets ascending
	ticket Ticket         // the newest
	began  bool           // last is one
	last   time.Time      // when the newest item left
	closed bool
	timer  throttleTimer

	running bool           // f is; the timer is not armed
	mark    stackmark.Mark // on the stack of f
	changed chan struct{}  // if not nil, closed when f has returned or the queue is empty
}

// A Ticket names an item that was put. No two items of a bucket share one.
type Ticket uint64

// A leakyItem waits: an item, or a Wait.
type leakyItem[T any] struct {
	ticket Ticket
	v      T
	turn   chan error // of a Wait
}

// NewLeakyBucket returns a LeakyBucket whose items leave to f, interval apart; for
// r items per second that is time.Second/r. At most size items wait, not counting
// one that leaves at once: with size 0 none does. With interval 0 every item leaves
// at once, or as soon as f returns. If only Wait is used f may be nil. It panics if
// interval or size is negative.
func NewLeakyBucket[T any](interval time.Duration, size int, f func(T), opts ...Option) *LeakyBucket[T] {
	if interval < 0 {
		panic(fmt.Sprintf("limiters: NewLeakyBucket: interval %v must be >= 0: use 0 to let everything pass", interval))
	}
	if size < 0 {
		panic(fmt.Sprintf("limiters: NewLeakyBucket: size %d must be >= 0: use 0 to let nothing wait", size))
	}
	var cfg config
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	return &LeakyBucket[T]{interval: interval, size: size, f: f, clock: cfg.clock}
}

// Put adds v to the queue, and returns a ticket with which it can be cancelled. If
// v leaves at once f has run when Put returns. It does not block otherwise. The
// error is ErrQueueFull or, after Close or Stop, ErrClosed; v is dropped then.
func (b *LeakyBucket[T]) Put(v T) (Ticket, error) {
	if b.f == nil {
		panic("limiters: LeakyBucket.Put: no function to leave to: give one to NewLeakyBucket, or use Wait")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.join(leakyItem[T]{v: v})
}

// Wait blocks until it is the caller's turn, as if it had put an item. The error is
// ErrQueueFull, ErrClosed (also if the bucket is stopped meanwhile), or what ctx.Err
// returns if ctx is done first. Then the caller has had no turn, and the items behind
// it move up.
func (b *LeakyBucket[T]) Wait(ctx context.Context) error {
	if ctx == nil {
		noContext("LeakyBucket.Wait")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b.mu.Lock()
	item := leakyItem[T]{turn: make(chan error, 1)}
	ticket, err := b.join(item)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case err := <-item.turn:
		return err
	case <-ctx.Done():
		if b.Cancel(ticket) {
			return ctx.Err()
		}
		return <-item.turn // it was the caller's turn already
	}
}

// Cancel takes an item out of the queue and reports whether it was there: if so it
// never leaves, and the items behind it move up by one place at once. The cost grows
// with the length of the queue.
func (b *LeakyBucket[T]) Cancel(t Ticket) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i, found := slices.BinarySearchFunc(b.queue, t, func(it leakyItem[T], t Ticket) int {
		switch {
		case it.ticket < t:
			return -1
		case it.ticket > t:
			return 1
		}
		return 0
	})
	if !found {
		return false
	}
	b.queue = slices.Delete(b.queue, i, i+1)
	b.rest()
	return true
}

// Len returns how many items wait.
func (b *LeakyBucket[T]) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.queue)
}

// Close makes Put and Wait refuse, and waits until all items have left, still interval
// apart, and f has returned. If ctx is done before that, it drops the rest like Stop
// and returns ctx.Err(): with a ctx that is already done it drops all. Called from f it
// does not wait.
func (b *LeakyBucket[T]) Close(ctx context.Context) error {
	if ctx == nil {
		noContext("LeakyBucket.Close")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.running && b.mark.On() {
		return nil
	}
	for len(b.queue) > 0 || b.running {
		if b.await(ctx.Done()) {
			b.drop()
			return ctx.Err()
		}
	}
	return nil
}

// Stop makes Put and Wait refuse, and drops the waiting items; a Wait returns
// ErrClosed. When it returns f is not running, unless it is f that called, no item
// leaves any more, and no timer is armed.
func (b *LeakyBucket[T]) Stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.drop()
	if b.running && b.mark.On() {
		return
	}
	for b.running {
		b.await(nil)
	}
}

// join lets the item leave or gives it its place in the queue.
func (b *LeakyBucket[T]) join(item leakyItem[T]) (Ticket, error) {
	if b.closed {
		return 0, ErrClosed
	}
	idle := len(b.queue) == 0 && !b.running
	var gap time.Duration
	if idle {
		gap = b.gap()
	}
	leaves := idle && gap >= b.interval
	if !leaves && len(b.queue) >= b.size {
		return 0, ErrQueueFull
	}
	b.ticket++
	item.ticket = b.ticket
	if leaves {
		b.leave(item)
		return item.ticket, nil
	}
	b.queue = append(b.queue, item)
	if idle {
		b.arm(b.interval - gap)
	}
	return item.ticket, nil
}

// gap returns how long ago the newest item left, interval if none has, and takes
// now for the instant at which the next one leaves if that is long enough. A clock
// that went back since makes it 0.
func (b *LeakyBucket[T]) gap() time.Duration {
	now := b.now()
	gap := now.Sub(b.last)
	if !b.began {
		gap = b.interval
	}
	if gap >= b.interval || gap < 0 {
		b.began, b.last = true, now
	}
	return max(gap, 0)
}

// expire is the function of the timer.
func (b *LeakyBucket[T]) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 || b.running {
		return
	}
	if gap := b.gap(); gap < b.interval {
		b.arm(b.interval - gap) // a timer for an item that was cancelled, or the clock went back
		return
	}
	item := b.queue[0]
	b.queue[0] = leakyItem[T]{}
	b.queue = b.queue[1:]
	b.leave(item)
}

// leave lets the item leave. It is called and returns with mu held, also if f
// panics.
func (b *LeakyBucket[T]) leave(item leakyItem[T]) {
	if item.turn != nil {
		item.turn <- nil
		b.next()
		return
	}
	b.running = true
	defer func() {
		b.running = false
		b.next()
	}()
	b.mark.Unlocked(&b.mu, func() { b.f(item.v) })
}

// next arms the timer for the head of the queue.
func (b *LeakyBucket[T]) next() {
	if len(b.queue) > 0 {
		b.arm(b.interval - max(0, b.now().Sub(b.last)))
	}
	b.notify()
}

// drop empties the queue.
func (b *LeakyBucket[T]) drop() {
	for _, item := range b.queue {
		if item.turn != nil {
			item.turn <- ErrClosed
		}
	}
	b.queue = nil
	b.rest()
}

// rest stops the timer if nothing waits any more.
func (b *LeakyBucket[T]) rest() {
	if len(b.queue) > 0 {
		return
	}
	if b.timer != nil {
		b.timer.Stop()
	}
	b.notify()
}

func (b *LeakyBucket[T]) notify() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// await waits, without mu, until something has changed, and reports whether done
// was closed first.
func (b *LeakyBucket[T]) await(done <-chan struct{}) bool {
	if b.changed == nil {
		b.changed = make(chan struct{})
	}
	changed := b.changed
	b.mu.Unlock()
	defer b.mu.Lock()
	select {
	case <-changed:
		return false
	case <-done:
		return true
	}
}

func (b *LeakyBucket[T]) arm(d time.Duration) {
	switch {
	case b.timer != nil:
		b.timer.Reset(d)
	case b.clock != nil:
		b.timer = b.clock.AfterFunc(d, b.expire)
	default:
		b.timer = time.AfterFunc(d, b.expire)
	}
}

func (b *LeakyBucket[T]) now() time.Time {
	if b.clock != nil {
		return b.clock.Now()
	}
	return time.Now()
}
