package peers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	resiliency "github.com/eapache/go-resiliency/semaphore"
	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/concurrencytest"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/sync/semaphore"
)

// xsync is golang.org/x/sync/semaphore. Acquire blocks "until resources are
// available or ctx is done"; that one more than the size "waits indefinitely" for
// its context, that those who wait are served in order, and that Release panics, is
// read from the source and its tests.
func xsync() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "golang.org/x/sync/semaphore v0.19.0",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			s := semaphore.NewWeighted(int64(cfg.Limit))
			return concurrencytest.Funcs{
				Acquire:    func(ctx context.Context, n int) error { return s.Acquire(ctx, int64(n)) },
				TryAcquire: func(n int) bool { return s.TryAcquire(int64(n)) },
				Release:    func(n int) { s.Release(int64(n)) },
			}
		},
		Traits: concurrencytest.XSyncSemaphore(),
	}
}

// runKey is where a request carries what its handler shall run.
type runKey struct{}

// chiThrottle is middleware that "limits number of currently processed requests at a
// time and provides a backlog for holding a finite number of pending requests". The
// docs name no order; those who wait receive from a channel, which serves them in
// theirs, and the backlog is limit + backlog tokens for all who are in there (both read from
// the source).
func chiThrottle() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "go-chi/chi v5.5.0 Throttle",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			h := middleware.ThrottleBacklog(cfg.Limit, cfg.Backlog, cfg.Timeout)(http.HandlerFunc(
				func(_ http.ResponseWriter, r *http.Request) { r.Context().Value(runKey{}).(func())() }))
			return concurrencytest.Funcs{Do: func(ctx context.Context, run func()) error {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(context.WithValue(ctx, runKey{}, run)))
				if w.Code != http.StatusOK {
					return errors.New(w.Body.String())
				}
				return nil
			}}
		},
		Traits:       concurrencytest.ChiThrottle(),
		KnownFailing: []concurrencytest.Known{chiCancelled},
	}
}

// failsafeBulkhead waits "up to the maxWaitTime until one is available or the ctx is
// canceled". That a release of nothing must not happen is not said; it blocks (see
// TestFailsafe_releasesAnother), so it is taken as undefined. The order is read from the
// source.
func failsafeBulkhead() concurrencytest.Spec {
	return concurrencytest.Spec{
		Name: "failsafe-go v0.9.8 bulkhead",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			b := bulkhead.New[any](uint(cfg.Limit))
			return concurrencytest.Funcs{
				Acquire:    func(ctx context.Context, _ int) error { return b.AcquirePermitWithMaxWait(ctx, cfg.Timeout) },
				TryAcquire: func(int) bool { return b.TryAcquirePermit() },
				Release:    func(int) { b.ReleasePermit() },
			}
		},
		Traits:       concurrencytest.FailsafeBulkhead(),
		KnownFailing: []concurrencytest.Known{failsafeCancelled},
	}
}

// eapacheSemaphore gives up if it could not acquire "within the configured timeout". "It
// is an error to call Release on a Semaphore from which you have not first acquired a
// ticket". Those who wait send on a channel, which serves them in their order (source).
func eapacheSemaphore() concurrencytest.Spec {
	spec := concurrencytest.Spec{
		Name: "eapache/go-resiliency v1.7.0 semaphore",
		Time: concurrencytest.PackageTime,
		New: func(_ concurrencytest.Env, cfg concurrencytest.Config) concurrencytest.Funcs {
			s := resiliency.New(cfg.Limit, cfg.Timeout)
			return concurrencytest.Funcs{
				Acquire: func(context.Context, int) error { return s.Acquire() },
				Release: func(int) { s.Release() },
			}
		},
		Traits: concurrencytest.GoResiliencySemaphore(),
	}
	if !zeroTimersAreLate {
		spec.KnownFailing = []concurrencytest.Known{eapacheNoTime}
	}
	return spec
}

// zeroTimersAreLate says that a timer of 0 is not ready when the next select looks, so that
// what else is ready is taken always, not every other time.
var zeroTimersAreLate = strings.HasPrefix(runtime.Version(), "go1.24")

// What is known to fail. Each is shown by the library alone in
// concurrency_reproductions_test.go.
var (
	chiCancelled = concurrencytest.Known{
		Rule: "CT-CTXPRE", Schedule: "limit=1 backlog=1 timeout=1h | cancel 1 @0 | acquire 1 @0",
		Why: "a request whose context is done is served every other time: select chooses between that and a free token",
	}
	failsafeCancelled = concurrencytest.Known{
		Rule: "CT-CTXPRE", Schedule: "limit=1 timeout=1h | cancel 1 @0 | acquire 1 @0",
		Why: "a permit is given every other time although the context is done: select chooses between that and a free permit",
	}
	eapacheNoTime = concurrencytest.Known{
		Rule: "CT-TIME0", Schedule: "limit=1 timeout=0 | acquire 1 @0",
		Why: "with a timeout of 0 a free ticket is refused every other time: select chooses between it and a timer of 0",
	}
)

func semaphores() []peer[concurrencytest.Spec] {
	return []peer[concurrencytest.Spec]{{"XSync", xsync()}, {"Chi", chiThrottle()}, {"Failsafe", failsafeBulkhead()}, {"Eapache", eapacheSemaphore()}}
}

// TestConcurrencyPeers runs the suite over the libraries and prints the table of
// verdicts.
func TestConcurrencyPeers(t *testing.T) {
	var reports []*conformance.Report
	each(t, semaphores(), func(t *testing.T, spec concurrencytest.Spec) {
		reports = append(reports, concurrencytest.Run(t, spec))
	})
	t.Log("\n" + conformance.Table(reports...))
}
