package conformance

import (
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

func TestLimiterZoo_correctOnesPass(t *testing.T) {
	for _, source := range sources(Injected, PackageTime, Explicit) {
		t.Run("BucketInDebt"+source.String(), func(t *testing.T) { RunLimiter(t, heldBucketSpec("", source)) })
	}
	for _, source := range sources(Injected, PackageTime) {
		t.Run("BucketWithAQueue"+source.String(), func(t *testing.T) { RunLimiter(t, fifoBucketSpec("", source)) })
		t.Run("ChannelOfTokens"+source.String(), func(t *testing.T) { RunLimiter(t, tickerBucketSpec(source)) })
		t.Run("TriedAgain"+source.String(), func(t *testing.T) { RunLimiter(t, retryBucketSpec(source)) })
	}
	for _, source := range sources(Injected, PackageTime, Explicit) {
		t.Run("BucketAsAnInstant"+source.String(), func(t *testing.T) { RunLimiter(t, tatBucketSpec(source)) })
	}
}

func TestLimiterZoo_mutants(t *testing.T) {
	synctestcompat.Require(t)
	for _, m := range heldMutants {
		t.Run(m.name, func(t *testing.T) {
			row := judgeMutant(t, limiterContract(t, heldBucketSpec(m.name, m.source)), m.name, m.rule)
			t.Log("\n"+row.text, row.family, row.others)
		})
	}
}
