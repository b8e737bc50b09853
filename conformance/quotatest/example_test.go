package quotatest_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/quotatest"
	"github.com/escapement-go/escapement/limiters"
)

// How a limiter by windows is described that is told the time.
func ExampleRun() {
	spec := quotatest.Spec{
		Name: "limiters.SlidingLog",
		Time: quotatest.Explicit,
		Kind: quotatest.SlidingLog,
		New: func(_ quotatest.Env, cfg quotatest.Config) quotatest.Funcs {
			l := limiters.NewSlidingLog(cfg.Limit, cfg.Window)
			return quotatest.Funcs{TakeAt: func(t time.Time, n int) quotatest.Answer {
				return quotatest.Answer{OK: l.AllowN(t, n)}
			}}
		},
		Traits: quotatest.Traits{
			Edge:     quotatest.EdgeHalfOpen,
			Denied:   quotatest.DeniedFree,
			BackTime: quotatest.BackClamp,
		},
	}
	// In a test: quotatest.Run(t, spec)
	l := spec.New(quotatest.Env{}, quotatest.Config{Limit: 1, Window: time.Second})
	start := time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Duration{0, time.Second - 1, time.Second} {
		fmt.Println(at, l.TakeAt(start.Add(at), 1).OK)
	}
	// Output:
	// 0s true
	// 999.999999ms false
	// 1s true
}
