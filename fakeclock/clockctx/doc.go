// Package clockctx has contexts with deadlines on the time of a clock.
//
// They are for code that takes a clockwork.Clock, production code above all: any clock will
// do, clockwork.NewRealClock() and a wrapper of any clock included, and no fake clock comes
// into the binary. clockwork.WithDeadline and WithTimeout are not for that: they ask for
// clockwork's own fake clock by type, and silently run on real time with any other.
//
//	func (c *Client) Get(ctx context.Context, key string) (string, error) {
//		ctx, cancel := clockctx.WithTimeout(ctx, c.clock, time.Second)
//		defer cancel()
//		...
//	}
//
// A context answers as package context's would, and contexts of either kind may be above and
// below it: Err is context.DeadlineExceeded or context.Canceled, and context.Cause says why. It
// is done when the clock reaches the deadline: on a fakeclock.Clock when Advance returns, with
// everything below it. It is done with everything below it when cancel returns too, and its
// timer is released. So call cancel, as with package context: until then, or the deadline, a
// timer of the clock is armed. There is no goroutine, but the one that package context starts
// below a parent with a Done channel of its own. A deadline that has passed, and a timeout of 0
// or less, end the context before it is returned, without a timer.
//
// If the parent's deadline comes first, the context is context.WithCancel(parent), and no
// timer is made. A deadline is compared as an instant: on a clock with another time than
// package time, use contexts of this package all the way down.
//
// A timeout lasts its duration, as with package context, if the wall clock is stepped forward or
// back before or after, and of a parent and a child the one with less time left ends first. For
// that a clock without monotonic readings has to tell how far it has moved, by a method
// Elapsed() time.Duration: a fakeclock.Clock has it. A deadline is wall time when it is set.
//
// # Difference from package context
//
// When an ancestor that package context made is cancelled, the context is done as soon as it
// is asked, by a call of Done, Err or context.Cause. But who does not ask, that is a channel
// that Done returned earlier, children that package context made, and the timer, learns it from
// another goroutine, a moment later. (Of the end of a custom parent with its own Done channel,
// package context learns in this way too.)
//
// # Concurrency
//
// Contexts and their cancel functions may be used by any number of goroutines.
package clockctx
