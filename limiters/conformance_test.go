package limiters_test

import (
	"testing"

	"github.com/escapement-go/escapement/conformance"
	"github.com/jonboulle/clockwork"
)

// everyClock runs a test for each way in which a limiter with timers takes its time.
func everyClock(t *testing.T, run func(t *testing.T, source conformance.TimeSource)) {
	for _, source := range []conformance.TimeSource{conformance.Injected, conformance.PackageTime} {
		t.Run(source.String(), func(t *testing.T) { run(t, source) })
	}
}

// everyTime runs a test for each way in which one without takes it.
func everyTime(t *testing.T, run func(t *testing.T, source conformance.TimeSource)) {
	everyClock(t, run)
	t.Run(conformance.Explicit.String(), func(t *testing.T) { run(t, conformance.Explicit) })
}

// injected is the clock to hand to a limiter: nil, which stands for package time, where
// that is its time.
func injected(source conformance.TimeSource, env conformance.Env) clockwork.Clock {
	if source == conformance.PackageTime {
		return nil
	}
	return env.Clock
}
