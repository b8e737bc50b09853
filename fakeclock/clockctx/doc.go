// Package clockctx has contexts with deadlines on the time of a clock.
//
// They are for code that takes a clockwork.Clock, above all production code: any clock
// works, also clockwork.NewRealClock() and wrappers, and no fake clock is linked into the
// binary. clockwork.WithDeadline and WithTimeout do not: they recognise only clockwork's
// own fake clock, and silently run on real time with any other.
//
//	func (c *Client) Get(ctx context.Context, key string) (string, error) {
//		ctx, cancel := clockctx.WithTimeout(ctx, c.clock, time.Second)
//		defer cancel()
//		...
//	}
//
// A context behaves like one of package context, and its parent and children may be of either
// kind: Err is context.DeadlineExceeded or context.Canceled, and context.Cause says why. It is
// done when the clock reaches the deadline: on a fakeclock.Clock when Advance returns, with all
// its children. When cancel returns it is done too, with all its children, and its timer is
// released. So call cancel, as with package context: until then, or the deadline, a timer of
// the clock is armed. No goroutine is started, except by package context for a parent of a
// custom type. A deadline that has passed, or a timeout of 0 or less, ends the context before
// it is returned, without a timer.
//
// If the parent's deadline comes first, the context is context.WithCancel(parent), and no
// timer is made. Deadlines are compared as instants: on a clock whose time is not package
// time's, use contexts of this package only.
//
// A timeout lasts its duration, as with package context, whatever steps the wall clock takes,
// and of a parent and a child the one with less time left ends first. For that, a clock without
// monotonic readings needs a method Elapsed() time.Duration, as a fakeclock.Clock has. A
// deadline is taken as wall time at the moment the context is made; later steps do not move it.
//
// # Difference from package context
//
// When an ancestor of package context is cancelled, the context is done by the next call of
// Done, Err or context.Cause. But a channel that Done returned earlier, children of package
// context, and the timer learn of it a moment later, from another goroutine. (Package context
// itself learns of the end of a custom parent in this way.)
//
// # Concurrency
//
// Contexts and their cancel functions may be used by any number of goroutines.
package clockctx
