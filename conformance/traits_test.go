package conformance

import (
	"testing"

	"github.com/escapement-go/escapement/synctestcompat"
)

// What TRAITS observes is what the correct implementations declare, so that a
// stranger can paste it.
func TestTraits_observed(t *testing.T) {
	synctestcompat.Require(t)
	check := func(c *contract) {
		t.Helper()
		c.lab.bubble = c.time != Explicit
		c.stopped = map[string]string{}
		c.learn()
		for _, tr := range c.traits {
			if tr.needless() {
				continue
			}
			if got := tr.observe(); got != tr.declared {
				t.Errorf("%s, %v: trait %s: observed %d, declared %d of %v", c.name, c.time, tr.name, got, tr.declared, tr.values)
			}
		}
	}
	for _, source := range []TimeSource{Injected, PackageTime} {
		for _, spec := range []LeakyBucketSpec{zooBucketSpec("", source), zooSleeper(source),
			zooTicker(source), zooPeriods(source, true), zooReserver(source), zooTurns(source, 0, "")} {
			check(leakyContract(t, spec))
		}
	}
	for _, kind := range []QuotaKind{FixedWindow, SlidingLog, SlidingCounter, GCRA} {
		for _, source := range []TimeSource{Injected, Explicit} {
			check(quotaContract(t, zooQuotaSpec("", kind, source)))
		}
	}
	for _, spec := range quotaZoo() {
		check(quotaContract(t, spec))
	}
}
