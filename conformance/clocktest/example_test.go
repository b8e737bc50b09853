package clocktest_test

import (
	"fmt"
	"time"

	"github.com/escapement-go/escapement/conformance/clocktest"
	"github.com/escapement-go/escapement/fakeclock"
)

// How a fake clock is described that has the methods of clockwork's.
func ExampleRun() {
	spec := clocktest.Spec{
		Name: "mine",
		New: func(env clocktest.Env) clocktest.Funcs {
			return clocktest.Of(fakeclock.New(fakeclock.WithSettle(env.Settle)))
		},
		Traits: clocktest.Traits{Waits: clocktest.WaitsForAll},
	}
	// In a test: clocktest.Run(t, spec)
	clock := spec.New(clocktest.Env{Settle: func() {}})
	before := clock.Now()
	clock.Advance(time.Minute)
	fmt.Println(clock.Now().Sub(before))
	// Output: 1m0s
}
