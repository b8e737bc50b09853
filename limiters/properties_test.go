package limiters_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/properties"
	"github.com/escapement-go/escapement/synctestcompat"
)

func TestProperties_TokenBucket(t *testing.T) {
	everyTime(t, func(t *testing.T, source conformance.TimeSource) {
		checkAndLaws(t, tokenBucketSpec(source))
		// It decides as an exact bucket does, however long the history.
		t.Run("Machine", func(t *testing.T) { properties.MachineLimiter(t, tokenBucketSpec(source)) })
	})
}

func TestProperties_FixedWindow(t *testing.T)    { checkQuota(t, quotatest.FixedWindow) }
func TestProperties_SlidingLog(t *testing.T)     { checkQuota(t, quotatest.SlidingLog) }
func TestProperties_SlidingCounter(t *testing.T) { checkQuota(t, quotatest.SlidingCounter) }
func TestProperties_GCRA(t *testing.T)           { checkQuota(t, quotatest.GCRA) }

func TestProperties_Throttle(t *testing.T) {
	everyTime(t, func(t *testing.T, source conformance.TimeSource) { checkAndLaws(t, throttleSpec(source)) })
}

func TestProperties_ThrottleFunc(t *testing.T) {
	everyClock(t, func(t *testing.T, source conformance.TimeSource) { checkAndLaws(t, throttleFuncSpec(source)) })
}

func TestProperties_ThrottleStream(t *testing.T) {
	synctestcompat.Require(t)
	everyClock(t, func(t *testing.T, source conformance.TimeSource) { properties.Check(t, throttleStreamSpec(source)) })
}

func TestProperties_LeakyBucket(t *testing.T) {
	everyClock(t, func(t *testing.T, source conformance.TimeSource) { checkAndLaws(t, leakyBucketSpec(source)) })
}

func TestProperties_Concurrency(t *testing.T) {
	everyClock(t, func(t *testing.T, source conformance.TimeSource) { checkAndLaws(t, concurrencySpec(source)) })
}

// checkQuota checks a limiter of a kind, however it gets its time.
func checkQuota(t *testing.T, kind quotatest.Kind) {
	everyTime(t, func(t *testing.T, source conformance.TimeSource) { checkAndLaws(t, quotaSpec(kind, source)) })
}

// checkAndLaws looks for what breaks a rule, then for what breaks a law of two runs.
func checkAndLaws(t *testing.T, spec conformance.Spec) {
	t.Run("Check", func(t *testing.T) { properties.Check(t, spec) })
	t.Run("Laws", func(t *testing.T) { properties.Laws(t, spec) })
}

func FuzzTokenBucket(f *testing.F) { properties.Fuzz(f, tokenBucketSpec(conformance.Explicit)) }
func FuzzSlidingLog(f *testing.F) {
	properties.Fuzz(f, quotaSpec(quotatest.SlidingLog, conformance.Explicit))
}
func FuzzThrottleFunc(f *testing.F) { properties.Fuzz(f, throttleFuncSpec(conformance.Injected)) }
func FuzzLeakyBucket(f *testing.F)  { properties.Fuzz(f, leakyBucketSpec(conformance.Injected)) }
func FuzzConcurrency(f *testing.F)  { properties.Fuzz(f, concurrencySpec(conformance.Injected)) }
