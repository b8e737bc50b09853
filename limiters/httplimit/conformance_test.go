package httplimit_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
)

func TestConformance_Concurrency(t *testing.T) {
	concurrencytest.Run(t, concurrencytest.Spec{
		Name: "httplimit.Concurrency",
		Time: concurrencytest.Injected,
		New: func(env concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
				limiters.WithClock(env.Clock))
			throttle := httplimit.Concurrency(c, httplimit.OnThrottle(func(*http.Request, error) { cfg.OnReject() }))
			return concurrencytest.Funcs{Do: requests(throttle(http.HandlerFunc(serve))), Resize: c.Resize}
		},
		Traits: concurrencytest.Traits{
			Backlog:    concurrencytest.BacklogBounded,
			Timeout:    concurrencytest.TimeoutBounded,
			Context:    concurrencytest.ContextHonoured,
			SeatHeld:   concurrencytest.SeatFreed,
			Fair:       concurrencytest.FairFIFO,
			OneAtATime: true,
			Hook:       concurrencytest.HookOnce,
			// The error of a request is its status and body.
			ContextError: concurrencytest.ErrorOfOwn,
		},
	})
}

// runKey is where a request carries what its handler shall run, or what it costs.
type runKey struct{}

func serve(_ http.ResponseWriter, r *http.Request) { r.Context().Value(runKey{}).(func())() }

// requests makes each run a request to the handler.
func requests(h http.Handler) func(ctx context.Context, run func()) error {
	return func(ctx context.Context, run func()) error {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(context.WithValue(ctx, runKey{}, run)))
		if w.Code != http.StatusOK {
			return errors.New(w.Body.String())
		}
		return nil
	}
}

func TestConformance_PerClient(t *testing.T) {
	quotatest.Run(t, quotatest.Spec{
		Name: "httplimit.PerClient", Time: quotatest.Injected, Kind: quotatest.SlidingCounter,
		New: func(env quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			limit := httplimit.PerClient(cfg.Limit, cfg.Window, httplimit.WithClock(env.Clock),
				httplimit.Cost(func(r *http.Request) int { return r.Context().Value(runKey{}).(int) }))
			h := limit(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			return quotatest.Funcs{Take: func(n int) quotatest.Answer {
				w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)
				h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), runKey{}, n)))
				return quotatest.Answer{OK: w.Code == http.StatusOK}
			}}
		},
		Traits: quotatest.Traits{
			Edge: quotatest.EdgeHalfOpen, Align: quotatest.AlignEpoch, CountDenied: quotatest.DeniedFree,
			BackTime: quotatest.BackClamp,
		},
	})
}
