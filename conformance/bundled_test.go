package conformance_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/bundled"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/escapement-go/escapement/limiters"
	"github.com/escapement-go/escapement/limiters/httplimit"
)

// TestVerdicts runs the suite over everything that this module brings and prints
// the table of verdicts. What takes its time in several ways is judged with one of them,
// or with ESCAPEMENT_PROVE=1 with each.
func TestVerdicts(t *testing.T) {
	const injected, packageTime, explicit = conformance.Injected, conformance.PackageTime, conformance.Explicit
	var reports []*conformance.Report
	var left []string
	judged := map[string]bool{}
	verdict := func(name string, run func(t *testing.T) *conformance.Report) {
		t.Run(name, func(t *testing.T) {
			what := name
			for _, source := range []conformance.TimeSource{injected, packageTime, explicit} {
				what = strings.TrimSuffix(what, source.String())
			}
			if judged[what] && !prove.Reaches(prove.Suite) {
				left = append(left, name)
				prove.Require(t, prove.Suite)
			}
			judged[what] = true
			reports = append(reports, run(t))
		})
	}
	debouncer := func(name string, spec conformance.DebouncerSpec) {
		verdict(name, func(t *testing.T) *conformance.Report { return conformance.RunDebouncer(t, spec) })
	}
	throttle := func(name string, spec conformance.ThrottleSpec) {
		verdict(name, func(t *testing.T) *conformance.Report { return conformance.RunThrottle(t, spec) })
	}
	debouncer("Debouncer", bundled.Debouncer(injected))
	debouncer("DebouncerPackageTime", bundled.Debouncer(packageTime))
	debouncer("DebouncerTwice", bundled.Twice(injected))
	debouncer("Batch", bundled.Batch(injected))
	debouncer("Keyed", bundled.Keyed(injected))
	debouncer("Stream", bundled.Stream(injected))
	for _, source := range []conformance.TimeSource{injected, packageTime, explicit} {
		verdict("TokenBucket"+source.String(), func(t *testing.T) *conformance.Report {
			return conformance.RunLimiter(t, bundled.TokenBucket(source))
		})
		throttle("Throttle"+source.String(), bundled.Throttle(source))
	}
	verdict("GCRABucket", func(t *testing.T) *conformance.Report { // its Allow is quickest, and apart, there
		return conformance.RunLimiter(t, bundled.GCRABucket(packageTime))
	})
	for _, source := range []conformance.TimeSource{injected, packageTime} {
		throttle("ThrottleStream"+source.String(), bundled.ThrottleStream(source))
		throttle("ThrottleFunc"+source.String(), bundled.ThrottleFunc(source))
		verdict("LeakyBucket"+source.String(), func(t *testing.T) *conformance.Report {
			return conformance.RunLeakyBucket(t, bundled.LeakyBucket(source))
		})
	}
	for _, kind := range []conformance.QuotaKind{conformance.FixedWindow, conformance.SlidingLog, conformance.SlidingCounter, conformance.GCRA} {
		for _, source := range []conformance.TimeSource{injected, packageTime, explicit} {
			verdict(kind.String()+source.String(), func(t *testing.T) *conformance.Report {
				return conformance.RunQuota(t, bundled.Quota(kind, source))
			})
		}
	}
	for _, waits := range []conformance.ClockWaits{conformance.WaitsForFunctions, conformance.WaitsForAll} {
		spec := bundled.Clock(waits)
		verdict(spec.Name, func(t *testing.T) *conformance.Report { return conformance.RunClock(t, spec) })
	}
	for _, spec := range []conformance.ConcurrencySpec{
		bundled.Concurrency(injected), bundled.Concurrency(packageTime), bundled.UnboundedConcurrency(), middleware(),
	} {
		verdict(spec.Name+spec.Time.String(), func(t *testing.T) *conformance.Report { return conformance.RunConcurrency(t, spec) })
	}
	t.Log("\n" + conformance.Table(reports...))
	if left != nil {
		t.Logf("%s=1 judges these too: %s", prove.Variable, strings.Join(left, ", "))
	}
}

// runKey is where a request carries what its handler shall run.
type runKey struct{}

// middleware describes httplimit.Concurrency.
func middleware() conformance.ConcurrencySpec {
	spec := bundled.Concurrency(conformance.Injected)
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
