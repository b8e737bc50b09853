package limiters_test

import (
	"github.com/escapement-go/escapement/conformance"
	"github.com/jonboulle/clockwork"
)

// injected is the clock to hand to a limiter: nil, which stands for package time, where
// that is its time.
func injected(source conformance.TimeSource, env conformance.Env) clockwork.Clock {
	if source == conformance.PackageTime {
		return nil
	}
	return env.Clock
}
