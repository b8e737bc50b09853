package redislimit

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/escapement-go/escapement/limiters"
	"github.com/jonboulle/clockwork"
)

const (
	// DefaultTimeout is how long a [Limiter] waits for the server without [Timeout].
	DefaultTimeout = 250 * time.Millisecond
	// DefaultPause is the pause after a failure to connect, without [Pause].
	DefaultPause = 100 * time.Millisecond
)

// An Option changes what [New] makes. Options are applied in order; the zero Option (nil)
// changes nothing.
type Option func(*config)

type config struct {
	timeout   time.Duration
	pause     time.Duration
	perKey    func(key string) Plan // nil: all have one limit
	clock     clockwork.Clock       // nil: the server's
	fallback  limiters.Taker        // nil: none
	open      bool
	onFailure func(err error)
}

// Timeout sets how long Take waits for the server, connecting included, instead of
// [DefaultTimeout]. A request without an answer by then returns [ErrNoAnswer], and may have
// been counted. While 16 of these are pending, others are not sent, and fail at once: they
// end when the server answers, or after the client's ReadTimeout. It is in package time.
// Timeout panics if d is not positive.
func Timeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("redislimit: Timeout: d %v must be > 0: for a long wait use minutes", d))
	}
	return func(cfg *config) { cfg.timeout = d }
}

// Pause sets the pause after a failure to connect to the server, instead of [DefaultPause]:
// meanwhile requests fail at once, with that error. With 0 each request connects. It is in
// package time. Pause panics if d is negative.
//
// The client's options decide how long the first request takes: with DialerRetries: 1, a
// server that is down refuses it in about a millisecond, and the error says so. By default a
// client tries 5 times, 100 ms apart, longer than [DefaultTimeout]: the first requests then
// return [ErrNoAnswer], and later ones the error of the connection.
func Pause(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("redislimit: Pause: d %v must be >= 0: use 0 to connect each time", d))
	}
	return func(cfg *config) { cfg.pause = d }
}

// FailClosed makes Take return an error if the server does not decide. It is the default.
func FailClosed() Option {
	return func(cfg *config) { cfg.open, cfg.fallback = false, nil }
}

// FailOpen grants every n up to the burst if the server does not decide, without a limit:
// the Decision is that of a [limiters.TokenBucket] at rate Inf.
func FailOpen() Option {
	return func(cfg *config) { cfg.open, cfg.fallback = true, nil }
}

// FailTo lets l decide on a request if the server does not, usually a limiters.Keyed with the
// limit of one machine. FailTo panics if l is nil.
func FailTo(l limiters.Taker) Option {
	if isNil(l) {
		panic("redislimit: FailTo: l is nil: for no limit use FailOpen")
	}
	return func(cfg *config) { cfg.open, cfg.fallback = false, l }
}

// OnFailure calls f once for each request that the server does not decide on, with the reason, before the
// policy decides: an error of the connection, such as "connection refused" (see [Pause]), one of the server,
// or [ErrNoAnswer]. A done context of the caller is no failure. f may be called by many goroutines at once,
// and under no lock.
func OnFailure(f func(err error)) Option {
	return func(cfg *config) { cfg.onFailure = f }
}

// WithClock makes the Limiter take its instants from c, instead of the server's clock. A nil
// c, like no WithClock, means the server's.
//
// The clocks of all callers must then agree: time by which they differ can be granted
// twice. And they must run as fast as the server's, by which keys expire.
func WithClock(c clockwork.Clock) Option {
	return func(cfg *config) { cfg.clock = c }
}

// fail answers in place of the server, which did not because of err.
func (l *Limiter) fail(ctx context.Context, r rate, key string, n int, err error) (limiters.Decision, error) {
	if l.onFailure != nil {
		l.onFailure(err)
	}
	switch {
	case l.fallback != nil:
		return l.fallback.Take(ctx, key, n)
	case l.open && r.impossible(n):
		return limiters.Decision{Limit: math.MaxInt, Remaining: math.MaxInt, RetryAfter: limiters.InfDuration}, nil
	case l.open:
		return limiters.Decision{Allowed: true, Limit: math.MaxInt, Remaining: math.MaxInt}, nil
	}
	return limiters.Decision{}, err
}
