package conformance

import (
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

func TestLimiterZoo_correctOnesPass(t *testing.T) {
	for _, source := range sources(Injected, PackageTime, Explicit) {
		t.Run("BucketInDebt"+source.String(), func(t *testing.T) { RunLimiter(t, heldBucketSpec("", source)) })
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
