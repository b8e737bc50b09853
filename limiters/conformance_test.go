package limiters_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/escapement-go/escapement/internal/prove"
	"github.com/jonboulle/clockwork"
)

// everyClock runs a test for each way in which a limiter with timers takes its time; by
// default, for an injected clock.
func everyClock(t *testing.T, run func(t *testing.T, source conformance.TimeSource)) {
	each(t, run, conformance.Injected, conformance.PackageTime)
}

// everyTime runs a test for each way in which one without takes it; by default, with
// explicit instants.
func everyTime(t *testing.T, run func(t *testing.T, source conformance.TimeSource)) {
	each(t, run, conformance.Explicit, conformance.Injected, conformance.PackageTime)
}

// each runs a test for the first of these, and for all if ESCAPEMENT_PROVE=1 is set.
func each(t *testing.T, run func(*testing.T, conformance.TimeSource), sources ...conformance.TimeSource) {
	prove.SameSeed(t)
	for i, source := range sources {
		t.Run(source.String(), func(t *testing.T) {
			if i > 0 {
				prove.Require(t, prove.Suite)
			}
			run(t, source)
		})
	}
}

// injected is the clock to hand to a limiter: nil, which stands for package time, where
// that is its time.
func injected(source conformance.TimeSource, env conformance.Env) clockwork.Clock {
	if source == conformance.PackageTime {
		return nil
	}
	return env.Clock
}
