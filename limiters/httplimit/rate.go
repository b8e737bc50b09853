package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/escapement-go/escapement/limiters"
)

// ErrRate is the error that hooks get for a request that exceeds the rate.
var ErrRate = errors.New("httplimit: the rate is exceeded")

// Rate returns middleware that asks l for each request, by default with the key "" and for
// one event: see [Key] and [Cost].
//
// A request that is denied gets 429 Too Many Requests, with Retry-After. So that clients can
// keep to the limit, all answers, also those of the handler, have the fields RateLimit-Policy
// and RateLimit as revision 10 (September 2025) of draft-ietf-httpapi-ratelimit-headers has
// them, which differ from revisions before 08; [XRateLimit] adds the older fields. The
// policy's name is "default", q is the limit, w its window, r what remains and t the time
// until the full limit is available; times are in seconds, rounded up. Infinite values, or
// those of more than the 15 digits of a structured field, are omitted; without a limit, all
// fields are.
//
// If l returns an error there is no decision, and the request gets 503 Service Unavailable, or
// with [FailOpen] is admitted.
//
// The handler gets the server's http.ResponseWriter unchanged: with Flush, Hijack, and all that
// a [http.ResponseController] needs. All wrapped handlers share l. It starts no goroutine, and
// is safe for concurrent use. Rate panics if l is nil; the returned middleware panics if the
// handler is nil.
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
