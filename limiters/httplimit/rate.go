package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/escapement-go/escapement/limiters"
)

// ErrRate is what the hooks are told of a request that came too fast.
var ErrRate = errors.New("httplimit: the rate is exceeded")

// Rate returns middleware that asks l for each request, by default with the key "" and for
// one event: see [Key] and [Cost].
//
// A request that is denied gets 429 Too Many Requests, with Retry-After. So that clients
// can keep to the limit, all answers, also those of the handler, have the fields
// RateLimit-Policy and RateLimit as revision 10 (September 2025) of
// draft-ietf-httpapi-ratelimit-headers has them, which the revisions before 08 had otherwise;
// [XRateLimit] adds those of before any draft. The policy's name
// is "default", q the limit, w its window, r what remains and t when all of it is there
// again; times are in seconds, rounded up. What is without a limit or an end, or has more
// than the 15 digits of a structured field, is left out, and if that is the limit, all is.
//
// If l returns an error there is no decision, and the request gets 503 Service Unavailable, or
// by [FailOpen] is let in.
//
// The handler gets the http.ResponseWriter of the server as it is: with Flush, Hijack, and
// all that a http.ResponseController finds. All handlers that the middleware wraps share l.
// It starts no goroutine, and may be used by many. Rate panics if l is nil, and what it returns
// if the handler is nil.
func Rate(l limiters.Taker, opts ...Option) func(http.Handler) http.Handler {
	if isNil(l) {
		panic(fmt.Sprintf("httplimit: Rate: l is nil (%T): use a limiter of package limiters, or PerClient", l))
	}
	return RateFunc(func(*http.Request) limiters.Taker { return l }, opts...)
}

// RateFunc is [Rate] with a limiter that is chosen by the request, for plans: one limiter for
// each, usually a limiters.KeyedGCRA for all users of that plan. A request for which choose
// returns nil has no limit. RateFunc panics if choose is nil.
func RateFunc(choose func(r *http.Request) limiters.Taker, opts ...Option) func(http.Handler) http.Handler {
	if choose == nil {
		panic("httplimit: RateFunc: choose is nil: for one limiter use Rate")
	}
	cfg := configure(opts)
	said := new(policies)
	return func(next http.Handler) http.Handler {
		mustServe(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			l := choose(r)
			if l == nil {
				cfg.tell(r, limiters.Decision{Allowed: true}, nil, letIn)
				next.ServeHTTP(w, r)
				return
			}
			key, n := "", 1
			if cfg.key != nil {
				key = cfg.key(r)
			}
			if cfg.cost != nil {
				n = cfg.cost(r)
			}
			d, err := l.Take(r.Context(), key, n)
			switch {
			case err != nil && cfg.opens(r, err):
				cfg.tell(r, limiters.Decision{Allowed: true}, err, opened)
				next.ServeHTTP(w, r)
				return
			case err != nil:
				cfg.undecided(w, r, err)
				return
			}
			said.describe(w.Header(), &d, &cfg)
			if !d.Allowed {
				cfg.reject(w, r, rejection{d, ErrRate, http.StatusTooManyRequests, tooManyRequests, overRate})
				return
			}
			cfg.tell(r, d, nil, letIn)
			next.ServeHTTP(w, r)
		})
	}
}

// opens reports whether a request is let in of which a limiter cannot decide.
func (cfg *config) opens(r *http.Request, err error) bool {
	return cfg.failOpen && r.Context().Err() == nil && !errors.Is(err, limiters.ErrTooManyKeys)
}

// undecided answers a request of which a limiter cannot decide.
func (cfg *config) undecided(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		cfg.gone(w)
		return
	}
	cfg.reject(w, r, rejection{
		err: err, status: http.StatusServiceUnavailable, line: serviceUnavailable, count: noDecision,
	})
}
