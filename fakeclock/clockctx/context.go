package clockctx

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// WithDeadline is [context.WithDeadline] on the time of clock, as the package comment
// describes. It panics if clock is nil, and with package context's text if parent is nil.
func WithDeadline(parent context.Context, clock clockwork.Clock, d time.Time) (context.Context, context.CancelFunc) {
	mustHave(clock, "WithDeadline")
	return WithDeadlineCause(parent, clock, d, nil)
}

// WithTimeout is WithDeadline at clock.Now().Add(timeout). The timeout is a duration: a step
// of the wall clock changes nothing about when the context ends.
func WithTimeout(parent context.Context, clock clockwork.Clock, timeout time.Duration) (context.Context, context.CancelFunc) {
	mustHave(clock, "WithTimeout")
	return WithTimeoutCause(parent, clock, timeout, nil)
}

// WithTimeoutCause is WithTimeout that sets the cause of the context when the
// timeout expires. cancel does not set it.
func WithTimeoutCause(parent context.Context, clock clockwork.Clock, timeout time.Duration, cause error) (context.Context, context.CancelFunc) {
	mustHave(clock, "WithTimeoutCause")
	began := elapsedOn(clock) // before Now: a clock that moves in between must not end the context early
	deadline := clock.Now().Add(timeout)
	if began < 0 {
		return withDeadline(parent, clock, deadline, never, cause)
	}
	return withDeadline(parent, clock, deadline, later(began, timeout), cause)
}

// WithDeadlineCause is WithDeadline that sets the cause of the context when the
// deadline is exceeded. cancel does not set it.
func WithDeadlineCause(parent context.Context, clock clockwork.Clock, d time.Time, cause error) (context.Context, context.CancelFunc) {
	mustHave(clock, "WithDeadlineCause")
	ends := never
	if now := elapsedOn(clock); now >= 0 {
		ends = later(now, clock.Until(d))
	}
	return withDeadline(parent, clock, d, ends, cause)
}

func mustHave(clock clockwork.Clock, function string) {
	if clock == nil {
		panic("clockctx: " + function + ": clock is nil: use clockwork.NewRealClock(), or a clock of the test")
	}
}

// withDeadline makes a context that ends at d. On a clock that tells how far it has moved, that is when
// it has moved by ends, which a step of its wall clock does not change.
func withDeadline(
	parent context.Context, clock clockwork.Clock, d time.Time, ends time.Duration, cause error,
) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("cannot create context from nil parent")
	}
	above, _ := parent.Value(ancestorKey{}).(*deadlineContext)
	if above != nil {
		above.poll() // a parent that has ended tells its own error to who comes after, not before
	}
	if endsBefore(parent, above, d, ends) {
		return context.WithCancel(parent)
	}
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	c := &deadlineContext{clock: clock, deadline: d, ends: ends}
	c.relay.parent = parent
	c.Context, c.cancel = context.WithCancel(&c.relay)
	c.follow(above)
	if c.poll(); c.Context.Err() == nil {
		c.startTimer(cause)
	}
	if c.Context.Err() != nil {
		c.release() // what was acquired after another goroutine released c
	}
	return c, func() {
		c.poll() // the parent may have ended before
		c.end(c.cancel)
	}
}

// endsBefore reports whether parent ends before a context with the deadline d that ends at ends. Between
// contexts of one clock that is a comparison of elapsed times, since their deadlines may be wall times
// from before and after a step.
func endsBefore(parent context.Context, above *deadlineContext, d time.Time, ends time.Duration) bool {
	earlier, ok := parent.Deadline()
	if !ok {
		return false
	}
	if above != nil && above.ends != never && ends != never && above.deadline.Equal(earlier) {
		return above.ends < ends
	}
	return earlier.Before(d)
}

// elapser is a clock that tells how far it has moved, whatever became of its wall clock: a
// fakeclock.Clock does, and what embeds one.
type elapser interface{ Elapsed() time.Duration }

// elapsedOn returns how far the clock has moved, and -1 if it does not tell.
func elapsedOn(clock clockwork.Clock) time.Duration {
	if c, ok := clock.(elapser); ok {
		return c.Elapsed()
	}
	return -1
}

// never is the elapsed time at which a context ends that has a deadline only.
const never time.Duration = math.MaxInt64

// later returns elapsed+d, or the last instant before never.
func later(elapsed, d time.Duration) time.Duration {
	if d > never-1-elapsed {
		return never - 1
	}
	return elapsed + d
}

// deadlineContext is a context that ends with context.DeadlineExceeded.
//
// Only package context can end its own contexts with that error, and only package
// context's own contexts end their children at once. So the embedded context, which
// the world sees, is one of package context's, and its parent is a relay: a custom
// parent, whose end it takes over with the relay's Err and cause. The relay ends
// when the clock says so, or when the true parent has.
//
// That the parent has is seen by a child of the parent, the watch. It is package
// context's too, so it has ended when cancelling the parent returns, if it can be
// known by then, and with the right error; and it is asked without running the
// methods of a custom parent, which may hold a lock while they ask us.
type deadlineContext struct {
	context.Context
	cancel   context.CancelFunc // of the embedded context, with Canceled
	relay    relay
	clock    clockwork.Clock
	deadline time.Time
	ends     time.Duration    // elapsed time of the clock at the deadline, or never if it does not tell
	above    *deadlineContext // nearest ancestor
	watch    context.Context  // nil if the parent never ends

	ending sync.Once // foreign code does not run in it

	mu        sync.Mutex
	unwatch   func()
	timer     clockwork.Timer
	followers map[*deadlineContext]struct{} // those that c is above
}

// ancestorKey finds the nearest deadlineContext.
type ancestorKey struct{}

// Deadline returns the deadline, never a parent's: that would come later.
func (c *deadlineContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done returns the channel that is closed when the context ends.
func (c *deadlineContext) Done() <-chan struct{} {
	c.poll()
	return c.Context.Done()
}

// Err returns nil, Canceled, DeadlineExceeded, or what a custom parent ended with.
func (c *deadlineContext) Err() error {
	c.poll()
	return c.Context.Err()
}

// Value passes the question on to the parent.
func (c *deadlineContext) Value(key any) any {
	switch key.(type) {
	case ancestorKey:
		return c
	case *int: // package context's own: context.Cause asks, up to Go 1.25 without asking Err
		c.poll()
	}
	return c.Context.Value(key)
}

// String is in the style of package context.
func (c *deadlineContext) String() string {
	name := fmt.Sprintf("%T", c.relay.parent)
	if s, ok := c.relay.parent.(fmt.Stringer); ok {
		name = s.String()
	}
	return fmt.Sprintf("%s.WithDeadline(%v [%v])", name, c.deadline, c.left())
}

// left is the duration until the deadline.
func (c *deadlineContext) left() time.Duration {
	if c.ends == never {
		return c.clock.Until(c.deadline)
	}
	return c.ends - elapsedOn(c.clock)
}

// follow makes c end when its parent does: at once if that is by the end of a
// deadlineContext above, else as soon as package context has told so.
func (c *deadlineContext) follow(above *deadlineContext) {
	parent := c.relay.parent
	if parent.Done() == nil {
		return
	}
	watch, unwatch := context.WithCancel(parent)
	c.above, c.watch, c.unwatch = above, watch, unwatch
	if context.Context(above) != parent {
		c.mu.Lock() // poll may be called at once, on another goroutine
		stop := context.AfterFunc(watch, c.poll)
		c.unwatch = func() {
			stop()
			unwatch()
		}
		c.mu.Unlock()
	}
	if above != nil {
		above.mu.Lock()
		if above.followers == nil {
			above.followers = make(map[*deadlineContext]struct{})
		}
		above.followers[c] = struct{}{}
		above.mu.Unlock()
	}
}

// startTimer arms the timer, or ends the context if the deadline has passed.
func (c *deadlineContext) startTimer(cause error) {
	expire := func() {
		c.poll() // an ancestor may have ended before, and the news be on its way
		c.end(func() { c.relay.expire(cause) })
	}
	d := c.left()
	if d <= 0 {
		expire()
		return
	}
	var timer clockwork.Timer
	if clock, ok := c.clock.(contextTimers); ok {
		timer = clock.ContextAfterFunc(d, expire)
	} else {
		timer = c.clock.AfterFunc(d, expire)
	}
	c.mu.Lock()
	c.timer = timer
	c.mu.Unlock()
}

// contextTimers is a clock that tells the timers of contexts from others, as a
// fakeclock.Clock does, and what embeds one.
type contextTimers interface {
	ContextAfterFunc(d time.Duration, f func()) clockwork.Timer
}

// poll ends c if its parent has ended. It asks from above, so that contexts of
// package context in between have been told.
func (c *deadlineContext) poll() {
	if c.Context.Err() != nil {
		c.ending.Do(func() {}) // has begun elsewhere; wait until everything below has been told
		return
	}
	if c.above != nil {
		c.above.poll()
	}
	if c.orphaned() {
		c.end(c.inherit)
	}
}

func (c *deadlineContext) orphaned() bool { return c.watch != nil && c.watch.Err() != nil }

func (c *deadlineContext) inherit() { c.relay.end(c.watch.Err(), c.watch) }

// end ends c by how, unless it has ended, and then all that can go.
func (c *deadlineContext) end(how func()) {
	for _, ended := range c.endAll(how) {
		ended.release()
	}
	c.release()
}

// endAll ends c and the followers that end by it, and returns them. When it returns
// they have ended, whoever ended them.
func (c *deadlineContext) endAll(how func()) (ended []*deadlineContext) {
	c.ending.Do(func() {
		how()
		c.mu.Lock()
		followers := slices.Collect(maps.Keys(c.followers))
		c.followers = nil
		c.mu.Unlock()
		for _, f := range followers {
			if f.orphaned() {
				ended = append(ended, f)
				ended = append(ended, f.endAll(f.inherit)...)
			}
		}
	})
	return ended
}

// release lets go of the timer and the ancestors. It may be called again.
func (c *deadlineContext) release() {
	c.mu.Lock()
	unwatch, timer := c.unwatch, c.timer
	c.mu.Unlock()
	if c.above != nil {
		c.above.mu.Lock()
		delete(c.above.followers, c)
		c.above.mu.Unlock()
	}
	if unwatch != nil {
		unwatch()
	}
	if timer != nil {
		timer.Stop()
	}
}

// relay is the parent of a deadlineContext's embedded context.
type relay struct {
	parent  context.Context
	over    atomic.Pointer[outcome]
	endThat func() // ends the one child
}

// outcome is how a relay ended: the error, and a context with the parent's values
// and the cause.
type outcome struct {
	err    error
	source context.Context
}

// open is never closed. A relay's Done must not be that of any other context, or
// package context would attach the child to that one.
var open = make(chan struct{})

func (r *relay) Deadline() (time.Time, bool) { return r.parent.Deadline() }

func (r *relay) Done() <-chan struct{} { return open }

func (r *relay) Err() error {
	if o := r.over.Load(); o != nil {
		return o.err
	}
	return nil
}

// Value also tells package context the cause.
func (r *relay) Value(key any) any {
	if o := r.over.Load(); o != nil {
		return o.source.Value(key)
	}
	return r.parent.Value(key)
}

// AfterFunc is how package context asks a custom parent to tell its end.
func (r *relay) AfterFunc(f func()) (stop func() bool) {
	r.endThat = f
	return func() bool { return true }
}

func (r *relay) expire(cause error) {
	source, setCause := context.WithCancelCause(context.WithoutCancel(r.parent))
	setCause(cause)
	r.end(context.DeadlineExceeded, source)
}

func (r *relay) end(err error, source context.Context) {
	r.over.Store(&outcome{err, source})
	r.endThat()
}
