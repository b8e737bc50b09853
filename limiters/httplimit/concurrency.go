package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/escapement-go/escapement/limiters"
)

// What [New] lets wait, and for how long.
const (
	DefaultBacklog = 1000
	DefaultTimeout = 30 * time.Second
)

// New returns middleware that lets limit requests run at the same time and
// [DefaultBacklog] others wait for [DefaultTimeout]. For other numbers, or a clock,
// use [Concurrency]. New panics if limit is less than 1; the returned middleware panics if
// the handler is nil.
func New(limit int, opts ...Option) func(http.Handler) http.Handler {
	if limit < 1 {
		panic(fmt.Sprintf("httplimit: New: limit %d must be >= 1: to let nothing run, do not serve", limit))
	}
	return Concurrency(limiters.NewConcurrency(limit, limiters.Backlog(DefaultBacklog), limiters.Timeout(DefaultTimeout)), opts...)
}

// Concurrency returns middleware that takes a slot of c for each request. The backlog
// and the timeout are those of c; [limiters.Backlog](0) rejects requests that cannot
// run immediately. All wrapped handlers, and other users of c, share its slots.
//
// The slot is released when the handler returns or panics, also with [http.ErrAbortHandler]. The
// panic goes on to the server. A request waits no longer than its context: a passed deadline is
// answered like a timeout; if the client has disconnected there is no answer, and no call of the
// hooks. The handler gets the http.ResponseWriter unchanged. It panics if c is nil.
func Concurrency(c *limiters.Concurrency, opts ...Option) func(http.Handler) http.Handler {
	if c == nil {
		panic("httplimit: Concurrency: c is nil: make one with limiters.NewConcurrency, or use New")
	}
	cfg := configure(opts)
	return func(next http.Handler) http.Handler {
		mustServe(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			err := c.Do(r.Context(), func() error {
				cfg.tell(r, limiters.Decision{Allowed: true}, nil, letIn)
				next.ServeHTTP(w, r)
				return nil
			})
			switch {
			case err == nil:
			case errors.Is(err, limiters.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
				cfg.reject(w, r, rejection{
					err: err, status: http.StatusServiceUnavailable, line: requestTimeout, count: tooLate,
				})
			case errors.Is(err, context.Canceled):
				cfg.gone(w)
			default:
				cfg.reject(w, r, rejection{
					err: err, status: http.StatusServiceUnavailable, line: serviceBusy, count: noPlace,
				})
			}
		})
	}
}

// mustServe panics if a handler is nil, before a request comes.
func mustServe(next http.Handler) {
	if isNil(next) {
		panic("httplimit: the handler to limit is nil: for that of package net/http, use http.DefaultServeMux")
	}
}
