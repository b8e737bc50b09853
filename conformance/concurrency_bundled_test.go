package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/fakeclock"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
)

// bundledConcurrency describes limiters.Concurrency.
func bundledConcurrency(source conformance.TimeSource) conformance.ConcurrencySpec {
	return conformance.ConcurrencySpec{
		Name: "limiters.Concurrency",
		Time: source,
		New: func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout),
				limiters.WithClock(clockFor(source, env)))
			return conformance.ConcurrencyFuncs{
				Acquire: c.Acquire, TryAcquire: c.TryAcquire, Release: c.Release, Resize: c.Resize,
				Do: func(ctx context.Context, run func()) error {
					return c.Do(ctx, func() error { run(); return nil })
				},
			}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog:     conformance.BacklogBounded,
			Timeout:     conformance.TimeoutBounded,
			Context:     conformance.ContextHonoured,
			SeatHeld:    conformance.SeatFreed,
			Fair:        conformance.FairFIFO,
			Oversize:    conformance.OversizeFails,
			OverRelease: conformance.OverReleasePanics,
			Hook:        conformance.HookNone,
		},
	}
}

// unboundedConcurrency describes limiters.Concurrency without options.
func unboundedConcurrency() conformance.ConcurrencySpec {
	spec := bundledConcurrency(conformance.PackageTime)
	spec.Name = "limiters.Concurrency without options"
	spec.New = func(_ conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
		c := limiters.NewConcurrency(cfg.Limit)
		return conformance.ConcurrencyFuncs{Acquire: c.Acquire, TryAcquire: c.TryAcquire, Release: c.Release, Resize: c.Resize}
	}
	spec.Traits.Backlog, spec.Traits.Timeout = conformance.BacklogUnbounded, conformance.TimeoutNone
	return spec
}

// runKey is where a request carries what its handler shall run.
type runKey struct{}

// bundledMiddleware describes httplimit.Concurrency.
func bundledMiddleware() conformance.ConcurrencySpec {
	spec := bundledConcurrency(conformance.Injected)
	spec.Name = "httplimit.Concurrency"
	spec.New = func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
		c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout), limiters.WithClock(env.Clock))
		h := httplimit.Concurrency(c, httplimit.OnThrottle(func(*http.Request, error) { cfg.OnReject() }))(http.HandlerFunc(
			func(_ http.ResponseWriter, r *http.Request) { r.Context().Value(runKey{}).(func())() }))
		return conformance.ConcurrencyFuncs{Resize: c.Resize, Do: func(ctx context.Context, run func()) error {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(context.WithValue(ctx, runKey{}, run)))
			if w.Code != http.StatusOK {
				return errors.New(w.Body.String())
			}
			return nil
		}}
	}
	spec.Traits.Single, spec.Traits.Hook = true, conformance.HookOnce
	return spec
}

// TestConcurrencyVerdicts runs the suite over limiters.Concurrency and httplimit, and
// prints the table of verdicts.
func TestConcurrencyVerdicts(t *testing.T) {
	var reports []*conformance.Report
	t.Run("Injected", func(t *testing.T) {
		reports = append(reports, conformance.RunConcurrency(t, bundledConcurrency(conformance.Injected)))
	})
	t.Run("PackageTime", func(t *testing.T) {
		reports = append(reports, conformance.RunConcurrency(t, bundledConcurrency(conformance.PackageTime)))
	})
	t.Run("Unbounded", func(t *testing.T) {
		reports = append(reports, conformance.RunConcurrency(t, unboundedConcurrency()))
	})
	t.Run("Middleware", func(t *testing.T) {
		reports = append(reports, conformance.RunConcurrency(t, bundledMiddleware()))
	})
	t.Log("\n" + conformance.Table(reports...))
}

// How a concurrency limiter is described.
func ExampleRunConcurrency() {
	spec := conformance.ConcurrencySpec{
		Name: "mine",
		Time: conformance.Injected,
		New: func(env conformance.Env, cfg conformance.ConcurrencyConfig) conformance.ConcurrencyFuncs {
			c := limiters.NewConcurrency(cfg.Limit, limiters.Backlog(cfg.Backlog), limiters.Timeout(cfg.Timeout), limiters.WithClock(env.Clock))
			return conformance.ConcurrencyFuncs{Acquire: c.Acquire, Release: c.Release}
		},
		Traits: conformance.ConcurrencyTraits{
			Backlog: conformance.BacklogBounded, Timeout: conformance.TimeoutBounded, Context: conformance.ContextHonoured,
			SeatHeld: conformance.SeatFreed, Fair: conformance.FairFIFO, Oversize: conformance.OversizeFails,
			OverRelease: conformance.OverReleasePanics, Hook: conformance.HookNone,
		},
	}
	// In a test: conformance.RunConcurrency(t, spec)
	c := spec.New(conformance.Env{Clock: fakeclock.New()}, conformance.ConcurrencyConfig{Limit: 1})
	fmt.Println(c.Acquire(context.Background(), 1), c.Acquire(context.Background(), 1))
	// Output: <nil> limiters: no slot is free and the backlog is full
}
