package limiters_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/jonboulle/clockwork"
)

// everyTime runs a test for each way to take time.
func everyTime(t *testing.T, run func(t *testing.T, source conformance.TimeSource)) {
	everyClock(t, run)
	t.Run(conformance.Explicit.String(), func(t *testing.T) { run(t, conformance.Explicit) })
}

// everyClock runs a test for each way to take time of those that are not told it.
func everyClock(t *testing.T, run func(t *testing.T, source conformance.TimeSource)) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		t.Run(source.String(), func(t *testing.T) { run(t, source) })
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
