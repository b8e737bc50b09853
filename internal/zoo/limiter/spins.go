package limiter

import (
	"context"
	"time"

	lt "github.com/escapement-go/escapement/conformance/limitertest"
)

// spins is a mistake of a wait: it sleeps in whole microseconds, and asks without end while less than one is missing.
// It knows nothing of its context either.
const spins = "spins while less than a microsecond is missing"

func spinsSpec(source lt.TimeSource) lt.Spec {
	spec := retrySpec(source)
	spec.Name = "zoo: bucket that " + spins
	spec.New = func(env lt.Env, cfg lt.Config) lt.Funcs {
		l := newBucket(cfg, "")
		return lt.Funcs{
			AllowN: func(n int) bool { return l.allow(env.Clock.Now(), n) },
			WaitN: func(_ context.Context, n int) error {
				if n > cfg.Burst {
					return errTooMany
				}
				for now := env.Clock.Now(); !l.allow(now, n); now = env.Clock.Now() {
					if d := untilThere(l, now, n).Truncate(time.Microsecond); d > 0 {
						env.Clock.Sleep(d)
					}
				}
				return nil
			},
		}
	}
	return spec
}
