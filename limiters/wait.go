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
	// ErrDeadline: the tokens would come after the deadline of the context. It is also
	// a context.DeadlineExceeded, returned sooner.
	ErrDeadline = fmt.Errorf("tokens would come too late: %w", context.DeadlineExceeded)
)

// Wait waits for a token. See WaitN.
func (l *TokenBucket) Wait(ctx context.Context) error { return l.WaitN(ctx, 1) }

// WaitN waits until n tokens are available, takes them and returns nil; or it returns an
// error and takes none. Waits are served in the order in which they began. Only a wait that
// begins after a change of the limit or a refund may be served before older ones, as these
// keep their instants. The error is
//
//   - [ErrNegative] or [ErrBurst] if n is negative, or more than the burst (unless
//     the rate is Inf), whatever the context;
//   - that of ctx if it is already done, even if the tokens are available or n is 0;
//   - [ErrDeadline], at once, if the tokens will come after the deadline of ctx;
//   - that of ctx if it is done before the tokens come. The tokens are refunded as by
//     [Reservation.CancelAt].
//
// If the tokens come exactly at the deadline, or just when ctx is done, the wait
// succeeds. A change of the limit does not change how long it lasts. Without a
// deadline, and if the tokens need 292 years or more, it lasts until ctx is done.
//
// The deadline is compared with the clock of the limiter, which also has the timer;
// without waiting it does not allocate.
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
