package httplimit

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// An Option changes what the middleware does with requests that it rejects. The
// zero Option (nil) changes nothing.
type Option func(*config)

type config struct {
	onThrottle func(r *http.Request, err error)
	retryAfter time.Duration
}

func configure(opts []Option) config {
	cfg := config{retryAfter: time.Second}
	for _, opt := range opts {
		if opt != nil {
			opt(&cfg)
		}
	}
	return cfg
}

// OnThrottle calls f once for each request that is rejected, before the answer is
// written, on the goroutine of the request and under no lock. err says why:
// limiters.ErrBacklogFull, limiters.ErrTimeout, context.DeadlineExceeded or
// [ErrRate], among others. f may be called by many goroutines at once.
func OnThrottle(f func(r *http.Request, err error)) Option {
	return func(cfg *config) { cfg.onThrottle = f }
}

// RetryAfter sets what the Retry-After header of a 503 says, instead of one second.
// It is rounded up to seconds; with 0 there is no such header. A 429 says what its
// limiter says. RetryAfter panics if d is negative.
func RetryAfter(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("httplimit: RetryAfter: d %v must be >= 0: for no header, use 0", d))
	}
	return func(cfg *config) { cfg.retryAfter = d }
}

// reject tells the hook and the client.
func (cfg *config) reject(w http.ResponseWriter, r *http.Request, err error, status int, text string, retry time.Duration) {
	if cfg.onThrottle != nil {
		cfg.onThrottle(r, err)
	}
	if retry > 0 {
		w.Header().Set("Retry-After", seconds(retry))
	}
	http.Error(w, text, status)
}

// seconds is d in whole seconds, rounded up, as headers have it.
func seconds(d time.Duration) string {
	n := d / time.Second
	if d%time.Second > 0 {
		n++
	}
	return strconv.FormatInt(int64(n), 10)
}
