package fakeclock

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// WithDeadline is [context.WithDeadline] on the time of a clock: any clock, a
// wrapper of a [Clock] and the real one included, so that production code can call
// it. (clockwork.WithDeadline knows only clockwork's own fake clock and runs on real
// time with every other.)
//
// The context is that of package context in all that it answers, and its children
// may be of either kind. It is done when the clock reaches d: on a Clock when
// Advance returns, with everything below it. Calling cancel releases the timer. If
// the parent's deadline comes first no timer is made.
//
// One difference remains. When an ancestor that package context made is cancelled,
// Err and Done of the context say so at once; but a channel that Done returned
// earlier, and a child that package context made, learn it from another goroutine,
// a moment later.
func WithDeadline(parent context.Context, clock clockwork.Clock, d time.Time) (context.Context, context.CancelFunc) {
	return WithDeadlineCause(parent, clock, d, nil)
}

// WithTimeout is WithDeadline at clock.Now().Add(timeout).
func WithTimeout(parent context.Context, clock clockwork.Clock, timeout time.Duration) (context.Context, context.CancelFunc) {
	return WithDeadlineCause(parent, clock, clock.Now().Add(timeout), nil)
}

// WithTimeoutCause is WithTimeout that sets the cause of the context when the
// timeout expires. cancel does not set it.
func WithTimeoutCause(parent context.Context, clock clockwork.Clock, timeout time.Duration, cause error) (context.Context, context.CancelFunc) {
	return WithDeadlineCause(parent, clock, clock.Now().Add(timeout), cause)
}

// WithDeadlineCause is WithDeadline that sets the cause of the context when the
// deadline is exceeded. cancel does not set it.
func WithDeadlineCause(parent context.Context, clock clockwork.Clock, d time.Time, cause error) (context.Context, context.CancelFunc) {
	if parent == nil {
		panic("cannot create context from nil parent")
	}
	if earlier, ok := parent.Deadline(); ok && earlier.Before(d) {
		return context.WithCancel(parent)
	}
	if cause == nil {
		cause = context.DeadlineExceeded
	}
	c := newDeadlineContext(parent, clock, d)
	c.followParent()
	if c.check(); c.Context.Err() == nil {
		c.startTimer(func() {
			c.check() // an ancestor may have ended before, and the news be on its way
			c.end(context.DeadlineExceeded, cause)
		})
	}
	return c, func() {
		c.cancel()
		c.release()
	}
}

// deadlineContext is a context that ends with context.DeadlineExceeded.
//
// Only package context can end its own contexts with that error, and only package
// context's own contexts end their children at once. So the embedded context, which
// the world sees, is one of package context's, and its parent is a relay: a custom
// parent, whose end it takes over with the relay's Err and cause. The relay ends
// when the clock says so, or when the true parent has.
type deadlineContext struct {
	context.Context
	cancel   context.CancelFunc // with Canceled
	relay    *relay
	parent   context.Context
	clock    clockwork.Clock
	deadline time.Time

	mu        sync.Mutex
	released  bool
	holds     []func() // what to let go of at the end
	followers map[*deadlineContext]struct{}
}

// ancestorKey finds the nearest deadlineContext.
type ancestorKey struct{}

func newDeadlineContext(parent context.Context, clock clockwork.Clock, d time.Time) *deadlineContext {
	cause, setCause := context.WithCancelCause(context.WithoutCancel(parent))
	r := &relay{Context: cause, setCause: setCause}
	c := &deadlineContext{relay: r, parent: parent, clock: clock, deadline: d}
	c.Context, c.cancel = context.WithCancel(r)
	return c
}

// Deadline returns the deadline, never a parent's: that would come later.
func (c *deadlineContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done returns the channel that is closed when the context ends.
func (c *deadlineContext) Done() <-chan struct{} {
	c.check()
	return c.Context.Done()
}

// Err returns nil, Canceled, DeadlineExceeded, or what a custom parent ended with.
func (c *deadlineContext) Err() error {
	c.check()
	return c.Context.Err()
}

// Value passes the question on to the parent.
func (c *deadlineContext) Value(key any) any {
	if key == (ancestorKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// String is in the style of package context.
func (c *deadlineContext) String() string {
	name := fmt.Sprintf("%T", c.parent)
	if s, ok := c.parent.(fmt.Stringer); ok {
		name = s.String()
	}
	return fmt.Sprintf("%s.WithDeadline(%v [%v])", name, c.deadline, c.clock.Until(c.deadline))
}

// check ends the context if its parent has ended.
func (c *deadlineContext) check() {
	select {
	case <-c.parent.Done():
		c.end(c.parent.Err(), context.Cause(c.parent))
	default:
	}
}

func (c *deadlineContext) end(err, cause error) {
	c.relay.end(err, cause)
	c.release()
}

// followParent makes c end when its parent does: at once if an ancestor is a
// deadlineContext, else as soon as package context has told so.
func (c *deadlineContext) followParent() {
	above, _ := c.parent.Value(ancestorKey{}).(*deadlineContext)
	if above != nil {
		above.mu.Lock()
		if above.followers == nil {
			above.followers = map[*deadlineContext]struct{}{}
		}
		above.followers[c] = struct{}{}
		above.mu.Unlock()
		c.hold(func() {
			above.mu.Lock()
			defer above.mu.Unlock()
			delete(above.followers, c)
		})
	}
	if c.parent.Done() != nil && context.Context(above) != c.parent {
		stop := context.AfterFunc(c.parent, c.check)
		c.hold(func() { stop() })
	}
}

// startTimer arms the timer, or ends the context if the deadline has passed.
func (c *deadlineContext) startTimer(end func()) {
	d := c.clock.Until(c.deadline)
	if d <= 0 {
		end()
		return
	}
	var timer clockwork.Timer
	if clock, ok := c.clock.(contextTimers); ok {
		timer = clock.contextTimer(d, end)
	} else {
		timer = c.clock.AfterFunc(d, end)
	}
	c.hold(func() { timer.Stop() })
}

// contextTimers is a Clock, or what embeds one: it lists the timer as a context's.
type contextTimers interface {
	contextTimer(d time.Duration, f func()) clockwork.Timer
}

// hold has letGo called at the end, or now if that has come.
func (c *deadlineContext) hold(letGo func()) {
	c.mu.Lock()
	over := c.released
	if !over {
		c.holds = append(c.holds, letGo)
	}
	c.mu.Unlock()
	if over {
		letGo()
	}
}

// release lets go of the timer and the ancestors, once the context has ended, and
// passes the end on.
func (c *deadlineContext) release() {
	c.mu.Lock()
	if c.released {
		c.mu.Unlock()
		return
	}
	c.released = true
	holds, followers := c.holds, slices.Collect(maps.Keys(c.followers))
	c.holds = nil
	c.mu.Unlock()
	for _, letGo := range holds {
		letGo()
	}
	for _, f := range followers {
		f.check()
	}
}

// relay is the parent of a deadlineContext's embedded context. Its own embedded
// context has the values, and the cause when all is over.
type relay struct {
	context.Context
	setCause context.CancelCauseFunc

	once    sync.Once
	mu      sync.Mutex
	err     error
	endThat func() // ends the one child
}

// open is never closed. A relay's Done must not be that of any other context, or
// package context would attach the child to that one.
var open = make(chan struct{})

func (r *relay) Done() <-chan struct{} { return open }

func (r *relay) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// AfterFunc is how package context asks a custom parent to tell its end.
func (r *relay) AfterFunc(f func()) (stop func() bool) {
	r.endThat = f
	return func() bool { return true }
}

// end ends the child. It returns when the child has ended, whoever ended it.
func (r *relay) end(err, cause error) {
	r.once.Do(func() {
		r.mu.Lock()
		r.err = err
		r.mu.Unlock()
		r.setCause(cause)
		r.endThat()
	})
}
