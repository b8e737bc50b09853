package properties_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/bundled"
	"github.com/escapement-go/escapement/properties"
	"github.com/escapement-go/escapement/synctestcompat"
)

var kinds = []conformance.QuotaKind{conformance.FixedWindow, conformance.SlidingLog, conformance.SlidingCounter, conformance.GCRA}

// What this module brings keeps its rules on random schedules.
func TestCheck_bundled(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run(source.String(), func(t *testing.T) {
			t.Run("TokenBucket", func(t *testing.T) { properties.CheckLimiter(t, bundled.TokenBucket(source)) })
			t.Run("Throttle", func(t *testing.T) { properties.CheckThrottle(t, bundled.Throttle(source)) })
			for _, kind := range kinds {
				t.Run(kind.String(), func(t *testing.T) { properties.CheckQuota(t, bundled.Quota(kind, source)) })
			}
			if source != conformance.Explicit {
				t.Run("Concurrency", func(t *testing.T) { properties.CheckConcurrency(t, bundled.Concurrency(source)) })
				t.Run("LeakyBucket", func(t *testing.T) { properties.CheckLeakyBucket(t, bundled.LeakyBucket(source)) })
				t.Run("Debouncer", func(t *testing.T) { properties.CheckDebouncer(t, bundled.Debouncer(source)) })
				t.Run("DebouncerTwice", func(t *testing.T) { properties.CheckDebouncer(t, bundled.Twice(source)) })
				t.Run("Batch", func(t *testing.T) { properties.CheckDebouncer(t, bundled.Batch(source)) })
				t.Run("Keyed", func(t *testing.T) { properties.CheckDebouncer(t, bundled.Keyed(source)) })
				t.Run("Stream", func(t *testing.T) { synctestcompat.Require(t); properties.CheckDebouncer(t, bundled.Stream(source)) })
				t.Run("ThrottleFunc", func(t *testing.T) { properties.CheckThrottle(t, bundled.ThrottleFunc(source)) })
				t.Run("ThrottleStream", func(t *testing.T) {
					synctestcompat.Require(t)
					properties.CheckThrottle(t, bundled.ThrottleStream(source))
				})
			}
		})
	}
	t.Run("Clock", func(t *testing.T) { properties.CheckClock(t, bundled.Clock(conformance.WaitsForFunctions)) })
}

// What this module brings keeps the laws of two runs.
func TestLaws_bundled(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run(source.String(), func(t *testing.T) {
			t.Run("TokenBucket", func(t *testing.T) { properties.LawsLimiter(t, bundled.TokenBucket(source)) })
			t.Run("Throttle", func(t *testing.T) { properties.LawsThrottle(t, bundled.Throttle(source)) })
			for _, kind := range kinds {
				t.Run(kind.String(), func(t *testing.T) { properties.LawsQuota(t, bundled.Quota(kind, source)) })
			}
			if source != conformance.Explicit {
				t.Run("Debouncer", func(t *testing.T) { properties.LawsDebouncer(t, bundled.Debouncer(source)) })
				t.Run("LeakyBucket", func(t *testing.T) { properties.LawsLeakyBucket(t, bundled.LeakyBucket(source)) })
				t.Run("Concurrency", func(t *testing.T) { properties.LawsConcurrency(t, bundled.Concurrency(source)) })
				t.Run("ThrottleFunc", func(t *testing.T) { properties.LawsThrottle(t, bundled.ThrottleFunc(source)) })
			}
		})
	}
}

func FuzzDebouncer(f *testing.F) {
	properties.FuzzDebouncer(f, bundled.Debouncer(conformance.Injected))
}
func FuzzThrottle(f *testing.F) {
	properties.FuzzThrottle(f, bundled.ThrottleFunc(conformance.Injected))
}
func FuzzLimiter(f *testing.F) { properties.FuzzLimiter(f, bundled.TokenBucket(conformance.Explicit)) }
func FuzzConcurrency(f *testing.F) {
	properties.FuzzConcurrency(f, bundled.Concurrency(conformance.Injected))
}
func FuzzLeakyBucket(f *testing.F) {
	properties.FuzzLeakyBucket(f, bundled.LeakyBucket(conformance.Injected))
}
func FuzzQuota(f *testing.F) {
	properties.FuzzQuota(f, bundled.Quota(conformance.SlidingLog, conformance.Explicit))
}

// The token bucket decides as an exact bucket does, however long the history.
func TestMachineLimiter_bundled(t *testing.T) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime, conformance.Explicit} {
		t.Run(source.String(), func(t *testing.T) { properties.MachineLimiter(t, bundled.TokenBucket(source)) })
	}
}
