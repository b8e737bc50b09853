package limiters

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The errors that WaitN returns are the context's, or one of these with the
// numbers added, which errors.Is tells apart.
var (
	// ErrNegative: n is negative.
	ErrNegative = errors.New("n must be >= 0")
	// ErrBurst: n is more than the burst, so there can never be n tokens.
	ErrBurst = errors.New("n exceeds the burst")
	// ErrDeadline: the tokens would be there after the deadline of the context. It
	// is also a context.DeadlineExceeded, only sooner.
	ErrDeadline = fmt.Errorf("tokens would be there too late: %w", context.DeadlineExceeded)
)

// Wait waits for a token. See WaitN.
func (l *TokenBucket) Wait(ctx context.Context) error { return l.WaitN(ctx, 1) }

// WaitN waits until n tokens are there, takes them and returns nil; or returns an
// error, and has taken none. Waits are served in the order in which they began. Only
// who begins after the limit was changed, or something was given back, may be served before
// others that wait, as they keep their instants. The error is
//
//   - [ErrNegative] or [ErrBurst] if n is negative, or more than the burst (unless
//     the rate is Inf), whatever the context;
//   - that of ctx if it is done already, also if the tokens are there and if n is 0;
//   - [ErrDeadline], at once, if the tokens will be there after the deadline of ctx;
//   - that of ctx if it is done before the tokens are there. What was reserved is
//     given back as by [Reservation.CancelAt].
//
// If the tokens are there exactly at the deadline, or when ctx is done, the wait
// has succeeded. If the limit is changed meanwhile, it still lasts as long
// as it would have. Without a deadline, and if the tokens will not be there for 292
// years, it lasts until ctx is done.
//
// The deadline is compared with the clock of the limiter, whose timer it waits for
// if it must; without waiting it does not allocate.
func (l *TokenBucket) WaitN(ctx context.Context, n int) error {
	if ctx == nil {
		noContext("TokenBucket.WaitN")
	}
	if n < 0 {
		return fmt.Errorf("limiters: WaitN(n=%d): %w", n, ErrNegative)
	}
	err := ctx.Err()
	deadline, limited := ctx.Deadline()

	l.lock()
	switch {
	case l.limit == Inf:
		l.mu.Unlock()
		return err
	case int64(n) > l.burst:
		b := l.burst
		l.mu.Unlock()
		return fmt.Errorf("limiters: WaitN(n=%d): %w %d", n, ErrBurst, b)
	case err != nil || n == 0:
		l.mu.Unlock()
		return err
	}
	now, e := l.read()
	most := InfDuration
	if limited {
		most = deadline.Sub(now)
	}
	wait, moved := l.take(e, int64(n), most)
	if moved {
		l.moved(now, e, true)
	}
	if wait == 0 {
		l.mu.Unlock()
		return nil
	}
	var r Reservation
	if wait > 0 {
		l.book(&r, int64(n), wait)
	}
	l.mu.Unlock()
	if wait < 0 {
		return fmt.Errorf("limiters: WaitN(n=%d): %w", n, ErrDeadline)
	}
	return r.wait(ctx, r.DelayFrom(now))
}

// wait waits until r may act, in d, and cancels it if ctx is done before.
func (r *Reservation) wait(ctx context.Context, d time.Duration) error {
	var expired <-chan time.Time // Or never.
	switch {
	case r.never:
	case r.lim.clock != nil:
		timer := r.lim.clock.NewTimer(d)
		defer timer.Stop()
		expired = timer.Chan()
	default:
		timer := time.NewTimer(d)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-expired:
		return nil
	case <-ctx.Done():
		return r.abandon(ctx)
	}
}

// abandon cancels r, unless its time has come.
func (r *Reservation) abandon(ctx context.Context) error {
	l := r.lim
	l.lock()
	defer l.mu.Unlock()
	now, _ := l.read()
	if !r.never && !now.Before(r.act) {
		return nil
	}
	l.cancel(r, now, true)
	return ctx.Err()
}
