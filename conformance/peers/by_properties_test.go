package peers

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/properties"
	"github.com/escapement-go/escapement/synctestcompat"
)

// What the suite knows of the libraries is all that random schedules find: what else
// one shows belongs into its list of known failures, with its smallest schedule. The
// schedules are the same each time, as what is found in others' code must not be chance.
// This file comes before those of the clocks, which leave goroutines behind that make each
// look at the stacks long. ESCAPEMENT_PROVE=all leaves number and seed to -rapid.checks and
// -rapid.seed.
func TestProperties(t *testing.T) {
	synctestcompat.Require(t)
	if os.Getenv("ESCAPEMENT_PROVE") != "all" {
		for name, value := range map[string]string{
			"rapid.seed": "1", "rapid.checks": "500", "rapid.nofailfile": "true", "rapid.shrinktime": "1h",
		} {
			f := flag.Lookup(name)
			before := f.Value.String()
			if err := f.Value.Set(value); err != nil {
				t.Fatal(err)
			}
			defer f.Value.Set(before)
		}
	}
	t.Run("Debouncer", func(t *testing.T) { drawn(t, debouncers()) })
	t.Run("Throttle", func(t *testing.T) { drawn(t, throttles()) })
	t.Run("Limiter", func(t *testing.T) { drawn(t, rateLimiters()) })
	t.Run("Concurrency", func(t *testing.T) { drawn(t, semaphores()) })
	t.Run("Quota", func(t *testing.T) { drawn(t, quotas()) })
	t.Run("LeakyBucket", func(t *testing.T) { drawn(t, leakyBuckets()) })
	t.Run("Batcher", func(t *testing.T) { drawn(t, batchers()) })
	t.Run("Clock", func(t *testing.T) { drawn(t, fakeClocks()) })
}

// drawn checks the libraries that do not hang; of programs for a clock some hang
// benbjohnson's too.
func drawn[S conformance.Spec](t *testing.T, peers []peer[S]) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			if p.name == "benbjohnson" || slices.Contains(hanging, p.name) {
				t.Skip("some schedules end only by the watchdog")
			}
			properties.Check(t, p.spec)
		})
	}
}
