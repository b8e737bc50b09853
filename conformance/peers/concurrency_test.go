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
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/sync/semaphore"
)

// xsync is golang.org/x/sync/semaphore. Acquire blocks "until resources are
// available or ctx is done"; that one more than the size "waits indefinitely" for
// its context, that those who wait are served in order, and that Release panics, is
// read from the source and its tests.
func xsync() conformance.ConcurrencySpec {
	return conformance.ConcurrencySpec{
		Name: "golang.org/x/sync/semaphore v0.19.0",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			s := semaphore.NewWeighted(int64(cfg.Limit))
			return conformance.ConcurrencyFuncs{
				Acquire:    func(ctx context.Context, n int) error { return s.Acquire(ctx, int64(n)) },
				TryAcquire: func(n int) bool { return s.TryAcquire(int64(n)) },
				Release:    func(n int) { s.Release(int64(n)) },
			}
		},
		Traits: conformance.LikeSemaphore,
	}
}

// runKey is where a request carries what its handler shall run.
type runKey struct{}

// chiThrottle is middleware that "limits number of currently processed requests at a
// time and provides a backlog for holding a finite number of pending requests". The
// docs name no order; those who wait receive from a channel, which serves them in
// theirs.
func chiThrottle() conformance.ConcurrencySpec {
	return conformance.ConcurrencySpec{
		Name: "go-chi/chi v5.5.0 Throttle",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			h := middleware.ThrottleBacklog(cfg.Limit, cfg.Backlog, cfg.Timeout)(http.HandlerFunc(
				func(_ http.ResponseWriter, r *http.Request) { r.Context().Value(runKey{}).(func())() }))
			return conformance.ConcurrencyFuncs{Do: func(ctx context.Context, run func()) error {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(context.WithValue(ctx, runKey{}, run)))
				if w.Code != http.StatusOK {
					return errors.New(w.Body.String())
				}
				return nil
			}}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog:  conformance.BacklogBounded,
			Timeout:  conformance.TimeoutBounded,
			Context:  conformance.ContextHonoured,
			SeatHeld: conformance.SeatFreed, // source: limit + backlog tokens for all who are in there
			Fair:     conformance.FairFIFO,  // source
			Single:   true,
			Hook:     conformance.HookNone,
		},
		KnownFailing: []conformance.Known{chiCancelled},
	}
}

// failsafeBulkhead waits "up to the maxWaitTime until one is available or the ctx is
// canceled". That a release of nothing must not happen is not said; it blocks (see
// TestFailsafe_releasesAnother), so it is taken as undefined.
func failsafeBulkhead() conformance.ConcurrencySpec {
	return conformance.ConcurrencySpec{
		Name: "failsafe-go v0.9.8 bulkhead",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			b := bulkhead.New[any](uint(cfg.Limit))
			return conformance.ConcurrencyFuncs{
				Acquire:    func(ctx context.Context, _ int) error { return b.AcquirePermitWithMaxWait(ctx, cfg.Timeout) },
				TryAcquire: func(int) bool { return b.TryAcquirePermit() },
				Release:    func(int) { b.ReleasePermit() },
			}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog:     conformance.BacklogUnbounded,
			Timeout:     conformance.TimeoutBounded,
			Context:     conformance.ContextHonoured,
			Fair:        conformance.FairFIFO, // source
			Single:      true,
			OverRelease: conformance.OverReleaseUndefined,
			Hook:        conformance.HookNone,
		},
		KnownFailing: []conformance.Known{failsafeCancelled},
	}
}

// eapacheSemaphore gives up if it could not acquire "within the configured timeout". "It
// is an error to call Release on a Semaphore from which you have not first acquired a
// ticket".
func eapacheSemaphore() conformance.ConcurrencySpec {
	spec := conformance.ConcurrencySpec{
		Name: "eapache/go-resiliency v1.7.0 semaphore",
		Time: conformance.PackageTime,
		New: func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			s := resiliency.New(cfg.Limit, cfg.Timeout)
			return conformance.ConcurrencyFuncs{
				Acquire: func(context.Context, int) error { return s.Acquire() },
				Release: func(int) { s.Release() },
			}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog:     conformance.BacklogUnbounded,
			Timeout:     conformance.TimeoutBounded,
			Context:     conformance.ContextIgnored,
			Fair:        conformance.FairFIFO, // source: a channel
			Single:      true,
			OverRelease: conformance.OverReleaseUndefined,
			Hook:        conformance.HookNone,
		},
	}
	if !zeroTimersAreLate {
		spec.KnownFailing = []conformance.Known{eapacheNoTime}
	}
	return spec
}

// zeroTimersAreLate says that a timer of 0 is not ready when the next select looks, so that
// what else is ready is taken always, not every other time.
var zeroTimersAreLate = strings.HasPrefix(runtime.Version(), "go1.24")

// What is known to fail. Each is shown by the library alone in
// concurrency_reproductions_test.go.
var (
	chiCancelled = conformance.Known{
		Rule: "CT-CTXPRE", Schedule: "limit=1 backlog=1 timeout=1h | cancel 1 @0 | acquire 1 @0",
		Why: "a request whose context is done is served every other time: select chooses between that and a free token",
	}
	failsafeCancelled = conformance.Known{
		Rule: "CT-CTXPRE", Schedule: "limit=1 timeout=1h | cancel 1 @0 | acquire 1 @0",
		Why: "a permit is given every other time although the context is done: select chooses between that and a free permit",
	}
	eapacheNoTime = conformance.Known{
		Rule: "CT-TIME0", Schedule: "limit=1 timeout=0 | acquire 1 @0",
		Why: "with a timeout of 0 a free ticket is refused every other time: select chooses between it and a timer of 0",
	}
)

func semaphores() []peer[conformance.ConcurrencySpec] {
	return []peer[conformance.ConcurrencySpec]{{"XSync", xsync()}, {"Chi", chiThrottle()}, {"Failsafe", failsafeBulkhead()}, {"Eapache", eapacheSemaphore()}}
}

// TestConcurrencyPeers runs the suite over the libraries and prints the table of
// verdicts.
func TestConcurrencyPeers(t *testing.T) {
	var reports []*conformance.Report
	each(t, semaphores(), func(t *testing.T, spec conformance.ConcurrencySpec) {
		reports = append(reports, conformance.RunConcurrency(t, spec))
	})
	t.Log("\n" + conformance.Table(reports...))
}
