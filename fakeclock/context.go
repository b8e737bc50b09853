package fakeclock

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/escapement-go/escapement/fakeclock/clockctx"
)

// WithDeadline is [clockctx.WithDeadline], for tests, where this package is imported already.
// In production code use that one: it links no fake clock. Do not use clockwork.WithDeadline
// and WithTimeout: they recognise only clockwork's own fake clock, and run on real time with
// any other.
//
// On a [Clock] the context is done when the Advance to d returns, with everything below it.
// The Clock lists its timer as KindContext, also past a wrapper that embeds *Clock and
// has an AfterFunc of its own.
func WithDeadline(parent context.Context, clock clockwork.Clock, d time.Time) (context.Context, context.CancelFunc) {
	return clockctx.WithDeadline(parent, clock, d)
}

// WithTimeout is WithDeadline at clock.Now().Add(timeout).
func WithTimeout(parent context.Context, clock clockwork.Clock, timeout time.Duration) (context.Context, context.CancelFunc) {
	return clockctx.WithTimeout(parent, clock, timeout)
}

// WithTimeoutCause is WithTimeout that sets the cause of the context when the
// timeout expires. cancel does not set it.
func WithTimeoutCause(parent context.Context, clock clockwork.Clock, timeout time.Duration, cause error) (context.Context, context.CancelFunc) {
	return clockctx.WithTimeoutCause(parent, clock, timeout, cause)
}

// WithDeadlineCause is WithDeadline that sets the cause of the context when the
// deadline is exceeded. cancel does not set it.
func WithDeadlineCause(parent context.Context, clock clockwork.Clock, d time.Time, cause error) (context.Context, context.CancelFunc) {
	return clockctx.WithDeadlineCause(parent, clock, d, cause)
}
